#include "replay/ops/rules/reduce/reduce.h"

#include "replay/ops/rules/pointwise/pointwise.h"

struct tensor new_contiguous_like(struct call *c, struct tensor x, enum dtype dtype)
{
    return new_beside(c, x, dtype, x.meta ? x.meta->size : NULL, ndim_of(x));
}

struct tensor new_empty_like(struct call *c, struct tensor x, enum dtype dtype)
{
    sym_id strides[TENSOR_MAX_DIM];
    if (c->failed || !x.meta)
        return (struct tensor){ .meta = NULL };
    if (eager(c))
        return new_like_dtype(c, x, dtype);
    like_strides(c, x, strides);
    return new_tensor_permuted(c, dtype, device_of(x), x.meta->size, strides, ndim_of(x));
}

bool plain_sizes(const struct call *c, struct tensor x, int64_t *sizes)
{
    if (!x.meta || x.meta->ndim > TENSOR_MAX_DIM)
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        if (!sym_to_i64(c->pool, x.meta->size[i], &sizes[i]) || sizes[i] < 0)
            return false;
    return true;
}

bool plain_numel(const struct call *c, struct tensor x, int64_t *numel)
{
    int64_t sizes[TENSOR_MAX_DIM];
    if (!plain_sizes(c, x, sizes))
        return false;
    int64_t product = 1;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        if (__builtin_mul_overflow(product, sizes[i], &product))
            return false;
    *numel = product;
    return true;
}

void guard_sizes(struct call *c, struct tensor x)
{
    for (uint32_t i = 0; i < ndim_of(x); i++)
        guard_int(c, size_of(x, i));
}

struct value ref_dims(struct call *c, const int64_t *dims, uint32_t n)
{
    struct value *items = values(c, n);
    if (!items && n)
        return value_none();
    for (uint32_t i = 0; i < n; i++)
        items[i] = value_number(c, dims[i]);
    return value_items(VALUE_LIST, items, n);
}

struct tensor ref_convert(struct call *c, struct tensor x, enum dtype dtype)
{
    if (c->failed || dtype == DTYPE_NONE || dtype_of(x) == dtype)
        return x;
    return ref_cast(c, x, dtype);
}

struct tensor prim_convert(struct call *c, struct tensor x, enum dtype dtype)
{
    if (c->failed || dtype == DTYPE_NONE || dtype_of(x) == dtype)
        return x;
    return call2(c, "prims.convert_element_type.default", value_tensor(x), value_dtype(dtype));
}

struct tensor ref_contiguous(struct call *c, struct tensor x)
{
    if (c->failed || is_contiguous(c, x, FORMAT_CONTIGUOUS))
        return x;
    struct value args[] = { value_tensor(x) };
    struct keyword format = { STR("memory_format"), { .kind = VALUE_MEMORY_FORMAT } };
    format.value.u.memory_format = FORMAT_CONTIGUOUS;
    struct value ret = call_op_keywords(c, "aten.clone.default", args, 1, &format, 1);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ 0 };
}

struct tensor ref_cast(struct call *c, struct tensor x, enum dtype dtype)
{
    if (c->failed)
        return x;
    count_below(c, 1); /* aten.to.dtype */
    if (dtype_of(x) == dtype) {
        count_below(c, 1); /* prim.device */
        return x;
    }
    struct value args[] = { value_tensor(x) };
    struct keyword keyword = { STR("dtype"), value_dtype(dtype) };
    struct value ret = call_op_keywords(c, "aten._to_copy.default", args, 1, &keyword, 1);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : (struct tensor){ 0 };
}

/* --- Reductions --- */

uint64_t reduce_all(struct tensor x)
{
    uint32_t n = ndim_of(x);
    return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* dim_list_to_bitset of WrapDimUtilsMulti.h and reduction_dims of torch/_prims_common */
uint64_t reduce_mask(struct call *c, uint32_t i, struct tensor x)
{
    uint32_t ndim = x.meta ? x.meta->ndim : 0;
    if (!require(c, ndim <= TENSOR_MAX_DIM, "RuntimeError",
                 "only tensors with up to 64 dims are supported"))
        return 0;
    struct value dims = arg(c, i);
    if (dims.kind == VALUE_NONE)
        return reduce_all(x);
    if (value_is_number(dims))
        return UINT64_C(1) << (wrap_dim(c, arg_int(c, i), ndim) & 63);
    const int64_t *list = NULL;
    uint32_t n = arg_ints(c, i, &list);
    if (n == 0)
        return reduce_all(x);
    uint64_t mask = 0;
    for (uint32_t k = 0; k < n && !c->failed; k++) {
        uint32_t dim = wrap_dim(c, list[k], ndim) & 63;
        if (mask >> dim & 1) {
            if (!eager(c))
                refuse(c, "RuntimeError", "duplicate value in the list of dims");
            else
                refuse(c, "RuntimeError", "dim %u appears multiple times in the list of dims", dim);
        }
        mask |= UINT64_C(1) << dim;
    }
    return mask;
}

static uint32_t reduced_sizes(struct tensor x, uint64_t mask, bool keepdim, sym_id *sizes)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (!(mask >> i & 1))
            sizes[n++] = size_of(x, i);
        else if (keepdim)
            sizes[n++] = SYM_ID_ONE;
    return n;
}

