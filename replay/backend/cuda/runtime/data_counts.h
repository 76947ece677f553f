/* Counts values on the device, for operators whose results' sizes depend on data.
 *
 * Before the rule of nonzero, unique ... computes its result, the backend counts (cuda_count, the
 * vtable's `count`), and only the count is copied to the host. The intermediate results (the
 * offsets of tiles, the sorted values) are kept until the call is done, and its kernel uses them:
 *
 *     struct cuda_count_result found;
 *     if (cuda_find(k, find_ones, tensor_arg(k, "self"), &found)) ... found.at[0] ...
 *
 * cuda_find() returns the stored results, or counts now if there are none. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DATA_COUNTS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_DATA_COUNTS_H

#include "replay/backend/cuda/runtime/kernel.h"

struct cuda_count_result {
    uint64_t
        at[4]; /* device memory, as each function describes; the first one contains the count */
    int64_t n;
};

/* Counts; declines cases that it does not support. It only launches kernels. */
typedef void cuda_find_fn(struct kernel *k, struct kernel_tensor x, struct cuda_count_result *ret);
bool cuda_find(struct kernel *k, cuda_find_fn *find, struct kernel_tensor x,
               struct cuda_count_result *ret);

/* Counts elements that are not zero. at[0]: u32, their number; at[1]: u32 by tile
 * (replay/backend/cuda/device/index/select.h), the number before it. */
cuda_find_fn find_ones;
/* Sums numbers. at[0]: i64, the sum, followed by a u64: whether one is below zero; at[1]: i64 by
 * number, the sum of those before it. */
cuda_find_fn find_sums;
/* Finds extremes. at[0]: i64 by block, its greatest number, followed by as many i64, the least
 * ones. n: blocks. */
cuda_find_fn find_extremes;
/* Finds distinct values (along the dimension in the arguments of `call`). at[0]: u32, their number;
 * at[1]: u32 by sorted position, how many begin before it; at[2]: the sorted values or 0; at[3]:
 * i64, their indices; 0: they are in order. */
cuda_find_fn find_distinct;

#endif
