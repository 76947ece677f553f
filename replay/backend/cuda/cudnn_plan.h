/* Convolutions as cuDNN's backend API describes them: descriptors, a heuristic's choice, a plan. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_CUDNN_PLAN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_CUDNN_PLAN_H

#include <stdbool.h>

#include "replay/backend/cuda/cudnn_abi.h"

enum { CUDNN_PLACES = 3, CUDNN_DIMS = CUDNN_PLACES + 2, CUDNN_TENSORS = 3 };

/* Strides in elements; batch (of a weight: output channels), channels, places. */
struct cudnn_tensor {
    int64_t size[CUDNN_DIMS], stride[CUDNN_DIMS];
    int64_t alignment; /* bytes */
};

/* Everything that a plan depends on: compared by its bytes. */
struct cudnn_problem {
    struct cudnn_tensor weight, in, out;
    int64_t stride[CUDNN_PLACES], padding[CUDNN_PLACES], dilation[CUDNN_PLACES];
    int32_t type, places, operation, unused; /* operation: CUDNN_FORWARD and its like */
};

/* In the order of `struct cudnn_problem`. */
enum { CUDNN_WEIGHT_ID = 1, CUDNN_IN_ID, CUDNN_OUT_ID };

/* The operation's descriptor alone, which needs no device; NULL: *status tells why. The tensors and
 * the convolution are given back to `parts`, to be dropped behind it. */
void *cudnn_operation(const struct cudnn_table *t, const struct cudnn_problem *p,
                      void *parts[CUDNN_TENSORS + 1], int *status);
/* The first engine of the heuristic that gives repeatable results of full precision, within `most`
 * bytes of room. NULL: none takes it; *status is the last answer. */
void *cudnn_plan(const struct cudnn_table *t, void *handle, const struct cudnn_problem *p,
                 int64_t most, int64_t *room, int *status);

#endif
