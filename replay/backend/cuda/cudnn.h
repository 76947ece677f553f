/* Convolutions by cuDNN's backend API.
 *
 * f64, f32, f16 and bf16, contiguous or channels last, of one to three dimensions. Sums are kept in
 * f64 or f32; f32 is not rounded to TF32, so that results agree with the reference (PyTorch's
 * torch.backends.cudnn.allow_tf32 allows it by default: its convolutions of f32 may be faster and
 * less exact), and engines that do not give the same bits each time are not taken. Plans are kept by
 * the operation, its dtype, sizes, strides and how pointers are aligned. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_CUDNN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_CUDNN_H

#include "replay/backend/cuda/convolution.h"

struct cudnn;

/* NULL: ERR_ENV, it is not there, too old, switched off, or does not start. */
struct cudnn *cudnn_open(struct err *err);
void cudnn_close(struct cudnn *dnn); /* NULL is fine */

/* Without a bias. False: it does not take this one, and nothing was done. */
bool cudnn_convolve(struct kernel *k, const struct cuda_conv *c, enum conv_part part);

#endif
