/* A copy between any strides and dtypes. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COPY_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_COPY_H

#include "replay/backend/cuda/device/prologue.h"

enum { COPY_MAX_DIM = 8 };

struct copy_args {
    u64 to, from;
    i64 n; /* elements */
    u32 ndim;
    i64 size[COPY_MAX_DIM];
    i64 to_stride[COPY_MAX_DIM], from_stride[COPY_MAX_DIM]; /* in elements */
};

#endif
