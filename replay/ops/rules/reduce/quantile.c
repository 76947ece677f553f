/* quantile() and nanquantile() (aten/src/ATen/native/Sorting.cpp). */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/compose.h"

/* Writes the sizes without what is reduced, or with a size of one for it. Returns how many. */
static uint32_t reduced_sizes(struct call *c, struct tensor x, sym_id *sizes)
{
    uint32_t n = 0,
             dim = ndim_of(x) && arg_given(c, 2) ? wrap_dim(c, arg_int(c, 2), ndim_of(x)) : 0;
    bool keepdim = arg_bool(c, 3);
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (arg_given(c, 2) && i != dim)
            sizes[n++] = size_of(c, x, i);
        else if (keepdim)
            sizes[n++] = SYM_ID_ONE;
    return n;
}

/* --- Symbolic sizes: the calls of quantile_compute, which add guards --- */

/* Returns x sorted along the last dimension, to which `dim` was moved, or of one dimension. */
static struct tensor sorted_last(struct call *c, struct tensor x)
{
    uint32_t n = ndim_of(x);
    if (!arg_given(c, 2)) {
        x = CALL(c, "aten.flatten.using_ints", T(x));
    } else if (n) {
        uint32_t dim = wrap_dim(c, arg_int(c, 2), n);
        if (dim + 1 != n) {
            x = CALL(c, "aten.unsqueeze.default", T(x), I(c, -1));
            x = CALL(c, "aten.transpose.int", T(x), I(c, dim), I(c, -1));
        }
    }
    struct value both = CALL_VALUE(c, "aten.sort.default", T(x));
    return !c->failed && both.n ? both.u.items[0].u.tensor : no_tensor();
}

/* Views the sorted values as the reduced sizes, then the size of what is reduced. */
static struct tensor view_reduced(struct call *c, struct tensor x, struct tensor sorted)
{
    sym_id sizes[TENSOR_MAX_DIM + 1];
    uint32_t n = reduced_sizes(c, x, sizes);
    sizes[n++] = size_of(c, sorted, -1);
    return CALL(c, "aten.view.default", T(sorted), ints(c, sizes, n));
}

/* Returns the ranks in [0, size), those of nanquantile() among what is no NaN. */
static struct tensor ranks_of(struct call *c, struct tensor sorted, struct tensor q)
{
    struct tensor nan = CALL(c, "aten.isnan.default", T(sorted)), ranks;
    if (str_is(c->op->schema.base, "nanquantile")) {
        struct value last = dims(c, (const int64_t[]){ -1 }, 1);
        struct tensor count = CALL(c, "aten.logical_not_.default", T(nan));
        count = CALL(c, "aten.sum.dim_IntList", T(count), last, B(true));
        count = CALL(c, "aten.sub.Scalar", T(count), I(c, 1));
        ranks = CALL(c, "aten.mul.Tensor", T(q), T(count));
        struct tensor below = CALL(c, "aten.lt.Scalar", T(ranks), I(c, 0));
        return CALL(c, "aten.masked_fill_.Scalar", T(ranks), T(below), I(c, 0));
    }
    sym_id last = sub(c, size_of(c, sorted, -1), SYM_ID_ONE);
    struct value two[2] = { T(CALL(c, "aten.mul.Scalar", T(q), N(last))) };
    two[1] = T(CALL(c, "aten.any.dim", T(nan), I(c, -1), B(true)));
    struct value list = value_items(VALUE_LIST, two, 2);
    struct value both = CALL_VALUE(c, "aten.broadcast_tensors.default", list);
    if (c->failed || both.n != 2)
        return no_tensor();
    return CALL(c, "aten.masked_fill.Scalar", both.u.items[0], both.u.items[1], N(last));
}

static struct tensor gather_at(struct call *c, struct tensor sorted, struct tensor ranks,
                               struct tensor *index)
{
    *index = CALL(c, "aten.to.dtype", T(ranks), dtype_value(DTYPE_I64));
    return CALL(c, "aten.gather.default", T(sorted), I(c, -1), T(*index));
}

