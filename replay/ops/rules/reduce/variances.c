/* Variances, norms, distances and log-sum-exp. */
#include <math.h>
#include <stdio.h>

#include "replay/ops/rules/reduce/reduce.h"

/* --- var, std, var_mean, std_mean --- */

enum { VAR_STD = 1, VAR_MEAN = 2, VAR_WHOLE = 4 };

static struct tensor variance(struct call *c, struct tensor x, uint64_t mask, bool keepdim)
{
    enum dtype real = dtype_real(dtype_of(x));
    if (!by_reference(c))
        return reduce_new(c, x, mask, keepdim, real);
    enum dtype compute = computation_dtype(dtype_of(x));
    x = ref_convert(c, x, compute);
    return prim_convert(c, reduce_ref(c, x, mask, keepdim, dtype_real(compute)), real);
}

static struct tensor average(struct call *c, struct tensor x, uint64_t mask, bool keepdim)
{
    if (!by_reference(c))
        return reduce_new(c, x, mask, keepdim, dtype_of(x));
    enum dtype compute = computation_dtype(dtype_of(x));
    struct tensor total = reduce_ref(c, ref_convert(c, x, compute), mask, keepdim, compute);
    require(c, dtype_is_float(dtype_of(x)) || dtype_is_complex(dtype_of(x)), "RuntimeError",
            "mean(): could not infer output dtype. Input dtype must be either a floating point or "
            "complex dtype. Got: %s",
            dtype_python_name(dtype_of(x)));
    guard_mean_count(c, x, mask);
    return ref_convert(c, divided(c, total), dtype_of(x));
}

/* std and std_mean of torch/_refs call var and var_mean. */
static struct value variance_call(struct call *c, const char *name, struct tensor x)
{
    struct value args[] = { value_tensor(x), arg(c, 1) };
    struct keyword keywords[] = { { STR("correction"), arg(c, 2) }, { STR("keepdim"), arg(c, 3) } };
    return call_op_keywords(c, name, args, 2, keywords, 2);
}

static bool deviation_symbolic(struct call *c, struct tensor x)
{
    enum dtype compute = computation_dtype(dtype_of(x)), real = dtype_real(dtype_of(x));
    bool with_mean = c->param & VAR_MEAN;
    struct value made =
        variance_call(c, with_mean ? "aten.var_mean.correction" : "aten.var.correction",
                      ref_convert(c, x, compute));
    if (c->failed || (with_mean && (made.kind != VALUE_TUPLE || made.n != 2)))
        return false;
    struct value var = with_mean ? made.u.items[0] : made;
    struct tensor std = ref_convert(c, call1(c, "aten.sqrt.default", var), real);
    if (!with_mean)
        return ret_tensor(c, std);
    struct tensor both[] = { std, ref_convert(c, made.u.items[1].u.tensor, dtype_of(x)) };
    return ret_tensors(c, both, 2);
}

bool rule_var(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool real = dtype_is_float(dtype_of(x)) || dtype_is_complex(dtype_of(x));
    if (!require(c, real || !eager(c), "RuntimeError",
                 "%s only support floating point and complex dtypes",
                 !(c->param & VAR_MEAN) ? "std and var"
                 : c->param & VAR_STD   ? "std_mean"
                                        : "var_mean"))
        return false;
    if ((c->param & VAR_STD) && by_reference(c))
        return deviation_symbolic(c, x);
    uint64_t mask = reduce_mask(c, 1, x);
    bool keepdim = arg_bool(c, 3);
    struct tensor both[2] = { variance(c, x, mask, keepdim) };
    if (!(c->param & VAR_MEAN))
        return ret_tensor(c, both[0]);
    both[1] = average(c, x, mask, keepdim);
    return ret_tensors(c, both, 2);
}

/* --- Norms --- */

enum { ORDER_TEXT = 32 };

static enum dtype norm_dtype(struct call *c, struct tensor x, enum dtype given)
{
    (void)c;
    return dtype_real(given == DTYPE_NONE ? dtype_of(x) : given);
}

static struct value order_or(struct call *c, struct value value, double otherwise)
{
    return value_is_number(value) ? value : value_float(c, otherwise);
}

