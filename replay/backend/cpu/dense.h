/* Dense arrays: what the CPU's kernels compute with.
 *
 * A tensor of any dtype and any strides is loaded into a contiguous array of float64, int64 or
 * complex128, and results are rounded once, when they are stored: straightforward, and at least as
 * exact as any kernel that works in the tensor's own dtype. Loops over them go in one order. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_DENSE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_DENSE_H

#include <complex.h>
#undef complex /* a member of struct value */

#include "replay/ops/value.h"

typedef double _Complex cdouble;
typedef float _Complex cfloat;

static inline cdouble complex_of(double re, double im) /* exact, which re + I * im is not of infinities */
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

struct dense {
    enum dense_kind kind;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    int64_t n; /* elements */
    union {
        int64_t *i;
        double *r;
        cdouble *c;
        void *p; /* NULL: failed */
    } u;
};

enum dense_kind dense_kind_of(enum dtype dtype);
static inline size_t dense_size(enum dense_kind kind)
{
    return kind == DENSE_COMPLEX ? sizeof(cdouble) : sizeof(double);
}

/* Element i of an array of that dtype, to and from the widest of its kind. */
double load_real(enum dtype dtype, const void *p, int64_t i);
int64_t load_int(enum dtype dtype, const void *p, int64_t i);
cdouble load_complex(enum dtype dtype, const void *p, int64_t i);
void store_real(enum dtype dtype, void *p, int64_t i, double x);
void store_int(enum dtype dtype, void *p, int64_t i, int64_t x);
void store_complex(enum dtype dtype, void *p, int64_t i, cdouble x);

/* The value as the dtype would hold it: rounded, or wrapped. */
double round_real(enum dtype dtype, double x);

#endif
