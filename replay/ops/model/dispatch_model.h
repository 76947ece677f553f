/* What is dispatched above FakeTensorMode around a call from outside, beside the call itself:
 * prim.device where C++ asks for a tensor's device, detach where autograd keeps a result. Counted
 * only while a pass of PyTorch's is modelled (replay/attempt/passes.h). */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_DISPATCH_MODEL_H
#define SYMTAPE_REPLAY_OPS_MODEL_DISPATCH_MODEL_H

#include "replay/ops/dispatch/ops.h"
#include "trace/base/vec.h"

enum model_mode {
    MODEL_NOTHING,   /* not counted */
    MODEL_FAKE,      /* fake tensors as Dynamo runs them: views and autograd ask */
    MODEL_FUNCTIONAL /* under FunctionalTensorMode: each new wrapper asks; nothing is in place */
};

/* A storage's part in autograd. */
enum model_grad { GRAD_NONE, GRAD_LEAF, GRAD_LEAF_USED, GRAD_RESULT };

struct dispatch_model {
    enum model_mode mode;
    uint64_t devices, detaches;
    uint64_t symbolic_numbers; /* calls given a SymFloat */
    uint64_t saved_inplace;    /* results that were kept of calls in place */
    vec_of(uint8_t)
    grads; /* enum model_grad, by storage */
    bool functionalizing, failed;
    bool silent; /* what is called was counted before: it leaves behind what it did then */
};

/* From here on; clears the counts. */
void ops_set_above(struct ops *ops, enum model_mode mode);
/* The counts so far. */
const struct dispatch_model *ops_model(const struct ops *ops);
/* An input that requires a gradient, which is tracked or not. */
void ops_model_leaf(struct ops *ops, struct value input, bool tracked);
/* Sizes that depend on data are other symbols from here on. */
void ops_model_next_pass(struct ops *ops);
void ops_model_silent(struct ops *ops, bool on);

/* Inside. */
struct call;
void above_release(struct dispatch_model *above);
void model_devices(struct ops *ops, uint64_t n);
/* After a call that nothing else called. */
void count_above(const struct call *c);
/* The operator that functionalization runs in place of one that writes; NULL: the same. */
struct op *model_functional(struct ops *ops, const struct op *op);

#endif
