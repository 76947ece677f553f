/* Eigenvalues and eigenvectors of hermitian matrices with the algorithm of LAPACK's syevd for small
 * ones: reflections make the matrix tridiagonal, then implicit QL or QR steps make it diagonal. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/linalg/linalg.h"

double eps_of(enum dtype dtype)
{
    return dtype == DTYPE_F64 || dtype == DTYPE_C128 ? 0x1p-53 : 0x1p-24;
}

void rotation_of(double f, double g, double *c, double *s, double *r)
{
    double length = hypot(f, g);
    if (g == 0) {
        *c = 1, *s = 0, *r = f;
    } else if (f == 0) {
        *c = 0, *s = copysign(1, g), *r = fabs(g);
    } else {
        *c = fabs(f) / length;
        *r = copysign(length, f);
        *s = g / *r;
    }
}

/* The version of lartg that steqr uses: its sign differs from rotation_of()'s if g is greater than
 * f. */
static void older_rotation(double f, double g, double *c, double *s, double *r)
{
    rotation_of(f, g, c, s, r);
    bool turned = f == 0 ? g < 0 : f < 0 && fabs(f) <= fabs(g);
    if (turned && g != 0) {
        *c = -*c;
        *s = -*s;
        *r = -*r;
    }
}

/* Computes the eigenvalues of [[a, b], [b, c]], the one of greater size first, and its vector. */
static void eigen_2x2(double a, double b, double c, double value[2], double *cs, double *sn)
{
    double sum = a + c, half = a - c, twice = b + b;
    double root = hypot(half, twice), big = fabs(a) > fabs(c) ? a : c, small = big == a ? c : a;
    int first = sum < 0 ? -1 : 1, second = half >= 0 ? 1 : -1;
    if (sum == 0) {
        value[0] = 0.5 * root;
        value[1] = -value[0];
    } else {
        value[0] = 0.5 * (sum + first * root);
        value[1] = big / value[0] * small - b / value[0] * b;
    }
    double x = half + second * root;
    if (fabs(x) > fabs(twice)) {
        double t = -twice / x;
        *sn = 1 / sqrt(1 + t * t);
        *cs = t * *sn;
    } else if (twice == 0) {
        *cs = 1;
        *sn = 0;
    } else {
        double t = -x / twice;
        *cs = 1 / sqrt(1 + t * t);
        *sn = t * *cs;
    }
    if (first == second) {
        double t = *cs;
        *cs = -*sn;
        *sn = t;
    }
}

struct tridiagonal {
    int64_t n;
    double *d, *e, *c, *s; /* c and s: the rotations of a step, which are applied together */
    struct matrix z;
    double eps;
};

static bool negligible(const struct tridiagonal *t, int64_t i)
{
    double e = t->e[i] * t->e[i], limit = t->eps * t->eps * fabs(t->d[i]) * fabs(t->d[i + 1]);
    return e <= limit + DBL_MIN;
}

/* Does a step from the far end m towards l; way 1: QL, l above m; -1: QR, l below. */
static void implicit_step(struct tridiagonal *t, int64_t l, int64_t m, int way)
{
    double *d = t->d, *e = t->e + (way > 0 ? 0 : -1); /* e[i] couples i and i + way */
    double p = d[l], g = (d[l + way] - p) / (2 * e[l]), r = hypot(g, 1), s = 1, c = 1;
    g = d[m] - p + e[l] / (g + copysign(r, g));
    p = 0;
    for (int64_t i = m - way; i != l - way; i -= way) {
        double f = s * e[i], b = c * e[i];
        older_rotation(g, f, &c, &s, &r);
        if (i != m - way)
            e[i + way] = r;
        g = d[i + way] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + way] = g + p;
        g = c * r - b;
        t->c[i] = c;
        t->s[i] = -way * s;
    }
    for (int64_t i = m - way; i != l - way; i -= way)
        rotate_columns(t->z, way > 0 ? i : i - 1, t->c[i], t->s[i]);
    d[l] -= p;
    e[l] = g;
}

/* Iterates until the block from l to `end` is diagonal, in the direction that begins at the smaller
 * end. */
