/* Scalar functions that C's library lacks, and those that PyTorch defines in its own way. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "replay/backend/cpu/pointwise.h"

/* ---- Integers ---- */

int64_t floor_div(int64_t a, int64_t b)
{
    if (b == 0)
        return 0;
    if (b == -1)
        return wrap_sub(0, a);
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t floor_mod(int64_t a, int64_t b)
{
    if (b == 0 || b == -1)
        return 0;
    int64_t rest = a % b;
    return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* at::native::powi: negative exponents give 1, -1 or 0. */
int64_t int_pow(int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent & 1 ? -1 : 1) : 0;
    int64_t ret = 1;
    for (; exponent; exponent >>= 1) {
        if (exponent & 1)
            ret = wrap_mul(ret, base);
        base = wrap_mul(base, base);
    }
    return ret;
}

int64_t int_gcd(int64_t a, int64_t b)
{
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    while (y) {
        uint64_t rest = x % y;
        x = y;
        y = rest;
    }
    return (int64_t)x;
}

int64_t int_lcm(int64_t a, int64_t b)
{
    int64_t g = int_gcd(a, b);
    int64_t m = g ? wrap_mul(a / g, b) : 0;
    return m < 0 ? wrap_sub(0, m) : m;
}

static int64_t bits_of(enum dtype dtype)
{
    return 8 * (int64_t)dtype_size(dtype);
}

int64_t shift_left(enum dtype dtype, int64_t x, int64_t by)
{
    return by < 0 || by >= bits_of(dtype) ? 0 : (int64_t)((uint64_t)x << by);
}

int64_t shift_right(enum dtype dtype, int64_t x, int64_t by)
{
    return x >> (by < 0 || by >= bits_of(dtype) ? bits_of(dtype) - 1 : by);
}

int64_t clamp_int(int64_t x, int64_t least, int64_t most, unsigned none)
{
    if (!(none & 2) && x < least)
        x = least;
    return !(none & 4) && x > most ? most : x;
}

double clamp_real(double x, double least, double most, unsigned none)
{
    if (!(none & 2) && !(x >= least))
        x = least;
    return !(none & 4) && !(x <= most) ? most : x;
}

/* ---- Reals ---- */

double greatest(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F32: return (double)FLT_MAX;
    case DTYPE_F16: return 65504;
    case DTYPE_BF16: return 0x1.fep127;
    default: return DBL_MAX;
    }
}

/* Reflection, recurrence and the asymptotic series (Abramowitz and Stegun 6.3). */
double special_digamma(double x)
{
    double below = 0;
    if (x == 0)
        return copysign(INFINITY, -x);
    if (x < 0) {
        if (x == floor(x))
            return NAN;
        double fraction = x - trunc(x);
        below = -PI / tan(PI * fraction);
        x = 1 - x;
    }
    for (; x < 10; x++)
        below -= 1 / x;
    static const double b[] = { 1 / 12., -1 / 120., 1 / 252., -1 / 240., 5 / 660., -691 / 32760.,
                                1 / 12. };
    double square = 1 / (x * x), power = square, sum = log(x) - 0.5 / x;
    for (unsigned i = 0; i < 7; i++, power *= square)
        sum -= b[i] * power;
    return below + sum;
}

/* Newton's method on erf from a rational start (Giles, "Approximating the erfinv function"). */
double special_erfinv(double y)
{
    if (!(fabs(y) < 1))
        return fabs(y) == 1 ? copysign(INFINITY, y) : NAN;
    double l = log1p(-y * y), a = 2 / (PI * 0.147) + l / 2;
    double x = copysign(sqrt(sqrt(a * a - l / 0.147) - a), y);
    for (int i = 0; i < 4; i++) {
        double error = y < 0 ? -(erfc(-x) - (1 + y)) : erfc(x) - (1 - y);
        double slope = -2 / sqrt(PI) * exp(-x * x);
        x -= (y < 0 ? -1 : 1) * (y < 0 ? -error : error) / slope;
    }
    return x;
}

double special_logit(double x, double eps)
{
    if (eps >= 0)
        x = x < eps ? eps : x > 1 - eps ? 1 - eps : x;
    return log(x / (1 - x));
}

double special_logit_backward(double grad, double x, double eps)
{
    if (eps < 0)
        return x < 0 || x > 1 ? NAN : grad / (x * (1 - x));
    return x < eps || x > 1 - eps ? 0 : grad / (x * (1 - x));
}

double special_gelu(double x, bool tanh_form)
{
    if (!tanh_form)
        return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    return 0.5 * x * (1 + tanh(sqrt(2 / PI) * (x + 0.044715 * x * x * x)));
}

double special_gelu_slope(double x, bool tanh_form)
{
    if (!tanh_form)
        return 0.5 * (1 + erf(x * sqrt(0.5))) + x * exp(-0.5 * x * x) / sqrt(2 * PI);
    double inner = sqrt(2 / PI) * (x + 0.044715 * x * x * x), t = tanh(inner);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * sqrt(2 / PI) * (1 + 3 * 0.044715 * x * x);
}

double special_silu_backward(double grad, double x)
{
    double s = 1 / (1 + exp(-x));
    return grad * s * (1 + x * (1 - s));
}

double special_mish_backward(double grad, double x)
{
    double s = 1 / (1 + exp(-x)), t = tanh(log1p(exp(x)));
    return grad * (t + x * s * (1 - t * t));
}

/* p: alpha, scale, input_scale, is_result */
double special_elu_backward(double grad, double x, const double *p)
{
    if (x > 0)
        return grad * p[1];
    return p[3] != 0 ? grad * p[2] * (x + p[0] * p[1]) : grad * p[2] * p[0] * p[1] * exp(x * p[2]);
}

/* Python's floor division (c10::div_floor_floating). */
static double div_floor(double x, double y)
{
    if (y == 0)
        return x / y;
    double rest = fmod(x, y), q = (x - rest) / y;
    if (rest != 0 && (y < 0) != (rest < 0))
        q -= 1;
    if (q == 0)
        return copysign(0, x / y);
    double f = floor(q);
    return q - f > 0.5 ? f + 1 : f;
}

double special_div(double x, double y, int rounding)
{
    return rounding == 1 ? trunc(x / y) : rounding == 2 ? div_floor(x, y) : x / y;
}

double special_remainder(double x, double y)
{
    double rest = fmod(x, y);
    return rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
}

double special_logaddexp(double x, double y)
{
    if (isinf(x) && x == y)
        return x;
    return fmax(x, y) + log1p(exp(-fabs(x - y)));
}

double special_nextafter(enum dtype dtype, double x, double y)
{
    return dtype == DTYPE_F64 ? nextafter(x, y) : (double)nextafterf((float)x, (float)y);
}

double special_isclose(double x, double y, const double *p)
{
    if (x == y || (p[2] != 0 && isnan(x) && isnan(y)))
        return 1;
    return isfinite(x) && isfinite(y) && fabs(x - y) <= p[1] + fabs(p[0] * y);
}

double special_round(double x, int decimals)
{
    double scale = pow(10, abs(decimals));
    if (decimals == 0 || !isfinite(x))
        return nearbyint(x);
    return decimals > 0 ? nearbyint(x * scale) / scale : nearbyint(x / scale) * scale;
}

int64_t int_round(int64_t x, int decimals)
{
    return decimals >= 0 ? x : (int64_t)special_round((double)x, decimals);
}
