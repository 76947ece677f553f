/* Inputs of a joint or inference graph as AOTAutograd got them.
 *
 * The graph is printed after it was traced, with the symbols that are left then. Its inputs are
 * those of Dynamo's graph, and its tangents have the sizes of that graph's outputs; Dynamo's graph
 * was printed before, so that its metas still have the symbols that tracing replaced. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_AOT_INPUTS_H
#define SYMTAPE_REPLAY_ATTEMPT_AOT_INPUTS_H

#include "replay/program/program.h"

struct aot_inputs {
    const struct graph *dynamo; /* NULL: the inputs do not correspond */
    vec_of(node_id)
    inputs; /* of Dynamo's graph */
    vec_of(node_id)
    origins; /* by node of the other graph; NODE_NONE for none */
    vec_of(const struct expected *)
    metas;            /* by number of the meta in Dynamo's graph; NULL for those not read yet */
    uint32_t lookups; /* of symbols that a tangent's sizes lack */
};

/* Reads the index in a descriptor of an input or output, such as "PlainAOTInput(idx=3)" (classes of
 * torch/_functorch/_aot_autograd/descriptors.py). False: it does not begin with `before`, the text
 * up to the index, or no index follows. */
bool aot_index(struct str descriptor, struct str before, uint64_t *ret);

/* Replaces what is in it. dynamo may be NULL. False: out of memory. */
bool aot_inputs_set(struct aot_inputs *inputs, const struct graph *dynamo, const struct graph *aot);
/* Returns the node of Dynamo's graph that has the meta of this node before it was traced: the same
 * input, or the output of which this is the tangent. NODE_NONE: none, or not known. */
node_id aot_inputs_find(const struct aot_inputs *inputs, node_id node);
/* Returns them for each node, or NULL when the inputs do not correspond. */
const node_id *aot_inputs_origins(const struct aot_inputs *inputs);
/* Returns the meta of a node of Dynamo's graph, which arena keeps until the next aot_inputs_set().
 * NULL: out of memory. */
const struct expected *aot_inputs_meta(struct aot_inputs *inputs, struct ops *ops, node_id node,
                                       sym_resolver *symbol, void *user, struct arena *arena);
/* Returns whether AOTAutograd computed other sizes for an output than Dynamo did, as for x[:, n:]
 * where n is 0: the tangent's lack a symbol that was not replaced, as the joint graph still has it
 * as an input. *ok becomes false if memory ran out. */
bool aot_inputs_differ(struct aot_inputs *inputs, struct sym_pool *pool,
                       const struct program *program, const struct expected *before,
                       const struct expected *printed, bool *ok);
void aot_inputs_release(struct aot_inputs *inputs);

#endif
