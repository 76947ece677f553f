/* Arguments of scan.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_SCAN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_SCAN_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

/* Tensors: the input, the values, the indices. cols: the only dimension. */
struct scan_args {
    struct span rows, cols;
    u64 from, to, places; /* places: of extremes */
    u64 partial;          /* struct state [rows][splits] */
    i64 chunk, splits;
    struct team_shape team;
};

#endif
