/* Convolutions and attention by cuDNN's backend API.
 *
 *     cudnn.c               the library, plans by problem, execution
 *     cudnn_graph.c         descriptors, graphs of operations
 *     cudnn_engines.c       what heuristics offer, what suits, plans
 *     cudnn_convolution.c   convolutions as graphs
 *     convolution_by_cudnn.c  our convolutions as problems of that kind
 *     cudnn_attention.c     attention as graphs
 *     attention_by_cudnn.c  our attentions as problems of that kind
 *
 * Convolutions of f64, f32, f16 and bf16, contiguous or channels last, of one to three dimensions,
 * with sums in f64 or f32. f32 uses TF32 inputs only if backend->tf32 is set (PyTorch's
 * torch.backends.cudnn.allow_tf32 is on by default, so its convolutions of f32 may be faster and
 * less exact), and engines that are not deterministic are not used. Plans are stored by operation,
 * dtype, sizes, strides and alignment of pointers; plan_choice.h describes the choice among
 * several. Attention of f16 and bf16. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_H

#include "replay/backend/cuda/libraries/convolution_problem.h"

struct cudnn;

/* NULL: ERR_ENV, the library is not found, too old, switched off, or does not start. */
struct cudnn *cudnn_open(struct err *err);
void cudnn_close(struct cudnn *dnn); /* NULL is fine */

/* Convolves without a bias. False: it does not support this problem, and nothing was done. */
bool cudnn_convolve(struct kernel *k, const struct cuda_conv *c, enum conv_part part);

struct cuda_attention; /* attention_problem.h */
/* Does the same for attention; a->args.logarithms is the address of contiguous logarithms. */
bool cudnn_attend(struct kernel *k, struct cuda_attention *a);
bool cudnn_attend_back(struct kernel *k, const struct cuda_attention *a);

#endif
