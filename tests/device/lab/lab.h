/* Experiments on a device: what the design of a backend that keeps CUDA graphs depends on.
 *
 * Each is a function that measures and prints a table in markdown; experiments.c lists them. The
 * CUDA backend itself gives the device, the stream and the compiler. Times are medians in
 * microseconds of the host's clock unless a table says otherwise. Kernels of experiments count what
 * they did, and an experiment fails where the count is wrong: an update that did not take is no
 * cheap update. */
#ifndef SYMTAPE_TESTS_DEVICE_LAB_LAB_H
#define SYMTAPE_TESTS_DEVICE_LAB_LAB_H

#include "replay/backend/cuda/device/prologue.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "tests/device/lab/graph_abi.h"

enum { CHAIN_MAX = 1000, REPEATS_MAX = 64 };

struct lab {
    struct cuda *cuda;
    struct graph_table graphs;
    uint32_t repeats; /* of each measurement; up to REPEATS_MAX */
    uint32_t longest; /* chain, up to CHAIN_MAX */
    uint64_t counter; /* of the ticks, in device memory */
    cu_event start, end;
    struct cuda_function *tick, *wide; /* 16 and 512 bytes of arguments */
};

/* One tick adds `by` to the counter. */
#define TICK_ARGS      \
    struct tick_args { \
        u64 to;        \
        i64 by;        \
    }
#define WIDE_ARGS      \
    struct wide_args { \
        u64 to;        \
        i64 by;        \
        u64 more[62];  \
    }
TICK_ARGS;
WIDE_ARGS;

#define TEXT_OF_(...) #__VA_ARGS__
#define TEXT_OF(...)  TEXT_OF_(__VA_ARGS__)

bool lab_open(struct lab *lab, bool quick, struct err *err);
void lab_close(struct lab *lab);

/* As cuda_check(). */
bool lab_check(struct lab *lab, int rc, const char *what, struct err *err);
bool lab_wait(struct lab *lab, struct err *err);
/* ERR_ENV where the driver has no such function. */
#define LAB_NEEDS(lab, member, err) lab_needs((lab)->graphs.member != NULL, #member, (err))
bool lab_needs(bool there, const char *what, struct err *err);

struct cuda_function *lab_compile(struct lab *lab, const char *name, const char *text,
                                  struct err *err);
bool lab_launch(struct lab *lab, struct cuda_function *f, uint32_t blocks, uint32_t threads,
                void *args, struct err *err);

bool lab_take(struct lab *lab, size_t bytes, uint64_t *ret, struct err *err);
bool lab_counter(struct lab *lab, int64_t *ret, struct err *err);
bool lab_reset(struct lab *lab, struct err *err);

double lab_median(double *us, size_t n);
/* Of the device's time between the events, after a wait. */
bool lab_mark(struct lab *lab, cu_event event, struct err *err);
bool lab_between(struct lab *lab, double *us, struct err *err);

/* ---- chain.c: a graph of ticks, each after the one before ---- */

struct chain {
    cu_graph graph;
    cu_exec exec;
    cu_node nodes[CHAIN_MAX];
    uint32_t n;
    bool wide;
};
bool chain_build(struct lab *lab, uint32_t n, bool wide, int64_t by, struct chain *ret,
                 struct err *err);
bool chain_instantiate(struct lab *lab, struct chain *chain, struct err *err);
bool chain_set(struct lab *lab, struct chain *chain, uint32_t node, int64_t by, struct err *err);
void chain_release(struct lab *lab, struct chain *chain);

/* What a launch costs: the call, until the device is done, and by the device's own clock. */
struct launch_cost {
    double change; /* what was done before it, if anything */
    double call, done, device;
};
typedef bool chain_change(struct lab *lab, struct chain *chain, uint32_t turn, struct err *err);
/* Medians; change NULL: nothing is changed. */
bool chain_cost(struct lab *lab, struct chain *chain, chain_change *change, struct launch_cost *ret,
                struct err *err);

/* ---- experiments ---- */

typedef bool experiment(struct lab *lab, struct err *err);
experiment experiment_update, experiment_launch, experiment_disabled, experiment_graft,
    experiment_grid, experiment_events, experiment_memory, experiment_chunks, experiment_compile,
    experiment_batches;

#endif
