/* Discrete Fourier transforms by their definition, a dimension at a time: exact for any length, and
 * quadratic in it. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

static void transform(struct kernel *k, struct dense *x, uint32_t dim, bool forward)
{
    struct around a = around_dim(x, dim);
    cdouble *row = room(k, a.n, sizeof *row), *root = room(k, a.n, sizeof *root);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        double angle = (forward ? -2 : 2) * 3.14159265358979323846 * (double)i / (double)a.n;
        root[i] = complex_of(cos(angle), sin(angle));
    }
    for (int64_t r = 0; r < a.outer * a.inner && !k->failed; r++) {
        cdouble *at = x->u.c + r / a.inner * a.n * a.inner + r % a.inner;
        for (int64_t i = 0; i < a.n; i++)
            row[i] = at[i * a.inner];
        for (int64_t f = 0; f < a.n; f++) {
            cdouble sum = 0;
            for (int64_t i = 0; i < a.n; i++)
                sum += row[i] * root[(uint64_t)f * (uint64_t)i % (uint64_t)a.n];
            at[f * a.inner] = sum;
        }
    }
}

/* 0 none, 1 by the square root of n, 2 by n. */
static double factor(int64_t normalization, double n)
{
    return normalization == 1 ? 1 / sqrt(n) : normalization == 2 ? 1 / n : 1;
}

static void scale(struct dense *x, double by)
{
    for (int64_t i = 0; i < x->n; i++)
        x->u.c[i] *= by;
}

/* The half that is there and its mirror image. */
static struct dense whole_spectrum(struct kernel *k, struct dense half, const uint32_t *dims,
                                   uint32_t n_dims, int64_t last)
{
    struct dense out = half;
    out.size[dims[n_dims - 1]] = last;
    out = dense_new(k, DENSE_COMPLEX, out.size, out.ndim);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        int64_t rest = i, at[TENSOR_MAX_DIM] = { 0 }, place = 0;
        for (uint32_t d = out.ndim; d-- > 0; rest /= out.size[d])
            at[d] = rest % out.size[d];
        bool mirrored = at[dims[n_dims - 1]] >= half.size[dims[n_dims - 1]];
        for (uint32_t d = 0; mirrored && d < n_dims; d++)
            at[dims[d]] = at[dims[d]] ? out.size[dims[d]] - at[dims[d]] : 0;
        for (uint32_t d = 0; d < out.ndim; d++)
            place = place * half.size[d] + at[d];
        out.u.c[i] = mirrored ? conj(half.u.c[place]) : half.u.c[place];
    }
    return out;
}

/* PARAM: 0 c2c, 1 r2c, 2 c2r. */
void kernel_fft(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    int64_t given[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM];
    uint32_t dims[TENSOR_MAX_DIM], n = ints_arg(k, "dim", given, TENSOR_MAX_DIM);
    uint32_t ndim = tensor_sizes(k, result(k, 0), size);
    bool to_real = k->row->param == 2;
    bool forward = to_real ? false : k->row->param == 1 || bool_arg(k, "forward", true);
    double total = 1;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = wrapped_dim(given[i], x.ndim);
    if (to_real && n)
        x = whole_spectrum(k, x, dims, n, int_arg(k, "last_dim_size", 1));
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        total *= (double)x.size[dims[i]];
        transform(k, &x, dims[i], forward);
    }
    scale(&x, factor(int_arg(k, "normalization", 0), total));
    if (k->row->param != 1 || bool_arg(k, "onesided", true) == false) {
        store(k, result(k, 0), to_real ? dense_convert(k, x, DENSE_REAL) : x);
        return;
    }
    struct dense half = dense_new(k, DENSE_COMPLEX, size, ndim);
    for (int64_t i = 0; i < half.n && !k->failed; i++) {
        int64_t rest = i, place = 0, step = 1;
        for (uint32_t d = ndim; d-- > 0; rest /= size[d]) {
            place += rest % size[d] * step;
            step *= x.size[d];
        }
        half.u.c[i] = x.u.c[place];
    }
    store(k, result(k, 0), half);
}
