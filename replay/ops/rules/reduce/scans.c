/* Cumulative sums, products, maxima and minima, and diff. */
#include "replay/ops/rules/reduce/reduce.h"

/* _cumsumprod_common of torch/_refs sums masked elements over an additional dimension. */
static bool scan_symbolic(struct call *c, struct tensor x, uint32_t dim, enum dtype dtype)
{
    uint32_t ndim = ndim_of(x);
    struct tensor spread;
    if (ndim == 0) {
        spread = call2(c, "aten.unsqueeze.default", value_tensor(x), value_number(c, 0));
        return ret_tensor(c, reduce_ref(c, spread, 1, false, dtype));
    }
    spread = call2(c, "aten.unsqueeze.default", value_tensor(x), value_number(c, dim + 1));
    struct value length = value_int(size_of(x, dim));
    struct keyword device = { STR("device"), { .kind = VALUE_DEVICE } };
    device.value.u.device = device_of(x);
    struct keyword pin = { STR("pin_memory"), value_bool(false) };
    struct value range = call_op_keywords(c, "aten.arange.default", &length, 1,
                                          (struct keyword[]){ device, pin }, 2);
    struct tensor column = call2(c, "aten.unsqueeze.default", range, value_number(c, 1));
    struct tensor mask = call2(c, "aten.le.Tensor", value_tensor(column), range);
    for (uint32_t i = dim + 1; i < ndim && !c->failed; i++)
        mask = call2(c, "aten.unsqueeze.default", value_tensor(mask), value_number(c, -1));
    struct tensor masked = call3(c, "aten.where.ScalarOther", value_tensor(mask),
                                 value_tensor(spread), value_number(c, c->param));
    if (c->failed)
        return false;
    masked = ref_convert(c, masked, computation_dtype(dtype));
    struct tensor sum =
        reduce_ref(c, masked, UINT64_C(1) << (dim & 63), false, computation_dtype(dtype));
    return ret_tensor(c, prim_convert(c, sum, dtype));
}

/* param is the value of masked elements: 0 for cumsum, 1 for cumprod. */
bool rule_cumsum(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    enum dtype dtype = arg_dtype(c, 2, dtype_sum(dtype_of(x)));
    if (c->failed)
        return false;
    if (by_reference(c))
        return scan_symbolic(c, x, dim, dtype);
    return ret_tensor(c, new_contiguous_like(c, x, dtype));
}

/* cummax, cummin: cummaxmin of torch/_meta_registrations.py */
bool rule_cummax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    wrap_dim(c, arg_int(c, 1), ndim_of(x));
    struct tensor both[] = { new_contiguous_like(c, x, dtype_of(x)),
                             new_contiguous_like(c, x, DTYPE_I64) };
    return ret_tensors(c, both, 2);
}

bool rule_logcumsumexp(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    wrap_dim(c, arg_int(c, 1), ndim_of(x));
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* diff of ReduceOps.cpp (CompositeImplicitAutograd), which takes differences n times. */
bool rule_diff(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t n = arg_int(c, 1);
    uint32_t dim = wrap_dim(c, arg_int(c, 2), ndim_of(x));
    if (!require(c, ndim_of(x) > 0, "RuntimeError",
                 "diff expects input to be at least one-dimensional") ||
        !require(c, n >= 0, "RuntimeError", "order must be non-negative but got %lld",
                 (long long)n))
        return false;
    if (n == 0) {
        struct tensor copy = call1(c, "aten.zeros_like.default", value_tensor(x));
        if (ops_has_nested_observer(c->ops))
            call2(c, "aten.copy_.default", value_tensor(copy), value_tensor(x));
        return ret_tensor(c, copy);
    }
    if (arg_given(c, 3) || arg_given(c, 4)) {
        struct value *list = values(c, 3);
        uint32_t count = 0;
        if (!list)
            return false;
        if (arg_given(c, 3))
            list[count++] = arg(c, 3);
        list[count++] = arg(c, 0);
        if (arg_given(c, 4))
            list[count++] = arg(c, 4);
        x = call2(c, "aten.cat.default", value_items(VALUE_LIST, list, count),
                  value_number(c, dim));
    }
    if (c->failed)
        return false;
    const char *op = dtype_of(x) == DTYPE_B8 ? "aten.logical_xor.default" : "aten.sub.Tensor";
    if (guard_bool(c, gt(c, num(c, n), size_of(x, dim)))) /* nothing is left before that */
        n = guard_int(c, size_of(x, dim));
    for (int64_t k = 0; k < n && k < 1000 && !c->failed; k++) {
        sym_id length = size_of(x, dim);
        struct value tail[] = { value_tensor(x), value_number(c, dim), value_number(c, 1),
                                value_int(sub(c, length, SYM_ID_ONE)) };
        struct value head[] = { value_tensor(x), value_number(c, dim), value_number(c, 0),
                                value_int(sub(c, length, SYM_ID_ONE)) };
        struct value a = call_op(c, "aten.narrow.default", tail, 4);
        struct value b = call_op(c, "aten.narrow.default", head, 4);
        x = call2(c, op, a, b);
    }
    return ret_tensor(c, x);
}
