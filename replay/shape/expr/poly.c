#include "replay/shape/expr/poly.h"

#include "trace/base/number.h"

/* Limits numbers to a quarter of the range of 64 bits, so that sums and negatives do not overflow.
 */
static bool poly_fits(const struct poly *a)
{
    const int64_t most = INT64_MAX / 4;
    bool ok = a->d > 0 && a->d < most;
    for (int i = 0; i < 3; i++)
        ok = ok && a->n[i] > -most && a->n[i] < most;
    return ok;
}

static bool poly_reduce(struct poly a, struct poly *ret)
{
    if (!poly_fits(&a))
        return false;
    int64_t g = a.d;
    for (int i = 0; i < 3; i++)
        g = common_divisor(g, a.n[i]);
    for (int i = 0; i < 3; i++)
        a.n[i] /= g;
    a.d /= g;
    *ret = a;
    return true;
}

bool poly_scale(struct poly a, int64_t by, int64_t divided_by, struct poly *ret)
{
    struct poly to = { { 0 }, 0 };
    if (divided_by == 0 || divided_by == INT64_MIN || by == INT64_MIN)
        return false;
    if (divided_by < 0) {
        by = -by;
        divided_by = -divided_by;
    }
    bool ok = !__builtin_mul_overflow(a.d, divided_by, &to.d);
    for (int i = 0; i < 3; i++)
        ok = ok && !__builtin_mul_overflow(a.n[i], by, &to.n[i]);
    return ok && poly_reduce(to, ret);
}

bool poly_add(struct poly a, struct poly b, struct poly *ret)
{
    struct poly to = { { 0 }, 0 };
    bool ok = !__builtin_mul_overflow(a.d, b.d, &to.d);
    for (int i = 0; i < 3; i++) {
        int64_t x = 0, y = 0;
        ok = ok && !__builtin_mul_overflow(a.n[i], b.d, &x) &&
             !__builtin_mul_overflow(b.n[i], a.d, &y) && !__builtin_add_overflow(x, y, &to.n[i]);
    }
    return ok && poly_reduce(to, ret);
}

bool poly_mul(struct poly a, struct poly b, struct poly *ret)
{
    struct poly to = { { 0 }, 0 };
    bool ok = !__builtin_mul_overflow(a.d, b.d, &to.d);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3 && ok; j++) {
            int64_t product;
            if (a.n[i] == 0 || b.n[j] == 0)
                continue;
            ok = i + j < 3 && !__builtin_mul_overflow(a.n[i], b.n[j], &product) &&
                 !__builtin_add_overflow(to.n[i + j], product, &to.n[i + j]);
        }
    return ok && poly_reduce(to, ret);
}

/* Returns n(x), the value without the denominator. */
static bool numerator_at(struct poly a, int64_t x, int64_t *ret)
{
    int64_t sum = a.n[2];
    return !__builtin_mul_overflow(sum, x, &sum) && !__builtin_add_overflow(sum, a.n[1], &sum) &&
           !__builtin_mul_overflow(sum, x, &sum) && !__builtin_add_overflow(sum, a.n[0], ret);
}

bool poly_at(struct poly a, int64_t x, int64_t *ret)
{
    int64_t n;
    if (!numerator_at(a, x, &n) || n % a.d)
        return false;
    *ret = n / a.d;
    return true;
}

static bool linear_bound(struct poly a, enum poly_side side, bool strict, bool *upper, int64_t *ret)
{
    int64_t up = a.n[1] > 0 ? a.n[1] : -a.n[1], c = a.n[1] > 0 ? -a.n[0] : a.n[0];
    *upper = (side == POLY_AT_MOST) == (a.n[1] > 0);
    /* x <= c/up, or x >= c/up */
    if (*upper)
        *ret = floor_div(strict ? c - 1 : c, up);
    else
        *ret = ceil_div(strict ? c + 1 : c, up);
    return true;
}

static bool poly_satisfies(struct poly a, int64_t x, enum poly_side side, bool strict)
{
    int64_t n;
    if (!numerator_at(a, x, &n))
        return side == POLY_AT_LEAST; /* too large for 64 bits: the polynomial increases */
    if (side == POLY_AT_MOST)
        return strict ? n < 0 : n <= 0;
    return strict ? n > 0 : n >= 0;
}

