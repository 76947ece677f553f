/* Declarations that the files of repro.py's writer share. Private to the room. */
#ifndef SYMTAPE_MINIFY_REPRO_REPRO_INSIDE_H
#define SYMTAPE_MINIFY_REPRO_REPRO_INSIDE_H

#include "minify/program/program_names.h"
#include "minify/program/python_text.h"
#include "minify/repro/repro.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum { REPRO_COLUMNS = 100 };

/* A graph of the tree as a Python function. */
struct repro_graph {
    const struct graph *graph;
    struct str function; /* "f", "true_graph_0" */
    struct str
        *names;  /* by node: what stands for it, of repro_name(); of quiet ones a number's text */
    bool *used;  /* by node: another node uses it */
    bool *quiet; /* by node: a number that its users spell out */
};

/* A tensor that f takes. */
struct repro_input {
    const struct graph *graph;
    node_id node; /* NODE_NONE: the input only provides a symbol */
    struct str name;
    uint32_t meta;   /* of the graph's pool; META_NONE: one size, that of `symbol` */
    uint32_t symbol; /* by number */
    bool constant;   /* an attribute of the module: nothing of it is marked */
};

struct repro {
    const struct candidate *candidate;
    const struct repro_what *what;
    struct repro_notes *notes;
    struct buf *out;
    struct arena arena;
    struct intern taken; /* names of Python's and of the program */
    struct intern local; /* those of the graph that is being named; of f once all graphs are
                          * named */
    vec_of(struct repro_graph)
    graphs; /* children before who calls them; f last */
    vec_of(struct repro_input)
    inputs;
    int64_t *values;          /* by symbol */
    bool *needed;             /* by symbol: f takes it from a shape */
    struct str *symbol_names; /* by symbol: its variable */
    struct str *spelled; /* by symbol: how the body calls it, "s77" or "x.shape[0]"; "" as yet */
    unsigned nesting;    /* of the expression that is being written */
    bool failed;         /* out of memory */
};

static inline const struct meta *repro_meta(const struct graph *graph, uint32_t meta)
{
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

/* The first that is said stays. */
void repro_cannot(struct repro *r, const char *fmt, ...) ERR_PRINTF(2, 3);
/* The text as a name that is no other's and no word of Python's; .p NULL: out of memory. */
struct str repro_name(struct repro *r, struct str wish, bool global);
/* Refuses a candidate that must not become a program, so that nothing of it is written. The first
 * reason is kept, and replaces that of repro_cannot(). */
void repro_refuse(struct repro *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A variable, or a size of one: r->spelled, r->symbol_names, names. */
void repro_put_name(struct repro *r, struct buf *out, struct str name);
/* The symbol that an expression is; false when it is more, or none. */
bool repro_bare_symbol(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                       uint32_t *symbol);
/* Appends the line, broken after commas where it is too long. Commas are those of brackets. */
void repro_put_line(struct repro *r, struct str line, unsigned indent);

/* repro_names.c: graphs, their names, what uses what, which symbols are needed. */
bool repro_prepare(struct repro *r);
const struct repro_graph *repro_graph_of(const struct repro *r, const struct graph *graph);
const struct graph *repro_child(const struct graph *graph, struct str name);

/* repro_values.c: r->values. False: out of memory. */
bool repro_choose_values(struct repro *r);
/* The first n elements of an input out of whose data f reads symbols; 3 where nothing is known,
 * since those are sizes mostly: 0 would be none. False: it reads nothing. */
bool repro_read_out(const struct repro *r, const struct repro_input *input, uint32_t n,
                    int64_t *values);

/* repro_inputs.c */
bool repro_collect_inputs(struct repro *r);
void repro_put_inputs(struct repro *r);
void repro_put_sizes(struct repro *r); /* "s77, s27 = x.shape[0], y.shape[1]" in f */

/* repro_expr.c: a symbolic expression in Python. False: a symbol that nothing spells. */
bool repro_put_expr(struct repro *r, const struct expr_pool *pool, expr_id expr, struct buf *out);
/* "(a == b)" without its parentheses. */
struct str repro_bare(struct str text);
/* The facts that come before a node, as checks in f; those whose symbols have no spelling are left
 * out. */
void repro_put_guards(struct repro *r, node_id before);

/* repro_call.c */
void repro_put_function(struct repro *r, const struct repro_graph *g, bool root);
struct str repro_device(const struct repro *r, struct str device);

/* repro_check.c: what compiles f, asks and exits. */
void repro_put_check(struct repro *r);
/* Operators that PyTorch alone does not have: repro_cannot(). Targets that are none:
 * repro_refuse(). */
void repro_check_targets(struct repro *r);
/* Prints the imports, besides torch, that f and the code around it, `body`, need: "import math". */
void repro_put_imports(struct repro *r, struct str body);
bool repro_mutates(const struct repro *r);

#endif