struct tensor reduce_new(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype)
{
    sym_id sizes[TENSOR_MAX_DIM];
    return new_beside(c, x, dtype, sizes, reduced_sizes(x, mask, keepdim, sizes));
}

/* The strides of _broadcast_in_dim_meta (torch/_prims/__init__.py), which puts the reduced
 * dimensions back with size 1. */
static void keepdim_strides(struct call *c, struct tensor x, uint64_t mask, const sym_id *inner,
                            const sym_id *inner_strides, uint32_t n_inner, sym_id *strides)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < ndim_of(x); i++) {
        if (!(mask >> i & 1)) {
            guard_or_false(c, eq_int(c, inner[k], 1));
            strides[i] = inner_strides[k];
            k++;
        } else if (k == n_inner) {
            strides[i] = SYM_ID_ONE;
        } else {
            strides[i] = mul(c, inner_strides[k], inner[k]);
        }
    }
}

struct tensor reduce_ref(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype)
{
    if (c->failed)
        return x;
    sym_id inner[TENSOR_MAX_DIM], inner_strides[TENSOR_MAX_DIM];
    uint32_t n_inner = reduced_sizes(x, mask, false, inner);
    count_prim(c);
    contiguous_strides(c, inner, n_inner, inner_strides);
    struct tensor result =
        new_tensor_strided(c, dtype, device_of(x), inner, inner_strides, n_inner);
    if (!keepdim)
        return result;
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    uint32_t n = reduced_sizes(x, mask, true, sizes);
    if (!c->in_kernel) {
        struct geometry g = geometry_of(result);
        count_call(c, "prims.broadcast_in_dim", result, &g, sizes, n, 1); /* as_strided */
    }
    keepdim_strides(c, x, mask, inner, inner_strides, n_inner, strides);
    return new_view(c, result, sizes, strides, n, SYM_ID_ZERO);
}

struct tensor divided(struct call *c, struct tensor total)
{
    struct value x[] = { value_tensor(total), value_number(c, 2) };
    if (c->failed || !maybe_broadcast(c, x, 2))
        return total;
    count_below(c, 1); /* prims.div */
    return count_made(c, "aten.empty_permuted", prim_elementwise(c, x, 1, dtype_of(total)));
}

/* _maybe_convert_to_type of torch/_prims_common/wrappers.py converts a divisor of a complex
 * tensor to a number, which guards a symbol to its hint. */
void guard_mean_count(struct call *c, struct tensor x, uint64_t mask)
{
    sym_id count = SYM_ID_ONE;
    if (!dtype_is_complex(dtype_of(x)))
        return;
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (mask >> i & 1)
            count = mul(c, count, size_of(x, i));
    guard_int(c, count);
}

static bool check_empty_dim(struct call *c, int64_t dim, struct tensor x, const char *function)
{
    if (ndim_of(x) == 0)
        return require(c, dim == 0 || dim == -1, "IndexError",
                       "%s: Expected reduction dim -1 or 0 for scalar but got %lld", function,
                       (long long)dim);
    uint32_t at = wrap_dim(c, dim, ndim_of(x));
    if (c->failed)
        return false;
    return require(c, !is_int(c, size_of(x, at), 0), "IndexError",
                   "%s: Expected reduction dim %lld to have non-zero size.", function,
                   (long long)dim);
}

bool check_empty_dims(struct call *c, uint32_t i, struct tensor x, const char *function)
{
    if (value_is_number(arg(c, i)))
        return check_empty_dim(c, arg_int(c, i), x, function);
    const int64_t *dims = NULL;
    uint32_t n = arg_ints(c, i, &dims);
    if (n == 0)
        return refuse(c, "RuntimeError",
                      "%s: Expected reduction dim to be specified for input.numel() == 0. "
                      "Specify the reduction dim with the 'dim' argument.",
                      function);
    for (uint32_t k = 0; k < n; k++)
        if (!check_empty_dim(c, dims[k], x, function))
            return false;
    return true;
}

enum dtype dtype_sum(enum dtype dtype)
{
    return dtype == DTYPE_B8 || dtype_is_integer(dtype) ? DTYPE_I64 : dtype;
}
