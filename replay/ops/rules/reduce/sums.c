/* Sums, means, any, all and similar reductions. */
#include <string.h>

#include "replay/ops/rules/reduce/reduce.h"

/* _reduction of torch/_refs with a dtype computes in the computation dtype and converts the
 * result. */
static struct tensor reduce_cast(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                                 enum dtype dtype)
{
    if (!by_reference(c))
        return reduce_new(c, x, mask, keepdim, dtype);
    x = ref_convert(c, x, computation_dtype(dtype));
    return prim_convert(c, reduce_ref(c, x, mask, keepdim, computation_dtype(dtype)), dtype);
}

/* param is the index of the dtype argument. Overloads with param 1 have no dims. */
static bool sum_like(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool whole = c->param == 1;
    enum dtype dtype = arg_dtype(c, (uint32_t)c->param, dtype_sum(dtype_of(x)));
    uint64_t mask = whole ? reduce_all(x) : reduce_mask(c, 1, x);
    bool keepdim = !whole && arg_bool(c, 2);
    return ret_tensor(c, reduce_cast(c, x, mask, keepdim, dtype));
}

bool rule_sum(struct call *c)
{
    return sum_like(c);
}

bool rule_prod(struct call *c)
{
    return sum_like(c);
}

/* meta_nansum of torch/_meta_registrations.py */
bool rule_nansum(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!require(c, !dtype_is_complex(dtype_of(x)), "RuntimeError",
                 "nansum on CPU does not support complex inputs"))
        return false;
    enum dtype dtype = arg_dtype(c, 3, dtype_sum(dtype_of(x)));
    return ret_tensor(c, reduce_new(c, x, reduce_mask(c, 1, x), arg_bool(c, 2), dtype));
}

static bool check_mean_dtype(struct call *c, enum dtype dtype, bool given)
{
    return require(c, dtype_is_float(dtype) || dtype_is_complex(dtype), "RuntimeError",
                   "mean(): could not infer output dtype. %s dtype must be either a floating "
                   "point or complex dtype. Got: %s",
                   given ? "Optional" : "Input",
                   eager(c) ? dtype_scalar_name(dtype) : dtype_python_name(dtype));
}

/* mean of torch/_refs divides a sum. */
static struct tensor mean_of(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                             enum dtype dtype, bool given)
{
    struct tensor none = { .meta = NULL };
    if (!by_reference(c))
        return check_mean_dtype(c, dtype, given) ? reduce_new(c, x, mask, keepdim, dtype) : none;
    x = ref_convert(c, x, computation_dtype(dtype));
    struct tensor total = reduce_ref(c, x, mask, keepdim, computation_dtype(dtype));
    if (c->failed || !check_mean_dtype(c, dtype, given))
        return none;
    guard_mean_count(c, x, mask);
    return ref_convert(c, divided(c, total), dtype);
}

/* param is the index of the dtype argument. Overloads with param 1 have no dims. */
bool rule_mean(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool whole = c->param == 1;
    enum dtype dtype = arg_dtype(c, (uint32_t)c->param, dtype_of(x));
    bool given = arg_given(c, (uint32_t)c->param);
    if (eager(c) && !check_mean_dtype(c, dtype, given))
        return false;
    uint64_t mask = whole ? reduce_all(x) : reduce_mask(c, 1, x);
    return ret_tensor(c, mean_of(c, x, mask, !whole && arg_bool(c, 2), dtype, given));
}

/* nanmean of ReduceOps.cpp divides nansum by the number of elements that are not NaN. */
bool rule_nanmean(struct call *c)
{
    enum dtype dtype = dtype_of(arg_tensor(c, 0));
    return require(c, dtype_is_float(dtype) || dtype_is_complex(dtype), "RuntimeError",
                   "nanmean(): expected input to have floating point or complex dtype but got %s",
                   dtype_scalar_name(dtype)) &&
           decompose(c, NULL);
}

/* --- any, all --- */

enum { ANY_WHOLE, ANY_DIM, ANY_DIMS, ANY_IS_ALL = 4 };

