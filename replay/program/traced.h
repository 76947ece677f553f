/* What tracing asks of each tensor beside the call itself.
 *
 * make_fx notes the memory format of every result that it gives a proxy (set_meta of
 * torch/fx/experimental/proxy_tensor.py, _extract_tensor_metadata of
 * torch/fx/passes/shape_prop.py): questions about layouts; and each is wrapped for
 * functionalization, which asks whether it is empty. They become guards of joint and inference
 * graphs. Dynamo notes none, and forward and backward graphs are cut out of the joint one. */
#ifndef SYMTAPE_REPLAY_PROGRAM_TRACED_H
#define SYMTAPE_REPLAY_PROGRAM_TRACED_H

#include "replay/program/program.h"
#include "trace/base/vec.h"
#include "trace/graphs.h"

struct traced {
    vec_of(bool)
    asked;           /* by meta: an answer is known from then on */
    bool decomposes; /* _unsafe_view is printed as view */
    bool cloned;     /* the last call that made a tensor was a clone to contiguous memory, */
    uint32_t clone;  /* on this storage */
};

bool traces_results(enum graph_kind kind);
/* Asks of a result and of each tensor in it. False: out of memory. */
bool traced_ask(struct traced *traced, struct ops *ops, struct value result);
/* Asks of the view of a copy that reshape() made what C++ asks when it looks for its strides: with
 * the sizes as they were asked for, which the result may write another way. */
void traced_ask_view(struct traced *traced, struct ops *ops, const struct step *step,
                     struct value result);
/* Asks of what a forward or inference graph gives back what Inductor's lowering asks (run_node of
 * torch/_inductor/graph.py): whether it is dense. No node of the graph is who asks. */
void traced_ask_outputs(const struct traced *traced, struct ops *ops,
                        const struct program *program);
void traced_release(struct traced *traced);

#endif
