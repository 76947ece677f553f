/* --run: the smallest sizes of each region that a recorded compile serves, run on a backend and
 * compared with the CPU reference. For the files of cmd/inputs only. */
#ifndef SYMTAPE_CMD_INPUTS_REGIONS_RUN_H
#define SYMTAPE_CMD_INPUTS_REGIONS_RUN_H

#include "cmd/run/run_session.h"
#include "prove/regions/regions.h"

enum region_status {
    REGION_RAN, /* and agrees, if it was compared */
    REGION_DIFFERS,
    REGION_RUN_REFUSED, /* a guard or an operator does not allow the sizes */
    REGION_RUN_FAILED,  /* the backend failed */
    REGION_NOT_RUN,
    REGION_STATUSES
};
const char *region_status_name(enum region_status status); /* "ok", "differs", ... */

struct region_result {
    enum region_status status;
    uint32_t attempt;    /* whose graphs ran; TRACE_NONE: those of a program, or none */
    uint32_t graphs;     /* that ran to their end */
    uint64_t calls;      /* of operators */
    uint64_t peak;       /* bytes */
    double max_absolute; /* the largest difference from the reference */
    bool compared;
    struct str message; /* why it is not "ok"; "" */
};

/* Zero-initialize. */
struct regions_runner {
    struct run_args args;
    struct session session;
    bool ended;                       /* the memory limit */
    bool stopped;                     /* by a signal during a run: no more is to be done */
    uint64_t counts[REGION_STATUSES]; /* over all compiles */
};

/* Opens the backend of that name, and the reference if it is another one and computes values. Fails
 * with ERR_USAGE or ERR_ENV; regions_runner_close() is required then, too. */
bool regions_runner_open(struct regions_runner *runner, struct cmd *cmd, struct trace *trace,
                         const char *backend, struct err *err);
void regions_runner_close(struct regions_runner *runner);

/* Runs the regions of the conditions. *ret has a result for each, in memory of the arena. The limit
 * of memory that the file sets ends before the first run (cmd/cli/memory_limit.h); a graph that
 * needs more than the machine has is not run. Fails when memory ran out. */
bool regions_run(struct regions_runner *runner, const struct conditions *conditions,
                 const struct regions *regions, struct arena *arena, struct region_result **ret,
                 struct err *err);

/* 130: interrupted; 4: a backend failed; 1: something differs or was refused; 125: nothing ran. */
int regions_runner_exit_code(const struct regions_runner *runner);

#endif
