/* Output strides of TensorIterator (aten/src/ATen/TensorIterator.cpp), for sizes without symbols:
 * in eager PyTorch, and in meta kernels while nothing is dynamic. Unlike references it keeps the
 * strides of dense operands that agree, including those of dimensions of size 1. */
#include "replay/ops/layout/strides.h"

/* Multiplies. For sizes beyond any memory the product wraps, as in the kernels. */
static int64_t wrapping_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

struct iterator_operand {
    uint32_t ndim;
    const int64_t *size, *stride;
};

static bool read_integer_sizes(struct call *c, const sym_id *syms_, uint32_t n, int64_t *ret)
{
    for (uint32_t i = 0; i < n; i++)
        if (!sym_to_i64(c->pool, syms_[i], &ret[i]))
            return false;
    return true;
}

static bool init_operand(struct call *c, const struct tensor_meta *meta,
                         struct iterator_operand *ret)
{
    int64_t *space = scratch(c, (2 * (size_t)meta->ndim + 1) * sizeof(*space));
    if (!space || !read_integer_sizes(c, meta->size, meta->ndim, space) ||
        !read_integer_sizes(c, meta->stride, meta->ndim, space + meta->ndim))
        return false;
    *ret = (struct iterator_operand){ meta->ndim, space, space + meta->ndim };
    return true;
}

/* Returns whether all dimensions but those of size 1 are dense in the given order, innermost
 * first. */
static bool nested(const struct iterator_operand *x, const uint8_t *order)
{
    int64_t expected = 1;
    for (uint32_t i = 0; i < x->ndim; i++) {
        uint32_t d = order ? order[i] : x->ndim - 1 - i;
        if (x->size[d] == 1)
            continue;
        if (x->stride[d] != expected)
            return false;
        expected *= x->size[d];
    }
    return true;
}

static bool has_no_elements(const struct iterator_operand *x)
{
    for (uint32_t i = 0; i < x->ndim; i++)
        if (!x->size[i])
            return true;
    return false;
}

static bool plain_contiguous(const struct iterator_operand *x)
{
    return has_no_elements(x) || nested(x, NULL);
}

static bool plain_channels_last(const struct iterator_operand *x)
{
    static const uint8_t order[] = { 1, 3, 2, 0 };
    return x->ndim == 4 && nested(x, order);
}

/* _compute_non_overlapping_and_dense of c10/core/Contiguity.h. */
static bool is_dense_operand(const struct iterator_operand *x)
{
    if (plain_contiguous(x) || plain_channels_last(x))
        return true;
    int64_t required = 1;
    for (uint32_t found = 0, i; found < x->ndim;
         found++, required = wrapping_mul(required, x->size[i])) {
        for (i = 0; i < x->ndim; i++)
            if (x->size[i] >= 2 && x->stride[i] == required)
                break;
        if (i == x->ndim)
            break;
    }
    int64_t numel = 1;
    for (uint32_t i = 0; i < x->ndim; i++)
        numel = wrapping_mul(numel, x->size[i]);
    return required == numel;
}

