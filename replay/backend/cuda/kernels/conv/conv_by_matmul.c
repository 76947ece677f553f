/* Convolutions with a window of one position: a matmul of [positions, channels] and the weight. */
#include <string.h>

#include "replay/backend/cuda/kernels/conv/conv.h"
#include "replay/backend/cuda/libraries/product_problem.h"

static bool uses_each_position_once(const struct cuda_conv *c)
{
    for (int d = 0; d < CONV_DIMS; d++)
        if (c->weight.size[d] != 1 || c->stride[d] != 1 || c->padding[d] != 0)
            return false;
    return c->groups == 1;
}

/* Rows are positions, columns are channels. */
static struct cuda_matrix positions_of(const struct conv_side *x)
{
    return (struct cuda_matrix){ .address = x->at.p,
                                 .dtype = x->dtype,
                                 .row = x->at.place[2],
                                 .column = x->at.channel,
                                 .batch = { x->at.batch, x->at.place[0], x->at.place[1] } };
}

bool conv_by_matmul(struct kernel *k, const struct cuda_conv *c, enum conv_part part, uint64_t bias)
{
    const bool back = part == CONV_TO_INPUT;
    const struct conv_side *from = back ? &c->out : &c->in, *to = back ? &c->in : &c->out;
    const struct conv_tensor *weight = &c->weight.at;
    if (part == CONV_TO_WEIGHT || !uses_each_position_once(c))
        return false;
    struct cuda_product p = {
        .a = positions_of(from),
        .b = { .address = weight->p,
               .dtype = c->weight.dtype,
               .row = back ? weight->batch : weight->channel,
               .column = back ? weight->channel : weight->batch },
        .c = positions_of(to),
        .self = { .address = bias, .dtype = to->dtype, .column = 1 },
        .m = to->size[2],
        .n = to->channels,
        .inner = from->channels,
        .batch = { to->batch, to->size[0], to->size[1] },
        .sums = 1,
        .alpha = 1,
        .beta = bias != 0,
    };
    cuda_multiply(k, &p);
    return true;
}
