/* The inputs of a joint or inference graph as AOTAutograd got them.
 *
 * The graph is printed after it was traced, with the symbols that are left then. Its first inputs
 * are those of Dynamo's graph, in their order, which was printed before: their metas there still
 * have the symbols that tracing replaced. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_AOT_INPUTS_H
#define SYMTAPE_REPLAY_ATTEMPT_AOT_INPUTS_H

#include "trace/base/vec.h"
#include "trace/graph/graph.h"

struct aot_inputs {
    const struct graph *dynamo; /* NULL: the inputs do not correspond */
    vec_of(node_id)
    nodes; /* by ordinal of the input: the node in Dynamo's graph */
    vec_of(uint32_t)
    ordinals; /* by node of the other graph; UINT32_MAX for other nodes */
};

/* Replaces what is in it. dynamo may be NULL. False: out of memory. */
bool aot_inputs_set(struct aot_inputs *inputs, const struct graph *dynamo, const struct graph *aot);
/* Returns the input of Dynamo's graph whose meta differs from that of this node; NODE_NONE: none.
 */
node_id aot_inputs_find(const struct aot_inputs *inputs, node_id node);
void aot_inputs_release(struct aot_inputs *inputs);

#endif
