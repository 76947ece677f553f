/* What the Dims of torch.export would have to be: DimConstraints of symbolic_shapes.py. Inside of
 * env_produce.c.
 *
 * Conditions in one symbol become bounds, values and congruences; those in several wait for values.
 * What PyTorch's solver drops (Ne, Or, And, functions other than //, %) is dropped here too, and so
 * are conditions of a higher degree than 2. */
#ifndef SYMTAPE_REPLAY_SHAPE_GUARDS_DIMS_H
#define SYMTAPE_REPLAY_SHAPE_GUARDS_DIMS_H

#include "replay/shape/expr/poly.h"
#include "replay/shape/guards/env_produce.h"

/* base % divisor == 0, of base linear in its symbol. */
struct congruence {
    sym_id symbol;
    int64_t mul, add, divisor;
};

struct dim_symbol {
    sym_id symbol;
    bool has_value, pending; /* pending: its value is not yet put into other conditions */
    bool has_lower, has_upper;
    /* A bound that is no integer's root: PyTorch cannot print it, and tells the conditions as they
     * were asked. */
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
    vec_of(struct dim_condition)
    conditions; /* inequalities in one symbol */
    vec_of(sym_id)
    others; /* in several symbols */
    vec_of(struct dim_equality)
    equalities;
    bool failed; /* out of memory */
};

void dims_release(struct dim_solver *dims);
/* add(): *trivial tells an obvious tautology. */
void dims_add(struct dim_solver *dims, sym_id condition, bool *trivial);
void dims_add_equality(struct dim_solver *dims, struct str source, sym_id expr);
/* solve() but for printing; congruences are one for each symbol afterwards, with mul = 1 and
 * add = -remainder, and those that cannot be put so are gone. */
void dims_solve(struct dim_solver *dims);

/* prettify_results(): "Suggested fixes:", and values that are required though nobody was told. */
void dims_suggest(struct production *p, struct dim_solver *dims, struct buf *out);
bool dims_forces(const struct production *p, const struct dim_solver *dims);

/* In one symbol, // and % by numbers rewritten with the symbol's hint; found congruences are added.
 * False: of another kind. */
bool dims_poly(struct dim_solver *dims, sym_id e, sym_id symbol, struct poly *ret);

#endif
