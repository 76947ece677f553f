/* Solving a relation for a term, deriving its implications, substituting hints.
 *
 * All of it is as weak as PyTorch's on purpose (torch/utils/_sympy/solve.py and get_implications in
 * torch/fx/experimental/symbolic_shapes.py): deriving more would change guards. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_SOLVE_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_SOLVE_H

#include "replay/shape/expr/sym.h"

/* try_solve: returns the relation rewritten so that `thing` alone is its left side, or SYM_NONE
 * when five steps do not suffice (this is no failure; sym_ok() tells the two apart).
 * floordiv_inequality: `a//b >= c` may become `a >= b*c` for a positive b. */
sym_id sym_solve(struct sym_pool *pool, sym_id relation, sym_id thing, bool floordiv_inequality);

/* get_implications: calls back with each condition that a true `condition` decides, and its value.
 */
bool sym_implications(struct sym_pool *pool, sym_id condition,
                      void (*fn)(void *user, sym_id implied, bool value), void *user);

/* Returns whether b divides a for every value, i.e. a/b is known to be an integer. */
bool sym_divides(struct sym_pool *pool, sym_id a, sym_id b);

/* Substitutes each symbol's hint and returns the resulting number or boolean, or SYM_NONE (no
 * failure) when a symbol has no hint, for which hint() returns SYM_NONE. */
typedef sym_id sym_hinter(void *user, sym_id symbol);
sym_id sym_evaluate(struct sym_pool *pool, sym_id e, sym_hinter *hint, void *user);

/* A number: an integer, or a float. */
struct sym_number {
    bool whole;
    union {
        int64_t integer;
        double real;
    };
};
struct sym_value {
    sym_id symbol;
    struct sym_number value;
};
/* value.c: computes an expression (sums, products, natural powers, quotients and remainders by
 * positive divisors, true division, conversions between integers and floats, Max, Min, relations,
 * And, Or, Not) where the symbols have these values; a condition is 0 or 1. Floats are rounded as
 * the operations come. Returns false, which is no failure, when it has other parts or very many,
 * when a number does not fit, and when an exact quotient has a remainder there. */
bool sym_value_at(const struct sym_pool *pool, sym_id e, const struct sym_value *values, uint32_t n,
                  struct sym_number *ret);

#endif
