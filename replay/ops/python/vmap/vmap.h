/* vmap's batched tensors. A call with one runs a batching rule, which calls operators on the whole
 * tensor that the batched one is a slice of (aten/src/ATen/functorch/BatchRules*.cpp). */
#ifndef SYMTAPE_REPLAY_OPS_PYTHON_VMAP_VMAP_H
#define SYMTAPE_REPLAY_OPS_PYTHON_VMAP_VMAP_H

#include "replay/ops/dispatch/context.h"

batched_call vmap_call;

/* Returns the tensor that has one slice of `whole` along `dim` as its meta (makeBatched). */
struct tensor vmap_batch(struct call *c, struct tensor whole, uint32_t dim, int64_t level);
/* Returns the tensor and the dimension that x is batched along at that level, or NULL. */
const struct batched *vmap_batched(const struct ops *ops, struct tensor x, int64_t level);
/* Returns a tensor of which x is one item of the first dimension, contiguous where x is. */
struct tensor vmap_whole(struct call *c, struct tensor x, sym_id batch);

/* --- For batching rules (vmap_rules.c) --- */

/* A call at one level of vmap. Failure is sticky: after it calls do nothing. */
struct vmap_call {
    struct ops *ops;
    struct op *op;
    struct call *call; /* for conditions and new tensors */
    int64_t level;
    sym_id size;        /* of the batch */
    struct value *args; /* bound, in the schema's order */
    enum op_outcome outcome;
    bool first_alone; /* set by a rule: only the first of its results has a batch */
};

/* Runs the rule of v->op. False: it has none for these arguments, and nothing was called. *ret is
 * the result, whose tensors, or of which the first, have their batch dimension at *dim. */
bool vmap_run_rule(struct vmap_call *v, struct value *ret, uint32_t *dim);

#endif
