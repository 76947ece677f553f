/* Singular values with the algorithm of LAPACK's gesdd for small matrices, pseudo inverses and
 * least squares. */
#include <float.h>
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

struct bidiagonal_form {
    struct matrix q, p; /* a = q b p^H */
    double *d, *e;
};

/* Computes x := (I - factor v v^H) x for the rows from `from` on of the columns from `column`
 * on. */
static void reflect_left(struct matrix x, const cdouble *v, cdouble factor, int64_t from,
                         int64_t column)
{
    for (int64_t j = column; j < x.columns && factor != 0; j++) {
        cdouble along = 0;
        for (int64_t i = from; i < x.rows; i++)
            along += conj(v[i]) * *cell(x, i, j);
        for (int64_t i = from; i < x.rows; i++)
            *cell(x, i, j) -= factor * along * v[i];
    }
}

/* Computes x := x (I - factor v v^H) for the columns from `from` on of the rows from `row` on. */
static void reflect_right(struct matrix x, const cdouble *v, cdouble factor, int64_t from,
                          int64_t row)
{
    for (int64_t i = row; i < x.rows && factor != 0; i++) {
        cdouble along = 0;
        for (int64_t j = from; j < x.columns; j++)
            along += *cell(x, i, j) * v[j];
        for (int64_t j = from; j < x.columns; j++)
            *cell(x, i, j) -= factor * along * conj(v[j]);
    }
}

/* Makes a, which has at least as many rows as columns, bidiagonal, as gebd2 does; a is
 * overwritten. */
static void make_bidiagonal(struct kernel *k, struct matrix a, struct bidiagonal_form *f)
{
    cdouble *v = workspace(k, a.rows + a.columns, sizeof *v);
    f->q = identity_matrix(k, a.rows, a.rows);
    f->p = identity_matrix(k, a.columns, a.columns);
    for (int64_t i = 0; i < a.columns && !k->failed; i++) {
        for (int64_t r = i; r < a.rows; r++)
            v[r] = *cell(a, r, i);
        cdouble tau = reflection(v + i, a.rows - i, 1);
        f->d[i] = creal(v[i]);
        v[i] = 1;
        reflect_left(a, v, conj(tau), i, i + 1);
        reflect_right(f->q, v, tau, i, 0);
        if (i + 1 >= a.columns)
            continue;
        for (int64_t c = i + 1; c < a.columns; c++)
            v[c] = conj(*cell(a, i, c));
        tau = reflection(v + i + 1, a.columns - i - 1, 1);
        f->e[i] = creal(v[i + 1]);
        v[i + 1] = 1;
        reflect_right(a, v, tau, i + 1, i + 1);
        reflect_right(f->p, v, tau, i + 1, 0);
    }
}

/* Makes a lower bidiagonal matrix (that of a wide matrix) an upper one by rotations from the left,
 * which are applied to u at the end, as in bdsdc. */
static void make_upper(struct bidiagonal *b, double *c, double *s)
{
    for (int64_t i = 0; i + 1 < b->n; i++) {
        double r;
        rotation_of(b->d[i], b->e[i], &c[i], &s[i], &r);
        b->d[i] = r;
        b->e[i] = s[i] * b->d[i + 1];
        b->d[i + 1] = c[i] * b->d[i + 1];
    }
}

static void rotate_back(struct matrix u, const double *c, const double *s, int64_t n)
{
    for (int64_t i = n - 1; i-- > 0;)
        for (int64_t j = 0; j < u.columns; j++) {
            cdouble x = *cell(u, i + 1, j), y = *cell(u, i, j);
            *cell(u, i + 1, j) = c[i] * x + s[i] * y;
            *cell(u, i, j) = c[i] * y - s[i] * x;
        }
}

/* LAPACK divides a larger bidiagonal matrix into halves around a row (bdsdc). This gives the
 * singular vectors the signs that they have in LAPACK. A merged left vector is negative in that row
 * (lasd3), whatever signs the halves' vectors have. Where it is negligible there (lasd2), the
 * vector is one of a half, which was divided in the same way. */
static void sign_singular_vectors(const struct bidiagonal *b)
{
    double most = b->n ? b->d[0] : 0;
    for (int64_t j = 0; j < b->n; j++) {
        int64_t from = 0, n = b->n;
        while (n > LAPACK_UNDIVIDED &&
               fabs(creal(*cell(b->u, from + n / 2, j))) * b->d[j] <= 8 * b->eps * most) {
            bool above = part_of_column(b->u, j, from, n / 2) >
                         part_of_column(b->u, j, from + n / 2 + 1, n - n / 2 - 1);
            from += above ? 0 : n / 2 + 1;
            n = above ? n / 2 : n - n / 2 - 1;
        }
        bool turned = n > LAPACK_UNDIVIDED && creal(*cell(b->u, from + n / 2, j)) > 0;
        for (int64_t i = 0; i < b->n && turned; i++) {
            *cell(b->u, i, j) = -*cell(b->u, i, j);
            *cell(b->vh, j, i) = -*cell(b->vh, j, i);
        }
    }
}

