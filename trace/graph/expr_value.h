/* Evaluates a recorded expression for integer values of its symbols. */
#ifndef SYMTAPE_TRACE_GRAPH_EXPR_VALUE_H
#define SYMTAPE_TRACE_GRAPH_EXPR_VALUE_H

#include "trace/graph/expr.h"

/* Returns the value of a symbol in *ret; false when it has none. */
typedef bool (*expr_symbol_fn)(void *user, struct str name, int64_t *ret);

/* Evaluates the expression; relations give 0 or 1. It returns false for a symbol without a
 * value, a function that is not one of integers, a division by 0, and results of more than 64
 * bits. */
bool expr_value(const struct expr_pool *pool, expr_id expr, expr_symbol_fn symbol, void *user,
                int64_t *ret);

#endif
