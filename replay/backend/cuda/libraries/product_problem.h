/* A matmul, for cuBLASLt and for our own kernels.
 *
 *     c = beta * self + alpha * (a times b, summed over `sums` pairs of matrices)
 *
 * Matrices have any strides. cuBLASLt computes the cases that it supports; our own kernel
 * (replay/backend/cuda/device/linalg) computes all others: integers, few rows or columns, strides
 * without a leading dimension, floats of eight bits and integers whose sizes cuBLASLt refuses. A
 * matmul of complex matrices is four real ones on the same memory. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_PROBLEM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_PROBLEM_H

#include "replay/backend/cuda/runtime/kernel.h"

enum { PRODUCT_BATCH_DIMS = 3 };

/* Strides are in elements; they are 0 if a matrix is used several times. */
struct cuda_matrix {
    uint64_t address; /* 0: none */
    enum dtype dtype;
    int64_t row, column, batch[PRODUCT_BATCH_DIMS];
    bool conj;
};

static inline void cuda_matrix_transpose(struct cuda_matrix *x)
{
    const int64_t row = x->row;
    x->row = x->column;
    x->column = row;
}

/* Factors of a and b, f32 or smaller floats: one, or one for each row of a and column of b. */
struct cuda_scales {
    uint64_t a, b;          /* 0: none */
    int64_t a_step, b_step; /* 0: one for all */
    enum dtype dtype;
    bool fast; /* use_fast_accum */
};

struct cuda_product {
    struct cuda_matrix a, b, c, self;
    /* c = self + scales * (a times b); what c cannot hold becomes its greatest value. */
    bool scaled;
    struct cuda_scales scales;
    int64_t m, n, inner, batch[PRODUCT_BATCH_DIMS]; /* outermost first */
    int64_t sums, a_sum, b_sum;                     /* strides from one pair to the next */
    double alpha, beta;                             /* for integers, whole numbers below 2^53 */
};

void cuda_multiply(struct kernel *k, const struct cuda_product *p);
/* Copies self to c, for a routine that adds to c. */
void cuda_put_self(struct kernel *k, const struct cuda_product *p);
/* Sets the bytes and operations of a matmul as those of the next launch, for the log. */
void cuda_product_traffic(struct kernel *k, const struct cuda_product *p);
/* Multiplies by cuBLASLt with sizes that are padded to multiples of 8. False: that is not faster,
 * or not supported, and c is not written. */
bool cuda_multiply_padded(struct kernel *k, const struct cuda_product *p);

#endif
