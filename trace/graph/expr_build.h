/* Functions that build expression trees, which the readers of both spellings share. Private to
 * trace/graph/expr.c, expr_srepr.c and expr_build.c. */
#ifndef SYMTAPE_TRACE_GRAPH_EXPR_BUILD_H
#define SYMTAPE_TRACE_GRAPH_EXPR_BUILD_H

#include "trace/graph/expr.h"

/* Precedences of Python's operators, loosest first (the Python Language Reference, "Operator
 * precedence"). */
enum expr_precedence {
    PRECEDENCE_OR = 1,
    PRECEDENCE_AND,
    PRECEDENCE_NOT,
    PRECEDENCE_COMPARE, /* a < b < c is refused: it would not mean what the tree says */
    PRECEDENCE_BIT_OR,
    PRECEDENCE_BIT_XOR,
    PRECEDENCE_BIT_AND,
    PRECEDENCE_SHIFT,
    PRECEDENCE_SUM,
    PRECEDENCE_PRODUCT,
    PRECEDENCE_UNARY,
    PRECEDENCE_POWER,
    PRECEDENCE_ATOM
};

/* A subtree that was read. */
struct expr_term {
    expr_id id; /* EXPR_NONE: reading failed and the reader's error is set */
    uint32_t depth;
};

#define TERM_NONE ((struct expr_term){ EXPR_NONE, 0 })

struct expr_reader {
    struct expr_pool *pool;
    const char *start, *p, *end;
    struct err *err;
    uint32_t nesting; /* depth of the reader's calls */
    vec_of(struct expr_term)
    open; /* arguments of calls that are not closed yet */
};

struct expr_term expr_fail(struct expr_reader *in, const char *what);
void expr_skip_space(struct expr_reader *in);
/* Reads an identifier, dots included ("math.trunc"), and moves past it; "" when there is none. */
struct str expr_name(struct expr_reader *in);
/* Reads digits with fraction and exponent, whose sign is at `from`, and moves past them. */
struct expr_term expr_number(struct expr_reader *in, const char *from);
/* Returns whether a minus sign before the name makes another symbol: int_oo and -int_oo. */
bool expr_is_infinity(struct str name);
/* Reads 'text' or "text", quotes included, and moves past it; "" when it does not end. */
struct str expr_quoted(struct expr_reader *in);

struct expr_term expr_leaf(struct expr_reader *in, struct expr expr);
struct expr_term expr_op1(struct expr_reader *in, struct str op, struct expr_term a);
struct expr_term expr_op2(struct expr_reader *in, struct str op, struct expr_term a,
                          struct expr_term b);
/* Makes a call or tuple of the arguments that were pushed since `mark`. */
struct expr_term expr_group(struct expr_reader *in, enum expr_kind kind, struct str text,
                            size_t mark);

/* Returns the precedence of an infix or prefix EXPR_OP, for the printer. */
enum expr_precedence expr_op_precedence(struct str op, bool unary);

#endif
