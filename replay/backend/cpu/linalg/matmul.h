/* Matmuls of real matrices, for other kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_LINALG_MATMUL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_LINALG_MATMUL_H

#include "replay/backend/cpu/kernel.h"

/* Computes c [m, n] += a [m, inner] times b [inner, n], in row-major order; each element's sum has
 * the order of the inner dimension. */
void multiply_matrices(const double *a, const double *b, double *c, int64_t m, int64_t n,
                       int64_t inner);
/* Does the same for a batch of contiguous matrices, on all threads. */
void multiply_batches(struct kernel *k, const double *a, const double *b, double *c, int64_t batch,
                      int64_t m, int64_t n, int64_t inner);

#endif
