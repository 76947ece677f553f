/* Householder's QR with LAPACK's signs, and operators that use its reflections. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/linalg/linalg.h"

cdouble reflection(cdouble *x, int64_t n, int64_t step)
{
    double rest = 0;
    if (n == 0)
        return 0;
    for (int64_t i = 1; i < n; i++)
        rest = hypot(rest, cabs(x[i * step]));
    double re = creal(x[0]), im = cimag(x[0]);
    if (rest == 0 && im == 0)
        return 0;
    double beta = -copysign(hypot(hypot(re, im), rest), re);
    cdouble scale = 1 / (x[0] - beta);
    for (int64_t i = 1; i < n; i++)
        x[i * step] *= scale;
    x[0] = beta;
    return complex_of((beta - re) / beta, -im / beta);
}

/* Computes c := (I - factor v v^H) c for the rows from `from` on; v is column `from` of a, below
 * its one. */
static void reflect_rows(struct matrix a, int64_t from, cdouble factor, struct matrix c,
                         int64_t first_column)
{
    for (int64_t j = first_column; j < c.columns && factor != 0; j++) {
        cdouble along = *cell(c, from, j);
        for (int64_t i = from + 1; i < a.rows; i++)
            along += conj(*cell(a, i, from)) * *cell(c, i, j);
        along *= factor;
        *cell(c, from, j) -= along;
        for (int64_t i = from + 1; i < a.rows; i++)
            *cell(c, i, j) -= *cell(a, i, from) * along;
    }
}

void qr_factor(struct kernel *k, struct matrix a, cdouble *tau)
{
    for (int64_t i = 0; i < shorter_side(a) && !k->failed; i++) {
        tau[i] = reflection(cell(a, i, i), a.rows - i, a.columns);
        reflect_rows(a, i, conj(tau[i]), a, i + 1);
    }
}

void apply_reflections(struct matrix a, const cdouble *tau, int64_t n, struct matrix c,
                       bool adjointly)
{
    for (int64_t s = 0; s < n; s++) {
        int64_t i = adjointly ? s : n - 1 - s;
        reflect_rows(a, i, adjointly ? conj(tau[i]) : tau[i], c, 0);
    }
}

struct qr {
    struct matrices a;
    struct dense tau;
    int64_t each;
};

static struct qr qr_factors(struct kernel *k, const char *name)
{
    struct qr ret = { .a = load_matrices(k, name) };
    int64_t size[TENSOR_MAX_DIM];
    ret.each = ret.a.rows < ret.a.columns ? ret.a.rows : ret.a.columns;
    uint32_t ndim = k->failed ? 1 : ret.a.all.ndim - 1;
    memcpy(size, ret.a.all.size, ndim * sizeof *size);
    size[ndim - 1] = ret.each;
    ret.tau = dense_new(k, DENSE_COMPLEX, size, ndim);
    for (int64_t i = 0; i < ret.a.n && !k->failed; i++)
        qr_factor(k, nth(&ret.a, i), ret.tau.u.c + i * ret.each);
    return ret;
}

void kernel_geqrf(struct kernel *k)
{
    struct qr qr = qr_factors(k, "self");
    store_result(k, 0, qr.a.all);
    store_result(k, 1, qr.tau);
}

void kernel_linalg_qr(struct kernel *k)
{
    struct qr qr = qr_factors(k, "A");
    bool complete = str_is(text_arg(k, "mode"), "complete");
    int64_t rows = qr.a.rows, kept = complete ? rows : qr.each;
    struct matrices q = matrices_like(k, &qr.a, rows, kept);
    struct matrices r = matrices_like(k, &qr.a, kept, qr.a.columns);
    for (int64_t i = 0; i < qr.a.n && !k->failed; i++) {
        copy_corner(nth(&qr.a, i), nth(&r, i));
        keep_triangle(nth(&r, i), true);
        copy_corner(identity_matrix(k, rows, kept), nth(&q, i));
        if (!k->failed)
            apply_reflections(nth(&qr.a, i), qr.tau.u.c + i * qr.each, qr.each, nth(&q, i), false);
    }
    store_result(k, 0, q.all);
    store_result(k, 1, r.all);
}

void kernel_householder_product(struct kernel *k)
{
    struct matrices a = load_matrices(k, "input");
    struct dense tau = load_as(k, tensor_arg(k, "tau"), DENSE_COMPLEX);
    struct matrices q = matrices_like(k, &a, a.rows, a.columns);
    int64_t n = !k->failed && tau.ndim ? tau.size[tau.ndim - 1] : 0;
    for (int64_t i = 0; i < a.n && !k->failed && n <= a.columns; i++) {
        copy_corner(identity_matrix(k, a.rows, a.columns), nth(&q, i));
        if (!k->failed)
            apply_reflections(nth(&a, i), tau.u.c + i * n, n, nth(&q, i), false);
    }
    store_result(k, 0, q.all);
}

/* Computes Q c, Q^H c, c Q or c Q^H. */
void kernel_ormqr(struct kernel *k)
{
    struct matrices a = load_matrices(k, "self"), c = load_matrices(k, "input3");
    struct dense tau = load_as(k, tensor_arg(k, "input2"), DENSE_COMPLEX);
    bool left = bool_arg(k, "left", true), turned = bool_arg(k, "transpose", false);
    int64_t n = !k->failed && tau.ndim ? tau.size[tau.ndim - 1] : 0;
    for (int64_t i = 0; i < c.n && !k->failed && n <= a.columns; i++) {
        struct matrix x = left ? nth(&c, i) : adjoint(k, nth(&c, i));
        if (k->failed)
            return;
        apply_reflections(nth(&a, i), tau.u.c + i * n, n, x, left == turned);
        if (!left)
            copy_corner(adjoint(k, x), nth(&c, i));
    }
    store_result(k, 0, c.all);
}
