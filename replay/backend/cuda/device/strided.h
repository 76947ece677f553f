/* Iterations over the elements of several tensors, by their number in order. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_STRIDED_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_STRIDED_H

#include "replay/backend/cuda/device/prologue.h"

enum { STRIDED_MAX_DIM = 8 };

/* Texts define I, the type of offsets and numbers of elements (i32 or i64), and DIMS, the maximum
 * number of dimensions (4 or 8). */
#ifdef DIMS

/* Computes the coordinates of element i. Loops have DIMS iterations, so that `at` stays in
 * registers. */
DEVICE void coordinates(const i64 *size, u32 ndim, I i, I *at)
{
    UNROLL
    for (i32 d = DIMS - 1; d >= 0; d--) {
        at[d] = 0;
        if ((u32)d < ndim) {
            I n = (I)size[d], next = i / n;
            at[d] = i - next * n;
            i = next;
        }
    }
}

DEVICE I offset_of(const i64 *stride, u32 ndim, const I *at)
{
    I offset = 0;
    UNROLL
    for (u32 d = 0; d < DIMS; d++)
        if (d < ndim)
            offset += at[d] * (I)stride[d];
    return offset;
}

#endif
#endif
