/* Copies between tensors of any strides and dtypes. */
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

/* Matrices whose rows are contiguous in `from` and whose columns are contiguous in `to`; the other
 * dimensions are their batch. */
enum { COPY_TILE = 32 };
struct copy_turned_args {
    u64 to, from;
    i64 rows, columns, matrices;
    i64 to_row,
        from_column;  /* strides in elements; those of a column of `to` and a row of `from` are 1 */
    u32 ndim, unused; /* of the matrices */
    i64 size[COPY_MAX_DIM], to_stride[COPY_MAX_DIM], from_stride[COPY_MAX_DIM];
};

#endif
