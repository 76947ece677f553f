/* An operand that is a file of FX text instead of a tape: by its content, whatever it is called. */
#ifndef SYMTAPE_CMD_CLI_FX_ARG_H
#define SYMTAPE_CMD_CLI_FX_ARG_H

#include "minify/candidate/candidate.h"
#include "trace/log/source.h"

/* NULL with err; NULL without: it is something else, or is not there. `meter` is told what is read.
 */
struct candidate *fx_arg_read(const char *path, const struct candidate_options *options,
                              struct source_meter *meter, struct err *err);

#endif
