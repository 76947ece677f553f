/* The storages of a graph's tensors: which node allocates each, how large it is at the recorded
 * hints, and from which node to which it is alive. A storage is what tensors share that are views
 * of each other (torch/csrc/api: torch.UntypedStorage). PyTorch's own estimator counts in the same
 * way (torch/_inductor/fx_passes/memory_estimator.py, GraphAliasTracker). */
#ifndef SYMTAPE_PROFILE_MODEL_GRAPH_STORAGES_H
#define SYMTAPE_PROFILE_MODEL_GRAPH_STORAGES_H

#include "profile/model/build.h"

/* Finds the storages of many graphs of one trace; caches what it looked up. */
struct storage_finder {
    const struct build_input *in;
    struct intern ops; /* the names of operators */
    vec_of(signed char)
    aliases;               /* by name: 1 if it returns memory of its arguments, 0 if not */
    struct intern symbols; /* of the current attempt */
    vec_of(int64_t)
    hints;             /* by symbol */
    uint32_t hints_of; /* the attempt, or TRACE_NONE */
    struct buf name;
};

/* Begins with another trace; a finder is all zeros before the first. */
void storage_finder_start(struct storage_finder *finder, const struct build_input *in);
void storage_finder_release(struct storage_finder *finder);

/* The storages of one graph. Arrays are indexed by node. A storage is named by its owner: the node
 * that allocates it, or the input that brings it. */
struct graph_storages {
    const struct graph *graph; /* borrowed */
    uint32_t *owner;           /* of the node's memory: itself, or the base of a view; NODE_NONE */
    int64_t *bytes;            /* of owners; 0 for others */
    uint32_t *
        first; /* of owners: the call that allocates it, which is before the getitem that owns it */
    uint32_t *last;     /* of owners: the last node that uses it */
    bool *released;     /* of inputs of a backward graph: its forward graph allocated the storage */
    uint32_t unknown;   /* owners whose sizes are not known from the hints; their bytes are 0 */
    int64_t kept_bytes; /* of a backward graph: what its forward graph returns and it does not use;
                           saturated */
};

/* Finds them. `forward` has the storages of the forward graph if `graph` is its backward graph,
 * else it is NULL: inputs that have the name of a node of the forward graph are that node's result,
 * so that views that were saved share their storage. Returns false when memory ran out. */
bool graph_storages_find(struct storage_finder *finder, const struct graph *graph, uint32_t attempt,
                         const struct graph_storages *forward, struct graph_storages *ret);
void graph_storages_release(struct graph_storages *storages);

/* Whether a node is an input of the graph, which exists in any case, and whether it owns a storage.
 */
bool storage_is_input(const struct graph *graph, uint32_t node);
bool storage_owns(const struct graph_storages *storages, uint32_t node);

#endif