static struct tensor interpolated(struct call *c, struct tensor sorted, struct tensor ranks)
{
    struct str how = arg_string(c, 4);
    struct tensor below, above;
    if (str_is(how, "lower"))
        ranks = CALL(c, "aten.floor_.default", T(ranks));
    else if (str_is(how, "higher"))
        ranks = CALL(c, "aten.ceil_.default", T(ranks));
    else if (str_is(how, "nearest"))
        ranks = CALL(c, "aten.round_.default", T(ranks));
    struct tensor values = gather_at(c, sorted, ranks, &below);
    bool midpoint = str_is(how, "midpoint");
    if (!midpoint && !str_is(how, "linear"))
        return values;
    struct tensor weights = midpoint ? CALL(c, "aten.full_like.default", T(ranks), F(c, 0.5))
                                     : CALL(c, "aten.sub.Tensor", T(ranks), T(below));
    ranks = CALL(c, "aten.ceil_.default", T(ranks));
    struct tensor upper = gather_at(c, sorted, ranks, &above);
    return CALL(c, "aten.lerp_.Tensor", T(values), T(upper), T(weights));
}

/* Makes the calls for arguments that have been checked. */
static struct tensor quantile_by_calls(struct call *c, struct tensor x)
{
    struct keyword dtype = { STR("dtype"), dtype_value(x.meta->dtype) };
    struct value number = arg(c, 1);
    if (number.kind != VALUE_TENSOR)
        number = call_op_keywords(c, "aten.scalar_tensor.default", &number, 1, &dtype, 1);
    struct tensor q = number.u.tensor;
    struct tensor sorted = sorted_last(c, x);
    if (c->failed)
        return no_tensor();
    sorted = view_reduced(c, x, sorted);
    struct tensor ranks = ranks_of(c, sorted, q);
    struct tensor values = interpolated(c, sorted, ranks);
    if (!ndim_of(q))
        return CALL(c, "aten.squeeze.dim", T(values), I(c, -1));
    values = CALL(c, "aten.unsqueeze.default", T(values), I(c, 0));
    values = CALL(c, "aten.transpose.int", T(values), I(c, 0), I(c, -1));
    return CALL(c, "aten.squeeze.dim", T(values), I(c, -1));
}

/* --- The rules --- */

static bool check_arguments(struct call *c, struct tensor x, struct tensor q)
{
    if (!require(c, dtype_of(x) == DTYPE_F32 || dtype_of(x) == DTYPE_F64, "RuntimeError",
                 "quantile() input tensor must be either float or double dtype") ||
        !require(c, ndim_of(q) <= 1, "RuntimeError",
                 "quantile() q must be a scalar or 1D tensor") ||
        !require(c, !some(q) || dtype_of(q) == dtype_of(x), "RuntimeError",
                 "quantile() q tensor must be same dtype as the input tensor"))
        return false;
    double number = some(q) ? 0 : arg_double(c, 1);
    if (!require(c, !(number < 0 || number > 1), "RuntimeError",
                 "quantile() q must be in the range [0, 1] but got %g", number) ||
        !check(c, ne(c, numel(c, x), SYM_ID_ZERO), "RuntimeError",
               "quantile() input tensor must be non-empty"))
        return false;
    sym_id length = numel(c, x);
    if (ndim_of(x) && arg_given(c, 2))
        length = size_of(c, x, wrap_dim(c, arg_int(c, 2), ndim_of(x)));
    int64_t most = behaves(c->env, BEHAVIOR_QUANTILE_RANKS_IN_DOUBLE) ? 1LL << 53 : 1LL << 24;
    return check(c, le(c, length, num(c, most)), "RuntimeError",
                 "quantile() input tensor is too large");
}

/* The result for each element of q: it is computed with q last, which a view then moves to the
 * front. sizes[0] is unused; those of the result follow, and there is room for one more. */
static bool for_each(struct call *c, struct tensor x, struct tensor q, sym_id *sizes, uint32_t n)
{
    sym_id strides[TENSOR_MAX_DIM + 1];
    sizes[0] = sizes[n + 1] = size_of(c, q, 0);
    struct tensor ret = new_tensor(c, dtype_of(x), device_of(x), sizes + 1, n + 1);
    if (c->failed)
        return false;
    memcpy(strides + 1, ret.meta->stride, n * sizeof *strides);
    strides[0] = ret.meta->stride[n];
    return ret_tensor(c, new_view(c, ret, sizes, strides, n + 1, SYM_ID_ZERO));
}

/* param is 0 where q is a tensor, 1 where it is a number. */
bool rule_quantile(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), q = c->param ? no_tensor() : arg_tensor(c, 1);
    if (!check_arguments(c, x, q))
        return false;
    if (c->symbolic && !eager(c))
        return !c->failed && ret_tensor(c, quantile_by_calls(c, x));
    sym_id sizes[TENSOR_MAX_DIM + 2];
    uint32_t n = reduced_sizes(c, x, sizes + 1);
    return ndim_of(q) == 1 ? for_each(c, x, q, sizes, n)
                           : ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes + 1, n));
}
