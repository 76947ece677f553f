/* The tapes that a command profiles, and the part of them that operands select. */
#ifndef SYMTAPE_CMD_PROFILE_PROFILED_H
#define SYMTAPE_CMD_PROFILE_PROFILED_H

#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "profile/model/profile.h"

struct profiled {
    struct tape_arg *tapes;
    struct trace **traces; /* of the tapes, cmd->n_operands of them */
    size_t n;
    struct buf compile; /* the text that profiled_select() points to */
};

/* Opens all operands. If there are several, each must be a whole tape, since filters apply to all.
 * Returns the exit code; errors are printed. */
int profiled_open(struct profiled *profiled, struct cmd *cmd, bool strict);
/* Sets the filters that the selector of a single operand names; returns false with err set when
 * memory ran out. */
bool profiled_select(struct profiled *profiled, struct profile_options *what, struct err *err);
void profiled_close(struct profiled *profiled); /* also required after profiled_open() failed */

/* Returns the number of processors, for the jobs of a replay. */
uint32_t profiled_jobs(void);

#endif
