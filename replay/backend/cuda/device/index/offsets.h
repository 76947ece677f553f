/* Sums of all numbers before each: where what they count begins. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_OFFSETS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_OFFSETS_H

#include "replay/backend/cuda/device/prologue.h"

enum {
    OFFSETS_THREADS = 256,
    OFFSETS_EACH = 8,
    OFFSETS_TILE = OFFSETS_THREADS * OFFSETS_EACH,
    OFFSETS_ONE = 1 << 16
}; /* so many are one block's */

struct offsets_args {
    u64 numbers; /* become their offsets */
    u64 sums;    /* of each tile */
    i64 n;
    u64 total; /* the sum of all is written there; 0: it is not */
};

#endif
