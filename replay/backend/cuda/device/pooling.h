/* Pooling: windows of up to three dimensions over planes. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_POOLING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_POOLING_H

#include "replay/backend/cuda/device/prologue.h"

/* Sizes in front of those that an operator has are 1. Strides: batch, channel, then the three. */
enum { POOL_DIMS = 3, POOL_STRIDES = 5 };

struct pool_args {
    u64 inner, outer;    /* tensors of the sizes in[] and out[]: forward from inner to outer */
    u64 indices;         /* i64, of the sizes out[]: where in its plane the greatest is */
    i64 n, channels;     /* elements of what is written */
    i64 in[POOL_DIMS], out[POOL_DIMS];
    i64 window[POOL_DIMS], stride[POOL_DIMS], padding[POOL_DIMS], dilation[POOL_DIMS];
    i64 inner_stride[POOL_STRIDES], outer_stride[POOL_STRIDES], index_stride[POOL_STRIDES];
    i64 divisor;         /* avg: 0: what the window holds */
    u32 adaptive, count_padding;
};

#endif
