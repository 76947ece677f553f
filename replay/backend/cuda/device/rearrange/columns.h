/* Windows of an image as columns (im2col), and columns summed to an image (col2im). */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_COLUMNS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_REARRANGE_COLUMNS_H

#include "replay/backend/cuda/device/planes.h"

enum { COLUMN_STRIDES = 3 }; /* batch; row: channel and position in the window; window */

struct columns_args {
    u64 image, columns;
    i64 n, channels; /* n: elements of the result */
    i64 image_stride[PLANE_STRIDES], column_stride[COLUMN_STRIDES];
    i64 size[2], window[2], windows[2]; /* of the image; of a window; the number of windows */
    i64 stride[2], padding[2], dilation[2];
};

#endif
