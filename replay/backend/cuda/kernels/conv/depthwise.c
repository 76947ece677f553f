#include <stdio.h>

#include "replay/backend/cuda/kernels/conv/conv.h"
#include "trace/base/number.h"

/* Inputs that a thread has in registers, and weights that a block has in shared memory. */
enum { MOST_SPAN = 24, MOST_WINDOW = 128, WARP_LANES = 32, BLOCK_WARPS = 8 };

/* How a kernel iterates over outputs. */
struct depthwise_plan {
    int strip;    /* the dimension of strips */
    bool last;    /* lanes have adjacent channels */
    int64_t work; /* strips of all channels, or, if `last`, of 32 channels */
};

static bool plan_depthwise(const struct cuda_conv *c, struct depthwise_plan *ret)
{
    const struct conv_side *w = &c->weight;
    ret->last = c->out.at.channel == 1 && c->in.at.channel == 1;
    ret->strip = c->dims == 1 || ret->last ? 2 : 1;
    const int strip = ret->strip, other = CONV_DIMS - strip;
    const int64_t span =
        (DEPTHWISE_OUTS - 1) * c->stride[strip] + (w->size[strip] - 1) * c->dilation[strip] + 1;
    const int64_t strips = ceil_div(c->out.size[strip], DEPTHWISE_OUTS);
    ret->work = c->out.batch * c->out.size[other] * strips * (ret->last ? 1 : c->out.channels);
    return w->channels == 1 && c->groups > 1 && c->dims <= 2 && span <= MOST_SPAN &&
           w->size[1] * w->size[2] <= MOST_WINDOW;
}

/* Returns whether positions and numbers of outputs are less than 2^31. */
static bool fits_32_bits(const struct cuda_conv *c)
{
    const struct conv_side *sides[] = { &c->in, &c->out };
    for (int i = 0; i < 2; i++) {
        const struct conv_side *x = sides[i];
        const double n = (double)x->batch * (double)x->channels;
        if (n * (double)(x->size[1] + MOST_SPAN) * (double)(x->size[2] + MOST_SPAN) > INT32_MAX)
            return false;
    }
    return c->padding[1] < INT32_MAX / 4 && c->padding[2] < INT32_MAX / 4;
}

bool conv_depthwise(struct kernel *k, const struct cuda_conv *c, enum conv_part part, uint64_t bias)
{
    struct depthwise_plan plan;
    char defines[200];
    if (part != CONV_TO_OUTPUT || !plan_depthwise(c, &plan) || !fits_32_bits(c))
        return false;
    const int strip = plan.strip, other = CONV_DIMS - strip;
    const struct conv_args a = conv_args_of(c, part, bias);
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define STRIP %d\n#define TAPS %d\n#define OTHERS %d\n"
             "#define STEP %d\n#define APART %d\n#define LAST %d\n",
             cuda_type(c->in.dtype), cuda_sum_type(c->in.dtype), strip, (int)c->weight.size[strip],
             (int)c->weight.size[other], (int)c->stride[strip], (int)c->dilation[strip], plan.last);
    struct cuda_grid grid = { cuda_blocks(k, plan.work, BLOCK_WARPS * WARP_LANES), 1, 1,
                              BLOCK_WARPS * WARP_LANES, 0 };
    if (plan.last) {
        const int64_t chunks = ceil_div(c->out.channels, WARP_LANES);
        const int64_t each = cuda_multiprocessors(k) * BLOCK_WARPS / chunks + 1;
        const int64_t blocks = ceil_div(plan.work, BLOCK_WARPS);
        grid.x = (uint32_t)((blocks < each ? blocks : each) * chunks);
    }
    cuda_launch(k, cuda_function(k, "depthwise", "conv_depthwise", defines), grid, &a, sizeof a);
    return true;
}
