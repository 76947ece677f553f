/* Interpolation of planes of one to three dimensions to other sizes. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_UPSAMPLE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_UPSAMPLE_H

#include "replay/backend/cuda/device/planes.h"

enum {
    UPSAMPLE_NEAREST,
    UPSAMPLE_NEAREST_EXACT,
    UPSAMPLE_LINEAR,
    UPSAMPLE_CUBIC,
    UPSAMPLE_SMOOTH_LINEAR, /* antialias: the filter covers the area of an output position */
    UPSAMPLE_SMOOTH_CUBIC
};

struct upsample_args {
    u64 in, out;     /* forward reads in and writes out, backward the opposite */
    i64 n, channels; /* n: elements of the result */
    i64 in_size[PLANE_DIMS], out_size[PLANE_DIMS];
    i64 in_stride[PLANE_STRIDES], out_stride[PLANE_STRIDES];
    f64 scale[PLANE_DIMS]; /* positions of the input per position of the output */
    u32 corners, unused;
};

#endif
