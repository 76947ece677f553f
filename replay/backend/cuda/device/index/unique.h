/* Distinct slices: x is [outer][n][inner], and slice i is x[:, i, :]. Slices of one element are the
 * elements of x. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_UNIQUE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_UNIQUE_H

#include "replay/backend/cuda/device/prologue.h"

struct unique_args {
    u64 from;
    u64 order; /* i64: the sorted slices; 0: in their own order */
    u64 heads; /* u32: whether a slice differs from the one before it; after the scan, the number of
                  these before it */
    u64 total; /* u32: the number of all */
    u64 to, inverse, counts; /* of the results; inverse, counts: i64; 0: not requested */
    u64 starts;              /* i64 by distinct slice: its first position in the order */
    i64 n, outer, inner, distinct;
};

#endif
