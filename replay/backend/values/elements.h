/* Access to the elements of an array of any dtype: they are loaded into the widest number of their
 * kind, and rounded or wrapped when they are stored. Small floats are computed from their bits, and
 * no value is rounded twice. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_ELEMENTS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_ELEMENTS_H

#include <complex.h>
#undef complex /* it would replace a member of struct value */

#include "trace/graph/dtype.h"

typedef double _Complex cdouble;
typedef float _Complex cfloat;

static inline cdouble complex_of(double re,
                                 double im) /* exact, while re + I * im is not for infinities */
{
    union {
        double part[2];
        cdouble whole;
    } u = { .part = { re, im } };
    return u.whole;
}

enum dense_kind {
    DENSE_INT, /* integers and bool; uint64 with the same bits */
    DENSE_REAL,
    DENSE_COMPLEX
};

enum dense_kind dense_kind_of(enum dtype dtype);

/* Return or set element i of an array of that dtype, as the widest number of its kind. */
double load_real(enum dtype dtype, const void *p, int64_t i);
int64_t load_int(enum dtype dtype, const void *p, int64_t i);
cdouble load_complex(enum dtype dtype, const void *p, int64_t i);
void store_real(enum dtype dtype, void *p, int64_t i, double x);
void store_int(enum dtype dtype, void *p, int64_t i, int64_t x);
void store_complex(enum dtype dtype, void *p, int64_t i, cdouble x);

/* Converts as a C++ cast does on x86: values that do not fit become the smallest integer. */
static inline int64_t saturated_int(double x)
{
    return x >= -0x1p63 && x < 0x1p63 ? (int64_t)x : INT64_MIN;
}
/* Returns the value rounded to the dtype. */
double round_real(enum dtype dtype, double x);

#endif
