/* Singular values of bidiagonal matrices with the algorithm of LAPACK's bdsqr: QR steps with or
 * without a shift, from the end with the greater values. The signs of vectors depend on the steps,
 * so their order is LAPACK's. */
#include <float.h>
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

/* Rotates rows j and j + 1 of vh. */
static void rotate_rows(struct matrix vh, int64_t j, double c, double s)
{
    for (int64_t i = 0; i < vh.columns; i++) {
        cdouble x = *cell(vh, j + 1, i);
        *cell(vh, j + 1, i) = c * x - s * *cell(vh, j, i);
        *cell(vh, j, i) = s * x + c * *cell(vh, j, i);
    }
}

/* ---- [[f, g], [0, h]] ---- */

/* The results of lasv2: [[cl, sl], [-sl, cl]] [[f, g], [0, h]] [[cr, -sr], [sr, cr]] = diag(most,
 * least). */
struct svd_2x2 {
    double least, most, sr, cr, sl, cl;
};

static double sign_of_real(double x)
{
    return copysign(1, x);
}

static void vectors_2x2(struct svd_2x2 *x, double ft, double gt, double ht)
{
    double fa = fabs(ft), ha = fabs(ht), d = fa - ha, l = d == fa ? 1 : d / fa, m = gt / ft;
    double t = 2 - l, mm = m * m, s = sqrt(t * t + mm), r = l == 0 ? fabs(m) : sqrt(l * l + mm);
    double a = 0.5 * (s + r);
    x->least = ha / a;
    x->most = fa * a;
    if (mm != 0)
        t = (m / (s + t) + m / (r + l)) * (1 + a);
    else
        t = l == 0 ? copysign(2, ft) * sign_of_real(gt) : gt / copysign(d, ft) + m / t;
    l = sqrt(t * t + 4);
    x->cr = 2 / l;
    x->sr = t / l;
    x->cl = (x->cr + x->sr * m) / a;
    x->sl = ht / ft * x->sr / a;
}

static struct svd_2x2 svd_2x2(double f, double g, double h, double eps)
{
    bool swapped = fabs(h) > fabs(f);
    double ft = swapped ? h : f, ht = swapped ? f : h, fa = fabs(ft), ha = fabs(ht), ga = fabs(g);
    int most = swapped ? 3 : 1;
    struct svd_2x2 x = { ha, fa, 0, 1, 0, 1 };
    if (ga > fa)
        most = 2;
    if (ga > fa && fa / ga < eps)
        x = (struct svd_2x2){ ha > 1 ? fa / (ga / ha) : fa / ga * ha, ga, 1, ft / g, ht / g, 1 };
    else if (ga != 0)
        vectors_2x2(&x, ft, g, ht);
    if (swapped)
        x = (struct svd_2x2){ x.least, x.most, x.cl, x.sl, x.cr, x.sr };
    double sign = most == 1   ? sign_of_real(x.cr) * sign_of_real(x.cl) * sign_of_real(f)
                  : most == 2 ? sign_of_real(x.sr) * sign_of_real(x.cl) * sign_of_real(g)
                              : sign_of_real(x.sr) * sign_of_real(x.sl) * sign_of_real(h);
    x.most = copysign(x.most, sign);
    x.least = copysign(x.least, sign * sign_of_real(f) * sign_of_real(h));
    return x;
}

/* Returns the smaller singular value, as las2 does. */
static double least_of_2x2(double f, double g, double h)
{
    double fa = fabs(f), ga = fabs(g), ha = fabs(h), small = fmin(fa, ha), big = fmax(fa, ha);
    if (small == 0)
        return 0;
    double as = 1 + small / big, at = (big - small) / big;
    if (ga < big) {
        double au = ga / big * (ga / big);
        return small * (2 / (sqrt(as * as + au) + sqrt(at * at + au)));
    }
    double au = big / ga;
    if (au == 0)
        return small * big / ga;
    double c = 1 / (sqrt(1 + as * au * (as * au)) + sqrt(1 + at * au * (at * au)));
    return 2 * (small * c * au);
}

/* ---- Steps on the block [first, last] ---- */

