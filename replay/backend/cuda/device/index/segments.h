/* segment_reduce: x is [outer][n][inner]; segments of the middle dimension are given by their
 * bounds. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SEGMENTS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_INDEX_SEGMENTS_H

#include "replay/backend/cuda/device/prologue.h"

enum { SEGMENTS_SUM, SEGMENTS_MEAN, SEGMENTS_PROD, SEGMENTS_MAX, SEGMENTS_MIN };

struct segments_args {
    u64 from, to;
    u64 bounds; /* the starts of segments and the end of the last; with `ends`: the end of each */
    u64 error;
    i64 outer, n, inner, segments;
    i64 per_outer; /* bounds for each of `outer`; 0: they are the same for all */
    f64 initial;
    u32 how, has_initial, ends, unused;
};

#endif
