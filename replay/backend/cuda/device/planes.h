/* Tensors of batches and channels of planes with up to three dimensions. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PLANES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PLANES_H

#include "replay/backend/cuda/device/prologue.h"

/* Missing first dimensions have size 1. Strides: batch, channel, then the three dimensions. */
enum { PLANE_DIMS = 3, PLANE_STRIDES = 5 };

#ifdef KERNEL
/* Texts define I, the type of offsets and numbers of elements: i32 or i64. */

/* Element i of planes of those sizes. */
struct element {
    I batch, channel, at[PLANE_DIMS];
};

DEVICE struct element element_of(I i, I channels, const i64 *size)
{
    struct element e;
    UNROLL
    for (i32 d = PLANE_DIMS - 1; d >= 0; d--) {
        I next = i / (I)size[d];
        e.at[d] = i - next * (I)size[d];
        i = next;
    }
    e.batch = i / channels;
    e.channel = i - e.batch * channels;
    return e;
}

DEVICE I plane_of(const struct element *e, const i64 *stride)
{
    return e->batch * (I)stride[0] + e->channel * (I)stride[1];
}

DEVICE I place_in(const i64 *stride, I d, I h, I w)
{
    return d * (I)stride[2] + h * (I)stride[3] + w * (I)stride[4];
}
#endif

#endif
