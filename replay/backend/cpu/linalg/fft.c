/* Discrete Fourier transforms, one dimension at a time, in O(n log n) for any length n. The bits of
 * the results do not depend on the processor. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

enum { MOST_RADIX = 31 }; /* lengths with a greater prime factor go by Bluestein's algorithm */

/* Returns exp(2 pi i j / n), 0 <= j < n, from the series of cosine and sine between 0 and pi / 4:
 * the results of the C library differ in the last bit between processors with and without FMA. */
static cdouble root_of_unity(int64_t j, int64_t n)
{
    if (2 * j > n)
        return conj(root_of_unity(n - j, n));
    if (4 * j > n)
        return -conj(root_of_unity(n - 2 * j, 2 * n));
    if (8 * j > n) {
        cdouble x = root_of_unity(n - 4 * j, 4 * n);
        return complex_of(cimag(x), creal(x));
    }
    long double angle = 2 * 3.14159265358979323846264338L * (long double)j / (long double)n;
    long double re = 1, im = 1;
    for (int i = 22; i > 0; i -= 2) {
        re = 1 - angle * angle / (i * (i - 1)) * re;
        im = 1 - angle * angle / (i * (i + 1)) * im;
    }
    return complex_of((double)re, (double)(im * angle));
}

/* Returns the n-th roots of unity, clockwise for a forward transform. NULL after a failure. */
static cdouble *roots_of_unity(struct kernel *k, int64_t n, bool forward)
{
    cdouble *ret = workspace(k, n, sizeof *ret);
    for (int64_t j = 0; j < n && ret; j++)
        ret[j] = forward ? conj(root_of_unity(j, n)) : root_of_unity(j, n);
    return ret;
}

/* Returns the factor that a transform of length n is divided by; 0: none is small enough. */
static int64_t radix_of(int64_t n)
{
    if (n % 4 == 0)
        return 4;
    for (int64_t p = 2; p <= MOST_RADIX; p++)
        if (n % p == 0)
            return p;
    return 0;
}

static bool has_small_factors(int64_t n)
{
    int64_t p = 1;
    for (; n > 1 && p; n /= p ? p : 1)
        p = radix_of(n);
    return p != 0;
}

struct roots {
    int64_t n;
    const cdouble *at;
};

/* Transforms n numbers that are `step` apart with Cooley and Tukey's algorithm, decimation in time,
 * in radix 4 and small primes. n divides roots.n. */
static void mixed_radix(struct roots roots, const cdouble *x, int64_t step, cdouble *out, int64_t n)
{
    if (n == 1) {
        *out = *x;
        return;
    }
    int64_t p = radix_of(n), m = n / p;
    cdouble part[MOST_RADIX];
    for (int64_t q = 0; q < p; q++)
        mixed_radix(roots, x + q * step, step * p, out + q * m, m);
    for (int64_t f = 0; f < m; f++) {
        for (int64_t q = 0; q < p; q++)
            part[q] = out[q * m + f] * roots.at[q * f * (roots.n / n)];
        for (int64_t r = 0; r < p; r++) {
            cdouble sum = part[0];
            for (int64_t q = 1; q < p; q++)
                sum += part[q] * roots.at[q * r % p * (roots.n / p)];
            out[r * m + f] = sum;
        }
    }
}

/* Bluestein's algorithm: since jf = (j^2 + f^2 - (f - j)^2) / 2, a transform of any length n is a
 * convolution with a chirp, which is computed with transforms of length `roots.n`, a power of
 * two. */
struct bluestein {
    int64_t n;
    struct roots roots;
    cdouble *chirp;          /* n of them: exp(-+ pi i j^2 / n) */
    cdouble *kernel;         /* the transform of the chirp's conjugate */
    cdouble *padded, *spare; /* roots.n numbers each */
};

