/* Scaled dot product attention as a graph of cuDNN's operations.
 *
 * cuDNN knows attention by its pattern: products, pointwise operations and reductions in the order
 * that its documentation gives ("Graph patterns", fused flash attention fprop and bprop), with all
 * between them virtual. One operation that stands for all of it came with 9.13 and takes no mask
 * before 9.21, so the pattern it is. f16 and bf16; sums in f32. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ATTENTION_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ATTENTION_H

#include "replay/backend/cuda/libraries/cudnn_graph.h"

/* Tensors of a problem, which are the pointers of its pack: [batch, heads, rows, columns]. */
enum cudnn_attention_part {
    ATTENTION_Q,
    ATTENTION_K,
    ATTENTION_V,
    ATTENTION_OUT,
    ATTENTION_STATS, /* logarithms of sums of exponents, f32, [batch, heads, rows, 1] */
    ATTENTION_BIAS,
    ATTENTION_GRAD_OUT,
    ATTENTION_GRAD_Q,
    ATTENTION_GRAD_K,
    ATTENTION_GRAD_V,
    ATTENTION_SUMS,   /* of the backward: f32, as the stats; written by the graph */
    ATTENTION_SCALE,  /* a number of the host's, f32 */
    ATTENTION_MASKED, /* the same: what stands where nothing is seen */
    ATTENTION_ONE,    /* the same, of the backward: what dropout would scale by */
    ATTENTION_PARTS
};

/* Everything that a plan depends on: compared by its bytes. Parts without dimensions are not there.
 */
struct cudnn_attention {
    struct cudnn_tensor part[ATTENTION_PARTS];
    int32_t type, causal, backward, unused;
};

static inline int64_t cudnn_attention_id(enum cudnn_attention_part part)
{
    return 1 + (int64_t)part;
}

/* Adds the operations to the graph. */
void cudnn_graph_attend(struct cudnn_graph *g, const struct cudnn_attention *a);

#endif
