/* Conditions that tracing evaluates for each tensor beside the call itself.
 *
 * make_fx stores the memory format of every result that it gives a proxy (set_meta of
 * torch/fx/experimental/proxy_tensor.py, _extract_tensor_metadata of
 * torch/fx/passes/shape_prop.py), which evaluates conditions on layouts. Each result is also
 * wrapped for functionalization, which evaluates whether it is empty. These become guards of
 * joint and inference graphs. Dynamo stores no memory format, and forward and backward graphs are
 * cut out of the joint graph. */
#ifndef SYMTAPE_REPLAY_PROGRAM_TRACED_H
#define SYMTAPE_REPLAY_PROGRAM_TRACED_H

#include "replay/program/program.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/graphs.h"

/* How autograd's formula of cat() cuts its gradient. */
struct cat_part {
    sym_id start, end;
};
struct cat_cut {
    const struct program *program; /* NULL: none */
    node_id gradient;
    uint32_t last; /* the last step that cuts the gradient */
    uint32_t next; /* the first part that has not been evaluated */
    int64_t dim;
    vec_of(struct cat_part)
    parts; /* none: the gradient is not that of a cat() */
};

struct traced {
    vec_of(bool)
    evaluated;           /* by meta: its conditions were evaluated */
    struct intern early; /* layouts of Dynamo's results that were evaluated in place of those of the
                            graph that AOTAutograd traces */
    bool decomposes;     /* _unsafe_view is printed as view */
    bool unwrapped;      /* results are not functionalized: torch.export traces */
    bool joint;          /* the graph has a backward part, */
    bool backward;       /* which has begun: a tangent or a saved result was used */
    bool cloned;         /* the last call that created a tensor was a clone to contiguous memory, */
    uint32_t clone;      /* with this storage */
    struct cat_cut cut;  /* of the last gradient of which a part was taken */
};

bool traces_results(enum graph_kind kind);
/* Returns whether a node is a tangent of a joint graph. */
bool is_tangent(const struct node *node);
/* Evaluates the conditions for a result and each tensor in it. False: out of memory. */
bool traced_evaluate(struct traced *traced, struct ops *ops, struct value result);
/* For a view that reshape() made of a copy, or in the backward part of a joint graph: evaluates the
 * conditions by which C++ determines its strides, with the sizes as they were passed, which the
 * result may write in another way. */
void traced_evaluate_view(struct traced *traced, struct ops *ops, const struct program *program,
                          const struct step *step, struct value result);
/* For a part of the gradient of a cat() in the backward part of a joint graph: evaluates the
 * conditions for the parts that no one uses, too, which are no nodes of the graph. Autograd cuts
 * the gradient for every tensor that was concatenated (cat_tensors_backward of
 * torch/csrc/autograd/FunctionsManual.cpp), in their order. False: out of memory. */
bool traced_evaluate_unused(struct traced *traced, struct ops *ops, const struct program *program,
                            const struct step *step, struct value result);
/* Evaluates what AOTAutograd evaluates beside the calls when it first runs Dynamo's graph, before
 * it traces the joint or inference graph (run_functionalized_fw_and_collect_metadata of
 * torch/_functorch/_aot_autograd/collect_metadata_analysis.py): results are wrapped for
 * functionalization, each output that gets a tangent is viewed with its own sizes
 * (view_avoid_dupes_with_primals), and its memory format decides that of the tangent
 * (coerce_tangent_and_suggest_memory_format). Where AOTAutograd makes a symbolic number a constant,
 * which the graph that it traces prints in place of the symbol, the layouts of Dynamo's results are
 * evaluated instead, as tracing does before the symbol is gone. origins: by node of the other
 * graph, the node of Dynamo's graph that has the meta of this input or tangent, or NODE_NONE; NULL
 * when nothing is known of them. False: out of memory. */
bool traced_evaluate_metadata(struct traced *traced, struct ops *ops, const struct program *dynamo,
                              const struct graph *aot, const node_id *origins);
/* Sets *ret to whether a call of the graph that AOTAutograd traces has a result whose layout was
 * evaluated instead: PyTorch asks about it once, and so did the call of Dynamo's graph. False: out
 * of memory. */
bool traced_was_early(const struct traced *traced, struct ops *ops, const struct expected *result,
                      bool *ret);
/* Evaluates the conditions of Inductor's lowering for the outputs of a forward or inference graph
 * (run_node of torch/_inductor/graph.py): whether they are dense. The origin is no node of the
 * graph. */
void traced_evaluate_outputs(const struct traced *traced, struct ops *ops,
                             const struct program *program);
void traced_release(struct traced *traced);

#endif
