/* Pooling of one to three dimensions, and its backward. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

enum { POOL_MAX_DIM = 3 };

struct pooling {
    uint32_t dims;
    int64_t planes; /* batch times channels */
    int64_t in[POOL_MAX_DIM], out[POOL_MAX_DIM], in_size, out_size;
    int64_t window[POOL_MAX_DIM], stride[POOL_MAX_DIM], padding[POOL_MAX_DIM],
        dilation[POOL_MAX_DIM];
    bool adaptive;
};

/* The extent of a window in one dimension. */
struct window_range {
    int64_t from, to, step; /* clipped to the input */
    int64_t whole;          /* with the padding on both sides */
};

static void pool_numbers(const struct kernel *k, const char *name, uint32_t dims, int64_t *ret,
                         const int64_t *otherwise, int64_t fill)
{
    int64_t given[POOL_MAX_DIM];
    uint32_t n = ints_arg(k, name, given, POOL_MAX_DIM);
    for (uint32_t i = 0; i < dims; i++)
        ret[i] = n ? given[i < n ? i : n - 1] : otherwise ? otherwise[i] : fill;
}

static bool read_pooling(struct kernel *k, uint32_t dims, const struct dense *x, const int64_t *out,
                         uint32_t out_ndim, struct pooling *p)
{
    memset(p, 0, sizeof *p);
    if (k->failed || x->ndim < dims || out_ndim < dims)
        return false;
    p->dims = dims;
    p->planes = p->in_size = p->out_size = 1;
    for (uint32_t i = 0; i + dims < x->ndim; i++)
        p->planes *= x->size[i];
    for (uint32_t i = 0; i < dims; i++) {
        p->in_size *= p->in[i] = x->size[x->ndim - dims + i];
        p->out_size *= p->out[i] = out[out_ndim - dims + i];
    }
    pool_numbers(k, "kernel_size", dims, p->window, NULL, 1);
    pool_numbers(k, "stride", dims, p->stride, p->window, 1);
    pool_numbers(k, "padding", dims, p->padding, NULL, 0);
    pool_numbers(k, "dilation", dims, p->dilation, NULL, 1);
    return true;
}

static struct window_range window_extent(const struct pooling *p, uint32_t d, int64_t o)
{
    if (p->adaptive) {
        int64_t from = o * p->in[d] / p->out[d];
        int64_t to = ((o + 1) * p->in[d] + p->out[d] - 1) / p->out[d];
        return (struct window_range){ from, to, 1, to - from };
    }
    int64_t from = o * p->stride[d] - p->padding[d], step = p->dilation[d];
    int64_t to = from + (p->window[d] - 1) * step + 1, most = p->in[d] + p->padding[d];
    int64_t whole = (to < most ? to : most) - from;
    while (from < 0)
        from += step;
    return (struct window_range){ from, to < p->in[d] ? to : p->in[d], step, whole };
}

struct window_ranges {
    struct window_range span[POOL_MAX_DIM];
    int64_t at[POOL_MAX_DIM], inside, whole;
};

static void window_open(const struct pooling *p, int64_t o, struct window_ranges *w)
{
    w->inside = w->whole = 1;
    for (uint32_t d = p->dims; d-- > 0; o /= p->out[d]) {
        w->span[d] = window_extent(p, d, o % p->out[d]);
        w->at[d] = w->span[d].from;
        int64_t n = w->span[d].to - w->span[d].from;
        w->inside *= n > 0 ? (n + w->span[d].step - 1) / w->span[d].step : 0;
        w->whole *= w->span[d].whole;
    }
}

static int64_t window_place(const struct pooling *p, const struct window_ranges *w)
{
    int64_t place = 0;
    for (uint32_t d = 0; d < p->dims; d++)
        place = place * p->in[d] + w->at[d];
    return place;
}

static void window_next(const struct pooling *p, struct window_ranges *w)
{
    for (uint32_t d = p->dims; d-- > 0;) {
        w->at[d] += w->span[d].step;
        if (w->at[d] < w->span[d].to)
            return;
        w->at[d] = w->span[d].from;
    }
}

/* Returns the divisor of avg_pool*. */
static double divisor(const struct kernel *k, const struct window_ranges *w)
{
    if (has_arg(k, "divisor_override"))
        return (double)int_arg(k, "divisor_override", 1);
    return (double)(bool_arg(k, "count_include_pad", true) ? w->whole : w->inside);
}

/* PARAM: dimensions, plus 10 for adaptive pooling. */
void kernel_avg_pool(struct kernel *k)
{
    struct pooling p;
    int64_t size[TENSOR_MAX_DIM];
    struct kernel_tensor to = result(k, 0);
    uint32_t ndim = tensor_sizes(to, size);
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    if (!read_pooling(k, (uint32_t)k->row->param % 10, &x, size, ndim, &p))
        return;
    p.adaptive = k->row->param > 10;
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        struct window_ranges w;
        double sum = 0;
        const double *plane = x.u.r + i / p.out_size * p.in_size;
        window_open(&p, i % p.out_size, &w);
        for (int64_t j = 0; j < w.inside; j++, window_next(&p, &w))
            sum += plane[window_place(&p, &w)];
        out.u.r[i] = sum / (p.adaptive ? (double)w.inside : divisor(k, &w));
    }
    store_tensor(k, to, out);
}

