/* Sorts keys on the device, stably, and computes offsets from counts. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SORT_KEYS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SORT_KEYS_H

#include "replay/backend/cuda/runtime/kernel.h"

/* Sorts n keys (u32, or u64 if wide) and the numbers of their entries (u32) by the lowest `bits` of
 * the keys; equal keys keep their order. Returns the sorted arrays in *keys and *order. */
bool cuda_sort_keys(struct kernel *k, uint64_t *keys, uint64_t *order, int64_t n, unsigned bits,
                    bool wide);
/* Returns the stable order (i64 indices) of n contiguous values; NaN is the greatest. Requires a
 * dtype that cuda_sorts(). */
bool cuda_sorts(enum dtype dtype);
void cuda_sort_places(struct kernel *k, uint64_t from, enum dtype dtype, int64_t n,
                      uint64_t places);
/* Replaces n numbers (u32, or i64 if wide) by the sums of those before each. If `total` is not 0,
 * the sum of all, of the same type, is written there. */
void cuda_offsets(struct kernel *k, uint64_t numbers, int64_t n, bool wide, uint64_t total);

#endif
