/* Arguments of kernels that read at indices or compute keys from them. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_INDEX_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_INDEX_H

#include "replay/backend/cuda/device/strided.h"

enum { INDEX_MAX_TENSORS = 8 };

struct index_tensor {
    u64 address;
    i64 stride[STRIDED_MAX_DIM];
    i64 bound, step; /* of the dimension that is indexed */
    u32 narrow;      /* i32; else i64 */
    u32 unused;
};

struct index_args {
    u64 to, from;
    u64 error;
    u64 mask;    /* b8; where it is false, `fill` is read and there is no key. 0: none */
    u64 fill[2]; /* an element's bits */
    i64 n;
    u32 ndim, n_tensors;
    u32 clamp; /* replaces indices outside by the nearest inside */
    u32 has_skip;
    i64 skip;               /* entries with that index have no key */
    i64 unit;               /* a key is a position divided by it */
    i64 limit;              /* the key of entries without one */
    u64 order;              /* u32: the entries' numbers */
    struct live_count live; /* entries from that number on have no key; .at 0: all have one */
    i64 size[STRIDED_MAX_DIM];
    i64 to_stride[STRIDED_MAX_DIM], from_stride[STRIDED_MAX_DIM], mask_stride[STRIDED_MAX_DIM];
    struct index_tensor tensor[INDEX_MAX_TENSORS];
};

#endif
