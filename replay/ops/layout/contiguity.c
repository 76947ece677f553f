#include "replay/ops/layout/layout.h"

#include "replay/ops/layout/cached_views.h"

/* Evaluates a != b in the way of check_contiguous_sizes_strides and is_contiguous of
 * torch/_prims_common, or in that of c10/core/Contiguity.h. */
static sym_id differ(struct call *c, sym_id a, sym_id b, bool python)
{
    return python ? py_ne(c, a, b) : ne(c, a, b);
}

static bool nested_or_false(struct call *c, const sym_id *sizes, const sym_id *strides, uint32_t n,
                            bool python)
{
    sym_id one = num(c, 1), expected = one, expected_max = one;
    for (uint32_t i = n; i-- > 0 && !c->failed;) {
        if (guard_or_false(c, eq(c, sizes[i], one)))
            continue;
        if (guard_or_true(c, differ(c, strides[i], expected, python)) &&
            guard_or_true(c, differ(c, strides[i], expected_max, python)))
            return false;
        expected_max = mul(c, expected_max, sym_max2(c, sizes[i], one));
        expected = mul(c, expected, sizes[i]);
    }
    return !c->failed;
}

bool contiguous_or_false(struct call *c, struct tensor x)
{
    if (guard_or_false(c, lt(c, numel(c, x), num(c, 2))))
        return true;
    return nested_or_false(c, x.meta->size, x.meta->stride, x.meta->ndim, true);
}

static const uint8_t channels_last_2d[] = { 1, 3, 2, 0 }, channels_last_3d[] = { 1, 4, 3, 2, 0 };

static const uint8_t *format_dims(uint32_t ndim, enum memory_format format)
{
    if (format == FORMAT_CHANNELS_LAST && ndim == 4)
        return channels_last_2d;
    return format == FORMAT_CHANNELS_LAST_3D && ndim == 5 ? channels_last_3d : NULL;
}

static bool ordered_or_false(struct call *c, const struct tensor_meta *meta, const uint8_t *order,
                             bool python)
{
    sym_id one = num(c, 1), expected = one;
    for (uint32_t i = 0; i < meta->ndim && !c->failed; i++) {
        sym_id size = meta->size[order[i]];
        if (guard_or_false(c, eq(c, size, one)))
            continue;
        if (guard_or_true(c, differ(c, meta->stride[order[i]], expected, python)))
            return false;
        expected = mul(c, expected, size);
    }
    return !c->failed;
}

bool channels_last_or_false(struct call *c, struct tensor x, enum memory_format format)
{
    const uint8_t *order = format_dims(x.meta->ndim, format);
    return order && ordered_or_false(c, x.meta, order, true);
}

/* The condition that C++ returns where a size without a hint decides: each dimension has size 1 or
 * its stride. */
static sym_id nested_condition(struct call *c, const struct tensor_meta *meta, const uint8_t *order)
{
    sym_id all = SYM_ID_TRUE, one = num(c, 1), expected = one;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        uint32_t d = order ? order[i] : meta->ndim - 1 - i;
        sym_id fits = sym_or(c->pool, eq(c, meta->size[d], one), eq(c, meta->stride[d], expected));
        all = sym_and(c->pool, all, fits);
        expected = mul(c, expected, meta->size[d]);
    }
    return all;
}

bool has_only_hinted(struct call *c, const struct tensor_meta *meta)
{
    for (uint32_t i = 0; i < meta->ndim; i++)
        if (env_has_unbacked(c->env, meta->size[i]) || env_has_unbacked(c->env, meta->stride[i]))
            return false;
    return true;
}

/* _compute_contiguous and _compute_channels_last_contiguous_2d, with which C++ evaluates once more,
 * by ordinary conditions, when everything has a hint. */
static bool nested_by_hints(struct call *c, const struct tensor_meta *meta, const uint8_t *order)
{
    sym_id one = num(c, 1), expected = one;
    for (uint32_t i = 0; i < meta->ndim && !c->failed; i++) {
        uint32_t d = order ? order[i] : meta->ndim - 1 - i;
        if (guard_bool(c, eq(c, meta->size[d], one)))
            continue;
        if (guard_bool(c, ne(c, meta->stride[d], expected)))
            return false;
        expected = mul(c, expected, meta->size[d]);
    }
    return !c->failed;
}

