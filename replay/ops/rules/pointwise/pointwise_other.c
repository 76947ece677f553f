/* Pointwise operators that need a rule of their own. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/compose.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include <stdio.h>
#include <string.h>

/* relu_ and logical_not_ have meta functions of their own. */
bool rule_relu_(struct call *c)
{
    return ret_tensor(c, eager(c) ? plain_body(c) : arg_tensor(c, 0));
}

/* log_sigmoid_forward returns the result and a buffer, which is empty on CUDA. */
bool rule_log_sigmoid_forward(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), out[2];
    sym_id none = num(c, 0);
    out[0] = new_like(c, x);
    out[1] = x.meta->device.type == DEVICE_CUDA
                 ? new_tensor(c, x.meta->dtype, x.meta->device, &none, 1)
                 : new_like(c, x);
    return ret_tensors(c, out, 2);
}

/* polygamma(n, self) */
bool rule_polygamma(struct call *c)
{
    struct value self = arg(c, 1);
    if (!require(c, arg_int(c, 0) >= 0, "RuntimeError",
                 "polygamma(n, x) does not support negative n."))
        return false;
    enum dtype dtype = plain_dtype(c, &self, 1, PROMOTE_INT_TO_FLOAT);
    return ret_tensor(c, !eager(c) ? new_like_dtype(c, self.u.tensor, dtype)
                                   : iterator_promoted(c, &self, 1, 1, PROMOTE_INT_TO_FLOAT));
}

/* polygamma_(self, n) */
bool rule_polygamma_(struct call *c)
{
    return ret_tensor(c, arg_tensor(c, 0));
}

/* frexp returns the mantissa and an int32 exponent. */
bool rule_frexp(struct call *c)
{
    struct tensor out[2], x = arg_tensor(c, 0);
    if (!dtype_is_float(x.meta->dtype))
        return refuse(c, "RuntimeError", "torch.frexp() only supports floating-point dtypes");
    if (!eager(c)) {
        out[0] = new_like(c, x);
        out[1] = new_like_dtype(c, x, DTYPE_I32);
    } else {
        out[0] = iterator_result(c, c->args, 1, x.meta->dtype);
        out[1] = iterator_result(c, c->args, 1, DTYPE_I32);
    }
    return ret_tensors(c, out, 2);
}

/* multivariate log gamma: (self.unsqueeze(-1) + arange).lgamma().sum(-1) + number. */
bool rule_mvlgamma(struct call *c)
{
    struct value x = arg(c, 0);
    enum dtype dtype = plain_dtype(c, &x, 1, PROMOTE_INT_TO_FLOAT);
    if (eager(c) &&
        !require(c, arg_int(c, 1) >= 1, "RuntimeError", "p has to be greater than or equal to 1"))
        return false;
    c->in_kernel = !c->symbolic;
    if (!eager(c))
        x = maybe_convert(c, x, dtype);
    if (c->failed)
        return false;
    const struct tensor_meta *meta = x.u.tensor.meta;
    uint32_t perm[TENSOR_MAX_DIM]; /* The addition of x and the arange computes the permutation. */
    if (!eager(c) && meta->ndim > 1)
        elementwise_permutation(c, &x.u.tensor, 1, perm);
    return ret_pointwise(c,
                         value_tensor(new_tensor(c, dtype, meta->device, meta->size, meta->ndim)));
}

/* native_dropout_backward(grad, mask, scale) returns a tensor of grad's memory format. */
bool rule_native_dropout_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    if (eager(c))
        return ret_tensor(
            c, iterator_result(c, c->args, 2, plain_dtype(c, c->args, 1, PROMOTE_INT_TO_FLOAT)));
    c->in_kernel = !c->symbolic;
    struct tensor mask = to_dtype(c, arg_tensor(c, 1), grad.meta->dtype);
    struct value product = T(times(c, T(grad), T(times(c, T(mask), arg(c, 2)))));
    enum memory_format format = c->failed ? FORMAT_CONTIGUOUS : suggest_format(c, grad);
    struct keyword keyword = { STR("memory_format"),
                               { .kind = VALUE_MEMORY_FORMAT, .u.memory_format = format } };
    return ret_value(c, call_op_keywords(c, "aten.clone.default", &product, 1, &keyword, 1));
}

