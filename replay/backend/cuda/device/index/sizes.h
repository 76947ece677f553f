/* Counts as sizes that later kernels read (LIVE_FIELD of prologue.h). */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SIZES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SIZES_H

#include "replay/backend/cuda/device/prologue.h"

struct size_args {
    u64 from; /* u32, or with `wide` an i64 and a u64 that is not 0 if the count is -1; 0: none */
    u64 to;   /* i64 */
    u32 wide;
};

#endif
