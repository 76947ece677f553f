/* What a graph read from a .pt2 has in addition to its nodes: which input is a parameter, which
 * output mutates a buffer, the ranges and hints of its symbols, the module that each node belongs
 * to.
 *
 * The words are those of torch/_export/serde/schema.py (GraphSignature, RangeConstraint,
 * ModuleCallEntry) and torch/export/graph_signature.py. All of it belongs to the graph's pool.
 *
 * The root graph has all fields; a nested graph (a branch of cond, say) has only `origins`. */
#ifndef SYMTAPE_TRACE_PT2_SIGNATURE_H
#define SYMTAPE_TRACE_PT2_SIGNATURE_H

#include "trace/graph/graph.h"

enum input_kind {
    INPUT_USER,
    INPUT_PARAMETER,
    INPUT_BUFFER,
    INPUT_TENSOR_CONSTANT,
    INPUT_CUSTOM_OBJ,
    INPUT_TOKEN,
    INPUT_CONSTANT, /* a number, string, bool or None that the export specialized on; see value */
    INPUT_OTHER     /* a kind that this reader does not know */
};

/* inputs[i] describes the graph's i-th placeholder, which is node i. */
struct input_spec {
    enum input_kind kind;
    struct str name;   /* of the placeholder: "p_gate_weight" */
    struct str target; /* what is bound to it: "gate.weight", a custom object; "" for user inputs */
    bool persistent;   /* a buffer that is part of the state dict */
    struct str source; /* the user's value, as guards name it: "L['x']", "L['pair'][0]"; "" for
                          everything else */
    struct arg value;  /* of INPUT_CONSTANT: ARG_NONE, _INT, _FLOAT, _BOOL or _STRING */
};

enum output_kind {
    OUTPUT_USER,
    OUTPUT_LOSS,
    OUTPUT_BUFFER_MUTATION,
    OUTPUT_PARAMETER_MUTATION,
    OUTPUT_USER_INPUT_MUTATION,
    OUTPUT_GRADIENT_TO_PARAMETER,
    OUTPUT_GRADIENT_TO_USER_INPUT,
    OUTPUT_TOKEN,
    OUTPUT_OTHER
};

/* outputs[i] describes the i-th argument of the output node. */
struct output_spec {
    enum output_kind kind;
    struct str name;   /* of the node that is returned; "" for a constant */
    struct str target; /* buffer, parameter or user input that receives it; "" otherwise */
    struct str path;   /* its place in the value of forward(): "output[0]", "output.logits"; "" for
                          everything else, and when the pytree does not name it */
};

/* min <= symbol <= max. */
struct range_constraint {
    struct str symbol;
    bool has_min, has_max; /* false: unbounded on that side */
    int64_t min, max;
};

/* A symbol that occurs in a size, stride, offset or Sym value. */
struct program_symbol {
    struct str name;  /* "s77", "u0" */
    struct str hint;  /* its value at export time, as printed; "" when not recorded */
    struct str srepr; /* "Symbol('s77', positive=True, integer=True)"; "" where str() was used */
};

/* A module call whose signature the export preserved; the root's fqn is "". */
struct module_call {
    struct str fqn;
    struct str in_spec, out_spec; /* pytree specs as JSON text; "" when none was recorded */
    const struct str *arg_names;  /* of forward() */
    uint32_t n_arg_names;
};

/* What a node of a program has in addition to struct node. */
struct node_origin {
    struct str module_stack; /* nn_module_stack: "key,path,class;...", outermost first; "" */
    struct str torch_fn;     /* "linear_1;builtin_function_or_method.linear"; "" */
    struct str custom;       /* from torch.fx.traceback.annotate, JSON text; "" */
    bool requires_grad;      /* of a tensor result */
    expr_id storage_offset;  /* in pool->exprs; EXPR_NONE when 0 or unknown */
};

struct graph_signature {
    const struct input_spec *inputs;
    uint32_t n_inputs;
    const struct output_spec *outputs;
    uint32_t n_outputs;
    const struct range_constraint *ranges;
    uint32_t n_ranges;
    const struct program_symbol *symbols; /* in the order of first use */
    uint32_t n_symbols;
    const struct module_call *modules;
    uint32_t n_modules;
    const struct str *guards; /* guards_code: Python expressions over L['name'] */
    uint32_t n_guards;
    const struct node_origin *origins; /* by node */

    int64_t schema_major, schema_minor; /* of serde; 0.0 when absent */
    int64_t opset;                      /* of aten; -1 when absent */
    struct str torch_version;           /* "2.11.0+cu130"; "" when absent, which means <= 2.4 */
    struct str verifiers;               /* dialects, by commas: "ATEN", "TRAINING" */
    uint32_t n_renamed; /* number of names of nodes and inputs that are not Python's and were
                           replaced, in the root and its children */
};

const char *input_kind_name(enum input_kind kind);   /* "parameter", as in the archive */
const char *output_kind_name(enum output_kind kind); /* "buffer_mutation" */

#endif
