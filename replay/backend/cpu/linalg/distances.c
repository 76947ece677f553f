/* Distances, histograms, and tensors that are joined or combined. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

static double distance(const double *x, const double *y, int64_t n, double p)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double d = fabs(x[i] - y[i]);
        if (isinf(p))
            sum = fmax(sum, d);
        else
            sum += p == 0 ? d != 0 : p == 1 ? d : p == 2 ? d * d : pow(d, p);
    }
    return isinf(p) || p == 0 || p == 1 ? sum : p == 2 ? sqrt(sum) : pow(sum, 1 / p);
}

void kernel_cdist(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "x1"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "x2"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    if (k->failed || out.ndim < 2)
        return;
    int64_t rows = out.size[out.ndim - 2], columns = out.size[out.ndim - 1];
    int64_t n = x.size[x.ndim - 1], size[TENSOR_MAX_DIM];
    memcpy(size, out.size, sizeof size);
    size[out.ndim - 1] = n;
    x = dense_broadcast(k, x, size, out.ndim);
    size[out.ndim - 2] = columns;
    y = dense_broadcast(k, y, size, out.ndim);
    double p = real_arg(k, "p", 2);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        int64_t batch = i / columns / rows;
        out.u.r[i] =
            distance(x.u.r + i / columns * n, y.u.r + (batch * columns + i % columns) * n, n, p);
    }
    store_tensor(k, result(k, 0), out);
}

/* Computes the distance of every pair of rows, in the order of the first row and then the
 * second. */
void kernel_pdist(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    int64_t at = 0;
    for (int64_t i = 0; !k->failed && x.ndim == 2 && i < x.size[0]; i++)
        for (int64_t j = i + 1; j < x.size[0] && at < out.n; j++)
            out.u.r[at++] = distance(x.u.r + i * x.size[1], x.u.r + j * x.size[1], x.size[1],
                                     real_arg(k, "p", 2));
    store_tensor(k, result(k, 0), out);
}

void kernel_dist(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct dense y = load_as(k, tensor_arg(k, "other"), DENSE_COMPLEX);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = x.ndim > y.ndim ? x.ndim : y.ndim;
    for (uint32_t i = 0; i < ndim; i++) { /* from the last one on */
        int64_t a = i < x.ndim ? x.size[x.ndim - 1 - i] : 1;
        int64_t b = i < y.ndim ? y.size[y.ndim - 1 - i] : 1;
        size[ndim - 1 - i] = a == 1 ? b : a;
    }
    x = dense_broadcast(k, x, size, ndim);
    y = dense_broadcast(k, y, size, ndim);
    struct dense out = dense_new(k, DENSE_REAL, NULL, 0);
    struct dense d = dense_new(k, DENSE_REAL, size, ndim),
                 zero = dense_new(k, DENSE_REAL, size, ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++)
        d.u.r[i] = cabs(x.u.c[i] - y.u.c[i]);
    if (!k->failed)
        out.u.r[0] = distance(d.u.r, zero.u.r, x.n, real_arg(k, "p", 2));
    store_tensor(k, result(k, 0), out);
}

/* histc: bins of equal width from min to max, or from the least to the greatest element if both are
 * equal. */
void kernel_histc(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    double low = real_arg(k, "min", 0), high = real_arg(k, "max", 0);
    if (low == high && x.n) {
        low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < x.n; i++) {
            low = fmin(low, x.u.r[i]);
            high = fmax(high, x.u.r[i]);
        }
    }
    if (low == high) {
        low -= 1;
        high += 1;
    }
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        if (!(x.u.r[i] >= low && x.u.r[i] <= high))
            continue;
        int64_t bin = (int64_t)((x.u.r[i] - low) / (high - low) * (double)out.n);
        out.u.r[bin >= out.n ? out.n - 1 : bin]++;
    }
    store_tensor(k, result(k, 0), out);
}

/* block_diag: places the matrices along the diagonal. */
void kernel_block_diag(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items);
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    int64_t row = 0, column = 0;
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        struct dense x = load_as(k, items[i].u.tensor, DENSE_COMPLEX);
        int64_t h = x.ndim > 1 ? x.size[0] : 1, w = x.ndim ? x.size[x.ndim - 1] : 1;
        for (int64_t j = 0; j < x.n; j++)
            out.u.c[(row + j / w) * out.size[1] + column + j % w] = x.u.c[j];
        row += h;
        column += w;
    }
    store_tensor(k, result(k, 0), out);
}

