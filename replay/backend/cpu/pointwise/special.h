/* Special functions of real numbers, in float64. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_SPECIAL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_POINTWISE_SPECIAL_H

#include <stdbool.h>

double bessel_i(unsigned order, double x, bool scaled); /* I0, I1; times exp(-|x|) */
double bessel_k(double order, double x, bool scaled);   /* K; times exp(x) */
double bessel_y(int order, double x);
double spherical_j0(double x);
double airy_ai(double x);
double scaled_erfc(double x); /* exp(x^2) erfc(x) */
double normal_quantile(double p);
double log_normal_cdf(double x);
double entropy_of(double x); /* -x log(x) */
double hurwitz_zeta(double s, double q);
double polygamma_of(double n, double x);
double log_gamma_of(double x, double p);                 /* the multivariate function */
double incomplete_gamma(double a, double x, bool upper); /* regularized */

/* Polynomials of degree int(n); 0 for negative degrees. */
enum polynomial {
#define POLYNOMIAL(base, first, next, at) P_##base,
#include "replay/backend/cpu/pointwise/polynomials.def"
#undef POLYNOMIAL
    POLYNOMIALS
};
double polynomial_at(enum polynomial which, double x, double n);

#endif
