/* Tensors as replay/backend/cuda/device/planes.h sees them. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_PLANES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_PLANES_H

#include "replay/backend/cuda/device/planes.h"
#include "replay/backend/cuda/kernels/strided.h"

/* Batch, channel and the operator's own `dims` dimensions, behind ones; strides of ones are 0.
 * False: it has others. Both of PLANE_STRIDES. */
bool planes_of(struct kernel *k, struct kernel_tensor x, uint32_t dims, i64 *size, i64 *stride);
/* An operator's numbers, one a dimension or one for all: those of its `dims` dimensions, behind
 * `plain`; where it gives none, `otherwise`, or `plain` again. */
void plane_numbers(const struct kernel *k, const char *name, uint32_t dims, i64 *ret,
                   const i64 *otherwise, int64_t plain);
/* Elements that the widest of these reaches: what I is chosen by. */
int64_t planes_reach(const struct kernel_tensor *x, uint32_t n);

#endif
