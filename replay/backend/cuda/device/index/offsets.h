/* Exclusive prefix sums: the offsets at which counted elements begin. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_OFFSETS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_OFFSETS_H

#include "replay/backend/cuda/device/prologue.h"

enum {
    OFFSETS_THREADS = 256,
    OFFSETS_EACH = 8,
    OFFSETS_TILE = OFFSETS_THREADS * OFFSETS_EACH,
    OFFSETS_ONE = 1 << 16
}; /* of a block */

struct offsets_args {
    u64 numbers; /* replaced by their offsets */
    u64 sums;    /* of each tile */
    i64 n;
    u64 total; /* the address for the sum of all; 0: none */
};

#endif
