/* The arguments of matmul_tile.cu and matmul_thin.cu, and the last step of both. Strides are in
 * elements. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_MATMUL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LINALG_MATMUL_H

#include "replay/backend/cuda/device/prologue.h"

enum { MATMUL_BATCH_DIMS = 3 };

struct matmul_operand {
    u64 p; /* 0: none */
    i64 row, column, batch[MATMUL_BATCH_DIMS];
};

/* Computes c = beta * self + alpha * (a times b, summed over `sums` pairs of matrices). With SCALE
 * defined, the type of scales, the product is multiplied by them. */
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
    u64 scale_a, scale_b; /* factors of rows and columns, 0: none */
    i64 scale_a_step, scale_b_step;
    f64 most; /* the greatest value of c, for saturation; 0: none */
};

#ifdef KERNEL
DEVICE i64 batch_offset(const struct matmul_args *a, const struct matmul_operand *x, i64 z)
{
    i64 last = z % a->batch[2], rest = z / a->batch[2];
    return last * x->batch[2] + rest % a->batch[1] * x->batch[1] + rest / a->batch[1] * x->batch[0];
}

DEVICE void finish(const struct matmul_args *a, i64 z, i64 i, i64 j, ACC sum)
{
    i64 to = batch_offset(a, &a->c, z) + i * a->c.row + j * a->c.column;
#if INTEGERS
    u64 value = (u64)a->alpha_int * (u64)sum;
    if (a->self.p)
        value += (u64)a->beta_int *
                 (u64)LOAD(TS, PTR(TS, a->self.p),
                           batch_offset(a, &a->self, z) + i * a->self.row + j * a->self.column);
    STORE(TC, PTR(TC, a->c.p), to, (i64)value);
#else
    ACC value = (ACC)a->alpha * sum;
#ifdef SCALE
    if (a->scale_a)
        value *= (ACC)LOAD(SCALE, PTR(SCALE, a->scale_a), i * a->scale_a_step);
    if (a->scale_b)
        value *= (ACC)LOAD(SCALE, PTR(SCALE, a->scale_b), j * a->scale_b_step);
#endif
    if (a->self.p)
        value += (ACC)a->beta *
                 (ACC)LOAD(TS, PTR(TS, a->self.p),
                           batch_offset(a, &a->self, z) + i * a->self.row + j * a->self.column);
#ifdef SCALE
    if (a->most > 0)
        value = value > (ACC)a->most ? (ACC)a->most : value < -(ACC)a->most ? -(ACC)a->most : value;
#endif
    STORE(TC, PTR(TC, a->c.p), to, value);
#endif
}
#endif

#endif
