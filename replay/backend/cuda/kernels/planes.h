/* Tensors as replay/backend/cuda/device/planes.h describes them. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_PLANES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_PLANES_H

#include "replay/backend/cuda/device/planes.h"
#include "replay/backend/cuda/kernels/strided.h"

/* Returns the sizes and strides (both PLANE_STRIDES) of batch, channel and the operator's own
 * `dims` dimensions, after dimensions of size 1 and stride 0. False: it has other dimensions. */
bool planes_of(struct kernel *k, struct kernel_tensor x, uint32_t dims, i64 *size, i64 *stride);
/* Returns an operator's numbers, one for each dimension or one for all, for its `dims` dimensions
 * after `fill`; if it has none, `otherwise`, or `fill` again. */
void plane_numbers(const struct kernel *k, const char *name, uint32_t dims, i64 *ret,
                   const i64 *otherwise, int64_t fill);
/* Returns the elements of the tensor with the greatest extent, which determines the type I. */
int64_t planes_reach(const struct kernel_tensor *x, uint32_t n);

#endif
