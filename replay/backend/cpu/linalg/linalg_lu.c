/* LU with partial pivoting, and solutions, inverses and determinants computed with it. */
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

int64_t lu_factor(struct matrix a, int64_t *pivots)
{
    int64_t info = 0;
    for (int64_t j = 0; j < shorter_side(a); j++) {
        int64_t p = j;
        for (int64_t i = j + 1; i < a.rows; i++)
            p = size1(*cell(a, i, j)) > size1(*cell(a, p, j)) ? i : p;
        pivots[j] = p + 1;
        if (*cell(a, p, j) == 0) {
            info = info ? info : j + 1;
            continue;
        }
        swap_rows(a, p, j);
        for (int64_t i = j + 1; i < a.rows; i++) {
            cdouble factor = *cell(a, i, j) /= *cell(a, j, j);
            for (int64_t c = j + 1; c < a.columns; c++)
                *cell(a, i, c) -= factor * *cell(a, j, c);
        }
    }
    return info;
}

/* The factors of each matrix of a batch. */
struct lu {
    struct matrices a;
    struct dense pivots, info;
    int64_t each; /* pivots of one matrix */
};

static struct lu lu_factors(struct kernel *k, struct matrices a)
{
    struct lu ret = { .a = a, .each = a.rows < a.columns ? a.rows : a.columns };
    int64_t size[TENSOR_MAX_DIM];
    ret.info = per_matrix(k, &a, DENSE_INT, 0);
    uint32_t ndim = ret.info.ndim;
    for (uint32_t i = 0; i < ndim; i++)
        size[i] = ret.info.size[i];
    size[ndim] = ret.each;
    ret.pivots = dense_new(k, DENSE_INT, size, ndim + 1);
    for (int64_t i = 0; i < a.n && !k->failed; i++)
        ret.info.u.i[i] = lu_factor(nth(&a, i), ret.pivots.u.i + i * ret.each);
    return ret;
}

/* Solves P L U x = b, or the same with the adjoint of P L U. */
static void solve_lu(struct matrix lu, const int64_t *pivots, struct matrix b, bool adjointly)
{
    struct triangle lower = { .unit = true, .turned = adjointly, .conjugated = adjointly };
    struct triangle upper = { .upper = true, .turned = adjointly, .conjugated = adjointly };
    for (int64_t i = 0; i < b.rows && !adjointly; i++)
        swap_rows(b, i, pivots[i] - 1);
    solve_triangle(lu, b, adjointly ? upper : lower);
    solve_triangle(lu, b, adjointly ? lower : upper);
    for (int64_t i = b.rows; i-- > 0 && adjointly;)
        swap_rows(b, i, pivots[i] - 1);
}

static void solve_side(struct kernel *k, struct matrix lu, const int64_t *pivots, struct matrix b,
                       bool left, bool adjointly)
{
    if (left) {
        solve_lu(lu, pivots, b, adjointly);
        return;
    }
    struct matrix turned = adjoint(k, b);
    if (k->failed)
        return;
    solve_lu(lu, pivots, turned, !adjointly);
    copy_corner(adjoint(k, turned), b);
}

static bool pivots_fit(struct kernel *k, const int64_t *pivots, int64_t n, int64_t rows)
{
    for (int64_t i = 0; i < n; i++)
        if (pivots[i] < 1 || pivots[i] > rows)
            return kernel_fail(k, "Pivots given to lu_solve must all be greater or equal to 1. "
                                  "Did you properly pass the result of lu_factor?"),
                   false;
    return true;
}

/* Returns whether LAPACK gets the transposed matrix for the determinant, which is so for real
 * matrices with contiguous rows (linalg_det_out of LinearAlgebra.cpp). */
static bool seen_turned(struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], step = 1;
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t i = ndim; i-- > 0; step *= size[i])
        if (size[i] != 1 && (!x.meta->stride || x.meta->stride[i] != step))
            return false;
    return x.meta && dense_kind_of(x.meta->dtype) != DENSE_COMPLEX;
}

static struct matrices load_seen(struct kernel *k, const char *name, bool turned)
{
    struct matrices a = load_matrices(k, name);
    if (!turned)
        return a;
    struct matrices ret = matrices_like(k, &a, a.columns, a.rows);
    for (int64_t i = 0; i < ret.n && !k->failed; i++)
        copy_corner(adjoint(k, nth(&a, i)), nth(&ret, i));
    return ret;
}

void kernel_lu_factor(struct kernel *k)
{
    struct lu lu = lu_factors(k, load_matrices(k, "A"));
    store_result(k, 0, lu.a.all);
    store_result(k, 1, lu.pivots);
    if (n_results(k) > 2)
        store_result(k, 2, lu.info);
}