/* Evaluates `order < x`, `order == x` ... */
static bool order_holds(struct call *c, enum node_method comparison, struct value order, double x)
{
    if (!is_number(c, order.u.sym))
        return guard_bool(c, promoted_method(c, comparison, order, value_float(c, x)).u.sym);
    double p = sym_to_double(c->pool, order.u.sym);
    return comparison == NODE_METHOD_LT   ? p < x
           : comparison == NODE_METHOD_GT ? p > x
           : comparison == NODE_METHOD_GE ? p >= x
                                          : p == x;
}

static bool order_is_even(struct call *c, struct value order)
{
    if (is_number(c, order.u.sym))
        return fmod(sym_to_double(c->pool, order.u.sym), 2) == 0;
    struct value two = value_number(c, 2), zero = value_number(c, 0);
    if (order.kind == VALUE_FLOAT)
        two = value_float(c, 2), zero = value_float(c, 0);
    struct value rest = promoted_method(c, NODE_METHOD_MOD, order, two);
    return guard_bool(c, promoted_method(c, NODE_METHOD_EQ, rest, zero).u.sym);
}

/* 1.0 / order */
static struct value inverse_order(struct call *c, struct value order)
{
    if (is_number(c, order.u.sym))
        return value_float(c, 1 / sym_to_double(c->pool, order.u.sym));
    return promoted_method(c, NODE_METHOD_FLOAT_TRUEDIV, value_float(c, 1), order);
}

static const char *order_text(struct call *c, struct value order)
{
    char *text = is_number(c, order.u.sym) ? scratch(c, ORDER_TEXT) : NULL;
    if (!text)
        return sym_text(c, order.u.sym);
    snprintf(text, ORDER_TEXT, "%g", sym_to_double(c->pool, order.u.sym));
    return text;
}

/* _check_vector_norm_args of torch/_refs/linalg. */
static bool check_norm(struct call *c, struct tensor x, struct value order, struct value dims)
{
    if (!(order_holds(c, NODE_METHOD_LT, order, 0) ||
          order_holds(c, NODE_METHOD_EQ, order, (double)INFINITY)) ||
        c->failed)
        return true;
    bool some = dims.kind == VALUE_LIST && dims.n;
    sym_id filled = ne(c, numel(c, x), SYM_ID_ZERO);
    return some || check(c, filled, "RuntimeError",
                         "linalg.vector_norm cannot compute the %s norm on an empty tensor because "
                         "the operation does not have an identity",
                         order_text(c, order));
}

/* Returns true where every reduced dimension has size 1, so that the norm is the absolute value. */
static bool norm_is_abs(struct call *c, struct tensor x, uint64_t mask, bool whole)
{
    if (whole)
        return guard_or_false(c, eq_int(c, numel(c, x), 1));
    bool all = ndim_of(x) > 0;
    for (uint32_t i = 0; i < ndim_of(x) && all; i++)
        if (mask >> i & 1)
            all = guard_or_false(c, eq_int(c, size_of(x, i), 1));
    return all;
}

/* Returns x without the reduced dimensions. Releases that do not wrap negative dims leave them. */
static struct tensor norm_of_one(struct call *c, struct tensor x, struct value dims, uint64_t mask,
                                 bool whole)
{
    if (whole) {
        struct value args[] = { value_number(c, -1) };
        struct value flat[] = { value_tensor(x), value_items(VALUE_LIST, args, 1) };
        struct tensor line = call_tensor(c, "aten.view.default", flat, 2);
        return call3(c, "aten.select.int", value_tensor(line), value_number(c, 0),
                     value_number(c, 0));
    }
    struct value *shape = values(c, ndim_of(x) + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; shape && i < ndim_of(x); i++) {
        bool reduced = behaves(c->env, BEHAVIOR_NORM_WRAPS_DIMS) && mask >> i & 1;
        for (uint32_t k = 0; k < dims.n; k++)
            reduced |= is_int(c, dims.u.items[k].u.sym, i);
        if (!reduced)
            shape[n++] = value_int(size_of(x, i));
    }
    if (!shape)
        return x;
    x = call2(c, "aten.view.default", value_tensor(x), value_items(VALUE_LIST, shape, n));
    return ref_contiguous(c, x);
}

static struct tensor reduce_call(struct call *c, const char *name, struct tensor x,
                                 struct value dims, bool keepdim)
{
    return call3(c, name, value_tensor(x), dims, value_bool(keepdim));
}

