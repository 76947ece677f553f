/* Reads an operand that is a file of FX text instead of a tape. Its content decides, not its
 * name. */
#ifndef SYMTAPE_CMD_CLI_FX_ARG_H
#define SYMTAPE_CMD_CLI_FX_ARG_H

#include "minify/candidate/candidate.h"
#include "trace/log/source.h"

/* Returns NULL with err set on failure, and NULL without err if the operand is not FX text or does
 * not exist. `meter` is notified of the bytes that are read. */
struct candidate *fx_arg_read(const char *path, const struct candidate_options *options,
                              struct source_meter *meter, struct err *err);

/* Returns whether a file holds the text of a graph. If such a file is named where a recording is
 * needed, fx_arg_error() sets the error that says what takes it, and returns false. */
bool fx_arg_is(const char *path, struct source_meter *meter);
bool fx_arg_error(const char *path, struct err *err);

#endif