void kernel_avg_pool_backward(struct kernel *k)
{
    struct pooling p;
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    if (!read_pooling(k, (uint32_t)k->row->param % 10, &x, g.size, g.ndim, &p))
        return;
    p.adaptive = k->row->param > 10;
    struct dense out = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t i = 0; i < g.n && !k->failed; i++) {
        struct window_ranges w;
        double *plane = out.u.r + i / p.out_size * p.in_size;
        window_open(&p, i % p.out_size, &w);
        double share = g.u.r[i] / (p.adaptive ? (double)w.inside : divisor(k, &w));
        for (int64_t j = 0; j < w.inside; j++, window_next(&p, &w))
            plane[window_place(&p, &w)] += share;
    }
    store_tensor(k, result(k, 0), out);
}

/* Converts a position in the plane to the offset within window o, with padding
 * (_low_memory_max_pool of torch/_inductor/inductor_prims.py); place_of_offset() does the opposite.
 */
static int64_t offset_of_place(const struct pooling *p, int64_t o, int64_t place)
{
    int64_t offset = 0, each = 1;
    for (uint32_t d = p->dims; d-- > 0; o /= p->out[d], place /= p->in[d], each *= p->window[d]) {
        int64_t from = o % p->out[d] * p->stride[d] - p->padding[d];
        offset += (place % p->in[d] - from) / p->dilation[d] * each;
    }
    return offset;
}

static int64_t place_of_offset(const struct pooling *p, int64_t o, int64_t offset)
{
    int64_t place = 0, each = 1;
    for (uint32_t d = p->dims; d-- > 0; o /= p->out[d], offset /= p->window[d], each *= p->in[d]) {
        int64_t from = o % p->out[d] * p->stride[d] - p->padding[d];
        place += (from + offset % p->window[d] * p->dilation[d]) * each;
    }
    return place;
}

/* Returns the dimensions of prims._low_memory_max_pool_*, which have one name for 2 and 3
 * dimensions. */
static uint32_t pooling_dims(const struct kernel *k)
{
    int64_t window[POOL_MAX_DIM];
    uint32_t dims = (uint32_t)k->row->param % 10;
    return dims ? dims : ints_arg(k, "kernel_size", window, POOL_MAX_DIM);
}

/* Computes the greatest element of each window and its index: a NaN is the greatest; of equal
 * elements the first counts. PARAM 20: the offset in the window instead of the index. */
void kernel_max_pool(struct kernel *k)
{
    struct pooling p;
    int64_t size[TENSOR_MAX_DIM];
    struct kernel_tensor to = result(k, 0);
    uint32_t ndim = tensor_sizes(to, size);
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    if (!read_pooling(k, pooling_dims(k), &x, size, ndim, &p))
        return;
    bool offsets = k->row->param == 20;
    p.adaptive = k->row->param > 10 && !offsets;
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    struct dense index = dense_new(k, DENSE_INT, size, ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        struct window_ranges w;
        double most = -INFINITY;
        int64_t where = -1;
        const double *plane = x.u.r + i / p.out_size * p.in_size;
        window_open(&p, i % p.out_size, &w);
        for (int64_t j = 0; j < w.inside; j++, window_next(&p, &w)) {
            int64_t place = window_place(&p, &w);
            if (where < 0 || plane[place] > most || isnan(plane[place])) {
                most = plane[place];
                where = place;
            }
        }
        out.u.r[i] = most;
        index.u.i[i] = offsets ? offset_of_place(&p, i % p.out_size, where) : where;
    }
    store_tensor(k, to, out);
    if (n_results(k) > 1)
        store_tensor(k, result(k, 1), index);
}

/* prims._low_memory_max_pool_offsets_to_indices */
void kernel_pool_indices(struct kernel *k)
{
    struct pooling p;
    int64_t in[TENSOR_MAX_DIM];
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_INT), whole = x;
    uint32_t n = ints_arg(k, "input_size", in, TENSOR_MAX_DIM), dims = pooling_dims(k);
    for (uint32_t i = 0; i < dims && dims <= n && dims <= x.ndim; i++)
        whole.size[x.ndim - dims + i] = in[n - dims + i];
    if (dims > n || !read_pooling(k, dims, &whole, x.size, x.ndim, &p))
        return;
    for (int64_t i = 0; i < x.n && !k->failed; i++)
        x.u.i[i] = place_of_offset(&p, i % p.out_size, x.u.i[i]);
    store_tensor(k, result(k, 0), x);
}

static bool is_in_window(const struct pooling *p, int64_t o, int64_t place)
{
    struct window_ranges w;
    window_open(p, o, &w);
    for (int64_t j = 0; j < w.inside; j++, window_next(p, &w))
        if (window_place(p, &w) == place)
            return true;
    return false;
}

/* An index outside its window has no effect, as in PyTorch's kernels for CUDA, which iterate over
 * the windows of each input (max_pool_backward_nchw in DilatedMaxPool2d.cu). */
void kernel_max_pool_backward(struct kernel *k)
{
    struct pooling p;
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    if (!read_pooling(k, (uint32_t)k->row->param % 10, &out, g.size, g.ndim, &p))
        return;
    p.adaptive = k->row->param > 10;
    for (int64_t i = 0; i < g.n && !k->failed; i++) {
        int64_t place = index.u.i[i];
        if (place < 0 || place >= p.in_size)
            kernel_fail(k, "index %lld is out of bounds for %lld elements", (long long)place,
                        (long long)p.in_size);
        else if (is_in_window(&p, i % p.out_size, place))
            out.u.r[i / p.out_size * p.in_size + place] += g.u.r[i];
    }
    store_tensor(k, to, out);
}
