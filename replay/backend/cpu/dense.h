/* Dense arrays: what the CPU's kernels compute with.
 *
 * A tensor of any dtype and any strides is loaded into a contiguous array of float64, int64 or
 * complex128, and results are rounded once, when they are stored: straightforward, and at least as
 * exact as any kernel that works in the tensor's own dtype. Loops over them go in one order. */
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
        void *p; /* NULL: failed */
    } u;
};

/* Both arrays are of one kind. */
static inline void copy_element(struct dense *to, int64_t i, const struct dense *from, int64_t j)
{
    if (to->kind == DENSE_COMPLEX)
        to->u.c[i] = from->u.c[j];
    else
        to->u.i[i] = from->u.i[j];
}

#endif