static void settle_block(struct tridiagonal *t, int64_t l, int64_t end, int64_t *left)
{
    int way = end > l ? 1 : -1;
    while (way > 0 ? l <= end : l >= end) {
        int64_t m = l;
        while (m != end && !negligible(t, way > 0 ? m : m - 1))
            m += way;
        if (m != end)
            t->e[way > 0 ? m : m - 1] = 0;
        if (m == l) {
            l += way;
            continue;
        }
        if (m == l + way) {
            int64_t at = way > 0 ? l : m;
            double value[2], c, s;
            eigen_2x2(t->d[at], t->e[at], t->d[at + 1], value, &c, &s);
            rotate_columns(t->z, at, c, s);
            t->d[at] = value[0];
            t->d[at + 1] = value[1];
            t->e[at] = 0;
            l += 2 * way;
            continue;
        }
        if (--*left < 0)
            return;
        implicit_step(t, l, m, way);
    }
}

static void sort_ascending(struct tridiagonal *t)
{
    for (int64_t i = 0; i < t->n; i++) {
        int64_t least = i;
        for (int64_t j = i + 1; j < t->n; j++)
            least = t->d[j] < t->d[least] ? j : least;
        double swapped = t->d[i];
        t->d[i] = t->d[least];
        t->d[least] = swapped;
        for (int64_t r = 0; r < t->z.rows && least != i; r++) {
            cdouble x = *cell(t->z, r, i);
            *cell(t->z, r, i) = *cell(t->z, r, least);
            *cell(t->z, r, least) = x;
        }
    }
}

/* Returns how many off-diagonal elements did not become 0. */
static int64_t diagonalise(struct tridiagonal *t)
{
    int64_t left = 30 * t->n, info = 0;
    for (int64_t first = 0; first < t->n && left >= 0;) {
        int64_t m = first;
        while (m + 1 < t->n &&
               fabs(t->e[m]) > sqrt(fabs(t->d[m])) * sqrt(fabs(t->d[m + 1])) * t->eps)
            m++;
        if (m + 1 < t->n)
            t->e[m] = 0;
        bool back = fabs(t->d[m]) < fabs(t->d[first]);
        settle_block(t, back ? m : first, back ? first : m, &left);
        bool settled = true;
        for (int64_t i = first; i < m; i++)
            settled &= t->e[i] == 0;
        first = settled ? m + 1 : first;
    }
    for (int64_t i = 0; i + 1 < t->n; i++)
        info += t->e[i] != 0;
    sort_ascending(t);
    return info;
}

/* Subtracts v w^H + w v^H from the part of a below and right of `at`; v is stored below the
 * diagonal of column at - 1 and the reflection is I - tau v v^H. */
static void reflect_both_sides(struct matrix a, int64_t from, int64_t n, const cdouble *v,
                               cdouble tau, cdouble *w)
{
    cdouble along = 0;
    for (int64_t i = 0; i < n; i++) {
        w[i] = 0;
        for (int64_t j = 0; j < n; j++)
            w[i] += tau * *cell(a, from + i, from + j) * v[j];
        along += conj(w[i]) * v[i];
    }
    for (int64_t i = 0; i < n; i++)
        w[i] -= 0.5 * tau * along * v[i];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            *cell(a, from + i, from + j) -= v[i] * conj(w[j]) + w[i] * conj(v[j]);
}

/* Computes z := (I - tau v v^H) z for the rows from `from` on. */
static void apply_reflection(struct matrix z, int64_t from, int64_t n, const cdouble *v,
                             cdouble tau)
{
    for (int64_t j = 0; j < z.columns; j++) {
        cdouble along = 0;
        for (int64_t i = 0; i < n; i++)
            along += conj(v[i]) * *cell(z, from + i, j);
        for (int64_t i = 0; i < n; i++)
            *cell(z, from + i, j) -= tau * along * v[i];
    }
}

/* Copies one triangle to the other one. */
static void fill_other_triangle(struct matrix a, bool upper)
{
    for (int64_t i = 0; i < a.rows; i++) {
        *cell(a, i, i) = creal(*cell(a, i, i));
        for (int64_t j = 0; j < i; j++)
            *(upper ? cell(a, i, j) : cell(a, j, i)) =
                conj(*(upper ? cell(a, j, i) : cell(a, i, j)));
    }
}

/* Does step i of hetd2: from the first column on, or from the last one back. Stores its v in row i
 * of `v`, with its one first (lower) or last (upper). */
static void tridiagonal_step(struct tridiagonal *t, struct matrix a, struct matrix v, cdouble *tau,
                             cdouble *w, int64_t i, bool upper)
{
    int64_t n = upper ? i + 1 : a.rows - 1 - i, from = upper ? 0 : i + 1;
    cdouble *x = cell(v, i, 0), swapped[1];
    for (int64_t j = 0; j < n; j++) /* the one is element 0 for reflection() */
        x[j] = upper ? *cell(a, i - j, i + 1) : *cell(a, i + 1 + j, i);
    *tau = reflection(x, n, 1);
    t->e[i] = creal(x[0]);
    x[0] = 1;
    for (int64_t j = 0; upper && j < n / 2; j++) {
        swapped[0] = x[j];
        x[j] = x[n - 1 - j];
        x[n - 1 - j] = swapped[0];
    }
    if (*tau != 0)
        reflect_both_sides(a, from, n, x, *tau, w);
}

