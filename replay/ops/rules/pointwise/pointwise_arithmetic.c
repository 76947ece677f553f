/* add, sub, mul, div and powers, with their fast path and alpha. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"

static enum dtype tensor_dtype(struct value x)
{
    return value_is_tensor(x) ? x.u.tensor.meta->dtype : DTYPE_NONE;
}

static struct str base_name(const struct call *c)
{
    return c->op->schema.base;
}

/* --- alpha (sub_check and alpha_check of aten/src/ATen/native/BinaryOps.h) --- */

static bool is_plain_one(const struct call *c, struct value x)
{
    return x.kind == VALUE_NONE || (x.kind == VALUE_INT && is_int(c, x.u.sym, 1)) ||
           (x.kind == VALUE_FLOAT && is_number(c, x.u.sym) &&
            sym_to_double(c->pool, x.u.sym) == 1.0);
}

static bool check_sub(struct call *c)
{
    enum dtype a = tensor_dtype(arg(c, 0)), b = tensor_dtype(arg(c, 1));
    bool bool_b = b == DTYPE_B8 || arg(c, 1).kind == VALUE_BOOL;
    if (!str_starts(base_name(c), STR("sub")) && !str_is(base_name(c), "rsub"))
        return true;
    if (a == DTYPE_B8 && (eager(c) ? bool_b : b == DTYPE_B8))
        return refuse(c, "RuntimeError",
                      "Subtraction, the `-` operator, with two bool tensors is not supported. Use "
                      "the `^` or `logical_xor()` operator instead.");
    if ((a == DTYPE_B8 || bool_b) && eager(c))
        return refuse(c, "RuntimeError",
                      "Subtraction, the `-` operator, with a bool tensor is not supported. If you "
                      "are trying to invert a mask, use the `~` or `logical_not()` operator "
                      "instead.");
    return true;
}

static bool check_alpha(struct call *c, struct value alpha, enum dtype dtype)
{
    if (alpha.kind == VALUE_BOOL && dtype != DTYPE_B8)
        return refuse(c, "RuntimeError", "Boolean alpha only supported for Boolean results.");
    bool whole = dtype_is_integer(dtype) || dtype == DTYPE_B8;
    if (whole && (alpha.kind == VALUE_FLOAT || alpha.kind == VALUE_COMPLEX))
        return refuse(c, "RuntimeError",
                      "For integral input tensors, argument alpha must not be a floating point "
                      "number.");
    if (!dtype_is_complex(dtype) && alpha.kind == VALUE_COMPLEX)
        return refuse(c, "RuntimeError",
                      "For non-complex input tensors, argument alpha must not be a complex "
                      "number.");
    return true;
}

/* --- add, sub, mul, div --- */

/* meta_binop_inplace and similar functions: the broadcast shape must be self's. */
bool ret_broadcast_in_place(struct call *c)
{
    struct tensor x[] = { arg_tensor(c, 0), { 0 } };
    struct value other = arg(c, 1);
    sym_id shape[TENSOR_MAX_DIM];
    uint32_t n;
    if (!value_is_tensor(other))
        return ret_tensor(c, x[0]);
    x[1] = other.u.tensor;
    const struct tensor_meta *self = x[0].meta;
    if (!broadcast_shapes(c, x, 2, shape, &n))
        return false;
    bool same = n == self->ndim;
    for (uint32_t i = 0; i < n && same; i++)
        same = guard_bool(c, eq(c, shape[i], self->size[i]));
    if (!same)
        return refuse(c, "RuntimeError",
                      "output with shape torch.Size(%s) doesn't match the broadcast shape %s",
                      sizes_text(c, self->size, self->ndim), sizes_text(c, shape, n));
    return ret_tensor(c, x[0]);
}