/* Returns q times [[x, 0], [0, I]]. */
static struct matrix times_corner(struct kernel *k, struct matrix q, struct matrix x)
{
    struct matrix whole = identity_matrix(k, q.columns, q.columns);
    if (k->failed)
        return whole;
    copy_corner(x, whole);
    return product_of_matrices(k, q, whole);
}

/* Returns whether gesdd begins with QR (LQ). MKL's does for real matrices with at least 3 rows for
 * 2 columns, and never for real wide ones. */
static bool begins_with_qr(struct matrix a, bool wide, bool complex_values)
{
    if (complex_values)
        return a.rows > a.columns && a.rows >= a.columns * 17 / 9;
    return !wide && a.columns && a.rows >= a.columns * 3 / 2;
}

/* Decomposes a, which has at least as many rows as columns, and is the adjoint of the argument if
 * `wide`. */
static bool svd_tall(struct kernel *k, struct matrix a, bool wide, bool complex_values, double eps,
                     struct svd *ret)
{
    int64_t n = a.columns;
    bool taller = begins_with_qr(a, wide, complex_values);
    struct bidiagonal_form f = { .d = ret->values, .e = workspace(k, n, sizeof *f.e) };
    struct matrix body = a, full = { 0 };
    double *c = workspace(k, n, sizeof *c), *s = workspace(k, n, sizeof *s);
    if (taller) {
        cdouble *tau = workspace(k, n, sizeof *tau);
        full = identity_matrix(k, a.rows, a.rows);
        body = matrix_new(k, n, n);
        if (k->failed)
            return false;
        qr_factor(k, a, tau);
        copy_corner(a, body);
        keep_triangle(body, true);
        apply_reflections(a, tau, n, full, false);
        if (wide) /* the square L of LQ gets an upper bidiagonal form */
            body = adjoint(k, body);
    }
    if (k->failed)
        return false;
    make_bidiagonal(k, body, &f);
    bool lower = wide && !taller;
    struct bidiagonal b = { n, f.d, f.e, identity_matrix(k, n, n), identity_matrix(k, n, n), eps };
    if (k->failed)
        return false;
    if (lower)
        make_upper(&b, c, s);
    if (!bidiagonal_svd(k, &b))
        return false;
    sign_singular_vectors(&b);
    if (lower)
        rotate_back(b.u, c, s, n);
    /* body = q B p^H. Upper: B = u S vh. Lower: its adjoint is B. */
    struct matrix u = lower ? adjoint(k, b.vh) : b.u, vh = lower ? adjoint(k, b.u) : b.vh;
    if (k->failed)
        return false;
    struct matrix left = times_corner(k, f.q, u);
    struct matrix right = product_of_matrices(k, f.p, adjoint(k, vh));
    if (taller && wide) {
        ret->u = times_corner(k, full, right);
        ret->vh = adjoint(k, left);
    } else {
        ret->u = taller ? times_corner(k, full, left) : left;
        ret->vh = adjoint(k, right);
    }
    return !k->failed;
}

bool svd(struct kernel *k, struct matrix a, enum dtype dtype, struct svd *ret)
{
    bool wide = a.rows < a.columns, complex_values = dense_kind_of(dtype) == DENSE_COMPLEX;
    double eps = eps_of(dtype);
    ret->n = shorter_side(a);
    ret->values = workspace(k, ret->n, sizeof *ret->values);
    struct matrix x = wide ? adjoint(k, a) : matrix_copy(k, a);
    if (k->failed || !svd_tall(k, x, wide, complex_values, eps, ret))
        return false;
    if (wide) {
        struct matrix u = adjoint(k, ret->vh);
        ret->vh = adjoint(k, ret->u);
        ret->u = u;
    }
    return !k->failed;
}

static bool svd_or_fail(struct kernel *k, struct matrix a, enum dtype dtype, struct svd *ret)
{
    if (svd(k, a, dtype, ret))
        return true;
    kernel_fail(k, "linalg.svd: The algorithm failed to converge because the input matrix is "
                   "ill-conditioned or has too many repeated singular values");
    return false;
}

/* Computes U, S, Vh; U and Vh may be square, or not requested. */
void kernel_linalg_svd(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "A");
    struct matrices a = matrices_of(k, load_as(k, x, DENSE_COMPLEX));
    bool full = bool_arg(k, "full_matrices", false);
    int64_t least = a.rows < a.columns ? a.rows : a.columns;
    struct matrices u = matrices_like(k, &a, a.rows, full ? a.rows : least);
    struct matrices vh = matrices_like(k, &a, full ? a.columns : least, a.columns);
    struct dense values = per_matrix(k, &a, DENSE_REAL, least);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        struct svd s;
        if (!svd_or_fail(k, nth(&a, i), x.meta->dtype, &s))
            return;
        copy_corner(s.u, nth(&u, i));
        copy_corner(s.vh, nth(&vh, i));
        for (int64_t j = 0; j < least; j++)
            values.u.r[i * least + j] = s.values[j];
    }
    store_result(k, 0, u.all);
    store_result(k, 1, values);
    store_result(k, 2, vh.all);
}

