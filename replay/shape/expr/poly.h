/* Polynomials in one symbol, to the second degree, with rational coefficients. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_POLY_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_POLY_H

#include <stdbool.h>
#include <stdint.h>

/* (n[0] + n[1]*x + n[2]*x**2) / d; d > 0. */
struct poly {
    int64_t n[3], d;
};

static inline struct poly poly_constant(int64_t number)
{
    return (struct poly){ { number, 0, 0 }, 1 };
}

/* Each returns false when the result cannot be stored: it is too large or of a higher degree. */
bool poly_add(struct poly a, struct poly b, struct poly *ret);
bool poly_mul(struct poly a, struct poly b, struct poly *ret);
bool poly_scale(struct poly a, int64_t by, int64_t divided_by, struct poly *ret);
/* Computes the value if it is an integer; false otherwise. */
bool poly_at(struct poly a, int64_t x, int64_t *ret);

static inline bool poly_is_constant(struct poly a)
{
    return a.n[1] == 0 && a.n[2] == 0;
}

/* Finds which integers x have a(x) <= 0 (< 0 if strict), or a(x) >= 0 (> 0): those up to *ret
 * (*upper), or from *ret on. a is linear, or x >= 0 and a increases. False: there are none, or they
 * cannot be determined. */
enum poly_side { POLY_AT_MOST, POLY_AT_LEAST };
bool poly_bound(struct poly a, enum poly_side side, bool strict, bool *upper, int64_t *ret);
/* Returns whether a is linear, or 0 at an integer next to that bound. */
bool poly_has_root(struct poly a, int64_t bound);

/* A quotient of polynomials without a common factor; the highest coefficient of d is 1. */
struct ratio {
    struct poly n, d;
};

static inline struct ratio ratio_of(struct poly a)
{
    return (struct ratio){ a, poly_constant(1) };
}
static inline bool ratio_is_poly(struct ratio a)
{
    return poly_is_constant(a.d);
}

/* Each returns false when the result cannot be stored, or when b is 0. */
bool ratio_add(struct ratio a, struct ratio b, struct ratio *ret);
bool ratio_mul(struct ratio a, struct ratio b, struct ratio *ret);
bool ratio_divide(struct ratio a, struct ratio b, struct ratio *ret);
bool ratio_subtract(struct ratio a, struct ratio b, struct ratio *ret);
/* Computes the value if it is an integer; false otherwise. */
bool ratio_at(struct ratio a, int64_t x, int64_t *ret);

#endif
