/* Dense arrays, which the CPU's kernels compute with.
 *
 * A tensor of any dtype and strides is loaded into a contiguous array of float64, int64 or
 * complex128, and results are rounded once, when they are stored. This is simple, and at least as
 * exact as a kernel that computes in the tensor's own dtype. Loops over arrays have a fixed
 * order. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_DENSE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_DENSE_H

#include "replay/backend/values/elements.h"

static inline size_t dense_size(enum dense_kind kind)
{
    return kind == DENSE_COMPLEX ? sizeof(cdouble) : sizeof(double);
}

struct dense {
    enum dense_kind kind;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM];
    int64_t n; /* elements */
    union {
        int64_t *i;
        double *r;
        cdouble *c;
        void *p; /* NULL: out of memory, or the kernel failed before */
    } u;
};

/* Copies an element; both arrays have one kind. */
static inline void copy_element(struct dense *to, int64_t i, const struct dense *from, int64_t j)
{
    if (to->kind == DENSE_COMPLEX)
        to->u.c[i] = from->u.c[j];
    else
        to->u.i[i] = from->u.i[j];
}

#endif
