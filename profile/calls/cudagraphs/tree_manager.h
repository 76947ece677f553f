/* What PyTorch's manager of CUDA graph trees does with each run of a wrapped function
 * (CUDAGraphTreeManager._run() in torch/_inductor/cudagraph_trees.py).
 *
 * A function is warmed up when it runs first, in a path of runs in which nothing is recorded any
 * more; it is recorded when it runs next; from then on it is replayed where the runs before it in
 * the path are those that were recorded. A path ends when a compiled function is called anew
 * (a new generation), unless a forward still waits for its backward.
 *
 * A path also ends when all its outputs are dead. Calls do not tell that: outputs are taken to live
 * until the next call. Neither do they tell addresses: those of parameters and buffers are taken to
 * stay the same for a module, and to differ between modules. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_TREE_MANAGER_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_TREE_MANAGER_H

#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

enum run_action {
    RUN_WARM_UP, /* the first run of the function */
    RUN_RECORD,
    RUN_REPLAY,
    RUN_EAGER, /* without a CUDA graph: it is skipped, or the path warms up another function */
};
#define RUN_ACTIONS 4

enum run_mode { MODE_INFERENCE, MODE_FORWARD, MODE_BACKWARD };

struct wrapped_run {
    uint32_t function; /* numbered from 0 in the order of first runs */
    int64_t module;    /* whose parameters it reads; -1: it reads none, or they are not known */
    enum run_mode mode;
    bool mutates; /* it writes to an input that is neither a parameter nor a buffer */
};

/* A recording, which is a child of the recording before it in its path. */
struct graph_node {
    uint32_t parent, function; /* a node, or NODE_ROOT */
    int64_t module;
};
#define NODE_ROOT UINT32_MAX

enum path_state { PATH_NONE, PATH_WARM_UP, PATH_RECORDING, PATH_EXECUTION };

struct tree_manager {
    vec_of(struct graph_node)
    nodes;
    struct hash_index index; /* of nodes */
    vec_of(bool)
    warm; /* by function: it was warmed up */
    vec_of(bool)
    roots; /* by function: it is the root of a path that was recorded */
    enum path_state state;
    uint32_t current;             /* node of the last run of a path that is not warming up */
    uint64_t generation, in_path; /* of the program; of the path's last run */
    uint64_t path;                /* grows when a path ends */
    bool pending;                 /* a forward ran whose backward did not */
};

/* A compiled function is called. */
static inline void tree_manager_call(struct tree_manager *manager)
{
    manager->generation++;
}

/* Runs a wrapped function. Returns false when memory ran out. */
bool tree_manager_run(struct tree_manager *manager, const struct wrapped_run *run,
                      enum run_action *ret);
/* A graph that is not wrapped runs: a backward without a CUDA graph ends the wait for it, too. */
void tree_manager_pass(struct tree_manager *manager, enum run_mode mode);
void tree_manager_release(struct tree_manager *manager);

const char *run_action_name(enum run_action action); /* "warm-up", "record", "replay", "eager" */

#endif
