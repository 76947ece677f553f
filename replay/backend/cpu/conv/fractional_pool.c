/* Fractional max pooling: windows of one size at positions that random numbers determine
 * (aten/src/ATen/native/FractionalMaxPooling.h, generate_intervals). */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

enum { FRACTIONAL_MAX_DIM = 3 };

struct fractional {
    uint32_t dims;
    int64_t in[FRACTIONAL_MAX_DIM], out[FRACTIONAL_MAX_DIM], window[FRACTIONAL_MAX_DIM];
    int64_t in_plane, out_plane;
};

/* Returns the start of window i in a dimension; the last window ends with the input. */
static int64_t window_start(const struct fractional *f, uint32_t d, double sample, int64_t i)
{
    int64_t range = f->in[d] - f->window[d];
    if (i == f->out[d] - 1 || f->out[d] < 2)
        return range;
    double alpha = (double)range / (double)(f->out[d] - 1);
    return (int64_t)(((double)i + sample) * alpha) - (int64_t)(sample * alpha);
}

static bool fractional_of(struct kernel *k, const struct dense *in, const struct dense *out,
                          struct fractional *f)
{
    *f = (struct fractional){ .dims = (uint32_t)k->row->param, .in_plane = 1, .out_plane = 1 };
    if (k->failed || in->ndim < f->dims || out->ndim != in->ndim)
        return false;
    uint32_t n = ints_arg(k, "kernel_size", f->window, f->dims);
    for (uint32_t d = 0; d < f->dims; d++) {
        f->in[d] = in->size[in->ndim - f->dims + d];
        f->out[d] = out->size[out->ndim - f->dims + d];
        f->window[d] = n > d ? f->window[d] : f->window[0];
        f->in_plane *= f->in[d];
        f->out_plane *= f->out[d];
    }
    return f->in_plane > 0 && f->out_plane > 0;
}

/* Returns the position in the plane of the greatest element of a window, or of a NaN. */
static int64_t greatest_of_window(const struct fractional *f, const double *plane,
                                  const int64_t *start)
{
    int64_t all = 1, best = -1;
    for (uint32_t d = 0; d < f->dims; d++)
        all *= f->window[d];
    for (int64_t i = 0; i < all; i++) {
        int64_t left = i, place = 0, offset[FRACTIONAL_MAX_DIM];
        bool inside = true;
        for (uint32_t d = f->dims; d-- > 0; left /= f->window[d])
            offset[d] = start[d] + left % f->window[d];
        for (uint32_t d = 0; d < f->dims; d++) {
            inside &= offset[d] >= 0 && offset[d] < f->in[d];
            place = place * f->in[d] + offset[d];
        }
        if (inside && (best < 0 || plane[place] > plane[best] || isnan(plane[place])))
            best = place;
    }
    return best;
}

/* PARAM: dimensions. Samples are [batch, channels, dims]; with two dimensions the width's is first
 * (fractional_max_pool2d_out_frame). */
void kernel_fractional_max_pool(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense samples = load_as(k, tensor_arg(k, "random_samples"), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    struct dense index = dense_new(k, DENSE_INT, size, ndim);
    struct fractional f;
    if (!fractional_of(k, &x, &out, &f))
        return;
    for (int64_t i = 0; i < out.n; i++) {
        int64_t plane = i / f.out_plane, left = i % f.out_plane, start[FRACTIONAL_MAX_DIM];
        for (uint32_t d = f.dims; d-- > 0; left /= f.out[d]) {
            int64_t at = plane * f.dims + (f.dims == 2 ? 1 - d : d);
            start[d] = window_start(&f, d, at < samples.n ? samples.u.r[at] : 0, left % f.out[d]);
        }
        int64_t best = greatest_of_window(&f, x.u.r + plane * f.in_plane, start);
        if (best < 0) {
            kernel_fail(k, "a window outside of its input");
            return;
        }
        out.u.r[i] = x.u.r[plane * f.in_plane + best];
        index.u.i[i] = best;
    }
    store_tensor(k, result(k, 0), out);
    store_tensor(k, result(k, 1), index);
}

void kernel_fractional_max_pool_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct fractional f;
    if (!fractional_of(k, &out, &g, &f))
        return;
    for (int64_t i = 0; i < g.n; i++) {
        if (index.u.i[i] < 0 || index.u.i[i] >= f.in_plane) {
            kernel_fail(k, "index %lld is out of bounds for %lld elements", (long long)index.u.i[i],
                        (long long)f.in_plane);
            return;
        }
        out.u.r[i / f.out_plane * f.in_plane + index.u.i[i]] += g.u.r[i];
    }
    store_tensor(k, result(k, 0), out);
}
