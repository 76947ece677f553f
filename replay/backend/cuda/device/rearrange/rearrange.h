/* Arguments of kernels that pad, roll, flip or repeat. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_REARRANGE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_REARRANGE_H

#include "replay/backend/cuda/device/strided.h"

/* The rule for the source of a position of the result, in one dimension of `from_size`. */
enum rearrange {
    REARRANGE_SAME,
    REARRANGE_SHIFT, /* at - by; outside it is `fill` */
    REARRANGE_ROLL,
    REARRANGE_FLIP,
    REARRANGE_REPEAT,
    REARRANGE_REFLECT,
    REARRANGE_CLAMP
};

struct rearrange_args {
    u64 to, from;
    u64 fill[2];  /* an element's bits */
    u64 order;    /* u32, for rearrange_keys: the entries' numbers */
    i64 n, limit; /* limit: for rearrange_keys, the key of elements without a source */
    u32 ndim, unused;
    i64 size[STRIDED_MAX_DIM], to_stride[STRIDED_MAX_DIM];
    i64 from_size[STRIDED_MAX_DIM], from_stride[STRIDED_MAX_DIM];
    i64 by[STRIDED_MAX_DIM];
    u32 how[STRIDED_MAX_DIM];
};

#endif