/* vector_norm of torch/_refs/linalg, for calls outside eager mode. */
static struct tensor vector_norm_symbolic(struct call *c, struct tensor x, struct value p,
                                          struct value dims, uint64_t mask, bool keepdim,
                                          enum dtype dtype)
{
    enum dtype result = norm_dtype(c, x, dtype);
    enum dtype compute = computation_dtype(dtype == DTYPE_NONE ? dtype_of(x) : dtype);
    bool whole = dims.kind == VALUE_NONE || dims.n == 0;
    if (order_holds(c, NODE_METHOD_EQ, p, 0)) {
        struct tensor some = call2(c, "aten.ne.Scalar", value_tensor(x), value_float(c, 0));
        struct value args[] = { value_tensor(some), dims, value_bool(keepdim) };
        struct keyword keyword = { STR("dtype"), value_dtype(result) };
        struct value sum = call_op_keywords(c, "aten.sum.dim_IntList", args, 3, &keyword, 1);
        return sum.kind == VALUE_TENSOR ? sum.u.tensor : (struct tensor){ 0 };
    }
    struct value all = dims.kind == VALUE_NONE ? value_items(VALUE_LIST, NULL, 0) : dims;
    bool most = order_holds(c, NODE_METHOD_EQ, p, (double)INFINITY);
    if (most || order_holds(c, NODE_METHOD_EQ, p, -(double)INFINITY)) {
        struct tensor absolute = call1(c, "aten.abs.default", value_tensor(x));
        const char *name = most ? "aten.amax.default" : "aten.amin.default";
        return ref_convert(c, reduce_call(c, name, absolute, all, keepdim), result);
    }
    x = ref_convert(c, x, compute);
    if (norm_is_abs(c, x, mask, whole)) {
        x = ref_convert(c, call1(c, "aten.abs.default", value_tensor(x)), result);
        return keepdim || !ndim_of(x) ? ref_contiguous(c, x) : norm_of_one(c, x, dims, mask, whole);
    }
    if (!(order_is_even(c, p) && dtype_is_float(compute)))
        x = call1(c, "aten.abs.default", value_tensor(x));
    x = call2(c, "aten.pow.Tensor_Scalar", value_tensor(x), p);
    x = reduce_call(c, "aten.sum.dim_IntList", x, dims, keepdim);
    x = call2(c, "aten.pow.Tensor_Scalar", value_tensor(x), inverse_order(c, p));
    return ref_convert(c, x, result);
}

static bool vector_norm(struct call *c, struct tensor x, struct value p, uint32_t dim_arg,
                        bool keepdim, enum dtype dtype)
{
    if (!require(c, dtype_is_float(dtype_of(x)) || dtype_is_complex(dtype_of(x)), "RuntimeError",
                 "linalg.vector_norm: Expected a floating point or complex tensor as input. Got "
                 "%s",
                 eager(c) ? dtype_scalar_name(dtype_of(x)) : dtype_python_name(dtype_of(x))))
        return false;
    bool whole = dim_arg >= c->n_args;
    uint64_t mask = whole ? reduce_all(x) : reduce_mask(c, dim_arg, x);
    struct value dims = whole ? value_none() : arg(c, dim_arg);
    if (value_is_number(dims)) {
        int64_t dim = arg_int(c, dim_arg);
        dims = ref_dims(c, &dim, 1);
    }
    check_norm(c, x, p, dims);
    struct tensor result = by_reference(c)
                               ? vector_norm_symbolic(c, x, p, dims, mask, keepdim, dtype)
                               : reduce_new(c, x, mask, keepdim, norm_dtype(c, x, dtype));
    return ret_tensor(c, result);
}

/* linalg_vector_norm(self, ord, dim, keepdim, *, dtype) */
bool rule_vector_norm(struct call *c)
{
    return vector_norm(c, arg_tensor(c, 0), order_or(c, arg(c, 1), 2), 2, arg_bool(c, 3),
                       arg_dtype(c, 4, DTYPE_NONE));
}

/* norm of torch/_refs calls linalg.vector_norm. With param 1 there are no dims; with param 2 the
 * dtype follows p. */
