/* Arguments of kernels for repeat_interleave and bincount. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_COUNT_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_COUNT_H

#include "replay/backend/cuda/device/prologue.h"

enum { COUNT_THREADS = 1024, COUNT_EACH = 8 };

struct repeat_args {
    u64 numbers, to;
    u64 sums;  /* i64 by number: the sum of those before it */
    u64 total; /* i64: the sum of all; u64: how many are below zero */
    i64 n, step;
    i64 length, to_step; /* of the result */
};

struct extremes_args {
    u64 numbers;
    u64 to; /* i64 by block: the greatest; followed by as many least ones */
    i64 n, step;
};

#endif
