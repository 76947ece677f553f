/* Matmuls. Each element sums over the inner dimension in order, in float64 (product.c). */
#include "replay/backend/cpu/linalg/matmul.h"

struct matmul_sizes {
    int64_t batch, m, n, inner;
};

static void multiply_complex_matrices(const cdouble *a, const cdouble *b, cdouble *c,
                                      struct matmul_sizes p)
{
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t l = 0; l < p.inner; l++)
            for (int64_t j = 0; j < p.n; j++)
                c[i * p.n + j] += a[i * p.inner + l] * b[l * p.n + j];
}

static void multiply_int(const int64_t *a, const int64_t *b, int64_t *c, struct matmul_sizes p)
{
    for (int64_t i = 0; i < p.m; i++)
        for (int64_t l = 0; l < p.inner; l++)
            for (int64_t j = 0; j < p.n; j++)
                c[i * p.n + j] = (int64_t)((uint64_t)c[i * p.n + j] +
                                           (uint64_t)a[i * p.inner + l] * (uint64_t)b[l * p.n + j]);
}

/* Multiplies a [batch, m, inner] with b [batch, inner, n]. */
static struct dense multiply_batched(struct kernel *k, struct dense a, struct dense b,
                                     struct matmul_sizes p)
{
    int64_t size[3] = { p.batch, p.m, p.n };
    struct dense c = dense_new(k, a.kind, size, 3);
    if (a.kind == DENSE_REAL && !k->failed)
        multiply_batches(k, a.u.r, b.u.r, c.u.r, p.batch, p.m, p.n, p.inner);
    for (int64_t i = 0; i < p.batch && !k->failed && a.kind != DENSE_REAL; i++) {
        int64_t at_a = i * p.m * p.inner, at_b = i * p.inner * p.n, at_c = i * p.m * p.n;
        if (a.kind == DENSE_COMPLEX)
            multiply_complex_matrices(a.u.c + at_a, b.u.c + at_b, c.u.c + at_c, p);
        else
            multiply_int(a.u.i + at_a, b.u.i + at_b, c.u.i + at_c, p);
    }
    return c;
}

/* Returns the sizes of a matmul of vectors, matrices or batches of matrices. */
static struct matmul_sizes matmul_sizes(const struct dense *a, const struct dense *b)
{
    struct matmul_sizes p = { 1, 1, 1, 1 };
    p.inner = a->ndim ? a->size[a->ndim - 1] : 1;
    p.m = a->ndim > 1 ? a->size[a->ndim - 2] : 1;
    p.n = b->ndim > 1 ? b->size[b->ndim - 1] : 1;
    p.batch = a->ndim == 3 ? a->size[0] : 1;
    return p;
}

static cdouble at(const struct dense *x, int64_t i)
{
    return x->kind == DENSE_REAL ? x->u.r[i] : x->kind == DENSE_INT ? (double)x->u.i[i] : x->u.c[i];
}

/* Returns beta * self + alpha * product; self is not read if beta is 0. */
static struct dense scaled_sum(struct kernel *k, struct dense self, struct dense product)
{
    cdouble alpha = complex_arg(k, "alpha", 1), beta = complex_arg(k, "beta", 1);
    for (int64_t i = 0; i < product.n && !k->failed; i++) {
        if (product.kind == DENSE_INT) {
            uint64_t x = (uint64_t)(int64_t)creal(alpha) * (uint64_t)product.u.i[i];
            product.u.i[i] =
                (int64_t)(x +
                          (beta == 0 ? 0 : (uint64_t)(int64_t)creal(beta) * (uint64_t)self.u.i[i]));
        } else if (product.kind == DENSE_REAL) {
            product.u.r[i] =
                creal(alpha) * product.u.r[i] + (beta == 0 ? 0 : creal(beta) * self.u.r[i]);
        } else {
            product.u.c[i] = alpha * product.u.c[i] + (beta == 0 ? 0 : beta * at(&self, i));
        }
    }
    return product;
}

static enum dense_kind common_kind(const struct kernel *k, struct kernel_tensor a,
                                   struct kernel_tensor b)
{
    enum dense_kind x = dense_kind_of(a.meta->dtype), y = dense_kind_of(b.meta->dtype);
    (void)k;
    return x > y ? x : y;
}

/* mm, bmm, mv, dot: PARAM 0; vdot: 1, which conjugates its first argument. */
void kernel_multiply(struct kernel *k)
{
    const char *second = has_arg(k, "mat2")     ? "mat2"
                         : has_arg(k, "vec")    ? "vec"
                         : has_arg(k, "tensor") ? "tensor"
                                                : "other";
    struct kernel_tensor x = tensor_arg(k, "self"), y = tensor_arg(k, second);
    if (!x.meta || !y.meta)
        return;
    enum dense_kind kind = common_kind(k, x, y);
    struct dense a = load_as(k, x, kind), b = load_as(k, y, kind);
    for (int64_t i = 0; k->row->param == 1 && kind == DENSE_COMPLEX && i < a.n; i++)
        a.u.c[i] = conj(a.u.c[i]);
    store_tensor(k, result(k, 0), multiply_batched(k, a, b, matmul_sizes(&a, &b)));
}

/* addmm, addmv, baddbmm, addbmm (PARAM 1: summed over the batch). */
void kernel_add_multiply(struct kernel *k)
{
    static const char *const names[][2] = { { "mat1", "mat2" },
                                            { "batch1", "batch2" },
                                            { "mat", "vec" } };
    struct kernel_tensor to = result(k, 0), x = { 0 }, y = { 0 };
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    for (size_t i = 0; i < 3; i++)
        if (has_arg(k, names[i][0]) && has_arg(k, names[i][1])) {
            x = tensor_arg(k, names[i][0]);
            y = tensor_arg(k, names[i][1]);
        }
    if (!x.meta || !y.meta)
        return;
    enum dense_kind kind = common_kind(k, x, y);
    struct dense a = load_as(k, x, kind), b = load_as(k, y, kind);
    struct dense self = dense_broadcast(k, load_as(k, tensor_arg(k, "self"), kind), size, ndim);
    struct dense product = multiply_batched(k, a, b, matmul_sizes(&a, &b));
    if (k->row->param == 1 && !k->failed) {
        int64_t n = size[0] * size[1];
        struct dense sum = dense_new(k, kind, size, 2);
        for (int64_t i = 0; i < product.n && !k->failed && n; i++) {
            if (kind == DENSE_INT)
                sum.u.i[i % n] += product.u.i[i];
            else if (kind == DENSE_REAL)
                sum.u.r[i % n] += product.u.r[i];
            else
                sum.u.c[i % n] += product.u.c[i];
        }
        product = sum;
    }
    store_tensor(k, to, scaled_sum(k, self, product));
}

/* addr: beta * self + alpha * vec1 outer vec2. */
void kernel_addr(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0), x = tensor_arg(k, "vec1"), y = tensor_arg(k, "vec2");
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    if (!x.meta || !y.meta || !to.meta)
        return;
    enum dense_kind kind = dense_kind_of(to.meta->dtype);
    struct dense a = load_as(k, x, kind), b = load_as(k, y, kind);
    struct dense self = dense_broadcast(k, load_as(k, tensor_arg(k, "self"), kind), size, ndim);
    struct matmul_sizes p = { 1, a.n, b.n, 1 };
    store_tensor(k, to, scaled_sum(k, self, multiply_batched(k, a, b, p)));
}
