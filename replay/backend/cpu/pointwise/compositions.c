/* Operators that could be written with a few others: glu, trace, cross. Kernels of their own round
 * once. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

/* glu: the first half times the sigmoid of the second. */
void kernel_glu(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", -1), x.ndim));
    int64_t half = a.n / 2 * a.inner;
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        int64_t from = i / half * 2 * half + i % half;
        out.u.r[i] = x.u.r[from] / (1 + exp(-x.u.r[from + half]));
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_trace(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct dense out = dense_new(k, DENSE_COMPLEX, NULL, 0);
    for (int64_t i = 0; !k->failed && x.ndim == 2 && i < x.size[0] && i < x.size[1]; i++)
        out.u.c[0] += x.u.c[i * x.size[1] + i];
    store_tensor(k, result(k, 0), out);
}

void kernel_cross(struct kernel *k)
{
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    struct dense x =
        dense_broadcast(k, load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX), out.size, out.ndim);
    struct dense y =
        dense_broadcast(k, load_as(k, tensor_arg(k, "other"), DENSE_COMPLEX), out.size, out.ndim);
    struct around a = around_dim(&out, wrapped_dim(int_arg(k, "dim", -1), out.ndim));
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed && a.n == 3; row++) {
        int64_t at = row / a.inner * 3 * a.inner + row % a.inner;
        for (int64_t i = 0; i < 3; i++) {
            int64_t p = at + (i + 1) % 3 * a.inner, q = at + (i + 2) % 3 * a.inner;
            out.u.c[at + i * a.inner] = x.u.c[p] * y.u.c[q] - x.u.c[q] * y.u.c[p];
        }
    }
    store_tensor(k, result(k, 0), out);
}
