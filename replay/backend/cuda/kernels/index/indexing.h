/* What an operator's indices say, the same for all of them: entries in their order, each with a
 * place in x that is so much by its own coordinates and so much by what stands in index tensors. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_INDEXING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_INDEXING_H

#include "replay/backend/cuda/device/index/index.h"
#include "replay/backend/cuda/kernels/strided.h"

/* Tensors of the set. */
enum { INDEXED_ENTRIES, INDEXED_X, INDEXED_MASK, INDEXED_FIRST };

struct indexing {
    struct strided_set set;       /* sizes: of the entries */
    struct kernel_tensor x, mask; /* mask.meta NULL: none */
    struct kernel_tensor tensor[INDEX_MAX_TENSORS];
    int64_t bound[INDEX_MAX_TENSORS], step[INDEX_MAX_TENSORS];
    uint32_t n_tensors;
    bool clamp, has_skip;
    int64_t skip;
};

/* x[.., index, ..] along dim: x's sizes with the indices' in the place of one. */
void index_rows(struct kernel *k, struct indexing *ix, struct kernel_tensor x,
                struct kernel_tensor index, uint32_t dim);
/* gather's: as many entries as there are indices, each along dim. */
void index_along(struct kernel *k, struct indexing *ix, struct kernel_tensor x,
                 struct kernel_tensor index, uint32_t dim);
/* take's: places in x as if it had one dimension; x is contiguous. */
void index_flat(struct kernel *k, struct indexing *ix, struct kernel_tensor x,
                struct kernel_tensor index);
/* Places that a view of x has: no indices. */
void index_of_view(struct kernel *k, struct indexing *ix, struct kernel_tensor x,
                   struct kernel_tensor view);
/* x[indices], by the call's `indices`: tensors and None. False: failed or declined. */
bool index_by_list(struct kernel *k, struct indexing *ix, struct kernel_tensor x);

/* The entries' own tensor, of their sizes (before any is merged); then the mask, if there is one.
 */
void index_entries(struct kernel *k, struct indexing *ix, struct kernel_tensor entries);
/* Fills in what a kernel is given, but for addresses of entries. The set is merged before. False:
 * failed or declined. */
bool index_give(struct kernel *k, const struct indexing *ix, struct index_args *args);

#endif
