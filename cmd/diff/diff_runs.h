/* Reads the two sides of `symtape diff` (tapes, logs, folders and snapshots) into snapshots. */
#ifndef SYMTAPE_CMD_DIFF_DIFF_RUNS_H
#define SYMTAPE_CMD_DIFF_DIFF_RUNS_H

#include "cmd/cli/out.h"
#include "profile/compare/compare.h"

/* Opens one operand: a file that `diff --save` wrote, or anything that trace_open() takes, with a
 * selector. Returns the exit code; errors are printed, damage is summarised on the notes stream. */
int diff_run_open(struct out *out, const char *operand, bool strict, struct snapshot **ret);

#endif
