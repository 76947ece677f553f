/* Values combined where indices say, or keys, for kernels that write their keys themselves. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SCATTER_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SCATTER_H

#include "replay/backend/call/combine.h"
#include "replay/backend/cuda/kernels/index/indexing.h"

struct scattered {
    struct indexing ix; /* x: the result, which holds what was there */
    struct kernel_tensor values;
    enum combine how;
    bool include_self;
    double alpha; /* what values are multiplied by, where they are added */
};

/* Declines what it does not take, before anything is launched by it. */
void scatter_entries(struct kernel *k, struct scattered *s);

struct keyed {
    struct kernel_tensor to, values;
    const struct strided_set *set; /* the entries, merged; its tensor 0 is `values` */
    uint64_t keys, order;          /* u32 by entry: element of `to`, and the entry's own number */
    int64_t limit;                 /* the key of what goes nowhere */
};

/* Room for keys and order. False: failed or declined. */
bool keyed_room(struct kernel *k, struct keyed *keyed);
/* Entries of one key are added in their order to what is there. */
void keyed_add(struct kernel *k, struct keyed *keyed);

#endif
