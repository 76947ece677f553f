/* softmax, log_softmax and their gradients. */
#include <math.h>

#include "replay/ops/rules/reduce/reduce.h"

static enum dtype softmax_dtype(struct tensor x, bool half_to_float)
{
    return half_to_float ? DTYPE_F32 : dtype_of(x);
}

/* Makes the checks of kernels. Meta functions do not check the dimension. */
static bool check_softmax(struct call *c, struct tensor x, bool log)
{
    if (!eager(c))
        return true;
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    if (c->failed)
        return false;
    bool last = ndim_of(x) == 0 || dim + 1 == ndim_of(x);
    return require(c, dtype_is_float(dtype_of(x)), "NotImplementedError",
                   "\"%ssoftmax_%skernel_impl\" not implemented for '%s'", log ? "log_" : "",
                   last ? "lastdim_" : "", dtype_scalar_name(dtype_of(x)));
}

/* softmax of torch/_meta_registrations.py, whose result is contiguous. */
bool rule_softmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!check_softmax(c, x, false))
        return false;
    return ret_tensor(c, new_contiguous_like(c, x, softmax_dtype(x, arg_bool(c, 2))));
}

/* _log_softmax of torch/_decomp/decompositions.py */
bool rule_log_softmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool half_to_float = arg_bool(c, 2);
    if (!check_softmax(c, x, true))
        return false;
    if (!by_decomposition(c))
        return ret_tensor(c, new_contiguous_like(c, x, softmax_dtype(x, half_to_float)));
    enum dtype dtype = dtype_of(x);
    int64_t dim = arg_int(c, 1);
    struct value dims = ref_dims(c, &dim, 1), keep = value_bool(true);
    x = ref_cast(c, ref_contiguous(c, x), computation_dtype(dtype));
    struct tensor shifted = x;
    if (!guard_or_false(c, eq_int(c, numel(c, x), 0))) {
        struct tensor most = call3(c, "aten.amax.default", value_tensor(x), dims, keep);
        shifted = call2(c, "aten.sub.Tensor", value_tensor(x), value_tensor(most));
    }
    struct tensor sum = call1(c, "aten.exp.default", value_tensor(shifted));
    sum = call3(c, "aten.sum.dim_IntList", value_tensor(sum), dims, keep);
    sum = call1(c, "aten.log.default", value_tensor(sum));
    struct tensor result = call2(c, "aten.sub.Tensor", value_tensor(shifted), value_tensor(sum));
    return ret_tensor(c, half_to_float ? result : ref_cast(c, result, dtype));
}

/* safe_softmax of torch/_decomp/decompositions.py, which turns rows of -inf into 0. */
bool rule_safe_softmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!by_decomposition(c)) {
        wrap_dim(c, arg_int(c, 1), ndim_of(x));
        return ret_tensor(c, new_contiguous_like(c, x, arg_dtype(c, 2, dtype_of(x))));
    }
    count_below(c, 2); /* softmax.int and its dispatch of prim.device */
    struct tensor out = call3(c, "aten.softmax.int", arg(c, 0), arg(c, 1), arg(c, 2));
    struct tensor masked = call2(c, "aten.eq.Scalar", arg(c, 0), value_float(c, -INFINITY));
    struct tensor rows =
        call3(c, "aten.all.dim", value_tensor(masked), arg(c, 1), value_bool(true));
    struct tensor zeros = call1(c, "aten.zeros_like.default", value_tensor(out));
    return ret_tensor(
        c, call3(c, "aten.where.self", value_tensor(rows), value_tensor(zeros), value_tensor(out)));
}

/* _softmax_backward_data (param 0) and _log_softmax_backward_data (param 1) of
 * torch/_decomp/decompositions.py. */
bool rule_softmax_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), output = arg_tensor(c, 1);
    enum dtype dtype = arg_dtype(c, 3, dtype_of(grad));
    wrap_dim(c, arg_int(c, 2), ndim_of(grad));
    if (!by_decomposition(c))
        return ret_tensor(c, new_contiguous_like(c, grad, dtype));
    int64_t dim = arg_int(c, 2);
    struct value dims = ref_dims(c, &dim, 1), keep = value_bool(true);
    enum dtype given = dtype_of(grad);
    grad = ref_cast(c, grad, computation_dtype(given));
    output = ref_cast(c, output, computation_dtype(dtype_of(output)));
    struct tensor weighted = grad, factor = output;
    if (c->param)
        factor = call1(c, "aten.exp.default", value_tensor(output));
    else
        weighted = call2(c, "aten.mul.Tensor", value_tensor(grad), value_tensor(output));
    struct tensor sum = call3(c, "aten.sum.dim_IntList", value_tensor(weighted), dims, keep);
    struct tensor part = call2(c, "aten.mul.Tensor", value_tensor(factor), value_tensor(sum));
    struct tensor result = call2(c, "aten.sub.Tensor", value_tensor(weighted), value_tensor(part));
    if (dtype_of(grad) != dtype)
        result = ref_cast(c, result, dtype);
    return ret_tensor(c, c->param ? result : ref_contiguous(c, result));
}

/* softmax.int (param 0) and log_softmax.int (param 1) of SoftMax.cpp, CompositeImplicitAutograd. */
bool rule_softmax_composite(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const char *name = c->param ? "aten._log_softmax.default" : "aten._softmax.default";
    enum dtype dtype = arg_dtype(c, 2, dtype_of(x));
    bool half_to_float =
        device_of(x).type == DEVICE_CUDA && dtype_of(x) == DTYPE_F16 && dtype == DTYPE_F32;
    if (arg_given(c, 2))
        count_devices(c, 1 + (dtype_of(x) == dtype)); /* toType() has options, and asks in to() */
    if (!half_to_float)
        x = dtype_of(x) == dtype ? x : ref_cast(c, x, dtype);
    return ret_tensor(c, call3(c, name, value_tensor(x), arg(c, 1), value_bool(half_to_float)));
}

/* The results of _masked_softmax and _masked_softmax_backward are like their first argument. */
bool rule_masked_softmax(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

bool rule_masked_scale(struct call *c)
{
    return ret_tensor(c, new_like(c, arg_tensor(c, 0)));
}
