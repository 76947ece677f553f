/* Private to this room: expressions over the symbols of a graph. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_SIZE_VALUES_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_SIZE_VALUES_H

#include "profile/calls/cudagraphs/wrapped_graphs.h"

/* `values` has one for each symbol of the graph. */
struct size_values {
    const struct wrapped_graphs *wrapped;
    const struct wrapped_graph *graph;
    const int64_t *values;
};

/* Appends the integer inputs of the graph, which are its key (get_ints() of cudagraphify_impl() in
 * torch/_inductor/cudagraph_trees.py); an expression that cannot be evaluated is 0. */
void size_values_key(const struct size_values *values, struct buf *out);
/* Returns integer input i of the graph. */
int64_t size_values_int(const struct size_values *values, uint32_t i);
/* Returns the bytes of the inputs that each replay copies. */
uint64_t size_values_bytes(const struct size_values *values);
/* Returns the bytes of the tensor inputs that have symbolic sizes, copied or not. */
uint64_t size_values_symbolic(const struct size_values *values);
uint64_t size_values_tensor(const struct size_values *values, uint32_t number);
/* Sets *ret to the elements of the storage of a tensor with these sizes and strides, which are
 * tuples of expressions over the symbols. Returns false when they cannot be evaluated. */
bool size_values_storage(const struct size_values *values, const struct expr_pool *pool,
                         expr_id sizes, expr_id strides, uint64_t *ret);

#endif
