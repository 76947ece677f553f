#include "profile/calls/cudagraphs/size_values.h"

#include "trace/base/buf.h"
#include "trace/graph/expr_value.h"

static bool value_of(void *user, struct str name, int64_t *ret)
{
    const struct size_values *in = user;
    uint32_t first = 0, end = in->graph->n_symbols;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        int order = str_cmp(in->wrapped->symbols.v[in->graph->first_symbol + middle], name);
        if (order == 0)
            return *ret = in->values[middle], true;
        if (order < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return false;
}

static int64_t dim_value(const struct size_values *in, uint32_t dim)
{
    struct size_values copy = *in;
    expr_id id = in->wrapped->dims.v[dim];
    int64_t ret;
    return id != EXPR_NONE && expr_value(&in->wrapped->exprs, id, value_of, &copy, &ret) ? ret : 0;
}

int64_t size_values_int(const struct size_values *values, uint32_t i)
{
    const struct sized_input *input = &values->wrapped->inputs.v[values->graph->first_int + i];
    return input->n ? dim_value(values, input->first) : 0;
}

void size_values_key(const struct size_values *values, struct buf *out)
{
    for (uint32_t i = 0; i < values->graph->n_ints; i++)
        buf_zigzag(out, size_values_int(values, i));
}

uint64_t size_values_tensor(const struct size_values *in, uint32_t number)
{
    const struct sized_input *tensor = &in->wrapped->inputs.v[in->graph->first_tensor + number];
    uint64_t bytes = tensor->element_bytes;
    for (uint32_t i = 0; i < tensor->n; i++) {
        int64_t size = dim_value(in, tensor->first + i);
        if (__builtin_mul_overflow(bytes, (uint64_t)(size > 0 ? size : 0), &bytes))
            return UINT64_MAX;
    }
    return bytes;
}

uint64_t size_values_bytes(const struct size_values *values)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < values->graph->n_tensors; i++)
        if (__builtin_add_overflow(sum, size_values_tensor(values, i), &sum))
            return UINT64_MAX;
    return sum;
}

uint64_t size_values_symbolic(const struct size_values *values)
{
    const struct wrapped_graph *graph = values->graph;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < graph->n_tensors + graph->n_saved; i++)
        if (values->wrapped->inputs.v[graph->first_tensor + i].symbolic &&
            __builtin_add_overflow(sum, size_values_tensor(values, i), &sum))
            return UINT64_MAX;
    return sum;
}

static bool evaluate(const struct size_values *in, const struct expr_pool *pool, expr_id id,
                     int64_t *ret)
{
    struct size_values copy = *in;
    return expr_value(pool, id, value_of, &copy, ret) && *ret >= 0;
}

bool size_values_storage(const struct size_values *in, const struct expr_pool *pool, expr_id sizes,
                         expr_id strides, uint64_t *ret)
{
    uint64_t elements = 1, step;
    int64_t size, stride;
    if (sizes == EXPR_NONE || strides == EXPR_NONE)
        return false;
    uint32_t n = expr_at(pool, sizes)->n_children;
    if (expr_at(pool, sizes)->kind != EXPR_TUPLE || expr_at(pool, strides)->kind != EXPR_TUPLE ||
        expr_at(pool, strides)->n_children != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (!evaluate(in, pool, expr_child(pool, sizes, i), &size) ||
            !evaluate(in, pool, expr_child(pool, strides, i), &stride))
            return false;
        if (!size)
            return *ret = 0, true;
        if (__builtin_mul_overflow((uint64_t)size - 1, (uint64_t)stride, &step) ||
            __builtin_add_overflow(elements, step, &elements))
            return false;
    }
    return *ret = elements, true;
}
