/* FX graphs as recorded.
 *
 * A graph is read from the text that GraphModule.print_readable() writes (torch/fx/graph.py,
 * CodeGen._gen_python_code) or from the JSON of a .pt2 archive (torch/_export/serde), and has one
 * form for both: a list of nodes with arguments, the recorded meta of each result, and the user
 * line it came from. Nothing is evaluated; names, targets and numbers keep their spelling.
 *
 *     struct graph *graph = graph_parse(text, &err);
 *     for (uint32_t i = 0; i < graph->n_nodes; i++)
 *         if (node_is_call(&graph->nodes[i])) puts(node_op_name(...));
 *     graph_free(graph);
 *
 * Graphs nest: a higher-order operator's bodies are graph->children, named by the get_attr that
 * refers to them. Node ids, args and locations are local to one graph; metas and exprs are shared
 * by a whole tree (graph->pool).
 *
 * What the parser does not understand becomes a NODE_OPAQUE with its text, and is counted in
 * graph->n_opaque; it never fails the graph. A text that is no graph at all is an error. */
#ifndef SYMTAPE_TRACE_GRAPH_GRAPH_H
#define SYMTAPE_TRACE_GRAPH_GRAPH_H

#include "trace/base/arena.h"
#include "trace/graph/dtype.h"
#include "trace/graph/expr.h"

typedef uint32_t node_id;
#define NODE_NONE UINT32_MAX

/* The kind of a recorded meta: f32[s77, 64][64, 1]cuda:0, or Sym(s77), or nothing. */
enum meta_kind {
    META_TENSOR,
    META_SYM,  /* sizes[0] is the expression */
    META_OTHER /* another annotation (a Python type, say), see `text` */
};

struct meta {
    enum meta_kind kind;
    enum dtype dtype;
    struct str text;    /* the annotation as printed; annotations with equal texts share one meta */
    struct str wrapper; /* "Parameter", "DTensor" or another class around the tensor; "" */
    struct str placement; /* what follows the tensor inside the wrapper: "S(0)"; "" */
    struct str device;    /* "cuda:0", "cpu"; "" when not printed */
    bool has_strides;
    uint32_t n_sizes;
    const expr_id *sizes, *strides; /* in pool->exprs; strides has n_sizes elements or is NULL */
};

enum arg_kind {
    ARG_NONE,
    ARG_NODE,          /* node */
    ARG_INT,           /* integer; text holds the digits */
    ARG_FLOAT,         /* number; text as printed ("inf", "1e-05") */
    ARG_BOOL,          /* integer 0 or 1 */
    ARG_STRING,        /* text: the value, unescaped */
    ARG_COMPLEX,       /* text as printed: "(1+2j)" */
    ARG_DTYPE,         /* dtype in `integer`; text "torch.float32" */
    ARG_LAYOUT,        /* text "torch.strided" */
    ARG_MEMORY_FORMAT, /* text "torch.channels_last" */
    ARG_DEVICE,        /* text "cuda:0", "cpu", "cuda": without quotes and keywords */
    ARG_LIST,          /* items */
    ARG_TUPLE,         /* items */
    ARG_DICT,          /* items are key, value, key, value ... */
    ARG_SLICE,         /* three items */
    ARG_ELLIPSIS,
    ARG_TARGET, /* an operator or function as a value: text "torch.ops.aten.add.Tensor" */
    ARG_CALL,   /* a repr that looks like a call, namedtuples too: text is its name, items
                   its arguments, with keys for those that have one */
    ARG_GRAPH,  /* a nested graph passed by value (.pt2): text is its name in children */
    ARG_OPAQUE  /* some other repr; text */
};

struct arg {
    enum arg_kind kind;
    struct str key; /* of a keyword argument; "" otherwise */
    struct str text;
    union {
        node_id node;
        int64_t integer; /* ARG_INT beyond 64 bits saturates; `text` is exact */
        double number;
        struct {
            uint32_t first, n; /* in graph->args */
        } items;
    } u;
};

enum node_op {
    NODE_PLACEHOLDER,
    NODE_CALL_FUNCTION, /* target "torch.ops.aten.mm.default", "torch.addmm", "operator.getitem" */
    NODE_CALL_METHOD,   /* target is the method; args[0] is self */
    NODE_CALL_MODULE,   /* target is the path below self */
    NODE_GET_ATTR,      /* target is the path below self */
    NODE_ALIAS,         /* "l_x_ = L_x_": another name for args[0]; no call */
    NODE_OUTPUT,        /* args are the outputs, in order; one only, last */
    NODE_OPAQUE /* `target` has the text of the statement; name and meta are set where it has them
                 */
};

/* How a call was printed, if not as target(args). */
enum node_form {
    FORM_PLAIN,
    FORM_INFIX,    /* a + b;    target operator.add; +, -, ~ with one operand are prefix */
    FORM_GETITEM,  /* a[b];     target operator.getitem */
    FORM_SETITEM,  /* a[b] = c; target operator.setitem */
    FORM_INPLACE,  /* a += b;   target operator.iadd */
    FORM_ATTRIBUTE /* a.b;     target getattr, args a and the string b */
};