/* isnan, isinf and similar operators return a bool tensor of the same shape. */
bool rule_isinf(struct call *c)
{
    enum dtype dtype = arg_tensor(c, 0).meta->dtype;
    struct value x = arg(c, 0);
    if (eager(c))
        return check_refusals(c) && ret_tensor(c, iterator_result(c, &x, 1, DTYPE_B8));
    if (!dtype_is_float(dtype))
        return ret_tensor(c, new_like_dtype(c, x.u.tensor, DTYPE_B8));
    struct value magnitude = c->param ? x : call_op(c, "aten.abs.default", &x, 1);
    struct value sides[] = { magnitude,
                             value_sym(VALUE_FLOAT, c->param < 0 ? SYM_ID_MINUS_OO : SYM_ID_OO) };
    return ret_value(c, call_op(c, "aten.eq.Scalar", sides, 2));
}

/* complex(real, imag), polar(abs, angle) */
bool rule_complex(struct call *c)
{
    enum dtype a = arg_tensor(c, 0).meta->dtype, b = arg_tensor(c, 1).meta->dtype;
    bool good_a = a == DTYPE_F16 || a == DTYPE_F32 || a == DTYPE_F64;
    bool good_b = b == DTYPE_F16 || b == DTYPE_F32 || b == DTYPE_F64;
    if (!good_a || !good_b)
        return refuse(c, "RuntimeError",
                      "Expected both inputs to be Half, Float or Double tensors but got %s and %s",
                      dtype_scalar_name(a), dtype_scalar_name(b));
    if (a != b)
        return refuse(c, "RuntimeError",
                      "Expected object of scalar type %s but got scalar type %s for second "
                      "argument",
                      dtype_scalar_name(a), dtype_scalar_name(b));
    enum dtype out = dtype_complex(a);
    struct tensor into = arg_tensor(c, 2);
    if (into.meta && into.meta->dtype != out)
        return refuse(c, "RuntimeError",
                      "Expected object of scalar type %s but got scalar type %s for argument "
                      "'out'",
                      dtype_scalar_name(out), dtype_scalar_name(into.meta->dtype));
    if (eager(c))
        return ret_tensor(c, iterator_result(c, c->args, 2, out));
    struct value x[] = { arg(c, 0), arg(c, 1) };
    bool in_kernel = c->in_kernel;
    c->in_kernel = true;
    for (int i = 0; i < 2; i++)
        x[i] = maybe_convert(c, x[i], out); /* real.to(corresponding_complex_dtype(...)) */
    c->in_kernel = in_kernel;
    return !c->failed && maybe_broadcast(c, x, 2) && ret_tensor(c, prim_elementwise(c, x, 2, out));
}

/* polar of torch/_refs/_conversions.py: the parts of complex(abs, angle) are written. */
bool rule_polar(struct call *c)
{
    struct tensor abs = arg_tensor(c, 0), angle = arg_tensor(c, 1);
    if (eager(c) || !c->symbolic)
        return rule_complex(c);
    struct tensor z = CALL(c, "aten.complex.default", T(abs), T(angle));
    static const char *const parts[][2] = { { "aten.cos.default", "aten.real.default" },
                                            { "aten.sin.default", "aten.imag.default" } };
    for (int i = 0; i < 2 && !c->failed; i++) {
        struct tensor factor = CALL(c, parts[i][0], T(angle));
        struct tensor part = CALL(c, "aten.mul.Tensor", T(abs), T(factor));
        struct tensor into = CALL(c, parts[i][1], T(z));
        CALL(c, "aten.copy_.default", T(into), T(part));
    }
    return !c->failed && ret_tensor(c, z);
}

