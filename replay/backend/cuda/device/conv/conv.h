/* Arguments of replay/backend/cuda/device/conv/conv.cu and depthwise.cu. Strides are in elements;
 * sizes of missing dimensions are 1. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_CONV_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_CONV_H

#include "replay/backend/cuda/device/prologue.h"

enum { CONV_DIMS = 3 };
/* Outputs of a thread of replay/backend/cuda/device/conv/depthwise.cu. */
enum { DEPTHWISE_OUTS = 4 };

struct conv_tensor {
    u64 p;
    i64 batch, channel, place[CONV_DIMS]; /* of the weight: output channel, input channel, window */
};

/* Input position i = output position * stride - padding + window position * dilation, in each
 * dimension. A transposed convolution has input and output exchanged. */
struct conv_args {
    struct conv_tensor in, out, weight;
    u64 bias;                               /* of the result, contiguous; 0: none */
    i64 batch, groups, in_group, out_group; /* channels of a group */
    i64 in_size[CONV_DIMS], out_size[CONV_DIMS], window[CONV_DIMS];
    i64 stride[CONV_DIMS], padding[CONV_DIMS], dilation[CONV_DIMS];
    /* the matmul [m, inner] times [inner, n] for each group */
    i64 m, n, inner, row_tiles, column_tiles;
    i64 splits, split; /* splits of the inner dimension and the elements of each; their sums are in
                          `part` */
    u64 part; /* [splits, groups, m, n] of ACC; 0: there is one split, which writes the result */
};

/* The bias that is added to an output, and its gradient. */
struct conv_bias_args {
    struct conv_tensor out;
    u64 to; /* the bias or its gradient, contiguous */
    i64 batch, channels, out_size[CONV_DIMS];
};

#endif
