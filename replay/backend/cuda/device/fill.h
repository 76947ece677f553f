/* A range of equal elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_FILL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_FILL_H

#include "replay/backend/cuda/device/prologue.h"

struct fill_args {
    u64 to;
    i64 n; /* elements */
    u32 value, unused;
};

#endif