/* Returns an argument's value for each matrix: of a tensor that broadcasts to them, or a number. */
static double limit_of(struct kernel *k, const char *name, const struct matrices *a, int64_t i,
                       double otherwise)
{
    struct kernel_value v = value_arg(k, name);
    if (v.kind == KERNEL_NONE || k->failed)
        return otherwise;
    struct dense like = per_matrix(k, a, DENSE_REAL, 0);
    struct dense x = dense_broadcast(k, load_value(k, v, DENSE_REAL), like.size, like.ndim);
    return k->failed ? otherwise : x.u.r[i];
}

/* Computes v S^-1 u^H from the values above the limit. */
static struct matrix pseudo_inverse(struct kernel *k, struct svd s, double limit, int64_t *rank)
{
    struct matrix ret = matrix_new(k, s.vh.columns, s.u.rows);
    *rank = 0;
    for (int64_t l = 0; l < s.n && !k->failed; l++) {
        if (!(s.values[l] > limit))
            continue;
        ++*rank;
        for (int64_t i = 0; i < ret.rows; i++)
            for (int64_t j = 0; j < ret.columns; j++)
                *cell(ret, i, j) += conj(*cell(s.vh, l, i)) * conj(*cell(s.u, j, l)) / s.values[l];
    }
    return ret;
}

/* Reads the tolerances, as get_atol_rtol() of LinearAlgebra.cpp does. */
void kernel_linalg_pinv(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    struct matrices a = matrices_of(k, load_as(k, x, DENSE_COMPLEX));
    struct matrices out = matrices_like(k, &a, a.columns, a.rows);
    int64_t longer = a.rows > a.columns ? a.rows : a.columns, rank;
    bool upper_is_missing = bool_arg(k, "hermitian", false);
    for (int64_t i = 0; i < a.n && !k->failed && a.rows && a.columns; i++) {
        struct svd s;
        if (upper_is_missing)
            for (int64_t r = 0; r < a.rows; r++)
                for (int64_t c = 0; c < r; c++)
                    *cell(nth(&a, i), c, r) = conj(*cell(nth(&a, i), r, c));
        double atol = limit_of(k, "atol", &a, i, 0);
        double rtol = limit_of(k, has_arg(k, "rcond") ? "rcond" : "rtol", &a, i,
                               atol > 0 ? 0 : 2 * eps_of(x.meta->dtype) * (double)longer);
        if (!svd_or_fail(k, nth(&a, i), x.meta->dtype, &s))
            return;
        struct matrix inverse = pseudo_inverse(k, s, fmax(atol, rtol * s.values[0]), &rank);
        if (!k->failed)
            copy_corner(inverse, nth(&out, i));
    }
    store_result(k, 0, out.all);
}

static double distance2(struct matrix a, struct matrix x, struct matrix b, int64_t column)
{
    double sum = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        cdouble d = -*cell(b, i, column);
        for (int64_t j = 0; j < a.columns; j++)
            d += *cell(a, i, j) * *cell(x, j, column);
        sum += creal(d * conj(d));
    }
    return sum;
}

/* solution, residuals, rank, singular_values: the last three are empty for some drivers. */
void kernel_linalg_lstsq(struct kernel *k)
{
    struct kernel_tensor given = tensor_arg(k, "self");
    struct matrices a = matrices_of(k, load_as(k, given, DENSE_COMPLEX));
    struct matrices b = load_right_side(k, "b", &a);
    double eps = given.meta ? eps_of(given.meta->dtype) : 0;
    broadcast_batches(k, &a, &b);
    int64_t least = a.rows < a.columns ? a.rows : a.columns;
    double longer = (double)(a.rows > a.columns ? a.rows : a.columns);
    double rcond = real_arg(k, "rcond", 2 * eps * longer);
    struct matrices x = matrices_like(k, &b, a.columns, b.columns);
    struct dense residuals = per_matrix(k, &b, DENSE_REAL, b.columns);
    struct dense rank = per_matrix(k, &a, DENSE_INT, 0);
    struct dense values = per_matrix(k, &a, DENSE_REAL, least);
    for (int64_t i = 0; i < a.n && !k->failed && least; i++) {
        struct svd s;
        if (!svd_or_fail(k, nth(&a, i), given.meta->dtype, &s))
            return;
        double limit = (rcond < 0 ? 2 * eps : rcond) * s.values[0];
        struct matrix inverse = pseudo_inverse(k, s, limit, &rank.u.i[i]);
        struct matrix solution = product_of_matrices(k, inverse, nth(&b, i));
        if (k->failed)
            return;
        copy_corner(solution, nth(&x, i));
        for (int64_t j = 0; j < least; j++)
            values.u.r[i * least + j] = s.values[j];
        for (int64_t c = 0; c < b.columns; c++)
            residuals.u.r[i * b.columns + c] = distance2(nth(&a, i), solution, nth(&b, i), c);
    }
    struct dense all[] = { x.all, residuals, rank, values };
    for (uint32_t i = 0; i < 4; i++)
        store_result(k, i, all[i]);
}
