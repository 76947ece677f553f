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
    struct str *names;   /* by node: its name from repro_name(), or the text of a quiet
                            number */
    bool *used;          /* by node: another node uses it */
    bool *quiet;         /* by node: a number that its users print */
};

/* A tensor that f takes. */
struct repro_input {
    const struct graph *graph;
    node_id node; /* NODE_NONE: the input only provides a symbol */
    struct str name;
    uint32_t meta;   /* of the graph's pool; META_NONE: one size, that of `symbol` */
    uint32_t symbol; /* by number */
    bool constant;   /* an attribute of the module: none of its sizes is marked */
    bool item;       /* a tensor of one number, whose item() is the symbol */
};

struct repro {
    const struct candidate *candidate;
    const struct repro_what *what;
    struct repro_notes *notes;
    struct buf *out;
    struct arena arena;
    struct intern taken; /* names of Python and of the program */
    struct intern local; /* names of the current graph; of f once all graphs are named */
    vec_of(struct repro_graph)
    graphs; /* subgraphs before their callers; f last */
    vec_of(struct repro_input)
    inputs;
    int64_t *values;          /* by symbol */
    bool *needed;             /* by symbol: f takes it from a shape */
    struct str *symbol_names; /* by symbol: its variable */
    struct str *spelled;      /* by symbol: its text in the body, "s77" or "x.shape[0]"; or "" */
    unsigned nesting;         /* of the expression that is being written */
    bool failed;              /* out of memory */
};

static inline const struct meta *repro_meta(const struct graph *graph, uint32_t meta)
{
    return meta == META_NONE ? NULL : &graph->pool->metas[meta];
}

/* Notes why PyTorch alone cannot run the program. The first reason is kept. */
void repro_cannot(struct repro *r, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Returns the text as a free name that is no keyword of Python; .p NULL: out of memory. */
struct str repro_name(struct repro *r, struct str wish, bool global);
/* Refuses a candidate, so that nothing of it is written. The first reason is kept, and replaces
 * that of repro_cannot(). */
void repro_refuse(struct repro *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints a variable, or a size of one: from r->spelled, r->symbol_names or names. */
void repro_put_name(struct repro *r, struct buf *out, struct str name);
/* Whether torch.export traces f: the program says by `shapes` which sizes are symbolic, not by
 * marks. */
bool repro_exports(const struct repro *r);
/* Whether the range of a symbol is one that the user gave it. */
bool repro_has_range(const struct cand_symbol *s);
/* Returns the symbol that is a size of an input, or NULL if that is another expression. */
const struct cand_symbol *repro_symbol_of_dim(const struct repro *r,
                                              const struct repro_input *input, uint32_t dim);
/* Finds the symbol if an expression is nothing but a symbol; returns false otherwise. */
bool repro_bare_symbol(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                       uint32_t *symbol);
/* Appends the line, broken after commas in brackets if it is too long. */
void repro_put_line(struct repro *r, struct str line, unsigned indent);

/* repro_names.c: finds graphs and their names, the uses of nodes, and the symbols that are
 * needed. */
bool repro_prepare(struct repro *r);
const struct repro_graph *repro_graph_of(const struct repro *r, const struct graph *graph);

/* repro_values.c: fills r->values. Returns false when memory ran out. */
bool repro_choose_values(struct repro *r);
/* Computes the first n elements of an input from whose data f reads symbols; unknown ones are 3,
 * since most are sizes, which should not be 0. Returns false if f reads none. */
bool repro_read_out(const struct repro *r, const struct repro_input *input, uint32_t n,
                    int64_t *values);

/* Whether a call reads the number that a tensor has. */
bool repro_reads_item(const struct node *node);

/* repro_inputs.c */
bool repro_collect_inputs(struct repro *r);
void repro_put_inputs(struct repro *r);
void repro_put_sizes(struct repro *r); /* "s77, s27 = x.shape[0], y.shape[1]" in f */

/* repro_expr.c: prints a symbolic expression as Python. Returns false if a symbol has no
 * spelling. */
bool repro_put_expr(struct repro *r, const struct expr_pool *pool, expr_id expr, struct buf *out);
/* Returns "(a == b)" without its parentheses. */
struct str repro_bare(struct str text);
/* Prints the guards before a node as checks in f; those with symbols that have no spelling are left
 * out. */
void repro_put_guards(struct repro *r, node_id before);

/* repro_call.c */
void repro_put_function(struct repro *r, const struct repro_graph *g, bool root);
struct str repro_device(const struct repro *r, struct str device);

/* repro_check.c: prints the code that compiles f, checks and exits. */
void repro_put_check(struct repro *r);
/* Calls repro_cannot() for operators that PyTorch alone does not have, and repro_refuse() for
 * invalid targets. */
void repro_check_targets(struct repro *r);
/* Prints the imports, besides torch, that f and the code around it, `body`, need: "import math". */
void repro_put_imports(struct repro *r, struct str body);
bool repro_mutates(const struct repro *r);

#endif