/* Computes P, L and U from the factors. */
static void unpack(struct kernel *k, struct matrices lu, const int64_t *pivots)
{
    int64_t least = lu.rows < lu.columns ? lu.rows : lu.columns;
    struct matrices p = matrices_like(k, &lu, lu.rows, lu.rows);
    struct matrices l = matrices_like(k, &lu, lu.rows, least);
    struct matrices u = matrices_like(k, &lu, least, lu.columns);
    int64_t *order = workspace(k, lu.rows, sizeof *order);
    for (int64_t b = 0; b < lu.n && !k->failed; b++) {
        struct matrix low = nth(&l, b);
        copy_corner(nth(&lu, b), low);
        copy_corner(nth(&lu, b), nth(&u, b));
        keep_triangle(low, false);
        keep_triangle(nth(&u, b), true);
        for (int64_t i = 0; i < least; i++)
            *cell(low, i, i) = 1;
        for (int64_t i = 0; i < lu.rows; i++)
            order[i] = i;
        for (int64_t i = 0; i < least && pivots; i++) {
            int64_t with = pivots[b * least + i] - 1, swapped = order[i];
            order[i] = order[with];
            order[with] = swapped;
        }
        for (int64_t i = 0; i < lu.rows; i++)
            *cell(nth(&p, b), order[i], i) = 1;
    }
    store_result(k, 0, p.all);
    store_result(k, 1, l.all);
    store_result(k, 2, u.all);
}

void kernel_linalg_lu(struct kernel *k)
{
    struct lu lu = lu_factors(k, load_matrices(k, "A"));
    unpack(k, lu.a, lu.pivots.u.i);
}

void kernel_lu_unpack(struct kernel *k)
{
    struct matrices lu = load_matrices(k, "LU_data");
    struct dense pivots = { 0 };
    if (bool_arg(k, "unpack_pivots", true)) {
        pivots = load_as(k, tensor_arg(k, "LU_pivots"), DENSE_INT);
        if (k->failed || !pivots_fit(k, pivots.u.i, pivots.n, lu.rows))
            return;
    }
    unpack(k, lu, pivots.u.i);
}

void kernel_lu_solve(struct kernel *k)
{
    struct matrices lu = load_matrices(k, "LU");
    struct matrices b = matrices_of(k, load_as(k, tensor_arg(k, "B"), DENSE_COMPLEX));
    struct dense given = load_as(k, tensor_arg(k, "pivots"), DENSE_INT);
    if (k->failed || !pivots_fit(k, given.u.i, given.n, lu.rows))
        return;
    given.size[given.ndim++] = 1; /* a column, so that it broadcasts as the matrices do */
    struct matrices pivots = matrices_of(k, given), same = b;
    broadcast_batches(k, &lu, &b);
    broadcast_batches(k, &pivots, &same);
    for (int64_t i = 0; i < b.n && !k->failed; i++)
        solve_side(k, nth(&lu, i), pivots.all.u.i + i * lu.rows, nth(&b, i),
                   bool_arg(k, "left", true), bool_arg(k, "adjoint", false));
    store_tensor(k, result(k, 0), b.all);
}

/* _linalg_solve_ex: the solution, LU, pivots, info. */
void kernel_linalg_solve(struct kernel *k)
{
    struct lu lu = lu_factors(k, load_matrices(k, "A"));
    struct matrices b = load_right_side(k, "B", &lu.a), a = lu.a, of = lu.a;
    struct dense column = lu.pivots;
    if (k->failed)
        return;
    column.size[column.ndim++] = 1;
    struct matrices pivots = matrices_of(k, column), same = b;
    broadcast_batches(k, &a, &b);
    broadcast_batches(k, &pivots, &same);
    for (int64_t i = 0; i < b.n && !k->failed; i++)
        solve_side(k, nth(&a, i), pivots.all.u.i + i * a.rows, nth(&b, i),
                   bool_arg(k, "left", true), false);
    store_tensor(k, result(k, 0), b.all);
    if (n_results(k) == 2) {
        store_result(k, 1, lu.info);
        return;
    }
    store_result(k, 1, of.all);
    store_result(k, 2, lu.pivots);
    store_result(k, 3, lu.info);
}

void kernel_linalg_inv(struct kernel *k)
{
    struct lu lu = lu_factors(k, load_matrices(k, "A"));
    struct matrices out = matrices_like(k, &lu.a, lu.a.rows, lu.a.rows);
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        copy_corner(identity_matrix(k, out.rows, out.rows), nth(&out, i));
        if (!k->failed)
            solve_lu(nth(&lu.a, i), lu.pivots.u.i + i * lu.each, nth(&out, i), false);
    }
    store_tensor(k, result(k, 0), out.all);
    if (n_results(k) > 1)
        store_result(k, 1, lu.info);
}

/* _linalg_det (result, LU, pivots); _linalg_slogdet (PARAM 1: sign, logarithm, LU, pivots). */
void kernel_linalg_det(struct kernel *k)
{
    bool logarithm = k->row->param == 1;
    struct lu lu = lu_factors(k, load_seen(k, "A", seen_turned(tensor_arg(k, "A"))));
    struct dense det = per_matrix(k, &lu.a, DENSE_COMPLEX, 0);
    struct dense log_of = per_matrix(k, &lu.a, DENSE_REAL, 0);
    for (int64_t b = 0; b < lu.a.n && !k->failed; b++) {
        det.u.c[b] = 1;
        for (int64_t i = 0; i < lu.each; i++) {
            cdouble x = *cell(nth(&lu.a, b), i, i);
            bool swapped = lu.pivots.u.i[b * lu.each + i] != i + 1;
            det.u.c[b] *= logarithm && x != 0 ? x / cabs(x) : x;
            det.u.c[b] *= swapped ? -1 : 1;
            log_of.u.r[b] += log(cabs(x));
        }
    }
    uint32_t at = 0;
    store_result(k, at++, det);
    if (logarithm)
        store_result(k, at++, log_of);
    if (n_results(k) > at) {
        store_result(k, at, lu.a.all);
        store_result(k, at + 1, lu.pivots);
    }
}