bool contiguous_or_false_cpp(struct call *c, struct tensor x)
{
    const struct tensor_meta *meta = x.meta;
    sym_id empty = eq_int(c, numel(c, x), 0);
    if (guard_or_false(c, empty) || nested_or_false(c, meta->size, meta->stride, meta->ndim, false))
        return true;
    return !c->failed && c->symbolic && has_only_hinted(c, meta) &&
           (guard_bool(c, empty) || nested_by_hints(c, meta, NULL));
}

bool is_contiguous(struct call *c, struct tensor x, enum memory_format format)
{
    const struct tensor_meta *meta = x.meta;
    if (format == FORMAT_CONTIGUOUS || format == FORMAT_PRESERVE) {
        bool known = contiguity_is_known(c, x);
        if (known)
            env_suppress_guards(c->env);
        bool contiguous = contiguous_or_false_cpp(c, x);
        if (known)
            env_resume_guards(c->env);
        if (contiguous)
            return true;
        if (c->failed || !c->symbolic || has_only_hinted(c, meta))
            return false;
        sym_id empty = eq_int(c, numel(c, x), 0);
        return guard_bool(c, sym_or(c->pool, nested_condition(c, meta, NULL), empty));
    }
    const uint8_t *order = format_dims(meta->ndim, format);
    if (!order)
        return false;
    if (ordered_or_false(c, meta, order, false))
        return true;
    if (c->failed || !c->symbolic)
        return false;
    return has_only_hinted(c, meta) ? nested_by_hints(c, meta, order)
                                    : guard_bool(c, nested_condition(c, meta, order));
}

/* The order of _compute_non_overlapping_and_dense: by stride, with sizes below 2 last. */
static bool lies_before(struct call *c, const struct tensor_meta *meta, uint32_t a, uint32_t b)
{
    sym_id two = num(c, 2);
    if (guard_bool(c, lt(c, meta->size[a], two)))
        return false;
    return guard_bool(c, lt(c, meta->size[b], two)) ||
           guard_bool(c, lt(c, meta->stride[a], meta->stride[b]));
}

/* Sorts up to 16 items as libstdc++'s std::sort does, with the same comparisons. */
static void cpp_sort(struct call *c, const struct tensor_meta *meta, uint32_t *dims)
{
    for (uint32_t i = 1; i < meta->ndim && !c->failed; i++) {
        uint32_t pivot = dims[i], k = i;
        bool least = lies_before(c, meta, pivot, dims[0]);
        while (k > 0 && (least || lies_before(c, meta, pivot, dims[k - 1]))) {
            dims[k] = dims[k - 1];
            k--;
        }
        dims[k] = pivot;
    }
}

static bool dense_plain(struct call *c, const struct tensor_meta *meta)
{
    uint32_t dims[TENSOR_MAX_DIM];
    if (meta->ndim == 1)
        return guard_bool(c, lt(c, meta->size[0], num(c, 2))) ||
               guard_bool(c, eq_int(c, meta->stride[0], 1));
    for (uint32_t i = 0; i < meta->ndim; i++)
        dims[i] = i;
    cpp_sort(c, meta, dims);
    sym_id required = num(c, 1);
    for (uint32_t i = 0; i < meta->ndim && !c->failed; i++) {
        sym_id size = meta->size[dims[i]];
        if (guard_bool(c, lt(c, size, num(c, 2))))
            return true;
        if (guard_bool(c, ne(c, meta->stride[dims[i]], required)))
            return false;
        required = mul(c, required, size);
    }
    return !c->failed;
}

bool non_overlapping_and_dense(struct call *c, struct tensor x)
{
    const struct tensor_meta *meta = x.meta;
    if (meta->layout == LAYOUT_SPARSE)
        return false;
    if (is_contiguous(c, x, FORMAT_CONTIGUOUS) || is_contiguous(c, x, FORMAT_CHANNELS_LAST) ||
        is_contiguous(c, x, FORMAT_CHANNELS_LAST_3D))
        return true;
    return !c->failed && has_only_hinted(c, meta) && dense_plain(c, meta);
}

