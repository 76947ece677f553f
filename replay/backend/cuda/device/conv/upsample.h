/* Interpolation: planes of one to three dimensions under other sizes. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_UPSAMPLE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_UPSAMPLE_H

#include "replay/backend/cuda/device/planes.h"

enum {
    UPSAMPLE_NEAREST,
    UPSAMPLE_NEAREST_EXACT,
    UPSAMPLE_LINEAR,
    UPSAMPLE_CUBIC,
    UPSAMPLE_SMOOTH_LINEAR, /* antialias: a filter as wide as what an output place stands for */
    UPSAMPLE_SMOOTH_CUBIC
};

struct upsample_args {
    u64 in, out;     /* forward from in to out, backward from out to in */
    i64 n, channels; /* elements of what is written */
    i64 in_size[PLANE_DIMS], out_size[PLANE_DIMS];
    i64 in_stride[PLANE_STRIDES], out_stride[PLANE_STRIDES];
    f64 scale[PLANE_DIMS]; /* places of the input to one of the output */
    u32 corners, unused;
};

#endif
