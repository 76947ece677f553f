/* Distinct elements, and comparison of tensors by value. */
#include <math.h>

#include "replay/ops/rules/index/data_dependent.h"
#include "replay/ops/rules/reduce/reduce.h"

/* _unique of torch/_subclasses/fake_impls.py; dim is UINT32_MAX if there is none. */
static sym_id unique_size(struct call *c, struct tensor x, uint32_t dim, enum tensor_memo memo)
{
    bool whole = dim == UINT32_MAX;
    sym_id size = whole ? known_size(c, x, memo) : SYM_NONE;
    if (size != SYM_NONE || !may_be_dynamic(c))
        return size;
    if (is_int(c, env_replace(c->env, numel(c, x)), 0)) {
        size = SYM_ID_ZERO;
    } else {
        sym_id most = env_replace(c->env, whole ? numel(c, x) : size_of(x, dim));
        size = new_unbacked_size(c, SYM_NONE, is_number(c, most) ? most : size_max(c));
    }
    if (whole)
        remember_size(c, x, memo, size);
    return size;
}

struct unique {
    struct tensor x;
    uint32_t dim; /* UINT32_MAX for all elements */
    bool inverse, counts, consecutive;
    /* These are the arguments of the fake implementation, which adds fewer guards. */
    bool sliced;
    int64_t fake_dim;
};

/* Moves `dim` to the front, so that its slices are runs of elements. */
static bool slices_in_front(struct call *c, struct tensor x, uint32_t dim, struct tensor *ret,
                            uint64_t *row)
{
    int64_t sizes[TENSOR_MAX_DIM], n;
    if (!plain_sizes(c, x, sizes) || !plain_numel(c, x, &n))
        return false;
    uint64_t outer = 1, inner = 1, length = (uint64_t)sizes[dim], size = dtype_size(dtype_of(x));
    for (uint32_t i = 0; i < ndim_of(x); i++)
        *(i < dim ? &outer : &inner) *= i == dim ? 1 : (uint64_t)sizes[i];
    unsigned char *bytes = scratch(c, (size_t)((uint64_t)n * size) + 1);
    if (!bytes)
        return false;
    for (uint64_t o = 0; o < outer && n; o++)
        for (uint64_t d = 0; d < length; d++)
            memcpy(bytes + (d * outer + o) * inner * size, x.data + (o * length + d) * inner * size,
                   (size_t)(inner * size));
    *ret = x;
    ret->data = bytes;
    *row = outer * inner;
    return true;
}

static bool real_size(struct call *c, const struct unique *u, sym_id *ret)
{
    uint64_t distinct = 0, row = 1;
    struct tensor x = u->x;
    int64_t n, count = 0;
    bool counted = count_known(c, x, &count);
    if ((!counted && !values_known(c, x)) || !plain_numel(c, x, &n))
        return false;
    if (u->dim != UINT32_MAX) {
        if (n == 0) {
            if (!require(c, is_int(c, size_of(x, u->dim), 0), "RuntimeError",
                         "There are 0 sized dimensions, and they aren't selected, so unique cannot "
                         "be applied"))
                return false;
            *ret = SYM_ID_ZERO;
            return true;
        }
        if (!counted && !slices_in_front(c, x, u->dim, &x, &row))
            return false;
    }
    if (!counted && !count_distinct(c, x, row, u->consecutive, &distinct))
        return false;
    *ret = num(c, counted ? count : (int64_t)distinct);
    return true;
}

static struct tensor new_empty_vector(struct call *c, struct tensor x, enum dtype dtype)
{
    sym_id zero = SYM_ID_ZERO;
    return new_beside(c, x, dtype, &zero, 1);
}