struct block {
    int64_t first, last;
    bool down; /* from the first row on */
};

/* Returns the index of the element between i and its neighbour; the two directions are mirror
 * images. */
static int64_t coupling(const struct block *k, int64_t i)
{
    return k->down ? i : i - 1;
}

static void rotate_vectors(struct bidiagonal *b, const struct block *k, int64_t i, double cr,
                           double sr, double cl, double sl)
{
    int64_t j = coupling(k, i);
    if (k->down) {
        rotate_rows(b->vh, j, cr, sr);
        rotate_columns(b->u, j, cl, sl);
    } else {
        rotate_rows(b->vh, j, cl, -sl);
        rotate_columns(b->u, j, cr, -sr);
    }
}

static void step_without_shift(struct bidiagonal *b, const struct block *k)
{
    int64_t way = k->down ? 1 : -1, start = k->down ? k->first : k->last;
    int64_t end = k->down ? k->last : k->first;
    double cs = 1, sn = 0, old_cs = 1, old_sn = 0, r;
    for (int64_t i = start; i != end; i += way) {
        rotation_of(b->d[i] * cs, b->e[coupling(k, i)], &cs, &sn, &r);
        if (i != start)
            b->e[coupling(k, i - way)] = old_sn * r;
        rotation_of(old_cs * r, b->d[i + way] * sn, &old_cs, &old_sn, &b->d[i]);
        rotate_vectors(b, k, i, cs, sn, old_cs, old_sn);
    }
    double h = b->d[end] * cs;
    b->d[end] = h * old_cs;
    b->e[coupling(k, end - way)] = h * old_sn;
}

static void step_with_shift(struct bidiagonal *b, const struct block *k, double shift)
{
    int64_t way = k->down ? 1 : -1, start = k->down ? k->first : k->last;
    int64_t end = k->down ? k->last : k->first;
    double *d = b->d, *e = b->e, cr, sr, cl, sl, r;
    double f = (fabs(d[start]) - shift) * (sign_of_real(d[start]) + shift / d[start]);
    double g = e[coupling(k, start)];
    for (int64_t i = start; i != end; i += way) {
        double *link = &e[coupling(k, i)];
        rotation_of(f, g, &cr, &sr, &r);
        if (i != start)
            e[coupling(k, i - way)] = r;
        f = cr * d[i] + sr * *link;
        *link = cr * *link - sr * d[i];
        g = sr * d[i + way];
        d[i + way] *= cr;
        rotation_of(f, g, &cl, &sl, &r);
        d[i] = r;
        f = cl * *link + sl * d[i + way];
        d[i + way] = cl * d[i + way] - sl * *link;
        if (i + way != end) {
            double *next = &e[coupling(k, i + way)];
            g = sl * *next;
            *next *= cl;
        }
        rotate_vectors(b, k, i, cr, sr, cl, sl);
    }
    e[coupling(k, end - way)] = f;
}

/* ---- Convergence ---- */

static double convergence_tolerance(const struct bidiagonal *b)
{
    return fmax(10, fmin(100, pow(b->eps, -0.125))) * b->eps;
}

static double threshold_of(const struct bidiagonal *b)
{
    double least = fabs(b->d[0]), mu = least, n = (double)b->n;
    for (int64_t i = 1; i < b->n && least != 0; i++) {
        mu = fabs(b->d[i]) * (mu / (mu + fabs(b->e[i - 1])));
        least = fmin(least, mu);
    }
    return fmax(convergence_tolerance(b) * (least / sqrt(n)), 6 * n * n * DBL_MIN);
}

/* Returns true if an element is negligible and was set to 0; otherwise computes a lower bound of
 * the values. */
static bool splits(struct bidiagonal *b, const struct block *k, double tolerance, double *least)
{
    int64_t way = k->down ? 1 : -1, start = k->down ? k->first : k->last;
    int64_t end = k->down ? k->last : k->first, at = coupling(k, end - way);
    if (fabs(b->e[at]) <= tolerance * fabs(b->d[end]))
        return b->e[at] = 0, true;
    double mu = *least = fabs(b->d[start]);
    for (int64_t i = start; i != end; i += way) {
        double *link = &b->e[coupling(k, i)];
        if (fabs(*link) <= tolerance * mu)
            return *link = 0, true;
        mu = fabs(b->d[i + way]) * (mu / (mu + fabs(*link)));
        *least = fmin(*least, mu);
    }
    return false;
}

