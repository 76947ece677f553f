/* Convolutions as graphs of cuDNN's backend API. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_CONVOLUTION_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_CONVOLUTION_H

#include "replay/backend/cuda/libraries/cudnn_graph.h"

enum { CUDNN_PLACES = CUDNN_DIMS - 2, CUDNN_TENSORS = 3 };

/* All properties that a plan depends on, compared by its bytes. Tensors are [batch, channels,
 * positions], a weight [output channels, channels, positions]. */
struct cudnn_convolution {
    struct cudnn_tensor weight, in, out;
    int64_t stride[CUDNN_PLACES], padding[CUDNN_PLACES], dilation[CUDNN_PLACES];
    int32_t type, places, operation, exact; /* operation: CUDNN_FORWARD and similar ones */
};

/* In the order of `struct cudnn_convolution`. */
enum { CUDNN_WEIGHT_ID = 1, CUDNN_IN_ID, CUDNN_OUT_ID };

/* Adds the operation to the graph. */
void cudnn_graph_convolve(struct cudnn_graph *g, const struct cudnn_convolution *c);

#endif