/* renorm: scales slices whose norm is above the maximum down to it. */
void kernel_renorm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
    double p = real_arg(k, "p", 2), most = real_arg(k, "maxnorm", 1);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        double sum = 0;
        for (int64_t j = 0; j < a.outer * a.inner; j++) {
            double v = cabs(x.u.c[(j / a.inner * a.n + i) * a.inner + j % a.inner]);
            sum = isinf(p) ? fmax(sum, v) : sum + pow(v, p);
        }
        double norm = isinf(p) ? sum : pow(sum, 1 / p);
        for (int64_t j = 0; norm > most && j < a.outer * a.inner; j++)
            x.u.c[(j / a.inner * a.n + i) * a.inner + j % a.inner] *= most / (norm + 1e-7);
    }
    store_tensor(k, result(k, 0), x);
}

/* embedding_renorm_: does so for the rows that are used, in place. */
void kernel_embedding_renorm(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    double p = real_arg(k, "norm_type", 2), most = real_arg(k, "max_norm", 1);
    int64_t n = x.ndim > 1 ? x.size[1] : 0;
    unsigned char *done = workspace(k, x.ndim ? x.size[0] : 0, 1);
    for (int64_t i = 0; i < index.n && !k->failed; i++) {
        int64_t row = index.u.i[i];
        if (row < 0 || row >= x.size[0] || done[row]++)
            continue;
        double sum = 0;
        for (int64_t j = 0; j < n; j++)
            sum += pow(fabs(x.u.r[row * n + j]), p);
        double norm = pow(sum, 1 / p);
        for (int64_t j = 0; norm > most && j < n; j++)
            x.u.r[row * n + j] *= most / (norm + 1e-7);
    }
    store_tensor(k, result(k, 0), x);
}

/* frexp: mantissas in [0.5, 1) and exponents. */
void kernel_frexp(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense exponent = dense_new(k, DENSE_INT, x.size, x.ndim);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        int e = 0;
        x.u.r[i] = frexp(x.u.r[i], &e);
        exponent.u.i[i] = isfinite(x.u.r[i]) ? e : 0;
    }
    store_tensor(k, result(k, 0), x);
    store_tensor(k, result(k, 1), exponent);
}

/* max_unpool2d, max_unpool3d: writes values to the positions that the pooling found (PARAM:
 * dimensions). */
void kernel_max_unpool(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct dense out = like_result(k, 0, DENSE_REAL);
    int64_t in = 1, plane = 1;
    for (uint32_t d = 0; d < (uint32_t)k->row->param && d < x.ndim; d++) {
        in *= x.size[x.ndim - 1 - d];
        plane *= out.size[out.ndim - 1 - d];
    }
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        if (index.u.i[i] < 0 || index.u.i[i] >= plane) {
            kernel_fail(k, "Found an invalid max index: %lld", (long long)index.u.i[i]);
            return;
        }
        out.u.r[i / in * plane + index.u.i[i]] = x.u.r[i];
    }
    store_tensor(k, result(k, 0), out);
}

/* segment_reduce along the first dimension, by lengths or offsets. */
void kernel_segment_reduce(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "data"), DENSE_REAL);
    bool lengths = has_arg(k, "lengths");
    struct dense bounds = load_as(k, tensor_arg(k, lengths ? "lengths" : "offsets"), DENSE_INT);
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct str how = text_arg(k, "reduce");
    bool mean = str_is(how, "mean"), sum = mean || str_is(how, "sum"), prod = str_is(how, "prod");
    bool max = str_is(how, "max");
    int64_t axis = int_arg(k, "axis", 0), segments = bounds.ndim ? bounds.size[bounds.ndim - 1] : 0;
    struct around a = around_dim(&x, wrapped_dim(axis, x.ndim));
    segments -= !lengths;
    double start = has_arg(k, "initial") ? real_arg(k, "initial", 0)
                   : sum                 ? 0
                   : prod                ? 1
                   : max                 ? -INFINITY
                                         : INFINITY;
    for (int64_t o = 0; o < a.outer && !k->failed; o++) {
        int64_t from = 0;
        const int64_t *b = bounds.u.i + (bounds.ndim > 1 ? o * bounds.size[bounds.ndim - 1] : 0);
        for (int64_t s = 0; s < segments; s++) {
            int64_t to = lengths ? from + b[s] : b[s + 1];
            from = lengths ? from : b[s];
            for (int64_t in = 0; in < a.inner; in++) {
                double r = start;
                for (int64_t i = from; i < to && i < a.n; i++) {
                    double v = x.u.r[(o * a.n + i) * a.inner + in];
                    r = sum                    ? r + v
                        : prod                 ? r * v
                        : isnan(v) || isnan(r) ? NAN
                        : max                  ? fmax(r, v)
                                               : fmin(r, v);
                }
                if (mean)
                    r = to > from ? r / (double)(to - from) : has_arg(k, "initial") ? r : NAN;
                out.u.r[(o * segments + s) * a.inner + in] = r;
            }
            from = to;
        }
    }
    store_tensor(k, result(k, 0), out);
}
