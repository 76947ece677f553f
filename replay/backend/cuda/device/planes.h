/* Tensors of batches and channels of planes, of up to three dimensions each. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PLANES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_PLANES_H

#include "replay/backend/cuda/device/prologue.h"

/* Sizes in front of those that an operator has are 1. Strides: batch, channel, then the three. */
enum { PLANE_DIMS = 3, PLANE_STRIDES = 5 };

#ifdef KERNEL
/* Texts define I, which offsets and numbers of elements fit: i32 or i64. */

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
