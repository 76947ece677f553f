/* Where the time of a run goes: a graph run several times on a backend, at one set of sizes.
 *
 * The first run finds out what the sizes lead to; the others do not ask again (run_execute()).
 * First once, as it comes; then some times without a log, which is the wall time; then as often
 * with the log, which is each launch's time in place; then once more where each call is repeated by
 * itself, which is its time isolated. Figures are medians. Calls that write their arguments are not
 * repeated. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_H

#include "replay/backend/measure/ceilings.h"
#include "replay/backend/measure/peak.h"
#include "replay/backend/measure/work.h"
#include "replay/backend/run/run.h"
#include "replay/ops/model/stats.h"

/* A node in all its launches; of a fused one its equal part. */
struct timed_node {
    double us, isolated_us;
    struct call_work work;
    uint32_t calls; /* that computed something; a subgraph's count for the node that calls it */
    bool isolated;
};

/* An operator, or calls that were fused into one kernel: those of the same operators in the same
 * order are one. */
struct timed_group {
    struct str name; /* "aten.mm.default"; "mul + add + relu" */
    bool fused;
    uint32_t calls, launches, on_host;
    double us, isolated_us;
    uint32_t isolated; /* calls of which isolated_us is */
    uint64_t bytes, flops;
    double ceiling; /* share of the measured ceilings in place: the greater one; 0: not known */
    uint32_t most;  /* the node that took most of it */
    const uint32_t *nodes; /* with `us` each, most first */
    uint32_t n_nodes;
    struct op_stats stats; /* what its rule did in one run; of an operator */
};

struct timing {
    const struct graph *graph;
    const struct timed_node *nodes; /* by node */
    struct timed_group *groups;     /* most time first */
    size_t n_groups;
    double first_us, wall_us, logged_us; /* the first run; without the log; with it */
    double sum_us;                       /* of launches: what the device was busy */
    /* Without the log: until the host had made all calls; with it, the device between two launches.
     */
    double host_us, idle_us;
    bool queues; /* calls return before they are done: host_us may be less than wall_us */
    uint32_t runs, calls, launches;
    struct backend_log once; /* its counters of what is done once: in the first run */
    uint64_t compiled_later; /* kernels in the others: should be none */
    struct peak peak;
    struct ceilings ceilings;
    struct run_size *sizes; /* what symbols were */
    size_t n_sizes;
    struct arena arena;
};

struct timing_options {
    uint32_t runs; /* 0: 5 */
    bool isolated;
};

/* Does the sum explain the wall time, within 10 %? Shares of it mean nothing where it does not. */
bool timing_explains(const struct timing *t);
/* Where it does not: is it the host, whose calls the device waits for? Within 10 %, too. */
bool timing_host_bound(const struct timing *t);

/* NULL: as run_execute() fails. */
struct timing *timing_new(const struct graph *graph, const struct run_options *options,
                          const struct timing_options *how, struct err *err);
/* Ceilings that `known` lacks are measured and kept there; shares of them are filled in. */
bool timing_measure_ceilings(struct timing *t, struct backend *backend, struct ceilings *known,
                             struct err *err);
void timing_free(struct timing *t); /* NULL is fine */

#endif
