/* Convolutions that are computed in special ways. Private to this folder.
 *
 * Each returns false if the convolution is not of its kind; nothing is launched then. The bias is
 * contiguous, and added; 0: none. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_CONV_CONV_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_KERNELS_CONV_CONV_H

#include "replay/backend/cuda/libraries/convolution_problem.h"

/* The arguments of replay/backend/cuda/device/conv/conv.cu, without splits. */
struct conv_args conv_args_of(const struct cuda_conv *c, enum conv_part part, uint64_t bias);

/* Outputs of depthwise convolutions, by a kernel of our own. */
bool conv_depthwise(struct kernel *k, const struct cuda_conv *c, enum conv_part part,
                    uint64_t bias);
/* Outputs and gradients of inputs where the window is one position and each position is used:
 * matmuls of channels. */
bool conv_by_matmul(struct kernel *k, const struct cuda_conv *c, enum conv_part part,
                    uint64_t bias);

#endif
