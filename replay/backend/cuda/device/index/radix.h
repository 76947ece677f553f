/* A stable radix sort of keys with the numbers of their entries, eight bits at a time. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_RADIX_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_RADIX_H

#include "replay/backend/cuda/device/prologue.h"

enum {
    RADIX_THREADS = 256,
    RADIX_ROUNDS = 8,
    RADIX_TILE = RADIX_THREADS * RADIX_ROUNDS,
    RADIX_DIGITS = 256
};

struct radix_args {
    u64 keys, order, to_keys, to_order; /* keys: K; order: u32 */
    u64 counts; /* u32 [RADIX_DIGITS][blocks]; after the scan, the first position of each block's */
    i64 n;
    u32 shift, unused;
};

#endif
