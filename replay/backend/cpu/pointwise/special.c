#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "replay/backend/cpu/pointwise/special.h"
#include "replay/backend/pointwise/pointwise_ops.h"

static const double PI_ = 3.14159265358979323846264338327950288;

/* ---- Bessel functions ---- */

/* Uses the power series, whose terms are all positive; above 40 the asymptotic series (Abramowitz
 * and Stegun 9.6.10, 9.7.1). */
double bessel_i(unsigned order, double x, bool scaled)
{
    double a = fabs(x), sum = 0, sign = order && x < 0 ? -1 : 1;
    if (isnan(x))
        return x;
    if (a <= 40) {
        double term = order ? a / 2 : 1;
        for (unsigned k = 1; term > sum * 0x1p-60; k++) {
            sum += term;
            term *= a * a / 4 / ((double)k * (k + order));
        }
        return sign * sum * (scaled ? exp(-a) : 1);
    }
    double mu = 4.0 * order, term = 1;
    for (unsigned k = 1; k < 30 && fabs(term) > 0x1p-60; k++) {
        sum += term;
        term *= -(mu - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * a);
    }
    return sign * sum / sqrt(2 * PI_ * a) * (scaled ? 1 : exp(a));
}

/* Integrates exp(-x cosh t) cosh(order t) (ibid. 9.6.24) with the trapezoidal rule, which converges
 * exponentially here. */
double bessel_k(double order, double x, bool scaled)
{
    const double step = 1.0 / 32;
    if (!(x > 0))
        return x == 0 ? INFINITY : NAN;
    double sum = 0.5 * (scaled ? 1 : exp(-x));
    for (unsigned i = 1; i < 32 * 800; i++) {
        double t = i * step, fall = x * (cosh(t) - (scaled ? 1 : 0));
        if (fall - order * t > 760)
            break;
        sum += exp(-fall + order * t) / 2 + exp(-fall - order * t) / 2;
    }
    return sum * step;
}

double bessel_y(int order, double x)
{
    if (x == 0)
        return -INFINITY;
    if (x < 0)
        return NAN;
    return order ? y1(x) : y0(x);
}

double spherical_j0(double x)
{
    if (isinf(x))
        return 0;
    return fabs(x) < 1e-4 ? 1 - x * x / 6 : sin(x) / x;
}

/* Uses Maclaurin's series (ibid. 10.4.2) if it cancels little, otherwise K of order 1/3 (10.4.14),
 * or the asymptotic series (10.4.60). */
double airy_ai(double x)
{
    if (isnan(x))
        return x;
    if (isinf(x))
        return x > 0 ? 0 : NAN;
    if (x > 2) {
        double z = 2 * x * sqrt(x) / 3;
        return sqrt(x / 3) / PI_ * bessel_k(1.0 / 3, z, false);
    }
    if (x > -9) {
        double f = 0, g = 0, a = 1, b = x, cube = x * x * x;
        for (unsigned k = 1; k < 200 && (fabs(a) + fabs(b)) > 1e-30; k++) {
            f += a;
            g += b;
            a *= cube / ((3.0 * k - 1) * (3.0 * k));
            b *= cube / ((3.0 * k) * (3.0 * k + 1));
        }
        return 0.355028053887817239260 * f - 0.258819403792806798405 * g;
    }
    double z = 2 * -x * sqrt(-x) / 3, u = 1, even = 0, odd = 0;
    for (unsigned k = 0; k < 12; k++) {
        double signed_u = (k / 2 & 1 ? -1 : 1) * u / pow(z, k);
        if (k & 1)
            odd += signed_u;
        else
            even += signed_u;
        u *= (6.0 * k + 5) * (6.0 * k + 3) * (6.0 * k + 1) / (216 * (k + 1.0) * (2.0 * k + 1));
    }
    double phase = z + PI_ / 4;
    return (sin(phase) * even - cos(phase) * odd) / (sqrt(PI_) * pow(-x, 0.25));
}

/* ---- The normal distribution ---- */

double scaled_erfc(double x)
{
    if (x < 5)
        return exp(x * x) * erfc(x);
    double tail = 0; /* a continued fraction (ibid. 7.1.14) */
    for (int k = 60; k > 0; k--)
        tail = k / 2.0 / (x + tail);
    return 1 / (sqrt(PI_) * (x + tail));
}

double normal_quantile(double p)
{
    if (!(p > 0 && p < 1))
        return p == 0 ? -INFINITY : p == 1 ? INFINITY : NAN;
    bool upper = p > 0.5;
    double q = upper ? 1 - p : p;
    double x = q < 0.02 ? -sqrt(-2 * log(q)) : 0;
    for (int i = 0; i < 60; i++) { /* Newton's method on the logarithm of the tail */
        double tail = erfc(-x / sqrt(2)) / 2, density = exp(-x * x / 2) / sqrt(2 * PI_);
        double step = tail * (log(tail) - log(q)) / density;
        x -= step;
        if (fabs(step) < 1e-15 * (1 + fabs(x)))
            break;
    }
    return upper ? -x : x;
}

