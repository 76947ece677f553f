/* where, masked_fill and clamp. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <stdio.h>

/* --- where --- */

bool rule_where(struct call *c)
{
    struct value x[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    struct tensor condition = arg_tensor(c, 0);
    bool truth = condition.meta->dtype == DTYPE_B8;
    if (eager(c)) {
        if (!truth && condition.meta->dtype != DTYPE_U8)
            return refuse(c, "RuntimeError",
                          "where expected condition to be a boolean tensor, but got a tensor with "
                          "dtype %s",
                          dtype_scalar_name(condition.meta->dtype));
        return ret_tensor(c, iterator_result(c, x, 3, result_type(c, x + 1, 2)));
    }
    enum dtype dtype;
    c->in_kernel = !c->symbolic;
    elementwise_dtypes(c, x + 1, 2, PROMOTE_NONE, NULL, &dtype);
    for (uint32_t i = 1; i < 3; i++)
        x[i] = maybe_convert(c, x[i], dtype);
    if (!require(c, truth, "RuntimeError", "expected predicate to be bool, got %s",
                 dtype_python_name(condition.meta->dtype)) ||
        !maybe_broadcast(c, x, 3))
        return false;
    struct value out = call_op(c, "prims.where.default", x, 3);
    return ret_value(c, maybe_convert(c, out, dtype));
}

/* prims.where: the result has the dtype of its second and third arguments. Where they differ, it
 * is that of the one that is not a CPU scalar (for instance a number). */
bool rule_prim_where(struct call *c)
{
    struct tensor a = arg_tensor(c, 1), b = arg_tensor(c, 2);
    struct value number = arg(c, 1);
    enum dtype dtype;
    if (a.meta && b.meta && !in_kernel(c) && !a.meta->ndim && a.meta->device.type == DEVICE_CPU)
        a = b;
    elementwise_dtypes(c, &number, 1, PROMOTE_NONE, NULL, &dtype);
    if (a.meta || b.meta)
        dtype = a.meta ? a.meta->dtype : b.meta->dtype;
    return ret_tensor(c,
                      count_made(c, "aten.empty_permuted", prim_elementwise(c, c->args, 3, dtype)));
}

/* where.Scalar, .ScalarSelf, .ScalarOther: numbers become 0-dim tensors of the common dtype. */
bool rule_where_number(struct call *c)
{
    if (c->ops->depth && !in_kernel(c) &&
        !eager(c)) /* Below autograd, FakeTensorMode intercepts the call itself. */
        return rule_where(c);
    struct value x[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    enum dtype dtype = result_type(c, x + 1, 2);
    struct tensor like = value_is_tensor(x[1])   ? x[1].u.tensor
                         : value_is_tensor(x[2]) ? x[2].u.tensor
                                                 : arg_tensor(c, 0);
    struct keyword keywords[] = {
        { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = like.meta->device } },
    };
    for (uint32_t i = 1; i < 3 && !c->failed; i++) {
        if (!value_is_tensor(x[i]))
            x[i] = call_op_keywords(c, "aten.scalar_tensor.default", &x[i], 1, keywords, 2);
        else if (x[i].u.tensor.meta->dtype != dtype)
            x[i] = call_op_keywords(c, "aten._to_copy.default", &x[i], 1, keywords, 1);
    }
    return ret_value(c, call_op(c, "aten.where.self", x, 3));
}

/* --- masked_fill --- */

static bool check_masked_fill(struct call *c)
{
    struct tensor self = arg_tensor(c, 0), mask = arg_tensor(c, 1), value = arg_tensor(c, 2);
    if (value.meta && value.meta->ndim)
        return refuse(c, "RuntimeError",
                      "masked_fill_ only supports a 0-dimensional value tensor, but got tensor "
                      "with %u dimension(s).",
                      value.meta->ndim);
    if (mask.meta->dtype != DTYPE_B8 && eager(c))
        return refuse(c, "RuntimeError",
                      "masked_fill_ only supports boolean masks, but got mask with dtype %s",
                      dtype_cpp_name(mask.meta->dtype));
    bool complex =
        arg(c, 2).kind == VALUE_COMPLEX || (value.meta && dtype_is_complex(value.meta->dtype));
    if (complex && !dtype_is_complex(self.meta->dtype)) {
        const char *type = dtype_is_float(self.meta->dtype) ? "float" : "int64_t";
        return refuse(c, "RuntimeError", "value cannot be converted to type %s without overflow",
                      type);
    }
    return true;
}

bool rule_masked_fill(struct call *c)
{
    struct tensor self = arg_tensor(c, 0);
    struct value value = arg(c, 2);
    if (!check_masked_fill(c))
        return false;
    if (eager(c)) {
        struct tensor x[] = { arg_tensor(c, 1), self };
        sym_id shape[TENSOR_MAX_DIM];
        uint32_t n;
        if (!broadcast_plain(c, x, 2, shape, &n))
            return false;
        return ret_tensor(c, new_tensor(c, self.meta->dtype, self.meta->device, shape, n));
    }
    c->in_kernel = !c->symbolic;
    if (is_in_place(c))
        return ret_broadcast_in_place(c);
    value = maybe_convert(c, value, self.meta->dtype);
    struct value x[] = { arg(c, 1), value, arg(c, 0) };
    struct tensor out =
        call_tensor(c, value_is_tensor(value) ? "aten.where.self" : "aten.where.ScalarSelf", x, 3);
    if (c->failed || is_contiguous(c, out, FORMAT_CONTIGUOUS))
        return ret_pointwise(c, value_tensor(out));
    struct keyword keyword = {
        STR("memory_format"), { .kind = VALUE_MEMORY_FORMAT, .u.memory_format = FORMAT_CONTIGUOUS }
    };
    struct value args[] = { value_tensor(out) };
    return ret_pointwise(c, call_op_keywords(c, "aten.clone.default", args, 1, &keyword, 1));
}

/* --- clamp --- */

/* Applies one bound of refs.clamp, which keeps NaN. */
static struct value bounded(struct call *c, struct value a, struct value bound, const char *op)
{
    char name[24];
    struct value nan = call_op(c, "aten.isnan.default", &a, 1), sides[] = { a, bound };
    snprintf(name, sizeof name, "aten.%s.%s", op, value_is_tensor(bound) ? "Tensor" : "Scalar");
    struct value kept[] = { call_op(c, name, sides, 2), nan };
    struct value x[] = { call_op(c, "aten.bitwise_or.Tensor", kept, 2), a, bound };
    return call_op(c, value_is_tensor(bound) ? "aten.where.self" : "aten.where.ScalarOther", x, 3);
}

static struct value clamp_with_symbols(struct call *c, const struct value *operands)
{
    struct value x[3] = { operands[0], operands[1], operands[2] };
    enum dtype compute, result;
    c->in_kernel = !c->symbolic;
    elementwise_dtypes(c, x, 3, PROMOTE_DEFAULT, &compute, &result);
    for (uint32_t i = 0; i < 3; i++)
        if (x[i].kind != VALUE_NONE)
            x[i] = maybe_convert(c, x[i], compute);
    if (x[1].kind != VALUE_NONE && !c->failed)
        x[0] = bounded(c, x[0], x[1], "ge");
    if (x[2].kind != VALUE_NONE && !c->failed)
        x[0] = bounded(c, x[0], x[2], "le");
    return c->failed ? value_none() : maybe_convert(c, x[0], result);
}

/* Bounds that are tensors are operands of TensorIterator, numbers are not. */
static struct tensor clamp_plain(struct call *c, const struct value *operands)
{
    if (!check_refusals(c))
        return (struct tensor){ 0 };
    struct value tensors[3];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (value_is_tensor(operands[i]))
            tensors[n++] = operands[i];
    return iterator_result(c, tensors, n, result_type(c, operands, 3));
}

bool rule_clamp(struct call *c)
{
    struct value x[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    if (x[1].kind == VALUE_NONE && x[2].kind == VALUE_NONE)
        return refuse(c, !eager(c) ? "ValueError" : "RuntimeError",
                      !eager(c) ? "clamp called but both min and max are none!"
                                : "torch.clamp: At least one of 'min' or 'max' must not be None");
    return !eager(c) ? ret_pointwise(c, clamp_with_symbols(c, x))
                     : ret_tensor(c, clamp_plain(c, x));
}

static bool one_bound(struct call *c, uint32_t at)
{
    struct value x[3] = { arg(c, 0), value_none(), value_none() };
    x[at] = arg(c, 1);
    if (eager(c))
        return ret_tensor(c, clamp_plain(c, x));
    return ret_pointwise(
        c,
        call_op(c, value_is_tensor(x[at]) ? "aten.clamp.Tensor" : "aten.clamp.default", x, at + 1));
}

bool rule_clamp_min(struct call *c)
{
    return one_bound(c, 1);
}

bool rule_clamp_max(struct call *c)
{
    return one_bound(c, 2);
}

/* int(x): of a symbolic float a number, too, by a guard. */
static struct value int_of_float(struct call *c, sym_id x)
{
    if (is_number(c, x))
        return value_int(num(c, saturated(sym_to_double(c->pool, x))));
    sym_id truncated = sym_make(c->pool, SYM_TRUNC_TO_INT, &x, 1);
    return value_int(num(c, guard_int(c, truncated)));
}

/* hardtanh is a clamp whose bounds do not take part in the promotion. */
bool rule_hardtanh(struct call *c)
{
    struct tensor self = arg_tensor(c, 0);
    if (self.meta->dtype == DTYPE_B8)
        return refuse(c, "RuntimeError", "Bool inputs not supported for hardtanh");
    if (eager(c))
        return check_refusals(c) && ret_tensor(c, iterator_result(c, c->args, 1, self.meta->dtype));
    struct value x[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    for (uint32_t i = 1; i < 3 && dtype_is_integer(self.meta->dtype); i++)
        if (x[i].kind == VALUE_FLOAT)
            x[i] = int_of_float(c, x[i].u.sym);
    enum dtype compute, result;
    elementwise_dtypes(c, x, 1, PROMOTE_DEFAULT, &compute, &result);
    x[0] = maybe_convert(c, x[0], compute);
    struct value out = call_op(c, "aten.clamp.default", x, 3);
    return !c->failed && ret_pointwise(c, maybe_convert(c, out, result));
}
