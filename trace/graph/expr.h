/* Symbolic expressions as recorded: a syntax tree, nothing evaluated or simplified.
 *
 * Three spellings occur: sympy's str() (annotations, guards, ranges: "((s53 - 1)//2) + 1"), the
 * C-like "fast" print inside Sym() of some torch versions ("1 + FloorDiv(-1 + s53, 2)"), and
 * sympy's srepr() in .pt2 ("Mul(Integer(2), Symbol('s77', positive=True, integer=True))"). The
 * first two share one grammar, Python's expression grammar over integers, floats, names and calls.
 *
 * Nodes live in a pool and are named by their index; a node's children come before it. */
#ifndef SYMTAPE_TRACE_GRAPH_EXPR_H
#define SYMTAPE_TRACE_GRAPH_EXPR_H

#include "trace/base/err.h"
#include "trace/base/str.h"
#include "trace/base/vec.h"

typedef uint32_t expr_id;
#define EXPR_NONE UINT32_MAX

/* The greatest depth of a tree. Chains (a + b + c) count as well, because they are trees with
 * two children a node. */
enum { EXPR_MAX_DEPTH = 500 };

enum expr_kind {
    EXPR_INT,    /* text holds the digits (any length), with the sign; value holds them when they
                    fit, else fits is false */
    EXPR_FLOAT,  /* text as printed, with the sign */
    EXPR_BOOL,   /* value is 0 or 1 */
    EXPR_SYMBOL, /* text is its name; int_oo, -int_oo, oo, -oo, zoo and nan are symbols too */
    EXPR_STRING, /* text as printed, with its quotes */
    EXPR_OP,     /* text is the operator ("+", "-", "*", "/", "//", "%", "**", "==", "!=", "<",
                    "<=", ">", ">=", "&", "|", "^", "~", "<<", ">>", "neg" for unary minus); two
                    children, or one for "~" and "neg". "and", "or" and "not" are read as "&", "|"
                    and "~" */
    EXPR_CALL,   /* text is the function's name: "Mod", "Max", "CeilToInt", "math.trunc" ... */
    EXPR_TUPLE   /* "(x, c)" inside Piecewise; "(x,)"; a list */
};

struct expr {
    enum expr_kind kind;
    bool fits; /* an EXPR_INT's value */
    struct str text;
    int64_t value;
    uint32_t first_child, n_children; /* in pool->children */
};

struct expr_pool {
    vec_of(struct expr)
    exprs;
    vec_of(expr_id)
    children;
};

/* Parses an expression. `text` must outlive the pool, because the nodes point into it. It
 * returns EXPR_NONE with err set ("offset N: ...", ERR_INPUT) when the text is not an expression
 * or nests deeper than EXPR_MAX_DEPTH. */
expr_id expr_parse(struct expr_pool *pool, struct str text, struct err *err);
/* Parses the expression at the start of the text; *used is the offset of its end, where a ',' or
 * ')' of the caller's grammar may stand. */
expr_id expr_parse_start(struct expr_pool *pool, struct str text, size_t *used, struct err *err);
/* Parses the srepr() spelling into the same kind of tree: Add and Mul become "+" and "*" chains,
 * Pow "**", Integer, Rational ("/" of two integers), Symbol, and relational classes their
 * operators. */
expr_id expr_parse_srepr(struct expr_pool *pool, struct str text, struct err *err);
void expr_pool_release(struct expr_pool *pool);

static inline const struct expr *expr_at(const struct expr_pool *pool, expr_id id)
{
    return &pool->exprs.v[id];
}

static inline expr_id expr_child(const struct expr_pool *pool, expr_id id, uint32_t i)
{
    return pool->children.v[pool->exprs.v[id].first_child + i];
}

struct buf;
/* Prints in Python's syntax, with the parentheses that precedence requires; the result parses to
 * the same tree. */
void expr_print(const struct expr_pool *pool, expr_id id, struct buf *out);
bool expr_equal(const struct expr_pool *a, expr_id x, const struct expr_pool *b, expr_id y);

#endif
