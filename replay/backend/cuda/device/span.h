/* The dimensions that a kernel iterates over, and the strides of its tensors along them. A span
 * without dimensions has one element. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_SPAN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_SPAN_H

#include "replay/backend/cuda/device/prologue.h"

enum { SPAN_DIMS = 8, SPAN_TENSORS = 6 };

struct span {
    i64 n; /* elements: the product of the sizes */
    i64 ndim;
    i64 size[SPAN_DIMS];
    i64 stride[SPAN_TENSORS][SPAN_DIMS]; /* in elements; 0 if a tensor is broadcast */
};

#ifdef KERNEL
/* INDEX is the type of offsets: u32 if every offset fits. */

/* Returns the offset of element i of one tensor. */
DEVICE INDEX span_at(const struct span *s, u32 tensor, INDEX i)
{
    INDEX at = 0;
    ROLLED
    for (i32 d = (i32)s->ndim - 1; d > 0; d--) {
        INDEX size = (INDEX)s->size[d], next = i / size;
        at += (i - next * size) * (INDEX)s->stride[tensor][d];
        i = next;
    }
    return at + i * (INDEX)s->stride[tensor][0];
}

/* Adds the offsets of the first `n` tensors, a constant, to at[t]. */
#define SPAN_PLACES(s, n, i, at)                                       \
    do {                                                               \
        INDEX left_ = (i);                                             \
        ROLLED                                                         \
        for (i32 d_ = (i32)(s)->ndim - 1; d_ > 0; d_--) {              \
            INDEX size_ = (INDEX)(s)->size[d_], next_ = left_ / size_, \
                  on_ = left_ - next_ * size_;                         \
            UNROLL                                                     \
            for (i32 t_ = 0; t_ < (n); t_++)                           \
                (at)[t_] += on_ * (INDEX)(s)->stride[t_][d_];          \
            left_ = next_;                                             \
        }                                                              \
        UNROLL                                                         \
        for (i32 t_ = 0; t_ < (n); t_++)                               \
            (at)[t_] += left_ * (INDEX)(s)->stride[t_][0];             \
    } while (0)
#endif

#endif
