/* Private to this room: the pool of the CUDA graphs while their graphs run. Warm-ups and recordings
 * allocate in it what the programs of the graphs do, a recording the inputs that are copied, too
 * (CUDAWarmupNode.run() and CUDAGraphNode in torch/_inductor/cudagraph_trees.py). What a run
 * returns lives until its path ends, or a backward frees it. The first run of a kernel tunes it. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_POOL_RUN_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_POOL_RUN_H

#include "profile/calls/cudagraphs/cudagraph_run.h"
#include "profile/calls/cudagraphs/memory_plan.h"
#include "profile/calls/cudagraphs/private_pool.h"
#include "profile/calls/cudagraphs/tuned_kernels.h"

/* The plans of a graph: one for each partition. */
struct graph_plans {
    uint32_t first, n;  /* in pool_run.plans.plans; n is 0 when the tape has no program for it */
    struct str compile; /* of the trace */
};

/* What a run left in the pool. */
struct live_block {
    uint32_t block;
    struct str name; /* of the graph's output; "" */
};

struct pool_replay {
    uint32_t size, partition;
};

struct pool_run {
    const struct cudagraph_run *run; /* borrowed */
    struct memory_plans plans;
    vec_of(struct graph_plans)
    graphs; /* by run->wrapped.graphs */
    struct private_pool pool;
    vec_of(struct live_block)
    live; /* of the present path */
    vec_of(struct pool_replay)
    replayed; /* runs of the present path whose outputs are not in `live` yet */
    uint64_t path;
    uint64_t workspace;     /* bytes of cuBLAS */
    bool workspace_unknown; /* they depend on PyTorch's release */
    struct tuned_kernels tuned;
    bool unknown; /* the pool is larger, since a graph has no plan, or too much ran */
    vec_of(uint32_t)
    blocks; /* by slot of a plan, while it runs */
};

/* Reads the plans of the graphs of an attempt, which are number `first` and those that follow of
 * run->wrapped.graphs. If the program has partitions, the graphs have as many. Returns false with
 * err set when memory ran out or the tape could not be read. */
bool pool_run_read(struct pool_run *pool, struct cudagraph_run *run, struct trace *trace,
                   uint32_t first, bool backward, struct err *err);
/* Runs a partition in a path. Returns false when memory ran out. */
bool pool_run_take(struct pool_run *pool, uint32_t size, uint32_t partition, uint64_t path,
                   enum run_action action);
void pool_run_release(struct pool_run *pool);

#endif
