/* Arguments of replay/backend/cuda/device/linalg/matmul.cu. Strides are in elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_MATMUL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_MATMUL_H

#include "replay/backend/cuda/device/prologue.h"

enum { MATMUL_BATCH_DIMS = 3 };

struct matmul_operand {
    u64 p; /* 0: none */
    i64 row, column, batch[MATMUL_BATCH_DIMS];
};

/* Computes c = beta * self + alpha * (a times b, summed over `sums` pairs of matrices). */
struct matmul_args {
    struct matmul_operand a, b, c, self;
    i64 m, n, inner;
    i64 batch[MATMUL_BATCH_DIMS];
    i64 sums, a_sum, b_sum; /* strides from one pair to the next */
    f64 alpha, beta;
    i64 alpha_int, beta_int; /* of integers */
    i64 row_tiles, column_tiles;
    i64 columns; /* of a block of matmul_thin: 1, 8 or 32 */
    i64 vector;  /* both are contiguous along the inner dimension, and 16 bytes of it can be read at
                    once */
};

#endif
