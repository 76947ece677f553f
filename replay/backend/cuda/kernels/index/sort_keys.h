/* Keys sorted on the device, stably, and offsets from counts. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SORT_KEYS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_INDEX_SORT_KEYS_H

#include "replay/backend/cuda/runtime/kernel.h"

/* n keys (u32, or u64 where wide) and the numbers of their entries (u32), by the lowest `bits` of
 * the keys; equal keys keep their order. *keys and *order are where they lie afterwards. */
bool cuda_sort_keys(struct kernel *k, uint64_t *keys, uint64_t *order, int64_t n, unsigned bits,
                    bool wide);
/* The places (i64) of n values that lie in order, as they come when sorted, stably; NaN is the
 * greatest. Only of dtypes that cuda_sorts(). */
bool cuda_sorts(enum dtype dtype);
void cuda_sort_places(struct kernel *k, uint64_t from, enum dtype dtype, int64_t n,
                      uint64_t places);
/* n numbers (u32, or i64 where wide) become the sums of those before each; the sum of all is
 * written to `total`, of the same type, if that is not 0. */
void cuda_offsets(struct kernel *k, uint64_t numbers, int64_t n, bool wide, uint64_t total);

#endif
