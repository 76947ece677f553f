/* Products of real matrices, for kernels that are made of them. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_LINALG_MATMUL_H
#define SYMTAPE_REPLAY_BACKEND_CPU_LINALG_MATMUL_H

#include "replay/backend/cpu/kernel.h"

/* c [m, n] += a [m, inner] times b [inner, n], row after row; each element's sum goes in the order
 * of the inner dimension. */
void multiply_matrices(const double *a, const double *b, double *c, int64_t m, int64_t n,
                       int64_t inner);
/* The same for each of a batch, one behind the other, on as many threads as there are. */
void multiply_batches(struct kernel *k, const double *a, const double *b, double *c, int64_t batch,
                      int64_t m, int64_t n, int64_t inner);

#endif
