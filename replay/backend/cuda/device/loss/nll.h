/* Arguments of nll.cu's kernels. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LOSS_NLL_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_LOSS_NLL_H

#include "replay/backend/cuda/device/span.h"

/* Forward: span of the targets; tensors: targets, inputs without their classes, losses.
 * Backward: span of the inputs; tensors: the result, targets, gradients, classes (their numbers are
 * its offsets). */
struct nll_args {
    struct span span;
    u64 x, target, to, grad;
    u64 weight;          /* of the classes; 0: 1 each */
    u64 losses, weights; /* ACC, in order; 0: not wanted */
    u64 total;           /* what means divide by; 0: nothing */
    u64 error;
    i64 classes, class_step, weight_step, ignore;
};

#endif