double log_normal_cdf(double x)
{
    if (x < -1)
        return log(scaled_erfc(-x / sqrt(2)) / 2) - x * x / 2;
    return log1p(-erfc(x / sqrt(2)) / 2);
}

double entropy_of(double x)
{
    return isnan(x) ? x : x > 0 ? -x * log(x) : x == 0 ? 0 : -INFINITY;
}

/* ---- Gamma and zeta ---- */

/* Uses Euler and Maclaurin's summation: terms until the rest is smooth, then its integral with
 * corrections by Bernoulli numbers. As in PyTorch, terms of negative q are summed directly. */
double hurwitz_zeta(double s, double q)
{
    static const double bernoulli[] = { 1. / 6,  -1. / 30,     1. / 42, -1. / 30,
                                        5. / 66, -691. / 2730, 7. / 6,  -3617. / 510 };
    if (s == 1)
        return INFINITY;
    if (s < 1 || isnan(s) || isnan(q))
        return NAN;
    if (q <= 0 && q == floor(q))
        return INFINITY;
    if (q <= 0 && s != floor(s))
        return NAN;
    double sum = 0;
    for (int i = 0; i < 12 || q < 12; i++, q++)
        sum += pow(q, -s);
    sum += pow(q, 1 - s) / (s - 1) + pow(q, -s) / 2;
    double factor = s, power = pow(q, -s - 1);
    for (unsigned k = 0; k < 8; k++) {
        double n = 2.0 * k;
        sum += bernoulli[k] * factor * power / tgamma(n + 3);
        factor *= (s + n + 1) * (s + n + 2);
        power /= q * q;
    }
    return sum;
}

double polygamma_of(double n, double x)
{
    if (n == 0)
        return special_digamma(x);
    return (fmod(n, 2) != 0 ? 1 : -1) * tgamma(n + 1) * hurwitz_zeta(n + 1, x);
}

double log_gamma_of(double x, double p)
{
    double sum = p * (p - 1) / 4 * log(PI_);
    for (double i = 0; i < p; i++)
        sum += lgamma(x - i / 2);
    return sum;
}

static double lower_series(double a, double x)
{
    double term = 1 / a, sum = term;
    for (double n = 1; n < 10000 && fabs(term) > fabs(sum) * 1e-17; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum * exp(a * log(x) - x - lgamma(a));
}

static double upper_fraction(double a, double x)
{
    const double tiny = DBL_MIN / DBL_EPSILON; /* Lentz's algorithm */
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, h = d;
    for (double i = 1; i < 10000; i++) {
        double an = -i * (i - a);
        b += 2;
        d = an * d + b;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        c = b + an / c;
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1) < 1e-16)
            break;
    }
    return h * exp(a * log(x) - x - lgamma(a));
}

double incomplete_gamma(double a, double x, bool upper)
{
    if (x < 0 || a < 0 || isnan(a) || isnan(x))
        return NAN;
    if (a == 0)
        return x > 0 ? !upper : NAN;
    if (x == 0 || isinf(a))
        return isinf(a) && isinf(x) ? NAN : upper;
    if (isinf(x))
        return !upper;
    if (x < a + 1) {
        double lower = lower_series(a, x);
        return upper ? 1 - lower : lower;
    }
    double rest = upper_fraction(a, x);
    return upper ? rest : 1 - rest;
}

/* ---- Polynomials ---- */

struct recurrence {
    double first, at; /* p1, and the argument of the recurrence */
};

static struct recurrence recurrence_start(enum polynomial which, double given)
{
    switch (which) {
#define POLYNOMIAL(base, first, next, point)       \
    case P_##base: {                               \
        double x = given, at = (point);            \
        x = at;                                    \
        return (struct recurrence){ (first), at }; \
    }
#include "replay/backend/cpu/pointwise/polynomials.def"
#undef POLYNOMIAL
    default: return (struct recurrence){ 0, given };
    }
}

static double next_of(enum polynomial which, double x, double p, double q, double k)
{
    (void)k;
    switch (which) {
#define POLYNOMIAL(base, first, next, point) \
    case P_##base:                           \
        return (next);
#include "replay/backend/cpu/pointwise/polynomials.def"
#undef POLYNOMIAL
    default: return 0;
    }
}

double polynomial_at(enum polynomial which, double x, double n)
{
    int64_t degree = n > -1e9 && n < 1e9 ? (int64_t)n : 0;
    struct recurrence r = recurrence_start(which, x);
    double q = 1, p = r.first;
    if (isnan(x) || isnan(n))
        return NAN;
    if (degree <= 0)
        return degree == 0;
    for (int64_t k = 1; k < degree && isfinite(p); k++) {
        double next = next_of(which, r.at, p, q, (double)k);
        q = p;
        p = next;
    }
    return p;
}
