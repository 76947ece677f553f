/* Arguments of replay/backend/cuda/device/conv/conv.cu. Strides in elements; the places of dims
 * that are not there are 1. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_CONV_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_CONV_H

#include "replay/backend/cuda/device/prologue.h"

enum { CONV_DIMS = 3 };

struct conv_tensor {
    u64 p;
    i64 batch, channel, place[CONV_DIMS]; /* of the weight: output channel, input channel, window */
};

/* Input place i = output place * stride - padding + window place * dilation, by dimension. A
 * transposed convolution has input and output swapped. */
struct conv_args {
    struct conv_tensor in, out, weight;
    u64 bias;                               /* of what is computed, contiguous; 0: none */
    i64 batch, groups, in_group, out_group; /* channels of a group */
    i64 in_size[CONV_DIMS], out_size[CONV_DIMS], window[CONV_DIMS];
    i64 stride[CONV_DIMS], padding[CONV_DIMS], dilation[CONV_DIMS];
    /* as a product [m, inner] times [inner, n] for each group */
    i64 m, n, inner, row_tiles, column_tiles;
    i64 splits, split; /* of the inner dimension, elements of each; sums go to `part` */
    u64 part;          /* [splits, groups, m, n] of ACC; 0: one split, straight to the result */
};

/* The bias added to an output, and its gradient from that of the output. */
struct conv_bias_args {
    struct conv_tensor out;
    u64 to; /* the bias or its gradient, contiguous */
    i64 batch, channels, out_size[CONV_DIMS];
};

#endif
