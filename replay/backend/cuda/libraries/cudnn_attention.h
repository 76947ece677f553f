/* Scaled dot product attention as a graph of cuDNN's operations.
 *
 * cuDNN recognises attention by a pattern: matmuls, pointwise operations and reductions in the
 * order of its documentation ("Graph patterns", fused flash attention fprop and bprop), with
 * virtual tensors between them. The single operation for attention exists since 9.13 but supports
 * masks only since 9.21, so the pattern is used. f16 and bf16; sums in f32. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ATTENTION_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_CUDNN_ATTENTION_H

#include "replay/backend/cuda/libraries/cudnn_graph.h"

/* The tensors of a problem, [batch, heads, rows, columns], in the order of its pointers. */
enum cudnn_attention_part {
    ATTENTION_Q,
    ATTENTION_K,
    ATTENTION_V,
    ATTENTION_OUT,
    ATTENTION_STATS, /* logarithms of sums of exponentials, f32, [batch, heads, rows, 1] */
    ATTENTION_BIAS,
    ATTENTION_GRAD_OUT,
    ATTENTION_GRAD_Q,
    ATTENTION_GRAD_K,
    ATTENTION_GRAD_V,
    ATTENTION_SUMS,   /* of the backward: f32, shaped as the stats, written by the graph */
    ATTENTION_SCALE,  /* a number on the host, f32 */
    ATTENTION_MASKED, /* the same: the value of masked scores */
    ATTENTION_ONE,    /* the same, of the backward: the scale of dropout */
    ATTENTION_PARTS
};

/* All properties that a plan depends on, compared by its bytes. Absent parts have no dimensions. */
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
