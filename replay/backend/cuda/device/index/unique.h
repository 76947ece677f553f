/* Slices that differ: x is [outer][n][inner], and slice i is x[:, i, :]. Of one element each, they
 * are x's elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_UNIQUE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_UNIQUE_H

#include "replay/backend/cuda/device/prologue.h"

struct unique_args {
    u64 from;
    u64 order; /* i64: the slices in their order; 0: as they lie */
    u64 heads; /* u32: whether a slice differs from the one before it; when scanned, how many of
                * those are before it */
    u64 total; /* u32: of them all */
    u64 to, inverse, counts; /* of the results; inverse, counts: i64; 0: not wanted */
    u64 starts;              /* i64 by distinct slice: its place in the order */
    i64 n, outer, inner, distinct;
};

#endif
