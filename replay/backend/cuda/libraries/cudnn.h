/* Convolutions and attention by cuDNN's backend API.
 *
 *     cudnn.c               the library, plans by problem, execution
 *     cudnn_graph.c         descriptors, graphs of operations
 *     cudnn_engines.c       what heuristics offer, what suits, plans
 *     cudnn_convolution.c   convolutions as graphs; convolution_by_cudnn.c: ours as problems of
 * that kind cudnn_attention.c     attention as graphs; attention_by_cudnn.c: ours as problems of
 * that kind
 *
 * Convolutions of f64, f32, f16 and bf16, contiguous or channels last, of one to three dimensions.
 * Sums are kept in f64 or f32; f32 is not rounded to TF32 unless the backend is told to
 * (backend->tf32; PyTorch's torch.backends.cudnn.allow_tf32 is on by default: its convolutions of
 * f32 may be faster and less exact), and engines that do not give the same bits each time are not
 * taken. Plans are kept by the operation, its dtype, sizes, strides and how pointers are aligned;
 * among several that suit, plan_choice.h tells how one is taken. Attention of f16 and bf16. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_H

#include "replay/backend/cuda/libraries/convolution_problem.h"

struct cudnn;

/* NULL: ERR_ENV, it is not there, too old, switched off, or does not start. */
struct cudnn *cudnn_open(struct err *err);
void cudnn_close(struct cudnn *dnn); /* NULL is fine */

/* Without a bias. False: it does not take this one, and nothing was done. */
bool cudnn_convolve(struct kernel *k, const struct cuda_conv *c, enum conv_part part);

struct cuda_attention; /* attention_problem.h */
/* The same of attention; a->args.logarithms is then where its logarithms lie, in order. */
bool cudnn_attend(struct kernel *k, struct cuda_attention *a);
bool cudnn_attend_back(struct kernel *k, const struct cuda_attention *a);

#endif
