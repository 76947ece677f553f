/* What a mask holds, in its order: counted by tile, then given by each tile where its own begin. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SELECT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SELECT_H

#include "replay/backend/cuda/device/strided.h"

enum { SELECT_THREADS = 256, SELECT_EACH = 8, SELECT_TILE = SELECT_THREADS * SELECT_EACH };

struct select_args {
    u64 mask;
    u64 tiles; /* u32 by tile: how many it holds; when scanned, how many are before it */
    u64 total; /* u32: of all */
    u64 to, values;
    u64 error;
    i64 n;
    i64 limit;              /* places that there are: of the result, or of values to take */
    i64 fill;               /* what is written behind the last one */
    i64 to_step, to_column; /* of the result: from one found element to the next, by coordinate */
    u32 ndim, n_coordinates;
    i64 size[STRIDED_MAX_DIM]; /* of the mask, and of what is walked beside it */
    i64 mask_stride[STRIDED_MAX_DIM], other_stride[STRIDED_MAX_DIM];
    i64 coordinate_size[STRIDED_MAX_DIM];
};

#endif