/* output.view({n, rest}).moveaxis(0, dim) of Unique.cpp */
static struct tensor slices_back(struct call *c, struct tensor x, uint32_t dim, sym_id count)
{
    uint32_t n = ndim_of(x);
    sym_id sizes[TENSOR_MAX_DIM] = { 0 }, strides[TENSOR_MAX_DIM] = { 0 }, stride = SYM_ID_ONE;
    for (uint32_t i = n; i-- > 0;) {
        sizes[i] = i == dim ? count : size_of(x, i);
        strides[i] = stride;
        if (i != dim)
            stride = mul(c, stride, sym_max2(c, size_of(x, i), SYM_ID_ONE));
    }
    if (is_int(c, count, 0))
        return new_beside(c, x, dtype_of(x), sizes, n);
    strides[dim] = stride;
    return new_tensor_strided(c, dtype_of(x), device_of(x), sizes, strides, n);
}

/* Returns values, inverse and counts as C++ makes them. */
static bool real_results(struct call *c, const struct unique *u, sym_id size)
{
    struct tensor x = u->x, all[3];
    bool whole = u->dim == UINT32_MAX;
    sym_id length = whole ? SYM_NONE : size_of(x, u->dim);
    all[0] = whole ? new_beside(c, x, dtype_of(x), &size, 1) : slices_back(c, x, u->dim, size);
    all[1] = whole && !u->inverse ? new_empty_vector(c, x, DTYPE_I64)
             : whole              ? new_contiguous_like(c, x, DTYPE_I64)
                                  : new_beside(c, x, DTYPE_I64, &length, 1);
    all[2] = whole && !u->counts ? new_empty_vector(c, x, DTYPE_I64)
                                 : new_beside(c, x, DTYPE_I64, &size, 1);
    return ret_tensors(c, all, 3);
}

/* shape[:dim], size, shape[dim + 1:] with Python's slices, so that -1 gives the whole shape
 * twice. */
static uint32_t replace_size(struct tensor x, int64_t dim, sym_id size, sym_id *ret)
{
    int64_t n = ndim_of(x), before = dim < 0 ? dim + n : dim, after = dim + 1;
    uint32_t m = 0;
    if (after < 0)
        after += n;
    for (int64_t i = 0; i < before && i < n; i++)
        ret[m++] = size_of(x, (uint32_t)i);
    ret[m++] = size;
    for (int64_t i = after; i < n; i++)
        ret[m++] = size_of(x, (uint32_t)i);
    return m;
}

/* Returns the fake results. Before torch 2.13, indices and counts had the dtype of the argument. */
static bool fake_results(struct call *c, const struct unique *u, enum tensor_memo memo)
{
    struct tensor x = u->x, all[3];
    bool whole = !u->sliced;
    uint32_t n = ndim_of(x);
    sym_id sizes[2 * TENSOR_MAX_DIM + 1];
    if (!whole && !require(c, n && u->fake_dim < n && u->fake_dim >= -(int64_t)n, "IndexError",
                           "tuple index out of range"))
        return false;
    uint32_t at = u->fake_dim < 0 ? (uint32_t)(u->fake_dim + n) : (uint32_t)u->fake_dim;
    sym_id size = unique_size(c, x, whole ? UINT32_MAX : at, memo);
    count_dispatches(c, 6); /* new_empty and empty of three tensors */
    if (c->failed)
        return false;
    uint32_t m = whole ? 0 : replace_size(x, u->fake_dim, size, sizes);
    if (!require(c, m <= TENSOR_MAX_DIM, "RuntimeError", "too many dimensions: %u", m))
        return false;
    bool always = !whole && device_of(x).type == DEVICE_CPU;
    sym_id length = whole ? size : size_of(x, at);
    sym_id counted = whole ? size : sizes[u->fake_dim < 0 ? m + u->fake_dim : u->fake_dim];
    enum dtype counts = behaves(c->env, BEHAVIOR_UNIQUE_COUNTS_IN_INT64) ? DTYPE_I64 : dtype_of(x);
    all[0] =
        whole ? new_beside(c, x, dtype_of(x), &size, 1) : new_beside(c, x, dtype_of(x), sizes, m);
    all[1] = !u->inverse && !always ? new_empty_vector(c, x, counts)
             : whole                ? new_contiguous_like(c, x, counts)
                                    : new_beside(c, x, counts, &length, 1);
    all[2] = !u->counts && !always ? new_empty_vector(c, x, counts)
                                   : new_beside(c, x, counts, &counted, 1);
    return ret_tensors(c, all, 3);
}

