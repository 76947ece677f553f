/* Arguments of kernels that read planes at the positions of a grid. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_GRID_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_GRID_H

#include "replay/backend/cuda/device/planes.h"

enum { GRID_LINEAR, GRID_NEAREST, GRID_CUBIC };    /* interpolation_mode */
enum { GRID_ZEROS, GRID_BORDER, GRID_REFLECTION }; /* padding_mode */
enum { GRID_STRIDES = 5 };                         /* batch, the three dimensions, coordinate */

struct grid_args {
    u64 x, grid, out;  /* out: in backward its gradient */
    u64 to_x, to_grid; /* backward */
    i64 n, channels;   /* n: elements that threads iterate over */
    i64 in_size[PLANE_DIMS], out_size[PLANE_DIMS];
    i64 in_stride[PLANE_STRIDES], out_stride[PLANE_STRIDES], grid_stride[GRID_STRIDES];
    i64 to_x_stride[PLANE_STRIDES], to_grid_stride[GRID_STRIDES];
};

#endif
