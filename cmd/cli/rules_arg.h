/* Reads --rules FILE[,FILE...], rules of custom operators, for commands that walk graphs. */
#ifndef SYMTAPE_CMD_CLI_RULES_ARG_H
#define SYMTAPE_CMD_CLI_RULES_ARG_H

#include "replay/ops/decomp/custom.h"
#include "trace/log/source.h"

/* Reads the files; *rules stays NULL if `files` is NULL. It fails with ERR_USAGE, ERR_INPUT or
 * ERR_ENV. */
bool rules_arg_read(struct custom_rules **rules, const char *files, struct source_meter *meter,
                    struct err *err);

#endif