bool poly_bound(struct poly a, enum poly_side side, bool strict, bool *upper, int64_t *ret)
{
    *upper = side == POLY_AT_MOST;
    if (a.n[2] == 0)
        return a.n[1] != 0 && linear_bound(a, side, strict, upper, ret);
    if (a.n[2] < 0 || a.n[1] < 0 || (side == POLY_AT_MOST && !poly_satisfies(a, 0, side, strict)))
        return false;
    /* The least x past the bound: the first whose value exceeds it, or the first that satisfies it.
     */
    int64_t low = 0, high = INT64_C(1) << 32;
    enum poly_side beyond = POLY_AT_LEAST;
    bool how = side == POLY_AT_MOST ? !strict : strict;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (poly_satisfies(a, middle, beyond, how))
            high = middle;
        else
            low = middle + 1;
    }
    *ret = side == POLY_AT_MOST ? low - 1 : low;
    return true;
}

bool poly_has_root(struct poly a, int64_t bound)
{
    bool ret = a.n[2] == 0;
    for (int64_t x = bound - 1; x <= bound + 1 && !ret; x++) {
        int64_t n;
        ret = numerator_at(a, x, &n) && n == 0;
    }
    return ret;
}

static int degree(struct poly a)
{
    return a.n[2] ? 2 : a.n[1] ? 1 : 0;
}

static bool is_zero(struct poly a)
{
    return a.n[0] == 0 && poly_is_constant(a);
}

/* Divides a by b, which is not 0. */
static bool divide(struct poly a, struct poly b, struct poly *quotient, struct poly *rest)
{
    *quotient = poly_constant(0);
    while (degree(a) >= degree(b) && !is_zero(a)) {
        int up = degree(a) - degree(b), from = degree(a);
        struct poly term = poly_constant(0), part;
        term.n[up] = a.n[from];
        term.d = a.d;
        if (!poly_scale(term, b.d, b.n[degree(b)], &term) || !poly_add(*quotient, term, quotient) ||
            !poly_mul(term, b, &part) || !poly_scale(part, -1, 1, &part) || !poly_add(a, part, &a))
            return false;
    }
    *rest = a;
    return true;
}

static bool common_factor(struct poly a, struct poly b, struct poly *ret)
{
    while (!is_zero(b)) {
        struct poly quotient, rest;
        if (!divide(a, b, &quotient, &rest))
            return false;
        a = b;
        b = rest;
    }
    *ret = a;
    return true;
}

static bool make_ratio(struct poly n, struct poly d, struct ratio *ret)
{
    struct poly factor, rest;
    if (is_zero(d) || !common_factor(n, d, &factor) || is_zero(factor))
        return false;
    if (degree(factor) && (!divide(n, factor, &n, &rest) || !divide(d, factor, &d, &rest)))
        return false;
    int64_t by = d.d, divided_by = d.n[degree(d)];
    return poly_scale(n, by, divided_by, &ret->n) && poly_scale(d, by, divided_by, &ret->d);
}

bool ratio_add(struct ratio a, struct ratio b, struct ratio *ret)
{
    struct poly x, y, d;
    return poly_mul(a.n, b.d, &x) && poly_mul(b.n, a.d, &y) && poly_add(x, y, &x) &&
           poly_mul(a.d, b.d, &d) && make_ratio(x, d, ret);
}

bool ratio_mul(struct ratio a, struct ratio b, struct ratio *ret)
{
    struct poly n, d;
    struct ratio x, y; /* common factors first, so that degrees stay small */
    return make_ratio(a.n, b.d, &x) && make_ratio(b.n, a.d, &y) && poly_mul(x.n, y.n, &n) &&
           poly_mul(x.d, y.d, &d) && make_ratio(n, d, ret);
}

bool ratio_divide(struct ratio a, struct ratio b, struct ratio *ret)
{
    return ratio_mul(a, (struct ratio){ b.d, b.n }, ret);
}

bool ratio_subtract(struct ratio a, struct ratio b, struct ratio *ret)
{
    return poly_scale(b.n, -1, 1, &b.n) && ratio_add(a, b, ret);
}

bool ratio_at(struct ratio a, int64_t x, int64_t *ret)
{
    int64_t n, d;
    if (!numerator_at(a.n, x, &n) || !numerator_at(a.d, x, &d) ||
        __builtin_mul_overflow(n, a.d.d, &n) || __builtin_mul_overflow(d, a.n.d, &d) || d == 0 ||
        d == -1 || n % d)
        return false;
    *ret = n / d;
    return true;
}
