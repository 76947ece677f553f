/* What is found in tensors' values on the device, where results' sizes depend on it.
 *
 * Before the rule of nonzero, unique ... says what comes out, the backend counts (cuda_count, the
 * vtable's `count`); only that number comes back to the host. What it took to count (the offsets of
 * the tiles, the sorted values) stays until the call is done, whose kernel goes on from there:
 *
 *     struct cuda_found found;
 *     if (cuda_find(k, find_ones, tensor_arg(k, "self"), &found)) ... found.at[0] ...
 *
 * A kernel asks by cuda_find() whether it was counted before or not: otherwise it is done then. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DATA_COUNTS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DATA_COUNTS_H

#include "replay/backend/cuda/runtime/kernel.h"

struct cuda_found {
    uint64_t at[4]; /* device memory, as each function says; the first one has what was counted */
    int64_t n;
};

/* Works it out; declines what it does not know. Launches only. */
typedef void cuda_find_fn(struct kernel *k, struct kernel_tensor x, struct cuda_found *ret);
bool cuda_find(struct kernel *k, cuda_find_fn *find, struct kernel_tensor x,
               struct cuda_found *ret);

/* Elements that are not zero: at[0]: u32, how many; at[1]: u32 by tile
 * (replay/backend/cuda/device/index/select.h), how many are before it. */
cuda_find_fn find_ones;
/* Numbers' sum: at[0]: i64, and behind it a u64: whether one is below zero; at[1]: i64 by number:
 * the sum of those before it. */
cuda_find_fn find_sums;
/* at[0]: i64 by block, the greatest number of each; then as many i64, the least ones. n: blocks. */
cuda_find_fn find_extremes;
/* Values that differ (of `call`'s own arguments, which say along which dimension): at[0]: u32, how
 * many; at[1]: u32 by place in order, how many begin before it; at[2]: the values or 0, at[3]: i64,
 * where each was; 0: where it is. */
cuda_find_fn find_distinct;

#endif
