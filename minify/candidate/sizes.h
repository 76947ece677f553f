/* Evaluates a recorded size under a candidate's hints or other values, as a plain integer and
 * without a shape engine. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_SIZES_H
#define SYMTAPE_MINIFY_CANDIDATE_SIZES_H

#include "minify/candidate/candidate.h"

/* NULL: no symbol of that name. */
const struct cand_symbol *cand_symbol_named(const struct candidate *candidate, struct str name);

/* values: by symbol; NULL: their hints. Relations give 0 or 1. False: a symbol without a value, a
 * function that is not one of integers, or more than 64 bits. */
bool cand_eval(const struct candidate *candidate, const struct expr_pool *pool, expr_id expr,
               const int64_t *values, int64_t *ret);

#endif