bool rule_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool whole = c->param != 0;
    struct value p = order_or(c, arg(c, 1), 2);
    bool keepdim = !whole && arg_bool(c, 3);
    uint32_t dtype_arg = c->param == 2 ? 2 : c->param == 1 ? UINT32_MAX : 4;
    enum dtype dtype =
        arg(c, dtype_arg).kind == VALUE_DTYPE ? arg_dtype(c, dtype_arg, DTYPE_NONE) : DTYPE_NONE;
    if (!by_reference(c))
        return vector_norm(c, x, p, whole ? UINT32_MAX : 2, keepdim, dtype);
    struct value args[] = { value_tensor(x), p, whole ? value_none() : arg(c, 2),
                            value_bool(keepdim) };
    struct keyword keyword = { STR("dtype"), value_dtype(dtype) };
    return ret_value(c, call_op_keywords(c, "aten.linalg_vector_norm.default", args, 4, &keyword,
                                         dtype == DTYPE_NONE ? 0 : 1));
}

/* linalg_matrix_norm of LinearAlgebra.cpp for the orders 1, -1, inf and -inf: the maximum or
 * minimum along one dimension of the vector norms along the other. In between, C++ reads the
 * sizes as ints. */
static bool matrix_norm_by_rows(struct call *c, struct tensor x, double p, bool keepdim,
                                struct value dtype)
{
    const int64_t *given = NULL;
    uint32_t n = arg_ints(c, 2, &given);
    if (!require(c, n == 2, "RuntimeError",
                 "linalg.matrix_norm: dim must be a 2-tuple. Got %u dims", n))
        return false;
    int64_t first = wrap_dim(c, given[0], ndim_of(x)), second = wrap_dim(c, given[1], ndim_of(x));
    if (isinf(p)) {
        int64_t swapped = first;
        first = second;
        second = swapped;
    }
    if (second > first && !keepdim)
        second--;
    struct value args[] = { value_tensor(x), value_float(c, 1), ref_dims(c, &first, 1),
                            value_bool(keepdim) };
    struct keyword keyword = { STR("dtype"), dtype };
    struct value rows =
        call_op_keywords(c, "aten.linalg_vector_norm.default", args, 4, &keyword, 1);
    if (c->failed)
        return false;
    if (c->symbolic)
        guard_sizes(c, rows.u.tensor);
    if (is_int(c, size_of(rows.u.tensor, (uint32_t)second), 0))
        return ret_tensor(c, reduce_new(c, rows.u.tensor, UINT64_C(1) << second, keepdim,
                                        dtype_of(rows.u.tensor)));
    return ret_tensor(c, reduce_call(c, p > 0 ? "aten.amax.default" : "aten.amin.default",
                                     rows.u.tensor, ref_dims(c, &second, 1), keepdim));
}

/* linalg_matrix_norm, frobenius_norm and nuclear_norm. For norms that need singular values only
 * the sizes are computed. param is the index of the dims, 2 for linalg_matrix_norm and 1 for the
 * others; without dims all dimensions are reduced. */
bool rule_matrix_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t at = (uint32_t)c->param;
    bool list = arg(c, at).kind == VALUE_LIST;
    bool keepdim = arg_bool(c, list ? at + 1 : at);
    double p = at == 2 && value_is_number(arg(c, 1)) ? arg_double(c, 1) : 0;
    if (list && (fabs(p) == 1 || isinf(p)))
        return matrix_norm_by_rows(c, x, p, keepdim, arg(c, 4));
    uint64_t mask = list ? reduce_mask(c, at, x) : reduce_all(x);
    enum dtype dtype = at == 2 ? arg_dtype(c, 4, DTYPE_NONE) : DTYPE_NONE;
    return ret_tensor(c, reduce_new(c, x, mask, keepdim, norm_dtype(c, x, dtype)));
}

/* linalg_norm (CompositeImplicitAutograd) calls matrix_norm for matrices with an order, else
 * vector_norm. */
bool rule_linalg_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t n_dims = arg(c, 2).kind == VALUE_LIST ? arg(c, 2).n : 0;
    bool matrix = arg_given(c, 1) && (n_dims == 2 || (!arg_given(c, 2) && ndim_of(x) == 2));
    struct value args[] = { value_tensor(x), arg(c, 1), arg(c, 2), arg(c, 3) };
    struct keyword keyword = { STR("dtype"), arg(c, 4) };
    if (!matrix) {
        args[1] = order_or(c, arg(c, 1), 2);
        return ret_value(
            c, call_op_keywords(c, "aten.linalg_vector_norm.default", args, 4, &keyword, 1));
    }
    if (!arg_given(c, 2))
        args[2] = ref_dims(c, (const int64_t[]){ 0, 1 }, 2);
    const char *name = arg(c, 1).kind == VALUE_STRING ? "aten.linalg_matrix_norm.str_ord"
                                                      : "aten.linalg_matrix_norm.default";
    return ret_value(c, call_op_keywords(c, name, args, 4, &keyword, 1));
}