/* refs.add and refs.sub with an alpha other than 1. */
static struct tensor scaled_reference(struct call *c, const char *prim, struct value alpha)
{
    struct value x[2] = { arg(c, 0), arg(c, 1) };
    struct tensor none = { 0 };
    enum dtype compute, result;
    elementwise_dtypes(c, x, 2, PROMOTE_DEFAULT, &compute, &result);
    for (uint32_t i = 0; i < 2; i++)
        x[i] = maybe_convert(c, x[i], compute);
    if (c->failed || !maybe_broadcast(c, x, 2))
        return none;
    struct value scaled[] = { x[1], alpha };
    if (value_is_tensor(x[1]))
        x[1] = call_op(c, "prims.mul.default", scaled, 2);
    struct value out = value_tensor(call_tensor(c, prim, x, 2));
    out = c->failed ? out : maybe_convert(c, out, result);
    return c->failed ? none : out.u.tensor;
}

bool rule_arithmetic(struct call *c)
{
    const struct value *x = c->args;
    enum promotion kind = pointwise_kind(c);
    bool with_alpha = str_starts(base_name(c), STR("add")) || str_starts(base_name(c), STR("sub"));
    struct value alpha = with_alpha ? arg(c, 2) : value_none();
    if (eager(c) && !check_sub(c))
        return false;
    if (eager(c)) {
        enum dtype dtype = plain_dtype(c, x, 2, kind);
        if (with_alpha && !check_alpha(c, alpha, dtype))
            return false;
        return ret_tensor(c, iterator_promoted(c, x, 2, 2, kind));
    }
    if (is_in_place(c))
        return ret_broadcast_in_place(c);
    if ((c->param & POINTWISE_FAST) && fast_path(c, true)) {
        struct tensor fast = fast_binary(c, x, 2, kind);
        if (fast.meta || c->failed)
            return ret_tensor(c, fast);
        begin_slow_path(c);
    }
    if (!check_sub(c))
        return false;
    if (with_alpha && !is_plain_one(c, alpha) && (c->param & POINTWISE_FAST))
        return ret_tensor(c, scaled_reference(c,
                                              str_is(base_name(c), "add") ? "prims.add.default"
                                                                          : "prims.sub.default",
                                              alpha));
    return ret_pointwise(c, value_tensor(elementwise(c)));
}

/* logical_and_, logical_or_ and logical_xor_, which have their own meta function. */
bool rule_logical_(struct call *c)
{
    if (eager(c))
        return ret_tensor(c, iterator_promoted(c, c->args, 2, 2, PROMOTE_ALWAYS_BOOL));
    return ret_broadcast_in_place(c);
}

/* refs.rsub: sub with its operands exchanged. */
bool rule_rsub(struct call *c)
{
    struct value x[] = { arg(c, 1), arg(c, 0) }, alpha = arg(c, 2);
    if (!check_sub(c))
        return false;
    if (eager(c)) {
        enum dtype dtype = plain_dtype(c, c->args, 2, PROMOTE_DEFAULT);
        return check_alpha(c, alpha, dtype) &&
               ret_tensor(c, iterator_promoted(c, x, 2, 2, PROMOTE_DEFAULT));
    }
    c->in_kernel = !c->symbolic;
    struct keyword keyword = { STR("alpha"), alpha };
    return ret_value(
        c, call_op_keywords(c, "aten.sub.Tensor", x, 2, &keyword, !is_plain_one(c, alpha)));
}

/* --- Powers --- */

static bool is_value(struct call *c, struct value x, double value)
{
    if (x.kind == VALUE_BOOL && x.u.sym <= SYM_ID_TRUE)
        return value == (x.u.sym == SYM_ID_TRUE);
    if (value_is_number(x) && !is_number(c, x.u.sym) &&
        !behaves(c->env, BEHAVIOR_POW_ASKS_STATIC)) {
        sym_id e = x.kind == VALUE_INT ? sym_unary(c->pool, SYM_TO_FLOAT, x.u.sym) : x.u.sym;
        return guard_bool(c, py_eq(c, e, sym_float(c->pool, value)));
    }
    return value_is_number(x) && is_number(c, x.u.sym) && sym_to_double(c->pool, x.u.sym) == value;
}

