/* The order of dimensions that results inherit (torch/_prims_common/__init__.py), in parts: what
 * empty_like and TensorIterator need beyond layout.h. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_STRIDES_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_STRIDES_H

#include "replay/ops/layout/layout.h"

/* compute_elementwise_output_logical_to_physical_perm: perm[i] is the dimension that lies i-th from
 * outside. The rank; 0 for nothing but 0-dim CPU tensors. */
uint32_t elementwise_permutation(struct call *c, const struct tensor *x, uint32_t n,
                                 uint32_t *perm);
/* torch.empty_permuted's. */
void permuted_strides(struct call *c, const sym_id *sizes, uint32_t n, const uint32_t *perm,
                      sym_id *strides);
/* empty_like with memory_format=preserve_format: of torch/_refs, or eager. */
void like_strides(struct call *c, struct tensor x, sym_id *strides);

/* TensorIterator's output strides for plain sizes (aten/src/ATen/TensorIterator.cpp: its fast
 * set-up, else reorder_dimensions): x are the inputs, which broadcast to sizes, n_dim of them. */
void iterator_strides(struct call *c, const struct tensor *x, uint32_t n, const sym_id *sizes,
                      uint32_t ndim, sym_id *strides);

#endif
