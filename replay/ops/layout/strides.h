/* The order of dimensions that results inherit (torch/_prims_common/__init__.py), for empty_like
 * and TensorIterator, which need more than layout.h. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_STRIDES_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_STRIDES_H

#include "replay/ops/layout/layout.h"

/* compute_elementwise_output_logical_to_physical_perm: perm[i] is the i-th dimension from outside.
 * Returns the rank; 0 when all are 0-dim CPU tensors. */
uint32_t elementwise_permutation(struct call *c, const struct tensor *x, uint32_t n,
                                 uint32_t *perm);
/* The strides of torch.empty_permuted. */
void permuted_strides(struct call *c, const sym_id *sizes, uint32_t n, const uint32_t *perm,
                      sym_id *strides);
/* empty_like with memory_format=preserve_format, of torch/_refs or of eager PyTorch. */
void like_strides(struct call *c, struct tensor x, sym_id *strides);

/* TensorIterator's output strides for sizes without symbols (aten/src/ATen/TensorIterator.cpp:
 * its fast set-up, else reorder_dimensions): x are the inputs, which broadcast to sizes, n_dim of
 * them. */
void iterator_strides(struct call *c, const struct tensor *x, uint32_t n, const sym_id *sizes,
                      uint32_t ndim, sym_id *strides);

#endif
