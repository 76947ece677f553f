/* Products of matrices, for the operators that are made of one.
 *
 *     c = beta * self + alpha * (a times b, summed over `sums` pairs of matrices)
 *
 * Matrices lie by any strides. cuBLASLt computes what it takes; a plain kernel
 * (replay/backend/cuda/device/linalg/matmul.cu) everything else: integers, a few rows or columns,
 * strides that no leading dimension tells. A product of complex matrices is four of real ones over
 * the same memory. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_PROBLEM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_PROBLEM_H

#include "replay/backend/cuda/runtime/kernel.h"

enum { PRODUCT_BATCH_DIMS = 3 };

/* Strides in elements; 0 where a matrix stands for several. */
struct cuda_matrix {
    uint64_t address; /* 0: none */
    enum dtype dtype;
    int64_t row, column, batch[PRODUCT_BATCH_DIMS];
    bool conj;
};

struct cuda_product {
    struct cuda_matrix a, b, c, self;
    int64_t m, n, inner, batch[PRODUCT_BATCH_DIMS]; /* outermost first */
    int64_t sums, a_sum, b_sum;                     /* strides from one pair to the next */
    double alpha, beta;                             /* of integers, whole numbers below 2^53 */
};

void cuda_multiply(struct kernel *k, const struct cuda_product *p);
/* c = self: for a routine that adds to what lies there. */
void cuda_put_self(struct kernel *k, const struct cuda_product *p);

#endif
