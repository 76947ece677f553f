/* The indices of an operator in one form for all operators: entries in order, each with a position
 * in x that is the sum of a part for its coordinates and a part from index tensors. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_INDEXING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_INDEXING_H

#include "replay/backend/cuda/device/index/index.h"
#include "replay/backend/cuda/kernels/strided.h"

/* The tensors of the set. */
enum { INDEXED_ENTRIES, INDEXED_X, INDEXED_MASK, INDEXED_FIRST };

struct indexed_access {
    struct strided_set set;       /* sizes: those of the entries */
    struct kernel_tensor x, mask; /* mask.meta NULL: none */
    struct kernel_tensor tensor[INDEX_MAX_TENSORS];
    int64_t bound[INDEX_MAX_TENSORS], step[INDEX_MAX_TENSORS];
    uint32_t n_tensors;
    bool clamp, has_skip;
    int64_t skip;
    struct cuda_live live; /* the number of entries that have keys; .at 0: all */
};

/* x[.., index, ..] along dim: the entries have x's sizes with those of the index instead of one. */
void index_rows(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                struct kernel_tensor index, uint32_t dim);
/* gather: as many entries as there are indices, along dim. */
void index_along(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                 struct kernel_tensor index, uint32_t dim);
/* take: positions in x as if it had one dimension; x is contiguous. */
void index_flat(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                struct kernel_tensor index);
/* The positions of a view of x, without indices. */
void index_of_view(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x,
                   struct kernel_tensor view);
/* x[indices], with the call's `indices`: tensors and None. False: failed or declined. */
bool index_by_list(struct kernel *k, struct indexed_access *ix, struct kernel_tensor x);

/* select.c: x[mask], where the mask has the sizes of x. */
void select_masked(struct kernel *k, struct kernel_tensor x, struct kernel_tensor mask,
                   struct kernel_tensor to);

/* Adds the entries' tensor, with their sizes (before any are merged), and then the mask, if there
 * is one. */
void index_entries(struct kernel *k, struct indexed_access *ix, struct kernel_tensor entries);
/* Sets a kernel's arguments except for addresses of entries. The set must be merged. False: failed
 * or declined. */
bool index_give(struct kernel *k, const struct indexed_access *ix, struct index_args *args);

#endif
