/* Arguments of nll.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LOSS_NLL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LOSS_NLL_H

#include "replay/backend/cuda/device/span.h"

/* Forward: the span of the targets; tensors: targets, inputs without their classes, losses.
 * Backward: the span of the inputs; tensors: the result, targets, gradients, classes (whose numbers
 * are its offsets). */
struct nll_args {
    struct span span;
    u64 x, target, to, grad;
    u64 weight;          /* of the classes; 0: all are 1 */
    u64 losses, weights; /* ACC, contiguous; 0: not requested */
    u64 total;           /* the divisor of means; 0: none */
    u64 error;
    i64 classes, class_step, weight_step, ignore;
};

#endif
