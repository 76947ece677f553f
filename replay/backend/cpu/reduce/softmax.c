/* softmax, log_softmax, logsumexp and their gradients. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

static double greatest_of(const double *x, int64_t n, int64_t step)
{
    double ret = -INFINITY;
    for (int64_t i = 0; i < n; i++)
        ret = isnan(x[i * step]) || isnan(ret) ? NAN : x[i * step] > ret ? x[i * step] : ret;
    return ret;
}

static double sum_of_exp(const double *x, int64_t n, int64_t step, double greatest)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += exp(x[i * step] - greatest);
    return sum;
}

enum softmax { SOFTMAX, LOG_SOFTMAX, SAFE_SOFTMAX };

void kernel_softmax(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), x.ndim);
    struct around a = around_dim(&x, dim);
    for (int64_t row = 0; row < a.outer * a.inner && a.n; row++) {
        double *p = x.u.r + row / a.inner * a.n * a.inner + row % a.inner;
        double greatest = greatest_of(p, a.n, a.inner), sum = sum_of_exp(p, a.n, a.inner, greatest);
        bool nothing = k->row->param == SAFE_SOFTMAX && greatest == -INFINITY;
        for (int64_t i = 0; i < a.n; i++) {
            double shifted = p[i * a.inner] - greatest;
            p[i * a.inner] = nothing                        ? 0
                             : k->row->param == LOG_SOFTMAX ? shifted - log(sum)
                                                            : exp(shifted) / sum;
        }
    }
    store_tensor(k, result(k, 0), x);
}

void kernel_softmax_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense y = load_as(k, tensor_arg(k, "output"), DENSE_REAL);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), g.ndim);
    struct around a = around_dim(&g, dim);
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed; row++) {
        int64_t at = row / a.inner * a.n * a.inner + row % a.inner;
        double sum = 0;
        for (int64_t i = 0; i < a.n; i++) {
            int64_t j = at + i * a.inner;
            sum += k->row->param == LOG_SOFTMAX ? g.u.r[j] : g.u.r[j] * y.u.r[j];
        }
        for (int64_t i = 0; i < a.n; i++) {
            int64_t j = at + i * a.inner;
            g.u.r[j] = k->row->param == LOG_SOFTMAX ? g.u.r[j] - exp(y.u.r[j]) * sum
                                                    : y.u.r[j] * (g.u.r[j] - sum);
        }
    }
    store_tensor(k, result(k, 0), g);
}
