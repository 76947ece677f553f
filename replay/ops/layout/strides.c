#include "replay/ops/layout/layout.h"

#include <string.h>

#include "replay/ops/layout/strides.h"

struct geometry geometry_of(struct tensor x)
{
    struct geometry g = { .offset = SYM_ID_ZERO };
    if (!x.meta)
        return g;
    g.n = x.meta->ndim;
    g.offset = x.meta->offset;
    for (uint32_t i = 0; i < g.n; i++) {
        g.size[i] = x.meta->size[i];
        g.stride[i] = x.meta->stride[i];
    }
    return g;
}

void contiguous_strides(struct call *c, const sym_id *sizes, uint32_t n, sym_id *strides)
{
    sym_id one = num(c, 1), stride = one;
    for (uint32_t i = n; i-- > 0;) {
        strides[i] = stride;
        if (i)
            stride = mul(c, stride, sym_max2(c, sizes[i], one));
    }
}

/* Returns the dimensions of a format from innermost to outermost, or NULL for an unsuitable rank.
 */
static const uint8_t *format_order(enum memory_format format, uint32_t n)
{
    static const uint8_t one_d[] = { 1, 2, 0 }, two_d[] = { 1, 3, 2, 0 },
                         three_d[] = { 1, 4, 3, 2, 0 };
    if (format == FORMAT_CHANNELS_LAST)
        return n == 4 ? two_d : n == 3 ? one_d : NULL;
    return format == FORMAT_CHANNELS_LAST_3D && n == 5 ? three_d : NULL;
}

void format_strides(struct call *c, const sym_id *sizes, uint32_t n, enum memory_format format,
                    sym_id *strides)
{
    const uint8_t *order = format_order(format, n);
    if (!order) {
        contiguous_strides(c, sizes, n, strides);
        return;
    }
    /* Uses no Max(1, size), unlike contiguous strides. */
    sym_id stride = num(c, 1);
    for (uint32_t i = 0; i < n; i++) {
        strides[order[i]] = stride;
        if (i + 1 < n)
            stride = mul(c, stride, sizes[order[i]]);
    }
}

/* Returns whether a >= b, for strides or sizes that are not negative. */
static bool at_least(struct call *c, sym_id a, sym_id b)
{
    sym_id zero = num(c, 0);
    if (guard_or_false(c, eq(c, b, zero)))
        return true;
    if (guard_or_false(c, eq(c, a, zero)))
        return false;
    return guard_or_false(c, py_ge(c, a, b)) || guard_or_false(c, eq(c, mod(c, a, b), zero));
}

/* should_swap of compute_elementwise_output_logical_to_physical_perm: above 0 when a belongs
 * outside b, below 0 when the order is right, 0 when no tensor decides. */
static int compare_dims(struct call *c, const struct tensor *x, uint32_t n, uint32_t a, uint32_t b)
{
    const sym_id *size = x[0].meta->size;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        sym_id stride_a = x[i].meta->stride[a], stride_b = x[i].meta->stride[b];
        if (guard_or_false(c, eq_int(c, stride_a, 0)) || guard_or_false(c, eq_int(c, stride_b, 0)))
            continue;
        if (guard_or_false(c, py_eq(c, stride_a, stride_b))) {
            if (at_least(c, size[b], size[a]))
                continue;
            return 1;
        }
        if (at_least(c, stride_b, stride_a))
            return -1;
        if (at_least(c, stride_a, stride_b))
            return 1;
    }
    return 0;
}

/* An insertion sort that works with undecided comparisons, innermost dimension first. */
static void sort_dims(struct call *c, const struct tensor *x, uint32_t n, uint32_t ndim,
                      uint32_t *perm)
{
    uint32_t back[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < ndim; i++)
        back[i] = ndim - 1 - i;
    for (uint32_t i = 1; i < ndim; i++) {
        uint32_t dim1 = i;
        for (uint32_t dim0 = i; dim0-- > 0;) {
            int order = compare_dims(c, x, n, back[dim0], back[dim1]);
            if (order < 0)
                break;
            if (order == 0)
                continue;
            uint32_t swap = back[dim0];
            back[dim0] = back[dim1];
            back[dim1] = swap;
            dim1 = dim0;
        }
    }
    for (uint32_t i = 0; i < ndim; i++)
        perm[i] = back[ndim - 1 - i];
}