double part_of_column(struct matrix a, int64_t column, int64_t from, int64_t n)
{
    double sum = 0;
    for (int64_t i = from; i < from + n; i++)
        sum += creal(*cell(a, i, column) * conj(*cell(a, i, column)));
    return sum;
}

/* LAPACK divides a larger matrix T into halves (stedc) and merges their eigenvectors. This gives
 * the vectors the signs that they have in LAPACK. A merged vector is (halves - x I)^-1 u times a
 * positive factor (laed3), where u is zero but for a one above the cut and the coupling's sign
 * below it. So the product of the vector and u is negative, whatever signs the halves' vectors
 * have. Where this product is negligible (laed2), the vector is one of a half, which was divided in
 * the same way. `e` holds the couplings as they were before diagonalise() made them zero. */
static void sign_eigenvectors(const struct tridiagonal *t, const double *e)
{
    double most = t->n ? fmax(fabs(t->d[0]), fabs(t->d[t->n - 1])) : 0;
    for (int64_t j = 0; j < t->n; j++) {
        double along = 0;
        for (int64_t from = 0, n = t->n; n > LAPACK_UNDIVIDED;) {
            int64_t cut = from + n / 2;
            along = creal(*cell(t->z, cut - 1, j)) +
                    copysign(1, e[cut - 1]) * creal(*cell(t->z, cut, j));
            if (sqrt(2) * fabs(e[cut - 1] * along) > 8 * t->eps * most)
                break;
            along = 0;
            bool above =
                part_of_column(t->z, j, from, n / 2) > part_of_column(t->z, j, cut, n - n / 2);
            from = above ? from : cut;
            n = above ? n / 2 : n - n / 2;
        }
        for (int64_t i = 0; i < t->n && along > 0; i++)
            *cell(t->z, i, j) = -*cell(t->z, i, j);
    }
}

int64_t eigh(struct kernel *k, struct matrix a, bool upper, double eps, double *values)
{
    int64_t n = a.rows;
    struct tridiagonal t = { .n = n, .d = values, .eps = eps };
    struct matrix v = matrix_new(k, n, n);
    cdouble *tau = workspace(k, n, sizeof *tau), *w = workspace(k, n, sizeof *w);
    double *coupling = workspace(k, n, sizeof *coupling);
    t.e = workspace(k, n, sizeof *t.e);
    t.c = workspace(k, n, sizeof *t.c);
    t.s = workspace(k, n, sizeof *t.s);
    t.z = identity_matrix(k, n, n);
    if (k->failed)
        return 0;
    fill_other_triangle(a, upper);
    for (int64_t s = 0; s + 1 < n; s++) {
        int64_t i = upper ? n - 2 - s : s;
        tridiagonal_step(&t, a, v, &tau[i], w, i, upper);
    }
    for (int64_t i = 0; i < n; i++)
        values[i] = creal(*cell(a, i, i));
    memcpy(coupling, t.e, (size_t)n * sizeof *coupling);
    int64_t info = diagonalise(&t);
    sign_eigenvectors(&t, coupling);
    for (int64_t s = 0; s + 1 < n; s++) {
        int64_t i = upper ? s : n - 2 - s;
        apply_reflection(t.z, upper ? 0 : i + 1, upper ? i + 1 : n - 1 - i, cell(v, i, 0), tau[i]);
    }
    copy_corner(t.z, a);
    return info;
}

void kernel_linalg_eigh(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "A");
    struct matrices a = matrices_of(k, load_as(k, x, DENSE_COMPLEX));
    struct str side = text_arg(k, "UPLO");
    bool upper = side.n && (side.p[0] == 'U' || side.p[0] == 'u');
    struct dense values = per_matrix(k, &a, DENSE_REAL, a.rows ? a.rows : 0);
    for (int64_t i = 0; i < a.n && !k->failed && a.rows; i++)
        if (eigh(k, nth(&a, i), upper, eps_of(x.meta->dtype), values.u.r + i * a.rows))
            kernel_fail(k,
                        "linalg.eigh: The algorithm failed to converge because the input matrix is "
                        "ill-conditioned or has too many repeated eigenvalues");
    store_result(k, 0, values);
    store_result(k, 1, a.all);
}
