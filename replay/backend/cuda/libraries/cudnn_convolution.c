#include "replay/backend/cuda/libraries/cudnn_convolution.h"

static void *describe_operation(struct cudnn_graph *g, const struct cudnn_convolution *c)
{
    struct cudnn_builder m = cudnn_make(g->t, CUDNN_CONVOLUTION_OF);
    int32_t compute = c->type == CUDNN_F64 ? CUDNN_F64 : CUDNN_F32, mode = CUDNN_CORRELATE;
    int64_t n = c->places;
    cudnn_set(&m, CONVOLUTION_DIMS, CUDNN_INT64S, 1, &n);
    cudnn_set(&m, CONVOLUTION_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    cudnn_set(&m, CONVOLUTION_MODE, CUDNN_CONVOLUTION_MODES, 1, &mode);
    cudnn_set(&m, CONVOLUTION_PADDING_BEFORE, CUDNN_INT64S, n, c->padding);
    cudnn_set(&m, CONVOLUTION_PADDING_BEHIND, CUDNN_INT64S, n, c->padding);
    cudnn_set(&m, CONVOLUTION_STRIDES, CUDNN_INT64S, n, c->stride);
    cudnn_set(&m, CONVOLUTION_DILATIONS, CUDNN_INT64S, n, c->dilation);
    return cudnn_graph_part(g, &m);
}

void cudnn_graph_convolve(struct cudnn_graph *g, const struct cudnn_convolution *c)
{
    int first = c->operation == CUDNN_FORWARD         ? FORWARD_ALPHA
                : c->operation == CUDNN_BACKWARD_DATA ? BACKWARD_DATA_ALPHA
                                                      : BACKWARD_FILTER_ALPHA;
    const struct cudnn_tensor *tensors[] = { &c->weight, &c->in, &c->out };
    bool wide = c->type == CUDNN_F64;
    float one = 1, zero = 0;
    double one_wide = 1, zero_wide = 0;
    int type = wide ? CUDNN_DOUBLES : CUDNN_FLOATS;
    void *parts[CUDNN_TENSORS], *described;
    for (int i = 0; i < CUDNN_TENSORS; i++)
        parts[i] = cudnn_graph_tensor(g, tensors[i]);
    described = describe_operation(g, c);
    if (!described)
        return;
    struct cudnn_builder m = cudnn_make(g->t, c->operation);
    cudnn_set(&m, first, type, 1, wide ? (const void *)&one_wide : &one);
    cudnn_set(&m, first + 1, type, 1, wide ? (const void *)&zero_wide : &zero);
    cudnn_set(&m, first + 2, CUDNN_DESCRIPTORS, 1, &described);
    for (int i = 0; i < CUDNN_TENSORS; i++)
        cudnn_set(&m, first + 3 + i, CUDNN_DESCRIPTORS, 1, &parts[i]);
    cudnn_graph_operation(g, &m);
}
