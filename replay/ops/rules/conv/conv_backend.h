/* The backend that a convolution would run on, and the memory format of that backend's results
 * (aten/src/ATen/native/Convolution.cpp and ConvUtils.h). The choice depends on sizes, so it
 * adds guards. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_CONV_CONV_BACKEND_H
#define SYMTAPE_REPLAY_OPS_RULES_CONV_CONV_BACKEND_H

#include "replay/ops/rules/compose.h"

enum { CONV_MAX_SPATIAL = TENSOR_MAX_DIM - 2 };

struct conv {
    struct tensor input, weight, bias;
    uint32_t n; /* spatial dimensions */
    const sym_id *stride, *padding, *dilation, *output_padding;
    bool transposed;
    sym_id groups;
};

enum conv_backend {
    CONV_EMPTY,
    CONV_CUDNN, /* transposed or not */
    CONV_CUDA_DEPTHWISE,
    CONV_MKLDNN,
    CONV_NNPACK,
    CONV_SLOW_2D, /* dilated, transposed or neither */
    CONV_SLOW_3D,
    CONV_OVERRIDEABLE
};

/* Checks the shapes (check_shape_forward). Returns false if the convolution is refused. */
bool conv_check(struct call *c, const struct conv *conv);
/* Takes the convolution as the kernels compute it, with one dimension extended to two. */
enum conv_backend conv_select(struct call *c, const struct conv *conv);
enum memory_format conv_format(struct call *c, const struct conv *conv, enum conv_backend backend);

#endif
