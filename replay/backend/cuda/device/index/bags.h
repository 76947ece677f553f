/* Embedding bags: rows of a weight, reduced for each bag. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_BAGS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_BAGS_H

#include "replay/backend/cuda/device/prologue.h"

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

struct bag_args {
    u64 weight, indices, offsets, scales; /* addresses; scales is 0 without weights per sample */
    /* addresses; the last three have the indices' type, and are 0 if they are not requested */
    u64 to, to_bag, counts, most;
    u64 error;
    i64 bags, width, rows; /* rows of the weight */
    i64 n_indices, n_offsets;
    i64 row_step, column_step, scale_step; /* strides */
    i64 padding;
    u32 mode, no_counts; /* no_counts: writes zeros */
};

#endif
