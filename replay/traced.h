/* What tracing asks of each tensor beside the call itself.
 *
 * make_fx notes the memory format of every result that it gives a proxy (set_meta of
 * torch/fx/experimental/proxy_tensor.py, _extract_tensor_metadata of
 * torch/fx/passes/shape_prop.py): questions about layouts; and each is wrapped for
 * functionalization, which asks whether it is empty. They become guards of joint and inference
 * graphs. Dynamo notes none, and forward and backward graphs are cut out of the joint one. */
#ifndef SYMTAPE_REPLAY_TRACED_H
#define SYMTAPE_REPLAY_TRACED_H

#include "replay/ops/ops.h"
#include "trace/base/vec.h"
#include "trace/graphs.h"

struct traced {
    vec_of(bool)
    asked; /* by meta: an answer is known from then on */
};

bool traces_results(enum graph_kind kind);
/* Asks of a result and of each tensor in it. False: out of memory. */
bool traced_ask(struct traced *traced, struct ops *ops, struct value result);
/* Asks of a view what C++ asks when reshape() looks for its strides. */
void traced_ask_view(struct ops *ops, struct tensor from, struct tensor view);
void traced_release(struct traced *traced);

#endif