/* Returns the result of refs.pow where it does not call prims.pow, or VALUE_NONE where it does. */
static struct value simple_power(struct call *c, const struct value *x)
{
    struct value twice[] = { x[0], x[0] };
    if (!value_is_tensor(x[1])) {
        if (is_value(c, x[1], 1.0))
            return call_op(c, "aten.clone.default", x, 1);
        if (is_value(c, x[1], 2.0))
            return call_op(c, "aten.mul.Tensor", twice, 2);
        if (is_value(c, x[1], 0.5))
            return call_op(c, "aten.sqrt.default", x, 1);
    } else if (!value_is_tensor(x[0])) {
        enum dtype dtype = tensor_dtype(x[1]);
        struct value fill[] = { x[1], value_sym(VALUE_BOOL, SYM_ID_TRUE) };
        if (is_value(c, x[0], 1.0))
            return call_op(c, "aten.fill.Scalar", fill, 2);
        if (is_value(c, x[0], 2.0) && (dtype_is_float(dtype) || dtype_is_complex(dtype)))
            return call_op(c, "aten.exp2.default", &x[1], 1);
    }
    return value_none();
}

static bool power_with_symbols(struct call *c)
{
    struct value x[2] = { arg(c, 0), arg(c, 1) };
    enum dtype compute, result;
    c->in_kernel = !c->symbolic;
    elementwise_dtypes(c, x, 2, PROMOTE_BOOL_TO_LONG, &compute, &result);
    for (uint32_t i = 0; i < 2; i++)
        x[i] = maybe_convert(c, x[i], compute);
    if (c->failed || !maybe_broadcast(c, x, 2))
        return false;
    struct value out = simple_power(c, x);
    if (!c->failed && out.kind == VALUE_NONE)
        out = call_op(c, "prims.pow.default", x, 2);
    return !c->failed && ret_pointwise(c, maybe_convert(c, out, result));
}

bool rule_pow(struct call *c)
{
    struct value exponent = arg(c, 1);
    enum dtype base = tensor_dtype(arg(c, 0));
    if (!eager(c))
        return power_with_symbols(c);
    if ((dtype_is_integer(base) || base == DTYPE_B8) && exponent.kind == VALUE_INT &&
        sym_to_double(c->pool, exponent.u.sym) < 0)
        return refuse(c, "RuntimeError", "Integers to negative integer powers are not allowed.");
    enum dtype dtype = result_type(c, c->args, 2);
    /* A scalar exponent is not an operand of TensorIterator. Neither is a scalar base, whose
     * result is contiguous. */
    if (!value_is_tensor(arg(c, 0)) && value_is_tensor(exponent))
        return ret_tensor(c,
                          new_tensor(c, dtype, exponent.u.tensor.meta->device,
                                     exponent.u.tensor.meta->size, exponent.u.tensor.meta->ndim));
    return ret_tensor(
        c, iterator_promoted(c, c->args, 2, value_is_tensor(exponent) ? 2 : 1, PROMOTE_DEFAULT));
}

/* float_power converts both operands to float64 or complex128. */
bool rule_float_power(struct call *c)
{
    enum dtype dtype = result_type(c, c->args, 2);
    dtype = dtype_is_complex(dtype) ? DTYPE_C128 : DTYPE_F64;
    struct value x[2] = { arg(c, 0), arg(c, 1) };
    for (uint32_t i = 0; i < 2 && !c->failed; i++) {
        struct keyword keyword = { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
        if (value_is_tensor(x[i]) && tensor_dtype(x[i]) != dtype)
            x[i] = call_op_keywords(c, "aten._to_copy.default", &x[i], 1, &keyword, 1);
    }
    static const char *const names[] = { "aten.pow.Scalar", "aten.pow.Tensor_Scalar",
                                         "aten.pow.Tensor_Tensor" };
    return ret_pointwise(
        c, call_op(c, names[value_is_tensor(x[0]) ? 1 + value_is_tensor(x[1]) : 0], x, 2));
}

/* ldexp: self * 2**other. */
bool rule_ldexp(struct call *c)
{
    struct value two = value_sym(VALUE_FLOAT, sym_float(c->pool, 2.0));
    struct value power[] = { two, arg(c, 1) };
    if (!eager(c) && value_is_tensor(arg(c, 1)))
        power[1] = arg(c, 1);
    struct value product[] = { arg(c, 0), call_op(c, "aten.pow.Scalar", power, 2) };
    if (c->failed)
        return false;
    return ret_value(c, call_op(c, "aten.mul.Tensor", product, 2));
}
