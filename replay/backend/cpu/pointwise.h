/* Scalar functions that pointwise.def's expressions use. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_H

#include "replay/backend/cpu/kernel.h"
#include "replay/backend/cpu/special.h"

#define PI 3.14159265358979323846264338327950288

/* Rows of pointwise.def by number. */
enum {
#define POINT(base, kinds, tensors, numbers, real, integer, complex_) POINT_##base,
#include "replay/backend/cpu/pointwise.def"
#undef POINT
    POINTS
};

/* As the call's row were that one. */
void run_point(struct kernel *k, int number);

/* Integers wrap, as C++'s do in PyTorch's kernels. */
static inline int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}
static inline int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}
int64_t floor_div(int64_t a, int64_t b); /* 0 by zero */
int64_t floor_mod(int64_t a, int64_t b);
int64_t int_pow(int64_t base, int64_t exponent);
int64_t int_gcd(int64_t a, int64_t b);
int64_t int_lcm(int64_t a, int64_t b);
int64_t shift_left(enum dtype dtype, int64_t x, int64_t by);
int64_t shift_right(enum dtype dtype, int64_t x, int64_t by);
int64_t clamp_int(int64_t x, int64_t least, int64_t greatest, unsigned none);
double clamp_real(double x, double least, double greatest, unsigned none);

double greatest(enum dtype dtype); /* finite value */
double special_digamma(double x);
double special_erfinv(double x);
double special_logit(double x, double eps);           /* eps < 0: none */
double special_logit_backward(double grad, double x, double eps);
double special_gelu(double x, bool tanh_form);
double special_gelu_slope(double x, bool tanh_form);
double special_silu_backward(double grad, double x);
double special_mish_backward(double grad, double x);
double special_elu_backward(double grad, double x, const double *p);
double special_div(double x, double y, int rounding); /* 0 none, 1 trunc, 2 floor */
double special_remainder(double x, double y);
double special_logaddexp(double x, double y);
double special_nextafter(enum dtype dtype, double x, double y);
double special_round(double x, int decimals); /* half to even */
int64_t int_round(int64_t x, int decimals);
double special_isclose(double x, double y, const double *p); /* rtol, atol, equal_nan */

#endif