/* --- Composites --- */

/* The operators that an alias stands for. special_X stands for X without a row. */
static const struct {
    const char *alias, *op;
} aliases[] = {
    { "__and__", "bitwise_and" },
    { "__iand__", "bitwise_and_" },
    { "__ior__", "bitwise_or_" },
    { "__ixor__", "bitwise_xor_" },
    { "__or__", "bitwise_or" },
    { "__xor__", "bitwise_xor" },
    { "absolute", "abs" },
    { "absolute_", "abs_" },
    { "arccos", "acos" },
    { "arccos_", "acos_" },
    { "arccosh", "acosh" },
    { "arccosh_", "acosh_" },
    { "arcsin", "asin" },
    { "arcsin_", "asin_" },
    { "arcsinh", "asinh" },
    { "arcsinh_", "asinh_" },
    { "arctan", "atan" },
    { "arctan2", "atan2" },
    { "arctan2_", "atan2_" },
    { "arctan_", "atan_" },
    { "arctanh", "atanh" },
    { "arctanh_", "atanh_" },
    { "clip", "clamp" },
    { "clip_", "clamp_" },
    { "divide", "div" },
    { "divide_", "div_" },
    { "fix", "trunc" },
    { "fix_", "trunc_" },
    { "greater", "gt" },
    { "greater_", "gt_" },
    { "greater_equal", "ge" },
    { "greater_equal_", "ge_" },
    { "less", "lt" },
    { "less_", "lt_" },
    { "less_equal", "le" },
    { "less_equal_", "le_" },
    { "multiply", "mul" },
    { "multiply_", "mul_" },
    { "negative", "neg" },
    { "negative_", "neg_" },
    { "not_equal", "ne" },
    { "not_equal_", "ne_" },
    { "special_expit", "sigmoid" },
    { "special_gammainc", "igamma" },
    { "special_gammaincc", "igammac" },
    { "special_gammaln", "lgamma" },
    { "special_multigammaln", "mvlgamma" },
    { "special_psi", "digamma" },
    { "subtract", "sub" },
    { "subtract_", "sub_" },
    { "true_divide", "div" },
    { "true_divide_", "div_" },
};

/* Returns the name of special_X's overload in X where it differs, or NULL. */
static const char *special_overload(struct str overload)
{
    if (str_is(overload, "other_scalar"))
        return "Scalar_Other";
    return str_is(overload, "self_scalar") ? "Scalar_Self" : NULL;
}

bool rule_same_as(struct call *c)
{
    struct str base = c->op->schema.base, overload = c->op->schema.overload;
    char name[96];
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++)
        if (str_is(base, aliases[i].alias)) {
            base = str_of(aliases[i].op);
            break;
        }
    if (str_starts(base, STR("special_"))) {
        base = str_from(base, 8);
        if (str_is(base, "xlogy") && !overload.n)
            overload = STR("Tensor");
        if (special_overload(overload))
            overload = str_of(special_overload(overload));
    }
    snprintf(name, sizeof name, "aten.%.*s.%.*s", STR_ARG(base),
             STR_ARG(overload.n ? overload : STR("default")));
    const struct schema *s = &c->op->schema;
    struct keyword keywords[OPS_MAX_ARGS];
    for (uint32_t i = s->n_positional; i < s->n_args; i++)
        keywords[i] = (struct keyword){ s->args[i].name, c->args[i] };
    return ret_value(c, call_op_keywords(c, name, c->args, s->n_positional,
                                         keywords + s->n_positional, s->n_args - s->n_positional));
}

bool rule_positive(struct call *c)
{
    if (arg_tensor(c, 0).meta->dtype == DTYPE_B8)
        return refuse(c, "RuntimeError", "The `+` operator, on a bool tensor is not supported.");
    return ret_tensor(c, arg_tensor(c, 0));
}

