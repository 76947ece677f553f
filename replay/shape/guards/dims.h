/* The values that the Dims of torch.export would need: DimConstraints of symbolic_shapes.py. Only
 * for the files of replay/shape/guards.
 *
 * Conditions in one symbol become bounds, values and congruences; those in several symbols wait
 * for values. What PyTorch's solver drops (Ne, Or, And, functions other than //, %) is dropped
 * here, too, and so are conditions of a higher degree than 2. A division by an expression in the
 * symbol makes a quotient of polynomials. */
#ifndef SYMTAPE_REPLAY_SHAPE_GUARDS_DIMS_H
#define SYMTAPE_REPLAY_SHAPE_GUARDS_DIMS_H

#include "replay/shape/expr/poly.h"
#include "replay/shape/guards/env_produce.h"

/* base % divisor == 0, where base is linear in its symbol. */
struct congruence {
    sym_id symbol;
    int64_t mul, add, divisor;
};

/* base % divisor == 0 of another form, which PyTorch counts and does not solve. */
struct other_congruence {
    sym_id symbol;
    struct ratio base, divisor;
};

struct dim_symbol {
    sym_id symbol;
    bool has_value, pending; /* pending: its value is not yet substituted in other conditions */
    bool has_lower, has_upper;
    /* The bound is not the root of a condition at an integer: PyTorch cannot print it, and lists
     * the conditions as they were evaluated. */
    bool raw_lower, raw_upper;
    int64_t value, lower, upper;
};

struct dim_condition {
    sym_id symbol, condition;
};

struct dim_equality {
    struct str source;
    sym_id expr;
};

struct dim_solver {
    struct shape_env *env;
    vec_of(struct dim_symbol)
    symbols;
    vec_of(struct congruence)
    congruences;
    vec_of(struct other_congruence)
    other_congruences;
    vec_of(struct dim_condition)
    conditions; /* the inequalities in one symbol */
    vec_of(sym_id)
    others; /* the conditions in several symbols */
    vec_of(struct dim_equality)
    equalities;
    bool unreduced; /* the last rewriting divided by a sum, which sympy does not reduce by itself */
    bool failed;    /* out of memory */
};

void dims_release(struct dim_solver *dims);
/* DimConstraints.add(); sets *trivial for an obvious tautology. */
void dims_add(struct dim_solver *dims, sym_id condition, bool *trivial);
void dims_add_equality(struct dim_solver *dims, struct str source, sym_id expr);
/* DimConstraints.solve() without the printing. Afterwards there is one congruence for each symbol,
 * with mul = 1 and add = -remainder; those that have no such form are dropped. */
void dims_solve(struct dim_solver *dims);

/* prettify_results(): "Suggested fixes:", and values that are required but were not specified. */
void dims_suggest(struct production *p, struct dim_solver *dims, struct buf *out);
bool dims_forces(const struct production *p, const struct dim_solver *dims);

/* Converts e to a polynomial in one symbol. False: e has another form, such as one with // or %. */
bool dims_poly(struct dim_solver *dims, sym_id e, sym_id symbol, struct poly *ret);

#endif