#define LOCATION_NONE UINT32_MAX

/* A user line. */
struct location {
    struct str file, function, code;
    struct str annotation; /* "Annotation: {...}" or other metadata before "File:", or "" */
    uint32_t line;
    uint32_t caller; /* the location that called this one (in .pt2), or LOCATION_NONE */
};

/* Returns false for a location that has only an annotation, because no stack trace was found. */
static inline bool location_has_place(const struct location *location)
{
    return location->file.n || location->function.n || location->code.n || location->line;
}

struct node {
    enum node_op op;
    enum node_form form;
    struct str name;
    struct str target;
    struct str descriptor;             /* "PlainAOTInput(idx=0)" of an input; "" */
    uint32_t meta;                     /* index into pool->metas, or META_NONE */
    uint32_t location;                 /* index into graph->locations, or LOCATION_NONE */
    uint32_t first_arg, n_args;        /* in graph->args; keyword ones come last */
    uint32_t first_deleted, n_deleted; /* in graph->deleted: names set to None after this node */
    uint32_t line;                     /* line of the statement in the text, from 1; 0 in .pt2 */
};
#define META_NONE UINT32_MAX

struct graph_pool {
    struct arena arena;
    struct expr_pool exprs;
    struct meta *metas;
    uint32_t n_metas;
};

/* Only graphs of a .pt2 have these. */
struct graph_signature;

struct graph {
    struct str name; /* class name: "GraphModule", "<lambda>", "true_graph_0" */
    struct graph_pool *pool;
    struct node *nodes;
    uint32_t n_nodes;
    struct arg *args;
    uint32_t n_args;
    node_id *deleted;
    uint32_t n_deleted;
    struct location *locations;
    uint32_t n_locations;
    struct str *output_descriptors; /* "PlainAOTOutput(idx=0)" by output; NULL if none printed */
    struct graph **children;
    uint32_t n_children;
    uint32_t n_opaque;  /* of this graph, children not included */
    bool returns_tuple; /* whether the text has "return (x,)", a list or a pytree instead of "return
                           x" */
    const struct graph_signature *signature; /* NULL when read from text */
};

/* Parses a graph and copies the texts that it keeps. graph_free() frees the graph with its
 * children; it may be called for the root only. */
struct graph *graph_parse(struct str text, struct err *err);
void graph_free(struct graph *graph);

/* Returns whether a payload looks like a text that graph_parse() accepts. It is cheap, because
 * it examines only the start. */
bool graph_looks_like(struct str text);

struct buf;
/* Prints the readable text, one statement a line; it parses to an equal graph (unless it has
 * opaque nodes, which are printed unchanged). */
void graph_print(const struct graph *graph, struct buf *out);
/* Prints the arguments of a node as that text has them: "x, [1, 2], dim = 0". */
void graph_print_args(const struct graph *graph, const struct node *node, struct buf *out);
/* Compares structure, names, arguments, metas and locations: everything but spelling, line
 * numbers and what a text does not have (callers of a location, signature). On a difference
 * *node (may be NULL) is the first node of the root that differs, or NODE_NONE when something
 * else does. */
bool graph_equal(const struct graph *a, const struct graph *b, node_id *node);

/* Returns a node's arguments; NULL when it has none. */
static inline const struct arg *node_args(const struct graph *graph, const struct node *node)
{
    return node->n_args ? &graph->args[node->first_arg] : NULL;
}

/* Returns the nested graph of this name, or NULL. */
const struct graph *graph_child(const struct graph *graph, struct str name);
/* Returns whether an expression of the graph or of its nested graphs contains the symbol. */
bool graph_has_symbol(const struct graph *graph, struct str symbol);

/* Returns whether a node is call_function, call_method or call_module; getitem and infix
 * included. */
static inline bool node_is_call(const struct node *node)
{
    return node->op == NODE_CALL_FUNCTION || node->op == NODE_CALL_METHOD ||
           node->op == NODE_CALL_MODULE;
}

/* Appends the name that profiles and dispatch tables use: "aten.mm.default" without
 * "torch.ops.", methods as "Tensor.sum", modules as "module conv1". */
void node_op_name(const struct node *node, struct buf *out);
/* Returns the operator's name without namespace and overload: "add_" for
 * "torch.ops.aten.add_.Tensor", "relu_" for "torch.relu_". */
struct str target_base_name(struct str target);

struct graph_counts {
    uint32_t inputs, nodes, calls, outputs, opaque, graphs;
};
/* Counts inputs and outputs of the root, and everything else over the whole tree, each subgraph
 * once. Aliases are not nodes of the FX graph and are not counted. */
struct graph_counts graph_counts(const struct graph *graph);
/* Returns the number of a meta's sizes that are symbolic. */
uint32_t meta_symbolic_sizes(const struct graph *graph, const struct meta *meta);

#endif
