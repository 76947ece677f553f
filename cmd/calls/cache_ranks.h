/* `symtape cache --ranks TAPE...`: the compiles of several ranks or workers on one time axis. */
#ifndef SYMTAPE_CMD_CALLS_CACHE_RANKS_H
#define SYMTAPE_CMD_CALLS_CACHE_RANKS_H

#include "cmd/calls/calls_arg.h"

/* Opens the tapes, prints the report, and returns the exit code. `rows` is the value of OPT_ROWS.
 */
int cache_ranks_run(struct cmd *cmd, struct opt_number rows, bool json, bool strict);

#endif