static bool same_values(const int64_t *a, const int64_t *b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

enum set_up { SET_UP_SLOW, SET_UP_CONTIGUOUS, SET_UP_CHANNELS_LAST, SET_UP_DENSE };

/* TensorIterator's compute_fast_setup_type. */
static enum set_up fast_set_up(const struct iterator_operand *x, uint32_t n)
{
    uint32_t first = 0; /* 0-dim operands before it do not count as another shape */
    while (first + 1 < n && !x[first].ndim)
        first++;
    bool contiguous = true, channels_last = true, dense = true;
    for (uint32_t i = 0; i < n; i++) {
        if (i > first &&
            (x[i].ndim != x[first].ndim || !same_values(x[i].size, x[first].size, x[i].ndim)))
            return SET_UP_SLOW;
        contiguous = contiguous && plain_contiguous(&x[i]);
        channels_last = channels_last && plain_channels_last(&x[i]);
        dense = dense && is_dense_operand(&x[i]);
    }
    if (contiguous)
        return SET_UP_CONTIGUOUS;
    if (channels_last)
        return SET_UP_CHANNELS_LAST;
    for (uint32_t i = 0; dense && i + 1 < n; i++)
        dense = x[i].ndim == x[n - 1].ndim && same_values(x[i].stride, x[n - 1].stride, x[i].ndim);
    return dense ? SET_UP_DENSE : SET_UP_SLOW;
}

/* Returns an operand's stride in a dimension of the result: 0 where it is broadcast. */
static int64_t stride_in(const struct iterator_operand *x, uint32_t ndim, uint32_t d,
                         const int64_t *shape)
{
    if (d < ndim - x->ndim)
        return 0;
    uint32_t own = d - (ndim - x->ndim);
    return x->size[own] == 1 && shape[d] != 1 ? 0 : x->stride[own];
}

static int compare_strides(const struct iterator_operand *x, uint32_t n, uint32_t ndim,
                           const int64_t *shape, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < n; i++) {
        int64_t stride_a = stride_in(&x[i], ndim, a, shape);
        int64_t stride_b = stride_in(&x[i], ndim, b, shape);
        if (!stride_a || !stride_b)
            continue;
        if (stride_a != stride_b)
            return stride_a < stride_b ? -1 : 1;
        if (shape[a] > shape[b])
            return 1;
    }
    return 0;
}

/* reorder_dimensions: perm is innermost first; false when it is the contiguous order. */
static bool reorder(const struct iterator_operand *x, uint32_t n, uint32_t ndim,
                    const int64_t *shape, uint32_t *perm)
{
    for (uint32_t i = 0; i < ndim; i++)
        perm[i] = ndim - 1 - i;
    for (uint32_t i = 1; i < ndim; i++) {
        uint32_t dim1 = i;
        for (uint32_t dim0 = i; dim0-- > 0;) {
            int order = compare_strides(x, n, ndim, shape, perm[dim0], perm[dim1]);
            if (order < 0)
                break;
            if (order == 0)
                continue;
            uint32_t swap = perm[dim0];
            perm[dim0] = perm[dim1];
            perm[dim1] = swap;
            dim1 = dim0;
        }
    }
    for (uint32_t i = 0; i < ndim; i++)
        if (perm[i] != ndim - 1 - i)
            return true;
    return false;
}

void iterator_strides(struct call *c, const struct tensor *x, uint32_t n, const sym_id *sizes,
                      uint32_t ndim, sym_id *strides)
{
    struct iterator_operand *operands = scratch(c, (n ? n : 1) * sizeof(*operands));
    int64_t shape[TENSOR_MAX_DIM];
    if (!operands || ndim > TENSOR_MAX_DIM)
        return;
    uint32_t kept = 0;
    bool known = read_integer_sizes(c, sizes, ndim, shape);
    for (uint32_t i = 0; known && i < n; i++)
        if (x[i].meta)
            known = init_operand(c, x[i].meta, &operands[kept++]);
    enum set_up set_up = known && kept ? fast_set_up(operands, kept) : SET_UP_CONTIGUOUS;
    uint32_t perm[TENSOR_MAX_DIM];
    if (set_up == SET_UP_CHANNELS_LAST) {
        format_strides(c, sizes, ndim, FORMAT_CHANNELS_LAST, strides);
    } else if (set_up == SET_UP_DENSE) {
        for (uint32_t i = 0; i < ndim; i++)
            strides[i] = num(c, operands[kept - 1].stride[i]);
    } else if (set_up == SET_UP_SLOW && reorder(operands, kept, ndim, shape, perm)) {
        int64_t stride = 1;
        for (uint32_t i = 0; i < ndim; stride = wrapping_mul(stride, shape[perm[i]]), i++)
            strides[perm[i]] = num(c, stride);
    } else {
        contiguous_strides(c, sizes, ndim, strides);
    }
}
