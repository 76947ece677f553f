/* Declarations that the files of reshaping edits share (shape_edit.c, shape_edit_argument.c,
 * shape_edit_ends.c). Private to the room. */
#ifndef SYMTAPE_MINIFY_EDIT_SHAPE_EDIT_H
#define SYMTAPE_MINIFY_EDIT_SHAPE_EDIT_H

#include "minify/edit/apply.h"
#include "replay/shape/expr/sym.h"

/* An input after the edits. */
struct shape {
    const struct meta *meta; /* before the edits; NULL: neither a tensor nor a number */
    enum dtype dtype;
    struct str device;
    uint32_t n;
    sym_id *size, *stride; /* a number has its value in size[0] */
    bool changed;
};

struct reshaper {
    const struct candidate *whole;
    const struct graph *graph;
    struct sym_pool *pool;
    struct cand_symbol *symbols; /* with capacity for one more per edit */
    uint32_t n_symbols, n_edits;
    struct cand_guard *guards;
    uint32_t n_guards;
    vec_of(struct sym_pair)
    pairs;                /* replacements of symbols and sizes */
    struct shape *shapes; /* by node */
    struct str *metas;    /* by node, for inputs */
    struct str *results;  /* by node, for calls, if all sizes stay the same numbers; else NULL */
    struct arg *args;     /* the graph's arguments, which are changed */
    struct node *nodes;
    const bool *affected; /* by node: of calls, only their metas are computed anew; NULL: all */
    bool failed;          /* out of memory */
    struct arena arena;
};

/* Copies what the edits change; same_sizes: no size becomes another number. */
bool reshape_begin(struct reshaper *r, bool same_sizes);
/* Returns the propagated result. */
struct candidate *reshape_end(struct reshaper *r, struct err *why);
/* Gives a shape contiguous strides. */
void reshape_lay_out(struct reshaper *r, struct shape *shape);

/* The value of EDIT_ARGUMENT: how the argument becomes simpler. */
enum argument_change {
    ARGUMENT_DROP, /* a keyword one or the last one is left out */
    ARGUMENT_ZERO, /* a number becomes 0, a bool False */
    ARGUMENT_ONE,
    ARGUMENT_TWO,
    ARGUMENT_MINUS_ONE,
    ARGUMENT_SHORTER, /* a list loses its last item */
    ARGUMENT_CHANGES
};
bool reshape_argument(struct reshaper *r, const struct edit *edit, struct err *why);
/* Makes an argument refer to another value. */
bool reshape_reference(struct reshaper *r, const struct edit *edit, struct err *why);

#endif
