/* Boxes of images, each divided into bins of one size (torchvision's roi_align). */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_REGIONS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_CONV_REGIONS_H

#include "replay/backend/cuda/device/planes.h"

enum { REGION_NUMBERS = 5 }; /* a row: image, x1, y1, x2, y2 */

struct regions_args {
    u64 images, bins, rois; /* forward reads images and writes bins, backward the opposite */
    u64 error;
    i64 n, regions, channels, n_images; /* n: elements of the result */
    i64 size[2], pooled[2];             /* of an image, of a region's bins */
    i64 image_stride[PLANE_STRIDES], bin_stride[PLANE_STRIDES], roi_stride[2];
    i64 ratio; /* samples of a bin in each dimension; 0 or less: as many as it has pixels */
    f64 scale;
    u32 aligned, unused;
};

#endif