/* any of torch/_refs counts the true elements and compares their number with 0. */
static bool any_symbolic(struct call *c, struct tensor x, struct value dims, struct value keepdim)
{
    struct tensor truth = ref_convert(c, x, DTYPE_B8), result;
    if ((dims.kind == VALUE_LIST || dims.kind == VALUE_TUPLE) && dims.n == 0) {
        result = call1(c, "aten.clone.default", value_tensor(truth));
    } else {
        if (value_is_number(dims)) {
            struct value *one = values(c, 1);
            if (!one)
                return false;
            *one = dims;
            dims = value_items(VALUE_LIST, one, 1);
        }
        struct tensor count = call3(c, "aten.sum.dim_IntList", value_tensor(truth), dims, keepdim);
        result = call2(c, "aten.ne.Scalar", value_tensor(count), value_bool(false));
    }
    return ret_tensor(c, dtype_of(x) == DTYPE_U8 ? prim_convert(c, result, DTYPE_U8) : result);
}

/* all of torch/_refs is `not any(not x)`. */
static bool all_symbolic(struct call *c, struct tensor x, struct value dims, struct value keepdim)
{
    struct tensor not_x = call1(c, "aten.logical_not.default", value_tensor(x));
    const char *any = value_is_number(dims) ? "aten.any.dim" : "aten.any.dims";
    struct tensor some = call3(c, any, value_tensor(not_x), dims, keepdim);
    struct tensor result = call1(c, "aten.logical_not.default", value_tensor(some));
    return ret_tensor(c, dtype_of(x) == DTYPE_U8 ? ref_cast(c, result, DTYPE_U8) : result);
}

bool rule_any(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    bool whole = (c->param & 3) == ANY_WHOLE;
    if (by_reference(c)) {
        struct value dims = whole ? value_none() : arg(c, 1);
        struct value keepdim = whole ? value_bool(false) : arg(c, 2);
        return c->param & ANY_IS_ALL ? all_symbolic(c, x, dims, keepdim)
                                     : any_symbolic(c, x, dims, keepdim);
    }
    uint64_t mask = whole ? reduce_all(x) : reduce_mask(c, 1, x);
    if ((c->param & 3) == ANY_DIMS && arg_given(c, 1) && arg(c, 1).n == 0)
        mask = 0;
    enum dtype dtype = dtype_of(x) == DTYPE_U8 ? DTYPE_U8 : DTYPE_B8;
    return ret_tensor(c, reduce_new(c, x, mask, !whole && arg_bool(c, 2), dtype));
}

/* _is_all_true and _is_any_true of a bool tensor */
bool rule_is_all_true(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!require(c, dtype_of(x) == DTYPE_B8, "RuntimeError",
                 "Expected a boolean tensor, but got %s", dtype_scalar_name(dtype_of(x))))
        return false;
    return ret_tensor(c, call1(c, c->param ? "aten.any.default" : "aten.all.default", arg(c, 0)));
}

/* --- count_nonzero, hash_tensor, trace --- */

bool rule_count_nonzero(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!by_reference(c))
        return ret_tensor(c, reduce_new(c, x, reduce_mask(c, 1, x), false, DTYPE_I64));
    struct tensor truth = call2(c, "aten.ne.Scalar", value_tensor(x), value_number(c, 0));
    if (!arg_given(c, 1))
        return ret_tensor(c, call1(c, "aten.sum.default", value_tensor(truth)));
    struct value dims = arg(c, 1);
    if (value_is_number(dims)) {
        int64_t dim = arg_int(c, 1);
        dims = ref_dims(c, &dim, 1);
    }
    return ret_tensor(c, call2(c, "aten.sum.dim_IntList", value_tensor(truth), dims));
}

/* hash_tensor of ReduceOps.cpp, whose meta function does not support symbols. */
bool rule_hash_tensor(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (c->symbolic) {
        guard_sizes(c, x);
        count_dispatches(c, 1); /* aten.size */
    }
    return ret_tensor(c, reduce_new(c, x, reduce_mask(c, 1, x), arg_bool(c, 2), DTYPE_U64));
}

