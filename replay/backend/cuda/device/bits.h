/* Bits of a word, as ballots give them. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_BITS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_BITS_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef KERNEL
DEVICE u32 ones_of(u32 x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

/* The place of the lowest one; of none, 32. */
DEVICE u32 lowest_of(u32 x)
{
    return ones_of((x & (0u - x)) - 1);
}
#endif

#endif
