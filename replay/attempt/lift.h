/* One recorded graph by itself, as it was before its own calls specialized it.
 *
 * A log prints a graph at the end of its attempt: a size that a call specialized to 24 is printed
 * as 24 in the inputs, too. A graph that is to be walked alone has to start from its inputs as
 * they were described, so that its calls add the same guards. Lifting walks it once that way, in
 * its own environment, and stores the result of each node, and the recorded guards that no node
 * adds, with the node before which each occurred. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_LIFT_H
#define SYMTAPE_REPLAY_ATTEMPT_LIFT_H

#include "replay/attempt/graph_replay.h"
#include "trace/graphs.h"

struct lifted {
    const struct graph *graph; /* that of the trace */
    enum graph_kind kind;
    struct str *metas;     /* by node of the tree: its lifted annotation, "" for none */
    uint32_t *storages;    /* by node of the tree: equal ones share memory; STORAGE_FRESH: none */
    bool *gradients;       /* by node of the root: an input that requires a gradient (Dynamo's) */
    uint32_t n_tree_nodes; /* the root's nodes come first, then those of its children, in order */
    struct graph_replay_symbol
        *symbols; /* those of the attempt or program, in the order of their records */
    bool *marked; /* by symbol: mark_dynamic */
    uint32_t n_symbols;
    struct graph_replay_guard
        *guards; /* node: one of the root; n_nodes for a guard after all of them */
    uint32_t n_guards;
    struct arena arena;
};

/* ref: index in trace_graphs(). False: it cannot be read or walked. Borrows from the trace. */
bool lift_graph(struct trace *trace, uint32_t ref, struct lifted *ret, struct err *err);
void lifted_release(struct lifted *lifted);

#endif
