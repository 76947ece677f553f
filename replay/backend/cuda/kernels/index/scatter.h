/* Combines values at indices, or at keys for kernels that compute their own keys. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SCATTER_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SCATTER_H

#include "replay/backend/call/combine.h"
#include "replay/backend/cuda/kernels/index/indexing.h"

struct scattered {
    struct indexed_access ix; /* x: the result, which contains the previous values */
    struct kernel_tensor values;
    enum combine how;
    bool include_self;
    bool overlaps; /* rows of the view share elements, so each element is an entry */
    double alpha;  /* multiplies values that are added */
};

/* Combines the entries. It declines before it launches anything. */
void scatter_entries(struct kernel *k, struct scattered *s);

struct keyed_entries {
    struct kernel_tensor to, values;
    const struct strided_set *set; /* the entries, merged; its tensor 0 is `values` */
    uint64_t keys, order;          /* u32 by entry: an element of `to`, and the entry's number */
    int64_t limit;                 /* the key of entries that are not used */
};

/* Allocates keys and order. False: failed or declined. */
bool keyed_workspace(struct kernel *k, struct keyed_entries *keyed);
/* Adds the entries of each key, in their order, to the previous value. */
void keyed_add(struct kernel *k, struct keyed_entries *keyed);

#endif
