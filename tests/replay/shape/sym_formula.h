/* Formulas in prefix form, "(FloorDiv (Add s0 1) 2)", as tests/replay/shape/sym_cases.py writes
 * them: built step by step through the constructors. */
#ifndef SYMTAPE_TESTS_REPLAY_SHAPE_SYM_FORMULA_H
#define SYMTAPE_TESTS_REPLAY_SHAPE_SYM_FORMULA_H

#include "replay/shape/expr/sym.h"

/* SYM_NONE, with the pool failed, when sympy would raise. */
sym_id sym_formula(struct sym_pool *pool, struct str text);
/* The answer to one case: form "str", "python", "range" ...; "!" when it fails. */
void sym_answer_case(struct sym_pool *pool, struct str form, struct str formula, struct buf *out);

#endif