static double shift_of(const struct bidiagonal *b, const struct block *k, double least, double most)
{
    double tolerance = convergence_tolerance(b);
    if ((double)b->n * tolerance * (least / most) <= fmax(b->eps, 0.01 * tolerance))
        return 0;
    int64_t at = k->down ? k->last - 1 : k->first;
    double begin = fabs(b->d[k->down ? k->first : k->last]);
    double shift = least_of_2x2(b->d[at], b->e[at], b->d[at + 1]), share = shift / begin;
    return begin > 0 && share * share < b->eps ? 0 : shift;
}

static void settle_2x2(struct bidiagonal *b, int64_t i)
{
    struct svd_2x2 x = svd_2x2(b->d[i], b->e[i], b->d[i + 1], b->eps);
    b->d[i] = x.most;
    b->e[i] = 0;
    b->d[i + 1] = x.least;
    rotate_rows(b->vh, i, x.cr, x.sr);
    rotate_columns(b->u, i, x.cl, x.sl);
}

static void swap_values(struct bidiagonal *b, int64_t i, int64_t j)
{
    double swapped = b->d[i];
    b->d[i] = b->d[j];
    b->d[j] = swapped;
    swap_rows(b->vh, i, j);
    for (int64_t r = 0; r < b->u.rows; r++) {
        cdouble x = *cell(b->u, r, i);
        *cell(b->u, r, i) = *cell(b->u, r, j);
        *cell(b->u, r, j) = x;
    }
}

static void order(struct bidiagonal *b)
{
    for (int64_t i = 0; i < b->n; i++) {
        for (int64_t c = 0; c < b->vh.columns && b->d[i] < 0; c++)
            *cell(b->vh, i, c) = -*cell(b->vh, i, c);
        b->d[i] = fabs(b->d[i]);
    }
    for (int64_t end = b->n - 1; end > 0; end--) {
        int64_t least = 0;
        for (int64_t j = 1; j <= end; j++)
            least = b->d[j] <= b->d[least] ? j : least;
        if (least != end)
            swap_values(b, least, end);
    }
}

/* Finds the block that ends at `last`; false: it is a single value, which has converged. */
static bool find_active_block(struct bidiagonal *b, int64_t last, double threshold, struct block *k,
                              double *most)
{
    *most = fabs(b->d[last]);
    k->last = last;
    for (k->first = last; k->first > 0; k->first--) {
        int64_t i = k->first - 1;
        if (fabs(b->e[i]) <= threshold) {
            b->e[i] = 0;
            break;
        }
        *most = fmax(*most, fmax(fabs(b->d[i]), fabs(b->e[i])));
    }
    return k->first < last;
}

bool bidiagonal_svd(struct kernel *k, struct bidiagonal *b)
{
    struct block at = { 0 };
    int64_t old_first = -1, old_last = -1, left = 6 * b->n * b->n + 60;
    double threshold = b->n ? threshold_of(b) : 0, most, least = 0;
    for (int64_t last = b->n - 1; last > 0 && !k->failed;) {
        if (!find_active_block(b, last, threshold, &at, &most)) {
            last--;
            continue;
        }
        if (at.first == last - 1) {
            settle_2x2(b, at.first);
            last -= 2;
            continue;
        }
        if (at.first > old_last || last < old_first)
            at.down = fabs(b->d[at.first]) >= fabs(b->d[last]);
        if (splits(b, &at, convergence_tolerance(b), &least))
            continue;
        old_first = at.first;
        old_last = last;
        double shift = shift_of(b, &at, least, most);
        left -= 1;
        if (left < 0 || isnan(most))
            return false;
        if (shift == 0)
            step_without_shift(b, &at);
        else
            step_with_shift(b, &at, shift);
        double *end = &b->e[at.down ? last - 1 : at.first];
        *end = fabs(*end) <= threshold ? 0 : *end;
    }
    order(b);
    return true;
}
