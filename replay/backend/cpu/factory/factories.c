/* Operators that make new tensors and are no rows of replay/backend/pointwise/pointwise.def. */
#include <math.h>

#include "replay/backend/cpu/pointwise/pointwise.h"
#include "replay/backend/cpu/pointwise/special.h"

/* empty: memory with any contents, here zeros. */
void kernel_nothing(struct kernel *k)
{
    (void)k;
}

/* Computes from both ends, as PyTorch does (aten/src/ATen/native/RangeFactories.cpp). PARAM:
 * logspace. */
void kernel_linspace(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    cdouble start, end, base = complex_arg(k, "base", 10);
    struct kernel_value a = value_arg(k, "start"), b = value_arg(k, "end");
    struct dense first = load_value(k, a, DENSE_COMPLEX), last = load_value(k, b, DENSE_COMPLEX);
    bool is_int = to.meta && dense_kind_of(to.meta->dtype) == DENSE_INT;
    struct dense out = dense_new(k, DENSE_COMPLEX, size, ndim);
    if (k->failed)
        return;
    start = first.u.c[0];
    end = last.u.c[0];
    if (is_int) {
        start = trunc(creal(start));
        end = trunc(creal(end));
    }
    cdouble step = out.n > 1 ? (end - start) / (double)(out.n - 1) : 0;
    for (int64_t i = 0; i < out.n; i++) {
        cdouble x = i < out.n / 2 || out.n == 1 ? start + step * (double)i
                                                : end - step * (double)(out.n - i - 1);
        if (k->row->param)
            x = cimag(base) == 0 && cimag(x) == 0 ? pow(creal(base), creal(x)) : cpow(base, x);
        out.u.c[i] = x;
    }
    store_tensor(k, to, out);
}

/* tril_indices, triu_indices: coordinates, row by row. */
void kernel_triangle_indices(struct kernel *k)
{
    int64_t rows = int_arg(k, "row", 0), columns = int_arg(k, "col", 0), size[2];
    int64_t offset = int_arg(k, "offset", 0), at = 0;
    struct kernel_tensor to = result(k, 0);
    tensor_sizes(to, size);
    struct dense out = dense_new(k, DENSE_INT, size, 2);
    for (int64_t r = 0; r < rows && !k->failed; r++)
        for (int64_t c = 0; c < columns; c++)
            if ((k->row->param ? c - r >= offset : c - r <= offset) && at < size[1]) {
                out.u.i[at] = r;
                out.u.i[size[1] + at++] = c;
            }
    store_tensor(k, to, out);
}

/* Computes a random permutation of n numbers with the Fisher-Yates shuffle. */
void kernel_randperm(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    int64_t n = int_arg(k, "n", 0);
    struct dense out = dense_new(k, DENSE_INT, &n, 1);
    struct random r = random_of(k);
    for (int64_t i = 0; i < out.n; i++) {
        int64_t j = (int64_t)(random_bits(&r) % (uint64_t)(i + 1));
        out.u.i[i] = out.u.i[j];
        out.u.i[j] = i;
    }
    store_tensor(k, to, out);
}

/* native_dropout: the scaled values that are kept, and the mask. */
void kernel_dropout(struct kernel *k)
{
    run_point(k, POINT_native_dropout, result(k, 0));
    run_point(k, POINT_native_dropout_mask, result(k, 1));
}

/* ---- Windows, frequencies, grids ---- */

enum window { HANN, HAMMING, BLACKMAN, BARTLETT, KAISER };

static double window_at(const struct kernel *k, double i, double last)
{
    double x = 2 * PI * i / last, from_middle = 2 * i / last - 1;
    switch ((enum window)k->row->param) {
    case HANN: return 0.5 - 0.5 * cos(x);
    case HAMMING: return real_arg(k, "alpha", 0.54) - real_arg(k, "beta", 0.46) * cos(x);
    case BLACKMAN: return 0.42 - 0.5 * cos(x) + 0.08 * cos(2 * x);
    case BARTLETT: return 1 - fabs(from_middle);
    default: break;
    }
    double beta = real_arg(k, "beta", 12);
    return bessel_i(0, beta * sqrt(fmax(0, 1 - from_middle * from_middle)), false) /
           bessel_i(0, beta, false);
}

/* hann_window and similar ones; a periodic window is a symmetric one of n + 1 elements without its
 * last. */
void kernel_window(struct kernel *k)
{
    int64_t n = int_arg(k, "window_length", 0);
    double last = (double)(bool_arg(k, "periodic", true) ? n : n - 1);
    struct dense out = dense_new(k, DENSE_REAL, &n, 1);
    for (int64_t i = 0; i < out.n; i++)
        out.u.r[i] = n == 1 ? 1 : window_at(k, (double)i, last);
    store_tensor(k, result(k, 0), out);
}