static bool is_scalar_on_cpu(const struct call *c, struct tensor x)
{
    return x.meta->ndim == 0 && x.meta->device.type == DEVICE_CPU && !in_kernel(c);
}

/* Removes None and 0-dim CPU tensors; returns NULL when none is left. */
static const struct tensor *real_tensors(struct call *c, const struct tensor *x, uint32_t *n)
{
    uint32_t kept = 0, all = *n;
    struct tensor *ret = scratch(c, (all ? all : 1) * sizeof(*ret));
    for (uint32_t i = 0; ret && i < all; i++)
        if (x[i].meta && !is_scalar_on_cpu(c, x[i]))
            ret[kept++] = x[i];
    *n = kept;
    return kept ? ret : NULL;
}

static void real_permutation(struct call *c, const struct tensor *x, uint32_t n, uint32_t *perm)
{
    uint32_t ndim = x[0].meta->ndim;
    for (uint32_t i = 0; i < ndim; i++)
        perm[i] = i;
    if (ndim < 2)
        return;
    bool contiguous = true, channels_last = true;
    for (uint32_t i = 0; i < n; i++) {
        contiguous = contiguous && contiguous_or_false(c, x[i]);
        channels_last = channels_last && channels_last_or_false(c, x[i], FORMAT_CHANNELS_LAST);
    }
    if (contiguous && !channels_last)
        return;
    if (channels_last && !contiguous) {
        for (uint32_t i = 1; i + 1 < ndim; i++)
            perm[i] = i + 1;
        perm[ndim - 1] = 1;
        return;
    }
    sort_dims(c, x, n, ndim, perm);
}

uint32_t elementwise_permutation(struct call *c, const struct tensor *x, uint32_t n, uint32_t *perm)
{
    x = real_tensors(c, x, &n);
    if (!x || c->failed)
        return 0;
    real_permutation(c, x, n, perm);
    return x[0].meta->ndim;
}

void permuted_strides(struct call *c, const sym_id *sizes, uint32_t n, const uint32_t *perm,
                      sym_id *strides)
{
    sym_id one = num(c, 1), stride = one;
    for (uint32_t i = n; i-- > 0;) {
        strides[perm[i]] = stride;
        if (i)
            stride = mul(c, stride, sym_max2(c, sizes[perm[i]], one));
    }
}

void like_strides(struct call *c, struct tensor x, sym_id *strides)
{
    uint32_t perm[TENSOR_MAX_DIM];
    if (eager(c) && non_overlapping_and_dense_or_false(c, x)) {
        memcpy(strides, x.meta->stride, x.meta->ndim * sizeof(*strides));
        return;
    }
    if (eager(c)) {
        iterator_strides(c, &x, 1, x.meta->size, x.meta->ndim, strides);
        return;
    }
    uint32_t n = elementwise_permutation(c, &x, 1, perm);
    if (!c->failed)
        permuted_strides(c, x.meta->size, n, perm, strides);
}

void elementwise_strides(struct call *c, const struct tensor *x, uint32_t n, sym_id *strides)
{
    x = real_tensors(c, x, &n);
    if (!x || c->failed || !x[0].meta->ndim)
        return;
    const struct tensor_meta *meta = x[0].meta;
    if (meta->ndim == 1) {
        strides[0] = num(c, 1);
        return;
    }
    if (n == 1 && non_overlapping_and_dense_or_false(c, x[0])) {
        memcpy(strides, meta->stride, meta->ndim * sizeof(*strides));
        return;
    }
    uint32_t perm[TENSOR_MAX_DIM];
    real_permutation(c, x, n, perm);
    permuted_strides(c, meta->size, meta->ndim, perm, strides);
}
