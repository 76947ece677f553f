/* Distances between rows. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_DISTANCE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_DISTANCE_H

#include "replay/backend/cuda/device/strided.h"

/* The norm of the difference. */
enum { DISTANCE_COUNT, DISTANCE_SUM, DISTANCE_ROOT, DISTANCE_MOST, DISTANCE_POWER };

struct distance_args {
    u64 to, x, y;
    i64 n, inner;         /* distances; elements of a row */
    i64 x_inner, y_inner; /* strides along a row */
    f64 p;                /* of DISTANCE_POWER */
    u32 ndim, unused;
    i64 size[STRIDED_MAX_DIM], to_stride[STRIDED_MAX_DIM];
    i64 x_stride[STRIDED_MAX_DIM], y_stride[STRIDED_MAX_DIM]; /* of rows */
};

#endif
