/* The dispatches above FakeTensorMode around a call from outside, in addition to the call itself:
 * prim.device where C++ gets a tensor's device, detach where autograd saves a result. Counted only
 * while a pass of PyTorch's is modelled (replay/attempt/dispatch_passes.h). */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_DISPATCH_MODEL_H
#define SYMTAPE_REPLAY_OPS_MODEL_DISPATCH_MODEL_H

#include "replay/ops/dispatch/ops.h"
#include "trace/base/vec.h"

enum model_mode {
    MODEL_NOTHING,   /* not counted */
    MODEL_FAKE,      /* fake tensors as Dynamo runs them: views and autograd get devices */
    MODEL_FUNCTIONAL /* under FunctionalTensorMode: each new wrapper gets it; nothing is in place */
};

/* The role of a storage in autograd. */
enum model_grad { GRAD_NONE, GRAD_LEAF, GRAD_LEAF_USED, GRAD_RESULT };

struct dispatch_model {
    enum model_mode mode;
    uint64_t devices, detaches;
    uint64_t symbolic_numbers; /* number of calls with a SymFloat */
    uint64_t saved_inplace;    /* number of results of in-place calls that autograd saved */
    vec_of(uint8_t)
    grads; /* enum model_grad, by storage */
    bool functionalizing, failed;
    bool silent; /* calls were counted before; only their effect on the cache is repeated */
};

/* Starts to count in this mode; clears the counts. */
void ops_set_model_mode(struct ops *ops, enum model_mode mode);
/* Returns the counts so far. */
const struct dispatch_model *ops_model(const struct ops *ops);
/* Marks an input that requires a gradient, which is tracked or not. */
void ops_model_leaf(struct ops *ops, struct value input, bool tracked);
/* Notes that a tensor is an input, made by empty_strided() (torch/_subclasses/meta_utils.py). */
void ops_model_input(struct ops *ops, struct value input);
/* Starts the next pass, in which sizes that depend on data are new symbols. */
void ops_model_next_pass(struct ops *ops);
/* Sets the node at which calls are made, as in struct env_origin: of the replacements only those
 * that were made before it are known then. Graph UINT32_MAX: all are known. `takes_numbers`:
 * numbers among its arguments are those of the graph's inputs, not of a tensor's size(). */
void ops_model_at(struct ops *ops, uint32_t graph, uint32_t node, bool takes_numbers);
/* Returns the number that a size had become by the end of the current node's call, or the size. */
sym_id ops_model_settled(struct ops *ops, sym_id size);
/* Returns the tensor, in its storage, with the numbers that its sizes and strides had become. */
struct tensor ops_model_settle(struct ops *ops, struct tensor x);
/* The size of a storage in bytes, as PyTorch has written it; SYM_NONE: not known. */
sym_id ops_model_form(const struct ops *ops, uint32_t storage);
void ops_model_set_form(struct ops *ops, uint32_t storage, sym_id bytes);
void ops_model_silent(struct ops *ops, bool on);

/* Returns how many of the first results of an operator or function have a gradient; UINT64_MAX:
 * all. base: its name without namespace and overload, "native_layer_norm". */
uint64_t ops_differentiable_results(struct str base);

/* Only for this room. */
struct call;
void dispatch_model_release(struct dispatch_model *dispatch);
void model_devices(struct ops *ops, uint64_t n);
/* Counts the dispatches around a call that no other operator made. */
void count_outside_dispatches(const struct call *c);
/* Returns the operator that functionalization runs in place of one that writes, or NULL if none. */
struct op *model_functional(struct ops *ops, const struct op *op);

#endif
