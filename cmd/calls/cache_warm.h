/* `symtape cache COLD WARM`: what the second start of a program compiled again. */
#ifndef SYMTAPE_CMD_CALLS_CACHE_WARM_H
#define SYMTAPE_CMD_CALLS_CACHE_WARM_H

#include "cmd/calls/calls_arg.h"

/* Compares the tapes, prints the report, and returns the exit code: EXIT_DIFFERS if graphs were
 * compiled again. `rows` is the value of OPT_ROWS. */
int cache_warm_run(struct cmd *cmd, const struct tape_arg tapes[2], struct opt_number rows,
                   bool json);

#endif