/* fft_fftfreq; fft_rfftfreq (PARAM 1). */
void kernel_frequencies(struct kernel *k)
{
    int64_t n = int_arg(k, "n", 1), size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    double unit = 1 / ((double)n * real_arg(k, "d", 1));
    for (int64_t i = 0; i < out.n; i++)
        out.u.r[i] = (double)(!k->row->param && i >= (n + 1) / 2 ? i - n : i) * unit;
    store_tensor(k, result(k, 0), out);
}

/* affine_grid_generator: a position of the grid [N, .., H, W, dims] is theta times (x, y, ..,
 * 1). */
void kernel_affine_grid(struct kernel *k)
{
    struct dense theta = load_as(k, tensor_arg(k, "theta"), DENSE_REAL);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size), dims = ndim > 2 ? ndim - 2 : 0;
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    bool corners = bool_arg(k, "align_corners", false);
    int64_t places = dims ? out.n / (size[0] * dims > 0 ? size[0] * dims : 1) : 0;
    if (k->failed || !places || theta.n != size[0] * dims * (dims + 1))
        return;
    for (int64_t i = 0; i < size[0] * places; i++) {
        int64_t left = i % places;
        double at[TENSOR_MAX_DIM]; /* x first */
        for (uint32_t d = 0; d < dims; d++) {
            int64_t n = size[ndim - 2 - d], j = left % n;
            double step = n > 1 ? (double)(2 * j) / (double)(n - 1) - 1 : 0;
            at[d] = corners ? step : step * (double)(n - 1) / (double)n;
            left /= n;
        }
        for (uint32_t r = 0; r < dims; r++) {
            const double *row = theta.u.r + (i / places * dims + r) * (dims + 1);
            double sum = row[dims];
            for (uint32_t d = 0; d < dims; d++)
                sum += row[d] * at[d];
            out.u.r[i * dims + r] = sum;
        }
    }
    store_tensor(k, result(k, 0), out);
}

/* rrelu: each negative element has a random slope in training, otherwise the mean one; `noise`
 * returns the slopes. */
void kernel_rrelu(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense noise = dense_new(k, DENSE_REAL, x.size, x.ndim);
    double lower = real_arg(k, "lower", 0.125), upper = real_arg(k, "upper", 1.0 / 3);
    bool training = bool_arg(k, "training", false);
    struct random r = random_of(k);
    for (int64_t i = 0; i < x.n; i++) {
        double slope =
            training ? lower + (upper - lower) * random_uniform(&r) : (lower + upper) / 2;
        bool negative = training ? x.u.r[i] <= 0 : x.u.r[i] < 0;
        noise.u.r[i] = negative ? slope : 1;
        x.u.r[i] *= noise.u.r[i];
    }
    store_tensor(k, result(k, 0), x);
    if (n_results(k) > 1)
        store_tensor(k, result(k, 1),
                     training ? noise : load_as(k, tensor_arg(k, "noise"), DENSE_REAL));
    else if (training && has_arg(k, "noise"))
        store_tensor(k, tensor_arg(k, "noise"), noise);
}

/* ---- Inductor's random numbers, whose seed is an argument ---- */

void kernel_inductor_seeds(struct kernel *k)
{
    struct dense out = like_result(k, 0, DENSE_INT);
    struct random r = random_of(k);
    for (int64_t i = 0; i < out.n && !k->failed; i++)
        out.u.i[i] = (int64_t)random_bits(&r);
    store_tensor(k, result(k, 0), out);
}

/* inductor_random, whose mode is "rand" or "randn"; inductor_randint (PARAM 1). */
void kernel_inductor_random(struct kernel *k)
{
    int64_t size[TENSOR_MAX_DIM], low = int_arg(k, "low", 0), high = int_arg(k, "high", 1);
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense seed = load_as(k, tensor_arg(k, "seed"), DENSE_INT);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    bool normal = str_is(text_arg(k, "mode"), "randn");
    if (k->failed || !seed.n)
        return;
    struct random r = { (uint64_t)seed.u.i[0] * 0x9e3779b97f4a7c15u };
    for (int64_t i = 0; i < out.n; i++) {
        double x = normal ? random_normal(&r) : random_uniform(&r);
        out.u.r[i] = k->row->param ? floor((double)low + x * (double)(high - low)) : x;
    }
    store_tensor(k, result(k, 0), out);
}
