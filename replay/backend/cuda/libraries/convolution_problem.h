/* A convolution, for cuDNN and for our own kernels.
 *
 * Input position i = output position * stride - padding + window position * dilation, in each
 * dimension, the last `dims` of CONV_DIMS; the others are 1. A transposed convolution has `in` and
 * `out` exchanged: it computes the gradient of the input of a convolution that is not
 * transposed. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CONVOLUTION_PROBLEM_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CONVOLUTION_PROBLEM_H

#include "replay/backend/cuda/device/conv/conv.h"
#include "replay/backend/cuda/runtime/kernel.h"

/* A tensor; for the weight, `batch` is the output's channels and `channels` the input's of a
 * group. */
struct conv_side {
    enum dtype dtype;
    struct conv_tensor at;
    int64_t batch, channels, size[CONV_DIMS];
};

struct cuda_conv {
    uint32_t dims;
    bool transposed;
    int64_t groups;
    int64_t stride[CONV_DIMS], padding[CONV_DIMS], dilation[CONV_DIMS];
    struct conv_side in, out, weight;
};

/* The tensor that is computed from the other two; PART of
 * replay/backend/cuda/device/conv/conv.cu. */
enum conv_part { CONV_TO_OUTPUT, CONV_TO_INPUT, CONV_TO_WEIGHT };

#endif
