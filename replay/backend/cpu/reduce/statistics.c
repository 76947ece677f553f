/* Reductions in two passes: variance, norms, logsumexp; counting. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/reduce/reduce.h"

/* var, std (PARAM 1), var_mean (2), std_mean (3). */
void kernel_variance(struct kernel *k)
{
    int64_t n;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    x = reduced_last(k, x.kind == DENSE_INT ? dense_convert(k, x, DENSE_REAL) : x, "dim", &n);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_REAL, size, ndim),
                 mean = dense_new(k, x.kind, size, ndim);
    int64_t rows = out.n;
    double correction =
        has_arg(k, "correction") ? real_arg(k, "correction", 1) : bool_arg(k, "unbiased", true);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        cdouble m = 0;
        double sum = 0;
        for (int64_t i = 0; i < n; i++)
            m += x.kind == DENSE_REAL ? x.u.r[r * n + i] : x.u.c[r * n + i];
        m /= (double)n;
        for (int64_t i = 0; i < n; i++) {
            cdouble d = (x.kind == DENSE_REAL ? x.u.r[r * n + i] : x.u.c[r * n + i]) - m;
            sum += creal(d) * creal(d) + cimag(d) * cimag(d);
        }
        double divisor = (double)n - correction;
        double variance = sum / (divisor > 0 ? divisor : 0);
        out.u.r[r] = k->row->param & 1 ? sqrt(variance) : variance;
        if (x.kind == DENSE_REAL)
            mean.u.r[r] = creal(m);
        else
            mean.u.c[r] = m;
    }
    store_tensor(k, result(k, 0), out);
    if (k->row->param & 2)
        store_tensor(k, result(k, 1), mean);
}

static double vector_norm_of(const double *x, int64_t n, double p)
{
    double ret = isinf(p) && p < 0 ? INFINITY : 0;
    for (int64_t i = 0; i < n; i++) {
        double v = fabs(x[i]);
        if (isinf(p))
            ret = isnan(v) || isnan(ret) ? NAN : p > 0 ? fmax(ret, v) : fmin(ret, v);
        else
            ret += p == 0 ? v != 0 : p == 2 ? v * v : pow(v, p);
    }
    return isinf(p) || p == 0 ? ret : p == 2 ? sqrt(ret) : pow(ret, 1 / p);
}

/* norm and linalg_vector_norm: norms of absolute values. */
void kernel_norm(struct kernel *k)
{
    int64_t n;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    if (x.kind == DENSE_COMPLEX) {
        struct dense a = dense_new(k, DENSE_REAL, x.size, x.ndim);
        for (int64_t i = 0; i < a.n; i++)
            a.u.r[i] = cabs(x.u.c[i]);
        x = a;
    }
    x = reduced_last(k, dense_convert(k, x, DENSE_REAL), "dim", &n);
    struct dense out = like_result(k, 0, DENSE_REAL);
    double p = real_arg(k, has_arg(k, "ord") ? "ord" : "p", 2);
    for (int64_t r = 0; r < out.n && !k->failed; r++)
        out.u.r[r] = vector_norm_of(x.u.r + r * n, n, p);
    store_tensor(k, result(k, 0), out);
}

/* logsumexp of complex numbers, shifted by the greatest real part. */
static void logsumexp_complex(struct kernel *k)
{
    int64_t n, size[TENSOR_MAX_DIM];
    struct dense x = reduced_last(k, load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX), "dim", &n);
    uint32_t ndim = tensor_sizes(result(k, 0), size);
    struct dense out = dense_new(k, DENSE_COMPLEX, size, ndim);
    for (int64_t r = 0; r < out.n && !k->failed; r++) {
        double most = -INFINITY;
        cdouble sum = 0;
        for (int64_t i = 0; i < n; i++)
            most = fmax(most, creal(x.u.c[r * n + i]));
        most = isinf(most) ? 0 : most;
        for (int64_t i = 0; i < n; i++)
            sum += cexp(x.u.c[r * n + i] - most);
        out.u.c[r] = clog(sum) + most;
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_logsumexp(struct kernel *k)
{
    int64_t n;
    if (dense_kind_of(tensor_arg(k, "self").meta->dtype) == DENSE_COMPLEX) {
        logsumexp_complex(k);
        return;
    }
    struct dense x = reduced_last(k, load_as(k, tensor_arg(k, "self"), DENSE_REAL), "dim", &n);
    struct dense out = like_result(k, 0, DENSE_REAL);
    for (int64_t r = 0; r < out.n && !k->failed; r++) {
        double most = -INFINITY, sum = 0;
        for (int64_t i = 0; i < n; i++)
            most = isnan(x.u.r[r * n + i]) || isnan(most) ? NAN : fmax(most, x.u.r[r * n + i]);
        double shift = isinf(most) ? 0 : most;
        for (int64_t i = 0; i < n; i++)
            sum += exp(x.u.r[r * n + i] - shift);
        out.u.r[r] = log(sum) + shift;
    }
    store_tensor(k, result(k, 0), out);
}

/* count_nonzero; nansum (PARAM 1). */
void kernel_count_nonzero(struct kernel *k)
{
    int64_t n;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    if (x.kind == DENSE_COMPLEX) {
        struct dense a = dense_new(k, DENSE_REAL, x.size, x.ndim);
        for (int64_t i = 0; i < a.n; i++)
            a.u.r[i] = x.u.c[i] != 0;
        x = a;
    }
    x = reduced_last(k, dense_convert(k, x, DENSE_REAL), "dim", &n);
    struct dense out = like_result(k, 0, DENSE_REAL);
    for (int64_t r = 0; r < out.n && !k->failed; r++)
        for (int64_t i = 0; i < n; i++) {
            double v = x.u.r[r * n + i];
            out.u.r[r] += k->row->param ? (isnan(v) ? 0 : v) : v != 0;
        }
    store_tensor(k, result(k, 0), out);
}

/* aminmax */
void kernel_aminmax(struct kernel *k)
{
    int64_t n;
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    x = reduced_last(k, x, "dim", &n);
    int64_t rows = n ? x.n / n : 0;
    struct dense low = dense_new(k, x.kind, &rows, 1), high = dense_new(k, x.kind, &rows, 1);
    for (int64_t r = 0; r < rows && !k->failed; r++) {
        low.u.i[r] = high.u.i[r] = x.u.i[r * n];
        for (int64_t i = 0; i < n; i++) {
            int64_t at = r * n + i;
            if (x.kind == DENSE_INT) {
                low.u.i[r] = x.u.i[at] < low.u.i[r] ? x.u.i[at] : low.u.i[r];
                high.u.i[r] = x.u.i[at] > high.u.i[r] ? x.u.i[at] : high.u.i[r];
            } else {
                double v = x.u.r[at];
                low.u.r[r] = isnan(v) || isnan(low.u.r[r]) ? NAN : fmin(v, low.u.r[r]);
                high.u.r[r] = isnan(v) || isnan(high.u.r[r]) ? NAN : fmax(v, high.u.r[r]);
            }
        }
    }
    store_tensor(k, result(k, 0), low);
    store_tensor(k, result(k, 1), high);
}
