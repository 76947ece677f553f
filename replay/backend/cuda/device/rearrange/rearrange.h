/* Elements put elsewhere: padded, rolled, flipped, repeated. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_REARRANGE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_REARRANGE_H

#include "replay/backend/cuda/device/strided.h"

/* Where a place of the result comes from, in one dimension of `from_size`. */
enum rearrange {
    REARRANGE_SAME,
    REARRANGE_SHIFT, /* at - by; outside is `fill` */
    REARRANGE_ROLL,
    REARRANGE_FLIP,
    REARRANGE_REPEAT,
    REARRANGE_REFLECT,
    REARRANGE_CLAMP
};

struct rearrange_args {
    u64 to, from;
    u64 fill[2];  /* an element's bits */
    u64 order;    /* u32, of rearrange_keys: the entries' own numbers */
    i64 n, limit; /* rearrange_keys: the key of what comes from nowhere */
    u32 ndim, unused;
    i64 size[STRIDED_MAX_DIM], to_stride[STRIDED_MAX_DIM];
    i64 from_size[STRIDED_MAX_DIM], from_stride[STRIDED_MAX_DIM];
    i64 by[STRIDED_MAX_DIM];
    u32 how[STRIDED_MAX_DIM];
};

#endif
