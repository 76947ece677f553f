/* Sequences of different lengths: packed, padded, jagged. */
#include "replay/ops/rules/index/data_dependent.h"
#include "replay/ops/rules/reduce/reduce.h"

/* Gets the total length and the number of steps of a packed sequence. Returns false if the
 * lengths are not known. */
static bool packed_sizes(struct call *c, struct tensor lengths, sym_id *total, sym_id *steps)
{
    int64_t n, value, sum = 0, most = 0;
    if (!values_known(c, lengths) || !plain_numel(c, lengths, &n))
        return false;
    for (int64_t i = 0; i < n; i++) {
        if (!element_int(c, lengths, (uint64_t)i, &value) ||
            __builtin_add_overflow(sum, value, &sum))
            return false;
        most = value > most ? value : most;
    }
    *total = num(c, sum);
    *steps = num(c, most);
    return true;
}

/* _pack_padded_sequence of torch/_subclasses/fake_impls.py and PackedSequence.cpp */
bool rule_pack_padded(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool batch_first = arg_bool(c, 2);
    uint32_t n = ndim_of(x);
    sym_id sizes[TENSOR_MAX_DIM], steps, total;
    if (!require(c, n >= 2, "RuntimeError", "_pack_padded_sequence: input has %u dimensions", n))
        return false;
    bool real = packed_sizes(c, arg_tensor(c, 1), &total, &steps);
    if (!real) {
        if (c->failed || !may_be_dynamic(c))
            return false;
        steps = new_unbacked_size(c, SYM_NONE, SYM_NONE);
    }
    /* The fake implementation drops the batch dimension and keeps the other sizes. */
    uint32_t m = 0;
    sizes[m++] = real ? total : size_of(x, batch_first ? 1 : 0);
    for (uint32_t i = 2; i < n; i++)
        sizes[m++] = size_of(x, i);
    struct tensor both[] = { new_beside(c, x, dtype_of(x), sizes, m),
                             new_tensor(c, real ? DTYPE_I64 : dtype_of(x),
                                        real ? (struct device){ DEVICE_CPU, -1 } : device_of(x),
                                        &steps, 1) };
    return ret_tensors(c, both, 2);
}

/* The result has the sizes of argument 1 and is like argument 0. */
bool rule_pack_padded_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    const sym_id *sizes = NULL;
    uint32_t n = arg_syms(c, 1, &sizes);
    return ret_tensor(c, new_beside(c, grad, dtype_of(grad), sizes, n));
}

static bool one_jagged_dim(struct call *c, uint32_t i, struct tensor *offsets)
{
    const struct tensor *list = NULL;
    uint32_t n = arg_tensors(c, i, &list);
    if (!require(c, n == 1, "AssertionError", "Only one jagged dim is supported, got %u offsets",
                 n))
        return false;
    *offsets = list[0];
    return true;
}

/* meta__jagged_to_padded_dense_forward */
bool rule_jagged_to_padded(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), offsets;
    const sym_id *lengths = NULL;
    sym_id sizes[TENSOR_MAX_DIM + 1];
    uint32_t n = arg_syms(c, 2, &lengths), m = 2;
    if (!one_jagged_dim(c, 1, &offsets) ||
        !require(c, n == 1, "AssertionError",
                 "Only one jagged dim is supported, got %u max_lengths", n))
        return false;
    sizes[0] = sub(c, size_of(offsets, 0), SYM_ID_ONE);
    sizes[1] = lengths[0];
    for (uint32_t i = 1; i < ndim_of(x); i++)
        sizes[m++] = size_of(x, i);
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, m));
}

/* _padded_dense_to_jagged_forward of fake_impls.py */
bool rule_padded_to_jagged(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), offsets;
    sym_id sizes[TENSOR_MAX_DIM], total = arg_sym(c, 2);
    uint32_t m = 1;
    int64_t n, last;
    if (!one_jagged_dim(c, 1, &offsets))
        return false;
    if (!arg_given(c, 2)) {
        if (values_known(c, offsets) && plain_numel(c, offsets, &n) && n > 0 &&
            element_int(c, offsets, (uint64_t)n - 1, &last)) {
            total = num(c, last);
        } else {
            if (!may_be_dynamic(c))
                return false;
            sym_id most = env_replace(c->env, numel(c, x));
            total = new_unbacked_size(c, SYM_ID_ZERO, is_number(c, most) ? most : size_max(c));
        }
    }
    sizes[0] = total;
    for (uint32_t i = 2; i < ndim_of(x); i++)
        sizes[m++] = size_of(x, i);
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, m));
}
