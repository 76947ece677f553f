/* The times of a graph's run: the graph is run several times on a backend, at one set of sizes.
 *
 * The first run computes shapes; the others reuse these (run_execute()). The first one is timed
 * once, and so is the second one if it captures the run. Several runs without a log then measure
 * the wall time, as many with a log measure the time of each launch in place, and one run that
 * repeats each call by itself measures its isolated time. Figures are medians. Calls that write
 * their arguments are not repeated, and neither are those of a job's ranks, as ranks would repeat
 * collectives unequally often. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_TIMING_H

#include "replay/backend/measure/ceilings.h"
#include "replay/backend/measure/peak.h"
#include "replay/backend/measure/work.h"
#include "replay/backend/run/run.h"
#include "replay/ops/model/stats.h"

/* The times of a node, over all its launches; of a fused launch it gets an equal share. */
struct timed_node {
    double us, isolated_us;
    struct call_work work;
    uint32_t calls; /* calls that computed something; those of a subgraph count for the node that
                       calls it */
    bool isolated;
};

/* An operator, or calls that were fused into one kernel: those with the same operators in the same
 * order form one group. */
struct timed_group {
    struct str name; /* "aten.mm.default"; "mul + add + relu" */
    bool fused;
    uint32_t calls, launches, on_host;
    double us, isolated_us;
    uint32_t isolated; /* number of calls in isolated_us */
    uint64_t bytes, flops;
    double ceiling; /* share of the measured ceilings in place, the greater one; 0: unknown */
    uint32_t most;  /* the node with the greatest time */
    const uint32_t *nodes; /* and the time `us` of each, in descending order */
    uint32_t n_nodes;
    struct op_stats stats; /* of an operator: what its rule did in one run */
};

struct timing {
    const struct graph *graph;
    const struct timed_node *nodes; /* by node */
    struct timed_group *groups;     /* in descending order of time */
    size_t n_groups;
    double first_us, wall_us, logged_us; /* the first run; without the log; with it */
    double first_host_us;                /* until the host had made all calls of the first run */
    double sum_us;                       /* of launches: the time in which the device was busy */
    /* host_us: until the host had made all calls, without the log; idle_us: time of the device
     * between launches, with the log. */
    double host_us, idle_us;
    /* Runs without the log were launched as one, which the second run captured in captured_us; or
     * the reason why they could not be, ERR_NONE if that was not wanted. */
    bool captured;
    bool captured_differs; /* its outputs have other bits than those of the run call by call: a
                              defect */
    double captured_us;
    uint64_t captured_pieces; /* CUDA graphs of a launch: those between collectives, which cut it */
    uint64_t captured_collectives;
    bool captured_updates; /* the executable graph of another size computes it */
    struct err not_captured;
    /* Of the last run without the log: sizes that stayed on the device, how often the host read
     * them, and the calls before which it had to. */
    const struct device_size *device_sizes;
    const struct host_need *host_needs;
    uint32_t n_device_sizes, n_host_needs, size_reads;
    bool queues; /* calls return before they are done: host_us may be less than wall_us */
    uint32_t runs, calls, launches;
    struct backend_log once; /* counters of work that is done once, in the first run */
    /* With a budget: what the pool kept after this size, its peak, and what it took and returned.
     */
    struct backend_pool pool;
    uint64_t compiled_later; /* kernels that later runs compiled; should be 0 */
    struct peak peak;
    struct ceilings ceilings;
    struct run_size *sizes; /* the values of symbols */
    size_t n_sizes;
    struct arena arena;
};

struct timing_options {
    uint32_t runs; /* 0: 5 */
    bool isolated;
    bool captures; /* runs are launched as one, if the backend can (struct run_options) */
};

/* Returns whether the sum of launches is within 10 % of the wall time; otherwise shares of it mean
 * nothing. */
bool timing_explains(const struct timing *t);
/* Returns whether the time of the host's calls is within 10 % of the wall time, so that the device
 * waits for the host. */
bool timing_host_bound(const struct timing *t);

/* Runs the graph and measures. NULL: fails as run_execute() does. */
struct timing *timing_new(const struct graph *graph, const struct run_options *options,
                          const struct timing_options *how, struct err *err);
/* Measures ceilings that `known` lacks, adds them to it, and sets the shares. */
bool timing_measure_ceilings(struct timing *t, struct backend *backend, struct ceilings *known,
                             struct err *err);
void timing_free(struct timing *t); /* NULL is fine */

#endif
