/* Arguments of softmax.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_SOFTMAX_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REDUCE_SOFTMAX_H

#include "replay/backend/cuda/device/span.h"
#include "replay/backend/cuda/device/team.h"

/* Tensors of the spans: the first input, the second one, the result. */
struct softmax_args {
    struct span rows, cols; /* cols: the only dimension */
    u64 from, other, to;
    struct team_shape team;
    u32 kept; /* rows of inputs fit in shared memory, so that they are read once */
};

#endif
