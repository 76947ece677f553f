/* isin and the indices of a triangle: a thread computes an element of the result. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_MEMBERS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_MEMBERS_H

#include "replay/backend/cuda/device/prologue.h"

struct member_args {
    u64 elements, among, to; /* contiguous; elements, among: 0: the numbers here */
    f64 element, other;
    i64 n, n_among;
    u32 invert, unused;
};

struct triangle_args {
    u64 to; /* rows, then columns */
    i64 rows, columns, offset, n;
    i64 step, next; /* strides of the result */
    u32 upper, unused;
};

#endif
