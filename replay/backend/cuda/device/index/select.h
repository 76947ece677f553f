/* The true elements of a mask, in order: each tile counts them, and writes its own from the sum of
 * the counts before it. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SELECT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SELECT_H

#include "replay/backend/cuda/device/strided.h"

enum { SELECT_THREADS = 256, SELECT_EACH = 8, SELECT_TILE = SELECT_THREADS * SELECT_EACH };

struct select_args {
    u64 mask;
    u64 tiles; /* u32 by tile: its count; after the scan, the sum of those before it */
    u64 total; /* u32: of all */
    u64 to, values;
    u64 error;
    i64 n;
    i64 limit;              /* the capacity of the result, or the number of values */
    i64 fill;               /* written after the last element */
    i64 to_step, to_column; /* of the result: from one selected element to the next; from one index
                               to the next */
    u32 ndim, n_coordinates;
    i64 size[STRIDED_MAX_DIM]; /* of the mask, and of the tensor beside it */
    i64 mask_stride[STRIDED_MAX_DIM], other_stride[STRIDED_MAX_DIM];
    i64 coordinate_size[STRIDED_MAX_DIM];
};

#endif
