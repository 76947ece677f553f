/* Evaluates a recorded size under a candidate's hints or other values, as an integer and without a
 * shape engine. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_SIZES_H
#define SYMTAPE_MINIFY_CANDIDATE_SIZES_H

#include "minify/candidate/candidate.h"

/* Returns the symbol of that name, or NULL. */
const struct cand_symbol *cand_symbol_named(const struct candidate *candidate, struct str name);

/* Evaluates an expression. `values` is by symbol; NULL: their hints. Relations are 0 or 1. Returns
 * false for a symbol without a value, a function that is not one of integers, or a result of more
 * than 64 bits. */
bool cand_eval(const struct candidate *candidate, const struct expr_pool *pool, expr_id expr,
               const int64_t *values, int64_t *ret);

#endif