static bool unique_results(struct call *c, const struct unique *u, enum tensor_memo memo)
{
    sym_id size = SYM_NONE;
    if (real_size(c, u, &size))
        return real_results(c, u, size);
    return !c->failed && fake_results(c, u, memo);
}

/* _unique2(self, sorted, return_inverse, return_counts) */
bool rule_unique(struct call *c)
{
    struct unique u = { .x = arg_tensor(c, 0),
                        .dim = UINT32_MAX,
                        .inverse = arg_bool(c, 2),
                        .counts = arg_bool(c, 3) };
    return unique_results(c, &u, MEMO_UNIQUE);
}

/* _unique(self, sorted, return_inverse) */
bool rule_unique_pair(struct call *c)
{
    struct unique u = { .x = arg_tensor(c, 0), .dim = UINT32_MAX, .inverse = arg_bool(c, 2) };
    if (!unique_results(c, &u, MEMO_UNIQUE))
        return false;
    c->ret.n = 2;
    return true;
}

/* unique_dim(self, dim, sorted, return_inverse, return_counts) */
bool rule_unique_dim(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    struct unique u = { .x = x,
                        .dim = dim,
                        .inverse = arg_bool(c, 3),
                        .counts = arg_bool(c, 4),
                        .sliced = true,
                        .fake_dim = dim };
    if (ndim_of(x) == 0)
        u.dim = UINT32_MAX;
    return !c->failed && unique_results(c, &u, MEMO_UNIQUE);
}

/* unique_consecutive(self, return_inverse, return_counts, dim) */
bool rule_unique_consecutive(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    int64_t dim = arg_int_or(c, 3, 0);
    struct unique u = { .x = x,
                        .dim = UINT32_MAX,
                        .inverse = arg_bool(c, 1),
                        .counts = arg_bool(c, 2),
                        .consecutive = true,
                        .sliced = arg_given(c, 3),
                        .fake_dim = dim };
    /* unique_consecutive_cpu of Unique.cpp: for a vector, dim 0 is the same as no dim. */
    bool flat = !arg_given(c, 3) || ndim_of(x) == 0 || (dim == 0 && ndim_of(x) == 1);
    if (!flat)
        u.dim = wrap_dim(c, dim, ndim_of(x));
    return !c->failed && unique_results(c, &u, MEMO_UNIQUE_CONSECUTIVE);
}

/* unique_dim_consecutive(self, dim, return_inverse, return_counts) has no fake implementation. */
bool rule_unique_dim_consecutive(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    struct unique u = {
        .x = x, .dim = dim, .inverse = arg_bool(c, 2), .counts = arg_bool(c, 3), .consecutive = true
    };
    if (c->failed || !require(c, values_known(c, x) && ndim_of(x), "DynamicOutputShapeException",
                              "%.*s", STR_ARG(op_name(c->op))))
        return false;
    return unique_results(c, &u, MEMO_UNIQUE_CONSECUTIVE);
}

/* --- equal, allclose: results that depend on values --- */

static bool equal_shapes(struct tensor a, struct tensor b)
{
    if (ndim_of(a) != ndim_of(b))
        return false;
    for (uint32_t i = 0; i < ndim_of(a); i++)
        if (size_of(a, i) != size_of(b, i))
            return false;
    return true;
}

static bool data_dependent(struct call *c)
{
    return refuse(c, "DataDependentOutputException", "%.*s", STR_ARG(op_name(c->op)));
}

/* Gets the two parts of a complex element i, or the number itself. Returns how many there are. */
static unsigned element_parts(const struct call *c, struct tensor x, uint64_t i, double parts[2])
{
    parts[1] = 0;
    if (!dtype_is_complex(dtype_of(x)))
        return element_double(c, x, i, &parts[0]) ? 1 : 0;
    struct tensor im = x;
    im.data += dtype_size(dtype_of(x)) / 2;
    return element_double(c, x, i, &parts[0]) && element_double(c, im, i, &parts[1]) ? 2 : 0;
}

