/* An attention problem, for cuDNN and for our own kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_ATTENTION_PROBLEM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_ATTENTION_PROBLEM_H

#include "replay/backend/cuda/device/attention/attention.h"
#include "replay/backend/cuda/runtime/kernel.h"

struct cuda_attention {
    struct attention_args args;
    enum dtype dtype, bias_dtype, log_dtype, bounds_dtype;
    int bias; /* BIAS of the text: 0: none, 1: added, 2: a boolean mask */
};

#endif
