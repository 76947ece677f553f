/* Private to this room: what is found in one graph while it is read (wrapped_graphs.c). */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_WRAP_GRAPH_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_WRAP_GRAPH_H

#include "profile/calls/cudagraphs/wrapped_graphs.h"

/* What a graph's operators allow. */
struct graph_limits {
    enum skip_reason skip; /* of the graph as a whole */
    uint32_t node;         /* that is to blame; NODE_NONE */
    bool mutates;          /* an input is written to that is not in `keeps` */
    uint32_t n_partitions; /* of what can be recorded; 0: nothing can */
};

/* Finds them. `keeps` has an element for each node, true for inputs whose address stays. Returns
 * false when memory ran out. */
bool graph_limits_find(const struct graph *graph, const bool *keeps,
                       const struct wrap_settings *settings, struct graph_limits *ret);

#endif