bool rule_trace(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!require(c, x.meta && x.meta->ndim == 2, "RuntimeError",
                 "trace: expected a matrix, but got tensor with dim %u", x.meta ? x.meta->ndim : 0))
        return false;
    if (!by_reference(c))
        return ret_tensor(c, reduce_new(c, x, 3, false, dtype_sum(dtype_of(x))));
    struct tensor diagonal = call1(c, "aten.diagonal.default", value_tensor(x));
    return ret_tensor(c, call1(c, "aten.sum.default", value_tensor(diagonal)));
}

/* sum_to_size (CompositeImplicitAutograd), which calls sum_to of ATen/ExpandUtils.h. */
bool rule_sum_to_size(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *size = NULL;
    uint32_t n = arg_syms(c, 1, &size), ndim = ndim_of(x);
    if (!require(c, n <= ndim, "RuntimeError", "size {%s} is not expandable to size {%s}.",
                 sizes_text(c, size, n), sizes_text(c, x.meta ? x.meta->size : NULL, ndim)))
        return false;
    int64_t dims[TENSOR_MAX_DIM];
    uint32_t n_dims = 0, leading = ndim - n;
    for (uint32_t i = n; i-- > 0;) /* is_expandable_to */
        if (guard_bool(c, ne(c, size[i], size_of(x, leading + i))) &&
            !require(c, guard_bool(c, eq_int(c, size[i], 1)), "RuntimeError",
                     "size {%s} is not expandable to size {%s}.", sizes_text(c, size, n),
                     sizes_text(c, x.meta->size, ndim)))
            return false;
    for (uint32_t i = 0; i < ndim && !c->failed; i++) {
        bool reduce = i < leading;
        if (!reduce)
            reduce = guard_or_false(c, eq_int(c, size[i - leading], 1)) &&
                     guard_or_true(c, ne(c, size_of(x, i), SYM_ID_ONE));
        if (reduce)
            dims[n_dims++] = i;
    }
    struct tensor result = x;
    if (n_dims)
        result = call3(c, "aten.sum.dim_IntList", value_tensor(x), ref_dims(c, dims, n_dims),
                       value_bool(true));
    if (leading)
        result = call2(c, "aten.view.default", value_tensor(result), arg(c, 1));
    return ret_tensor(c, result);
}

/* segment_reduce: meta_segment_reduce of torch/_meta_registrations.py. */
bool rule_segment_reduce(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), lengths = arg_tensor(c, 2), offsets = arg_tensor(c, 4);
    if (!require(c, !arg_given(c, 3), "NotImplementedError",
                 "segment_reduce(): indices based reduction is not supported yet.") ||
        !require(c, lengths.meta || offsets.meta, "RuntimeError",
                 "segment_reduce(): Either lengths or offsets must be defined."))
        return false;
    struct tensor counts = lengths.meta ? lengths : offsets;
    bool whole = eager(c) || behaves(c->env, BEHAVIOR_SEGMENT_REDUCE_KEEPS_SIZES);
    uint32_t axis = wrap_dim(c, arg_int(c, 5), ndim_of(x)), n = whole ? axis : 0;
    sym_id sizes[2 * TENSOR_MAX_DIM];
    memcpy(sizes, x.meta->size, n * sizeof *sizes);
    /* The kernel replaces the size of the axis by the number of segments. The meta function before
     * torch 2.13 replaces the sizes up to the axis by the shape of lengths. */
    for (uint32_t i = n; i < (whole ? axis + 1 : ndim_of(counts)); i++)
        sizes[n++] = size_of(counts, i);
    if (!lengths.meta && n)
        sizes[n - 1] = sub(c, sizes[n - 1], SYM_ID_ONE);
    for (uint32_t i = axis + 1; i < ndim_of(x); i++)
        sizes[n++] = size_of(x, i);
    if (!require(c, n <= TENSOR_MAX_DIM, "RuntimeError", "too many dimensions: %u", n))
        return false;
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, n));
}

bool rule_segment_reduce_backward(struct call *c)
{
    return ret_tensor(c, new_contiguous_like(c, arg_tensor(c, 2), dtype_of(arg_tensor(c, 0))));
}
