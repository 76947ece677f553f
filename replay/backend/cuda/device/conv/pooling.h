/* Pooling: windows of up to three dimensions over planes. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_POOLING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_POOLING_H

#include "replay/backend/cuda/device/planes.h"

struct pool_args {
    u64 inner,
        outer;   /* tensors of the sizes in[] and out[]: forward reads inner and writes outer */
    u64 indices; /* i64, of the sizes out[]: the position of the greatest element in its plane */
    u64 offsets; /* i8: its position in its window, with padding */
    i64 n, channels; /* n: elements of the result */
    i64 in[PLANE_DIMS], out[PLANE_DIMS];
    i64 window[PLANE_DIMS], stride[PLANE_DIMS], padding[PLANE_DIMS], dilation[PLANE_DIMS];
    i64 inner_stride[PLANE_STRIDES], outer_stride[PLANE_STRIDES], index_stride[PLANE_STRIDES];
    u64 samples; /* fractional: T by batch, channel and dimension */
    i64 sample_stride[3];
    i64 divisor; /* avg: 0: the elements of the window */
    u32 adaptive, count_padding;
};

#endif