static bool bluestein_init(struct kernel *k, struct bluestein *b, int64_t n, bool forward)
{
    int64_t m = 1;
    while (m < 2 * n)
        m *= 2;
    const cdouble *twice = roots_of_unity(k, 2 * n, forward);
    *b = (struct bluestein){ n,
                             { m, roots_of_unity(k, m, true) },
                             workspace(k, n, sizeof *b->chirp) };
    b->kernel = workspace(k, m, sizeof *b->kernel);
    b->padded = workspace(k, m, sizeof *b->padded);
    b->spare = workspace(k, m, sizeof *b->spare);
    if (k->failed)
        return false;
    for (int64_t j = 0, square = 0; j < n; square = (square + 2 * j + 1) % (2 * n), j++) {
        b->chirp[j] = twice[square];
        b->padded[j] = b->padded[(m - j) % m] = conj(twice[square]);
    }
    mixed_radix(b->roots, b->padded, 1, b->kernel, m);
    return true;
}

static void bluestein_run(const struct bluestein *b, const cdouble *x, cdouble *out)
{
    int64_t m = b->roots.n;
    for (int64_t j = 0; j < m; j++)
        b->padded[j] = j < b->n ? x[j] * b->chirp[j] : 0;
    mixed_radix(b->roots, b->padded, 1, b->spare, m);
    for (int64_t j = 0; j < m;
         j++) /* the inverse is the conjugate of the transform of the conjugate */
        b->spare[j] = conj(b->spare[j] * b->kernel[j]);
    mixed_radix(b->roots, b->spare, 1, b->padded, m);
    for (int64_t j = 0; j < b->n; j++)
        out[j] = conj(b->padded[j]) / (double)m * b->chirp[j];
}

static void transform_dim(struct kernel *k, struct dense *x, uint32_t dim, bool forward)
{
    struct around a = around_dim(x, dim);
    bool direct = has_small_factors(a.n);
    cdouble *row = workspace(k, a.n, sizeof *row), *out = workspace(k, a.n, sizeof *out);
    struct bluestein bluestein = { 0 };
    struct roots roots = { a.n, direct ? roots_of_unity(k, a.n, forward) : NULL };
    if (k->failed || (!direct && !bluestein_init(k, &bluestein, a.n, forward)))
        return;
    for (int64_t r = 0; a.n && r < a.outer * a.inner; r++) {
        cdouble *at = x->u.c + r / a.inner * a.n * a.inner + r % a.inner;
        for (int64_t i = 0; i < a.n; i++)
            row[i] = at[i * a.inner];
        if (direct)
            mixed_radix(roots, row, 1, out, a.n);
        else
            bluestein_run(&bluestein, row, out);
        for (int64_t i = 0; i < a.n; i++)
            at[i * a.inner] = out[i];
    }
}

/* Returns the whole spectrum from its half, whose mirror image is the rest. */
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
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    bool to_real = k->row->param == 2;
    bool forward = to_real ? false : k->row->param == 1 || bool_arg(k, "forward", true);
    double total = 1;
    for (uint32_t i = 0; i < n; i++)
        dims[i] = wrapped_dim(given[i], x.ndim);
    if (to_real && n)
        x = whole_spectrum(k, x, dims, n, int_arg(k, "last_dim_size", 1));
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        total *= (double)x.size[dims[i]];
        transform_dim(k, &x, dims[i], forward);
    }
    int64_t normalization = int_arg(k, "normalization", 0); /* 0 none, 1 by the root of n, 2 by n */
    double factor = normalization == 1 ? 1 / sqrt(total) : normalization == 2 ? 1 / total : 1;
    for (int64_t i = 0; i < x.n; i++)
        x.u.c[i] *= factor;
    if (k->row->param != 1 || bool_arg(k, "onesided", true) == false) {
        store_tensor(k, result(k, 0), to_real ? dense_convert(k, x, DENSE_REAL) : x);
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
    store_tensor(k, result(k, 0), half);
}