bool surely_overlaps(struct call *c, struct tensor x)
{
    if (non_overlapping_and_dense(c, x))
        return false;
    for (uint32_t i = 0; i < x.meta->ndim && !c->failed; i++)
        if (guard_size_oblivious(c, gt(c, x.meta->size[i], num(c, 1))) &&
            guard_bool(c, eq_int(c, x.meta->stride[i], 0)))
            return true;
    return false;
}

/* K.__lt__ of torch/_prims_common: compares strides by value, or by divisibility if that is open.
 */
static bool stride_less(struct call *c, sym_id a, sym_id b)
{
    if (guard_or_false(c, py_lt(c, a, b)))
        return true;
    sym_id zero = num(c, 0);
    return (guard_or_false(c, eq(c, a, zero)) || guard_or_false(c, eq(c, mod(c, b, a), zero))) &&
           guard_or_true(c, py_ne(c, a, b));
}

/* Sorts fewer than 64 items as Python's sorted() does, with the same comparisons: the run at the
 * start, then binary insertion (Objects/listobject.c). */
static void python_sort(struct call *c, const sym_id *strides, uint32_t n, uint32_t *dims)
{
    uint32_t run = 2;
    bool down = stride_less(c, strides[dims[1]], strides[dims[0]]);
    while (run < n && stride_less(c, strides[dims[run]], strides[dims[run - 1]]) == down)
        run++;
    for (uint32_t i = 0; down && i < run / 2; i++) {
        uint32_t swap = dims[i];
        dims[i] = dims[run - 1 - i];
        dims[run - 1 - i] = swap;
    }
    for (uint32_t i = run; i < n; i++) {
        uint32_t pivot = dims[i], low = 0, high = i;
        while (low < high) {
            uint32_t middle = low + ((high - low) >> 1);
            if (stride_less(c, strides[pivot], strides[dims[middle]]))
                high = middle;
            else
                low = middle + 1;
        }
        for (uint32_t k = i; k > low; k--)
            dims[k] = dims[k - 1];
        dims[low] = pivot;
    }
}

bool non_overlapping_and_dense_or_false(struct call *c, struct tensor x)
{
    const struct tensor_meta *meta = x.meta;
    if (meta->layout == LAYOUT_SPARSE)
        return false;
    if (guard_or_false(c, lt(c, numel(c, x), num(c, 2))))
        return true;
    if (c->failed || !meta->ndim)
        return false;
    if (meta->ndim == 1)
        return guard_or_false(c, eq_int(c, meta->stride[0], 1));
    uint32_t dims[TENSOR_MAX_DIM] = { 0 };
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < meta->ndim; i++)
        dims[i] = i;
    python_sort(c, meta->stride, meta->ndim, dims);
    for (uint32_t i = 0; i < meta->ndim; i++) {
        sizes[i] = meta->size[dims[meta->ndim - 1 - i]];
        strides[i] = meta->stride[dims[meta->ndim - 1 - i]];
    }
    return nested_or_false(c, sizes, strides, meta->ndim, true);
}

/* are_strides_like_channels_last_or_false; for sizes with hints is_channels_last_strides_2d of
 * c10/core/MemoryFormat.h evaluates the same conditions. */
enum memory_format suggest_format(struct call *c, struct tensor x)
{
    const struct tensor_meta *meta = x.meta;
    enum memory_format format = meta->ndim == 4 ? FORMAT_CHANNELS_LAST : FORMAT_CHANNELS_LAST_3D;
    const uint8_t *order = format_dims(meta->ndim, format);
    if (!order || meta->layout != LAYOUT_STRIDED)
        return FORMAT_CONTIGUOUS;
    sym_id zero = num(c, 0), least = zero;
    if (guard_or_true(c, eq(c, meta->stride[1], zero)))
        return FORMAT_CONTIGUOUS;
    for (uint32_t i = 0; i < meta->ndim && !c->failed; i++) {
        uint32_t d = order[i];
        if (guard_or_true(c, eq(c, meta->size[d], zero)) ||
            guard_or_true(c, py_lt(c, meta->stride[d], least)))
            return FORMAT_CONTIGUOUS;
        if (d == 0 && guard_bool(c, py_eq(c, least, meta->stride[1])))
            return FORMAT_CONTIGUOUS;
        least = mul(c, meta->stride[d], meta->size[d]);
    }
    return c->failed ? FORMAT_CONTIGUOUS : format;
}
