/* Learning from a relation: isolating a part, what follows, hints put in.
 *
 * All of it is as weak as PyTorch's on purpose (torch/utils/_sympy/solve.py and get_implications in
 * torch/fx/experimental/symbolic_shapes.py): knowing more would change guards. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_SOLVE_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_SOLVE_H

#include "replay/shape/expr/sym.h"

/* try_solve: the relation rewritten so that `thing` alone is its left side, or SYM_NONE (no
 * failure: ask sym_ok) where five steps do not get there. floordiv_inequality: `a//b >= c` may
 * become `a >= b*c` for a positive b. */
sym_id sym_solve(struct sym_pool *pool, sym_id relation, sym_id thing, bool floordiv_inequality);

/* get_implications: each condition that a true `condition` decides, with what it is then. */
bool sym_implications(struct sym_pool *pool, sym_id condition,
                      void (*fn)(void *user, sym_id implied, bool value), void *user);

/* b divides a for every value: a/b is known to be whole. */
bool sym_divides(struct sym_pool *pool, sym_id a, sym_id b);

/* The number or boolean that e is with each symbol's hint put in; SYM_NONE (no failure) where a
 * symbol has none. hint returns SYM_NONE for that. */
typedef sym_id sym_hinter(void *user, sym_id symbol);
sym_id sym_evaluate(struct sym_pool *pool, sym_id e, sym_hinter *hint, void *user);

#endif