/* isclose as the composite kernel of ATen computes it. */
bool rule_isclose(struct call *c)
{
    struct value x[] = { arg(c, 0), arg(c, 1) };
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    if (!require(c, a.meta->dtype == b.meta->dtype, "RuntimeError", "%s did not match %s",
                 dtype_scalar_name(a.meta->dtype), dtype_scalar_name(b.meta->dtype)))
        return false;
    return ret_value(c, call_op(c, "aten.eq.Tensor", x, 2));
}

/* --- Operators with checks of their own --- */

bool rule_neg(struct call *c)
{
    if (arg_tensor(c, 0).meta->dtype == DTYPE_B8)
        return refuse(c, "RuntimeError",
                      "Negation, the `-` operator, on a bool tensor is not supported. If you are "
                      "trying to invert a mask, use the `~` or `logical_not()` operator instead.");
    return ret_pointwise(c, value_tensor(elementwise(c)));
}

/* angle of a complex tensor is real, of an integer tensor float. */
bool rule_angle(struct call *c)
{
    struct value x = arg(c, 0);
    enum dtype dtype = dtype_real(plain_dtype(c, &x, 1, PROMOTE_INT_TO_FLOAT));
    bool like = !eager(c) || (dtype_is_complex(x.u.tensor.meta->dtype) && !c->op->writes);
    return ret_tensor(c, like ? new_like_dtype(c, x.u.tensor, dtype)
                              : iterator_promoted(c, &x, 1, 1, PROMOTE_INT_TO_FLOAT));
}

bool rule_addcdiv(struct call *c)
{
    bool whole = true;
    for (uint32_t i = 1; i < 3; i++) {
        enum dtype dtype = arg_tensor(c, i).meta->dtype;
        whole = whole && (dtype_is_integer(dtype) || (dtype == DTYPE_B8 && eager(c)));
    }
    if (whole)
        return refuse(c, "RuntimeError",
                      "Integer division with addcdiv is no longer supported, and in a future  "
                      "release addcdiv will perform a true division of tensor1 and tensor2. The "
                      "historic addcdiv behavior can be implemented as (input + value * "
                      "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "
                      "(input + value * tensor1 / tensor2) for float inputs. The future addcdiv "
                      "behavior is just the latter implementation: (input + value * tensor1 / "
                      "tensor2), for all dtypes.");
    return ret_tensor(c, elementwise(c));
}

/* lerp(start, end, weight), where a weight that is a number is not an operand. */
bool rule_lerp(struct call *c)
{
    enum dtype start = arg_tensor(c, 0).meta->dtype, end = arg_tensor(c, 1).meta->dtype;
    const struct tensor_meta *weight = arg_tensor(c, 2).meta;
    const char *(*name)(enum dtype) = eager(c) ? dtype_cpp_name : dtype_python_name;
    if (start != end)
        return refuse(c, "RuntimeError",
                      eager(c) ? "expected dtype %s for `end` but got dtype %s"
                               : "expected dtype %s for `end`, but got dtype %s",
                      name(start), name(end));
    if (weight && weight->ndim && weight->dtype != start)
        return refuse(c, "RuntimeError",
                      eager(c) ? "expected dtype %s for `weight` but got dtype %s"
                               : "expected dtype %s for `weight`, but got dtype %s",
                      name(start), name(weight->dtype));
    uint32_t n = weight ? 3 : 2;
    struct value x[] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    if (eager(c))
        return ret_tensor(c, iterator_result(c, x, n, result_type(c, x, n)));
    enum dtype dtype;
    c->in_kernel = true;
    elementwise_dtypes(c, x, n, PROMOTE_DEFAULT, NULL, &dtype);
    for (uint32_t i = 0; i < n; i++)
        x[i] = maybe_convert(c, x[i], dtype);
    return maybe_broadcast(c, x, n) && ret_tensor(c, prim_elementwise(c, x, n, dtype));
}
