/* Bunch and Kaufman's factors L D L^T (L D L^H) of symmetric (hermitian) matrices: sytf2, hetf2,
 * sytrs. */
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

struct ldl {
    struct matrix a; /* its lower triangle */
    int64_t *pivots;
    bool hermitian;
};

static cdouble mirrored(const struct ldl *f, cdouble x)
{
    return f->hermitian ? conj(x) : x;
}

static double diagonal_size(const struct ldl *f, int64_t i)
{
    cdouble x = *cell(f->a, i, i);
    return f->hermitian ? fabs(creal(x)) : size1(x);
}

/* Exchanges rows and columns p and q of the trailing matrix, which begins at k. */
static void interchange(struct ldl *f, int64_t k, int64_t q, int64_t p, bool two)
{
    struct matrix a = f->a;
    cdouble swapped;
#define SWAP(x, y) (swapped = (x), (x) = (y), (y) = swapped)
    for (int64_t i = p + 1; i < a.rows; i++)
        SWAP(*cell(a, i, q), *cell(a, i, p));
    for (int64_t j = q + 1; j < p; j++) {
        swapped = mirrored(f, *cell(a, j, q));
        *cell(a, j, q) = mirrored(f, *cell(a, p, j));
        *cell(a, p, j) = swapped;
    }
    *cell(a, p, q) = mirrored(f, *cell(a, p, q));
    SWAP(*cell(a, q, q), *cell(a, p, p));
    if (two)
        SWAP(*cell(a, k + 1, k), *cell(a, p, k));
#undef SWAP
}

/* Returns the pivot of column k, and whether its block is 2 by 2. */
static int64_t choose_pivot(const struct ldl *f, int64_t k, bool *two, bool *zero)
{
    const double alpha = (1 + sqrt(17)) / 8;
    struct matrix a = f->a;
    double here = diagonal_size(f, k), column = 0, row = 0;
    int64_t most = k;
    for (int64_t i = k + 1; i < a.rows; i++)
        if (size1(*cell(a, i, k)) > column) {
            column = size1(*cell(a, i, k));
            most = i;
        }
    *two = false;
    *zero = !(fmax(here, column) > 0);
    if (*zero || here >= alpha * column)
        return k;
    for (int64_t j = k; j < most; j++)
        row = fmax(row, size1(*cell(a, most, j)));
    for (int64_t i = most + 1; i < a.rows; i++)
        row = fmax(row, size1(*cell(a, i, most)));
    if (here >= alpha * column * (column / row))
        return k;
    *two = !(diagonal_size(f, most) >= alpha * row);
    return most;
}

static void eliminate_one(struct ldl *f, int64_t k)
{
    struct matrix a = f->a;
    cdouble inverse = 1 / *cell(a, k, k);
    for (int64_t j = k + 1; j < a.rows; j++) {
        cdouble factor = mirrored(f, *cell(a, j, k)) * inverse;
        for (int64_t i = j; i < a.rows; i++)
            *cell(a, i, j) -= *cell(a, i, k) * factor;
    }
    for (int64_t i = k + 1; i < a.rows; i++)
        *cell(a, i, k) *= inverse;
}

/* Solves [[p, conj(q)], [q, r]] x = y for a 2 by 2 block. */
static void solve_pair(const struct ldl *f, int64_t k, cdouble *x, cdouble *y)
{
    cdouble q = *cell(f->a, k + 1, k), top = mirrored(f, q);
    cdouble r = *cell(f->a, k + 1, k + 1) / q, p = *cell(f->a, k, k) / top, t = p * r - 1;
    cdouble u = *x / top, w = *y / q;
    *x = (r * u - w) / t;
    *y = (p * w - u) / t;
}

/* Multiplies columns k and k + 1 with the inverse of their block. */
static void eliminate_two(struct ldl *f, int64_t k)
{
    struct matrix a = f->a;
    for (int64_t j = k + 2; j < a.rows; j++) {
        /* rows of L solve L D = A, which is the transposed system */
        cdouble x = mirrored(f, *cell(a, j, k)), y = mirrored(f, *cell(a, j, k + 1));
        solve_pair(f, k, &x, &y);
        for (int64_t i = j; i < a.rows; i++)
            *cell(a, i, j) -= *cell(a, i, k) * x + *cell(a, i, k + 1) * y;
        *cell(a, j, k) = mirrored(f, x);
        *cell(a, j, k + 1) = mirrored(f, y);
        if (f->hermitian)
            *cell(a, j, j) = creal(*cell(a, j, j));
    }
}

