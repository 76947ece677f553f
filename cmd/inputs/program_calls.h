/* The calls that a program made, and which compiled function each is of. For the files of
 * cmd/inputs only. */
#ifndef SYMTAPE_CMD_INPUTS_PROGRAM_CALLS_H
#define SYMTAPE_CMD_INPUTS_PROGRAM_CALLS_H

#include "cmd/calls/calls_arg.h"

/* How often calls of one form were made, and the first of them. */
struct form_count {
    uint64_t times;
    uint32_t call; /* in the log */
};

struct program_calls {
    struct call_log log;
    uint32_t recording;
    struct cache_run *run; /* which function each call is of; NULL if there are no calls */
};

/* Reads those of a file, or, where path is NULL, those on the tape, which may have none. Fails when
 * they cannot be read, or when memory ran out; program_calls_release() is required then, too. */
bool program_calls_read(struct program_calls *ret, struct cmd *cmd, const struct tape_arg *tape,
                        const char *path, struct err *err);
/* Counts the calls of the function of a compile by their form. The caller frees *ret, which has
 * log.n_forms items, and is NULL if there are no such calls. Fails when memory ran out. */
bool program_calls_count(const struct program_calls *calls, struct str compile,
                         struct form_count **ret, struct err *err);
void program_calls_release(struct program_calls *calls);

#endif
