/* Cholesky factors, and systems of equations whose matrix is a triangle. */
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

/* Computes L of L L^H from the lower triangle, in place. Returns info. */
static int64_t cholesky_lower(struct matrix a)
{
    for (int64_t j = 0; j < a.rows; j++) {
        double d = creal(*cell(a, j, j));
        for (int64_t l = 0; l < j; l++)
            d -= creal(*cell(a, j, l) * conj(*cell(a, j, l)));
        *cell(a, j, j) = d;
        if (!(d > 0))
            return j + 1;
        *cell(a, j, j) = sqrt(d);
        for (int64_t i = j + 1; i < a.rows; i++) {
            cdouble x = *cell(a, i, j);
            for (int64_t l = 0; l < j; l++)
                x -= *cell(a, i, l) * conj(*cell(a, j, l));
            *cell(a, i, j) = x / sqrt(d);
        }
    }
    return 0;
}

static struct matrices cholesky_factors(struct kernel *k, struct matrices a, bool upper,
                                        struct dense *info)
{
    *info = per_matrix(k, &a, DENSE_INT, 0);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        struct matrix x = upper ? adjoint(k, nth(&a, i)) : nth(&a, i);
        if (k->failed)
            break;
        info->u.i[i] = cholesky_lower(x);
        if (upper)
            copy_corner(adjoint(k, x), nth(&a, i));
        keep_triangle(nth(&a, i), upper);
    }
    return a;
}

/* linalg_cholesky_ex (L, info); cholesky and linalg_cholesky (PARAM 1) raise errors. */
void kernel_cholesky(struct kernel *k)
{
    struct dense info;
    bool raises = k->row->param == 1 || bool_arg(k, "check_errors", false);
    struct matrices l =
        cholesky_factors(k, load_matrices(k, "self"), bool_arg(k, "upper", false), &info);
    for (int64_t i = 0; raises && i < l.n && !k->failed; i++)
        if (info.u.i[i])
            kernel_fail(k,
                        "linalg.cholesky: The factorization could not be completed because the "
                        "input is not positive-definite (the leading minor of order %lld is not "
                        "positive-definite).",
                        (long long)info.u.i[i]);
    store_result(k, 0, l.all);
    if (n_results(k) > 1)
        store_result(k, 1, info);
}

/* Solves L L^H x = b, or U^H U x = b. */
static void solve_factors(struct matrix l, struct matrix b, bool upper)
{
    struct triangle t = { .upper = upper, .turned = upper, .conjugated = upper };
    solve_triangle(l, b, t);
    t.turned = t.conjugated = !upper;
    solve_triangle(l, b, t);
}

void kernel_cholesky_solve(struct kernel *k)
{
    struct matrices b = load_matrices(k, "self"), l = load_matrices(k, "input2");
    broadcast_batches(k, &l, &b);
    for (int64_t i = 0; i < b.n && !k->failed; i++)
        solve_factors(nth(&l, i), nth(&b, i), bool_arg(k, "upper", false));
    store_result(k, 0, b.all);
}

void kernel_cholesky_inverse(struct kernel *k)
{
    struct matrices l = load_matrices(k, "self"), out = matrices_like(k, &l, l.rows, l.columns);
    for (int64_t i = 0; i < l.n && !k->failed; i++) {
        copy_corner(identity_matrix(k, l.rows, l.rows), nth(&out, i));
        if (!k->failed)
            solve_factors(nth(&l, i), nth(&out, i), bool_arg(k, "upper", false));
    }
    store_result(k, 0, out.all);
}

/* linalg_solve_triangular(A, B); triangular_solve (PARAM 1): (B, A), whose second result is A. */
void kernel_solve_triangular(struct kernel *k)
{
    bool old = k->row->param == 1, left = old || bool_arg(k, "left", true);
    struct matrices a = load_matrices(k, old ? "A" : "self");
    struct matrices b = load_matrices(k, old ? "self" : "B");
    broadcast_batches(k, &a, &b);
    struct triangle t = { .upper = bool_arg(k, "upper", true),
                          .unit = bool_arg(k, "unitriangular", false),
                          .turned = old && bool_arg(k, "transpose", false) };
    struct triangle right = { t.upper, t.unit, true, true }; /* A^H X^H = B^H */
    for (int64_t i = 0; i < b.n && !k->failed; i++) {
        struct matrix x = left ? nth(&b, i) : adjoint(k, nth(&b, i));
        if (k->failed)
            break;
        solve_triangle(nth(&a, i), x, left ? t : right);
        if (!left)
            copy_corner(adjoint(k, x), nth(&b, i));
    }
    store_result(k, 0, b.all);
    if (old)
        store_result(k, 1, a.all);
}
