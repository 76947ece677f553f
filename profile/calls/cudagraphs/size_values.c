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

static uint64_t tensor_bytes(const struct size_values *in, const struct sized_input *tensor)
{
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
    uint64_t sum = values->graph->fixed_bytes;
    for (uint32_t i = 0; i < values->graph->n_tensors; i++) {
        uint32_t input = values->graph->first_tensor + i;
        uint64_t bytes = tensor_bytes(values, &values->wrapped->inputs.v[input]);
        if (__builtin_add_overflow(sum, bytes, &sum))
            return UINT64_MAX;
    }
    return sum;
}
