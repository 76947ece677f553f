/* histc: counts elements by bins of equal width. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_HISTOGRAM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_HISTOGRAM_H

#include "replay/backend/cuda/device/prologue.h"

struct histogram_args {
    u64 x; /* contiguous */
    u64 to;
    u64 range;  /* f64: the least edge, the greatest */
    u64 counts; /* u64 by bin */
    i64 n, bins, to_step;
    f64 low, high;
    u32 of_data, unused; /* of_data: the range is that of the elements */
};

#endif