bool rule_equal(struct call *c)
{
    struct tensor a = arg_tensor(c, 0), b = arg_tensor(c, 1);
    int64_t n, ia, ib;
    if (!values_known(c, a) || !values_known(c, b))
        return data_dependent(c);
    if (!require(c, device_equal(device_of(a), device_of(b)), "RuntimeError",
                 "Cannot compare two tensors on different devices."))
        return false;
    if (dtype_of(a) != dtype_of(b) || !equal_shapes(a, b) || !plain_numel(c, a, &n))
        return ret_value(c, value_bool(false));
    bool equal = true;
    for (int64_t i = 0; i < n && equal; i++) {
        double pa[2], pb[2];
        if (element_int(c, a, (uint64_t)i, &ia) && element_int(c, b, (uint64_t)i, &ib))
            equal = ia == ib;
        else if (element_parts(c, a, (uint64_t)i, pa) && element_parts(c, b, (uint64_t)i, pb))
            equal = pa[0] == pb[0] && pa[1] == pb[1];
        else
            return data_dependent(c);
    }
    return ret_value(c, value_bool(equal));
}

static bool is_close(const double a[2], const double b[2], double rtol, double atol, bool equal_nan)
{
    if (a[0] == b[0] && a[1] == b[1])
        return true;
    if ((isnan(a[0]) || isnan(a[1])) && (isnan(b[0]) || isnan(b[1])))
        return equal_nan;
    double distance = hypot(a[0] - b[0], a[1] - b[1]);
    return isfinite(distance) && distance <= atol + fabs(rtol * hypot(b[0], b[1]));
}

/* Returns the element at flat position i of the broadcast shape. */
static uint64_t broadcast_at(struct tensor x, const int64_t *own, const int64_t *sizes, uint32_t n,
                             uint64_t i)
{
    uint64_t at = 0, step = 1;
    uint32_t m = ndim_of(x);
    for (uint32_t k = 0; k < n; k++) {
        uint64_t size = (uint64_t)sizes[n - 1 - k], digit = i % size;
        i /= size;
        if (k < m) {
            if (own[m - 1 - k] != 1)
                at += digit * step;
            step *= (uint64_t)own[m - 1 - k];
        }
    }
    return at;
}

/* allclose of TensorCompare.cpp reduces isclose by all. */
bool rule_allclose(struct call *c)
{
    struct tensor pair[] = { arg_tensor(c, 0), arg_tensor(c, 1) };
    sym_id shape[TENSOR_MAX_DIM];
    int64_t sizes[TENSOR_MAX_DIM], own[2][TENSOR_MAX_DIM], total = 1;
    uint32_t n;
    if (!values_known(c, pair[0]) || !values_known(c, pair[1]))
        return data_dependent(c);
    if (!require(c, dtype_of(pair[0]) == dtype_of(pair[1]), "RuntimeError", "%s did not match %s",
                 dtype_scalar_name(dtype_of(pair[0])), dtype_scalar_name(dtype_of(pair[1]))) ||
        !broadcast_shapes(c, pair, 2, shape, &n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!sym_to_i64(c->pool, shape[i], &sizes[i]) ||
            __builtin_mul_overflow(total, sizes[i], &total))
            return data_dependent(c);
    double rtol = arg_double(c, 2), atol = arg_double(c, 3);
    bool equal_nan = arg_bool(c, 4), close = true;
    if (!plain_sizes(c, pair[0], own[0]) || !plain_sizes(c, pair[1], own[1]))
        return data_dependent(c);
    for (int64_t i = 0; i < total && close && i < INT64_C(100000000); i++) {
        double a[2], b[2];
        if (!element_parts(c, pair[0], broadcast_at(pair[0], own[0], sizes, n, (uint64_t)i), a) ||
            !element_parts(c, pair[1], broadcast_at(pair[1], own[1], sizes, n, (uint64_t)i), b))
            return data_dependent(c);
        close = is_close(a, b, rtol, atol, equal_nan);
    }
    return ret_value(c, value_bool(close));
}