/* dist of torch/_decomp/decompositions.py is the norm of the difference. */
bool rule_dist(struct call *c)
{
    struct tensor pair[] = { arg_tensor(c, 0), arg_tensor(c, 1) };
    if (by_decomposition(c)) {
        struct tensor difference = call2(c, "aten.sub.Tensor", arg(c, 0), arg(c, 1));
        return ret_tensor(c, call2(c, "aten.norm.Scalar", value_tensor(difference), arg(c, 2)));
    }
    sym_id sizes[TENSOR_MAX_DIM];
    uint32_t n;
    enum dtype dtype = dtype_real(promote(dtype_of(pair[0]), dtype_of(pair[1])));
    if (!broadcast_shapes(c, pair, 2, sizes, &n))
        return false;
    return ret_tensor(c, new_beside(c, pair[0], dtype, NULL, 0));
}

/* Returns whether argument i, unless it is symbolic, compares so with 0. */
static bool fits_zero(struct call *c, uint32_t i, enum node_method comparison)
{
    struct value x = arg(c, i);
    return !value_is_number(x) || !is_number(c, x.u.sym) || order_holds(c, comparison, x, 0);
}

/* renorm of torch/_refs, whose result is contiguous. */
bool rule_renorm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!require(c, fits_zero(c, 1, NODE_METHOD_GT), "RuntimeError",
                 "renorm: non-positive-norm not supported") ||
        !require(c, fits_zero(c, 3, NODE_METHOD_GE), "RuntimeError",
                 "renorm: expected maxnorm to be >= 0 but got %s", order_text(c, arg(c, 3))) ||
        !require(c, ndim_of(x) > 1, "RuntimeError",
                 "renorm: input needs at least 2 dimensions, got %u dimensions", ndim_of(x)))
        return false;
    wrap_dim(c, arg_int(c, 2), ndim_of(x));
    if (by_reference(c))
        return decompose(c, NULL);
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

bool rule_embedding_renorm(struct call *c)
{
    return ret_tensor(c, new_like(c, arg_tensor(c, 0)));
}

/* --- logsumexp --- */

bool rule_logsumexp(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum dtype result = DTYPE_NONE, compute = DTYPE_NONE;
    elementwise_dtypes(c, (struct value[]){ value_tensor(x) }, 1, PROMOTE_INT_TO_FLOAT, &compute,
                       &result);
    uint64_t mask = reduce_mask(c, 1, x);
    bool keepdim = arg_bool(c, 2);
    if (!by_reference(c))
        return ret_tensor(c, reduce_new(c, x, mask, keepdim, result));
    struct value dims = arg(c, 1);
    x = ref_convert(c, x, compute);
    struct tensor total;
    if (guard_or_false(c, eq_int(c, numel(c, x), 0))) {
        total = call1(c, "aten.exp.default", value_tensor(x));
        total = reduce_call(c, "aten.sum.dim_IntList", total, dims, keepdim);
        return ret_tensor(
            c, ref_convert(c, call1(c, "aten.log.default", value_tensor(total)), result));
    }
    struct tensor maxes = reduce_call(c, "aten.amax.default", x, dims, true);
    struct tensor infinite = call1(c, "aten.abs.default", value_tensor(maxes));
    infinite = call2(c, "aten.eq.Scalar", value_tensor(infinite), value_float(c, INFINITY));
    maxes = call3(c, "aten.masked_fill.Scalar", value_tensor(maxes), value_tensor(infinite),
                  value_number(c, 0));
    struct tensor squeezed =
        keepdim ? maxes : call2(c, "aten.squeeze.dims", value_tensor(maxes), dims);
    total = call2(c, "aten.sub.Tensor", value_tensor(x), value_tensor(maxes));
    total = call1(c, "aten.exp.default", value_tensor(total));
    total = reduce_call(c, "aten.sum.dim_IntList", total, dims, keepdim);
    total = call1(c, "aten.log.default", value_tensor(total));
    total = call2(c, "aten.add.Tensor", value_tensor(total), value_tensor(squeezed));
    return ret_tensor(c, ref_convert(c, total, result));
}