static int64_t ldl_factor(struct ldl *f)
{
    int64_t info = 0, n = f->a.rows;
    for (int64_t k = 0; k < n;) {
        bool two, zero;
        int64_t p = choose_pivot(f, k, &two, &zero), q = two ? k + 1 : k;
        info = zero && !info ? k + 1 : info;
        if (p != q)
            interchange(f, k, q, p, two);
        if (f->hermitian)
            for (int64_t i = k; i <= q; i++)
                *cell(f->a, i, i) = creal(*cell(f->a, i, i));
        if (!two && !zero)
            eliminate_one(f, k);
        if (two)
            eliminate_two(f, k);
        f->pivots[k] = two ? -(p + 1) : p + 1;
        if (two)
            f->pivots[k + 1] = -(p + 1);
        k += two ? 2 : 1;
    }
    return info;
}

void kernel_ldl_factor(struct kernel *k)
{
    struct matrices a = load_matrices(k, "self");
    struct dense pivots = per_matrix(k, &a, DENSE_INT, a.rows);
    struct dense info = per_matrix(k, &a, DENSE_INT, 0);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        struct ldl f = { nth(&a, i), pivots.u.i + i * a.rows, bool_arg(k, "hermitian", false) };
        info.u.i[i] = ldl_factor(&f);
        keep_triangle(f.a, false);
    }
    store_result(k, 0, a.all);
    store_result(k, 1, pivots);
    store_result(k, 2, info);
}

/* Subtracts L's column k times b's row k from b, below row `from`. */
static void eliminate_column(const struct ldl *f, struct matrix b, int64_t k, int64_t from)
{
    for (int64_t i = from; i < b.rows; i++)
        for (int64_t c = 0; c < b.columns; c++)
            *cell(b, i, c) -= *cell(f->a, i, k) * *cell(b, k, c);
}

static void backward(const struct ldl *f, struct matrix b, int64_t k, int64_t from)
{
    for (int64_t i = from; i < b.rows; i++)
        for (int64_t c = 0; c < b.columns; c++)
            *cell(b, k, c) -= mirrored(f, *cell(f->a, i, k)) * *cell(b, i, c);
}

static void ldl_solve(const struct ldl *f, struct matrix b)
{
    for (int64_t k = 0; k < b.rows;) {
        bool two = f->pivots[k] < 0 && k + 1 < b.rows;
        int64_t p = f->pivots[k] < 0 ? -f->pivots[k] : f->pivots[k];
        swap_rows(b, two ? k + 1 : k, p - 1);
        eliminate_column(f, b, k, two ? k + 2 : k + 1);
        if (two)
            eliminate_column(f, b, k + 1, k + 2);
        for (int64_t c = 0; c < b.columns; c++) {
            if (two)
                solve_pair(f, k, cell(b, k, c), cell(b, k + 1, c));
            else
                *cell(b, k, c) /= *cell(f->a, k, k);
        }
        k += two ? 2 : 1;
    }
    for (int64_t k = b.rows - 1; k >= 0;) {
        bool two = f->pivots[k] < 0 && k > 0;
        int64_t p = f->pivots[k] < 0 ? -f->pivots[k] : f->pivots[k];
        backward(f, b, k, k + 1);
        if (two)
            backward(f, b, k - 1, k + 1);
        swap_rows(b, k, p - 1);
        k -= two ? 2 : 1;
    }
}

void kernel_ldl_solve(struct kernel *k)
{
    struct matrices a = load_matrices(k, "LD"), b = load_matrices(k, "B"), same = b;
    struct dense given = load_as(k, tensor_arg(k, "pivots"), DENSE_INT);
    for (int64_t i = 0; i < given.n && !k->failed; i++)
        if (given.u.i[i] == 0 || given.u.i[i] > a.rows || given.u.i[i] < -a.rows)
            kernel_fail(k, "linalg.ldl_solve: a pivot is not a row of %lld", (long long)a.rows);
    if (k->failed)
        return;
    given.size[given.ndim++] = 1;
    struct matrices pivots = matrices_of(k, given);
    broadcast_batches(k, &a, &b);
    broadcast_batches(k, &pivots, &same);
    for (int64_t i = 0; i < b.n && !k->failed; i++) {
        struct ldl f = { nth(&a, i), pivots.all.u.i + i * a.rows, bool_arg(k, "hermitian", false) };
        ldl_solve(&f, nth(&b, i));
    }
    store_result(k, 0, b.all);
}
