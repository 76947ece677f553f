/* Bits of a word, such as a ballot. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_BITS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_BITS_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef KERNEL
DEVICE u32 popcount32(u32 x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* Returns the index of the lowest set bit; 32 if none is set. */
DEVICE u32 lowest_bit(u32 x)
{
    return popcount32((x & (0u - x)) - 1);
}
#endif

#endif
