/* Elements of arrays by their dtype: loaded into, and rounded or wrapped from, the widest number of
 * their kind. Small floats go by their bits; no rounding is done twice. */
#ifndef SYMTAPE_REPLAY_BACKEND_VALUES_ELEMENTS_H
#define SYMTAPE_REPLAY_BACKEND_VALUES_ELEMENTS_H

#include <complex.h>
#undef complex /* a member of struct value */

#include "trace/graph/dtype.h"

typedef double _Complex cdouble;
typedef float _Complex cfloat;

static inline cdouble complex_of(double re,
                                 double im) /* exact, which re + I * im is not of infinities */
{
    union {
        double part[2];
        cdouble whole;
    } u = { .part = { re, im } };
    return u.whole;
}

enum dense_kind {
    DENSE_INT, /* integers and bool; uint64 by its bits */
    DENSE_REAL,
    DENSE_COMPLEX
};

enum dense_kind dense_kind_of(enum dtype dtype);

/* Element i of an array of that dtype, to and from the widest of its kind. */
double load_real(enum dtype dtype, const void *p, int64_t i);
int64_t load_int(enum dtype dtype, const void *p, int64_t i);
cdouble load_complex(enum dtype dtype, const void *p, int64_t i);
void store_real(enum dtype dtype, void *p, int64_t i, double x);
void store_int(enum dtype dtype, void *p, int64_t i, int64_t x);
void store_complex(enum dtype dtype, void *p, int64_t i, cdouble x);

/* The value as the dtype would hold it. */
double round_real(enum dtype dtype, double x);

#endif
