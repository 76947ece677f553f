/* Converts our convolutions to problems of cuDNN. */
#include <string.h>

#include "replay/backend/cuda/libraries/cudnn.h"
#include "replay/backend/cuda/libraries/cudnn_convolution.h"
#include "replay/backend/cuda/libraries/cudnn_run.h"
#include "replay/backend/cuda/libraries/plan_choice.h"
#include "replay/backend/cuda/runtime/cuda.h"

/* Computes the strides of contiguous sizes. */
static void packed_strides(const int64_t *size, int n, bool channels_last, int64_t *ret)
{
    int64_t behind = 1;
    if (channels_last)
        ret[1] = 1, behind = size[1];
    for (int d = n - 1; d >= 0; d--)
        if (!channels_last || d != 1)
            ret[d] = behind, behind *= size[d];
}

/* Converts a tensor. cuDNN needs two dimensions or more: a single one gets a first one of size 1.
 * False: it is not contiguous. */
static bool cudnn_tensor_of(const struct conv_side *x, int places, bool channels_last,
                            struct cudnn_tensor *ret)
{
    int64_t stride[CUDNN_DIMS] = { x->at.batch, x->at.channel };
    ret->size[0] = x->batch;
    ret->size[1] = x->channels;
    for (int d = 0; d < places; d++) {
        ret->size[2 + d] = x->size[CONV_DIMS - places + d];
        stride[2 + d] = x->at.place[CONV_DIMS - places + d];
    }
    ret->ndim = places + 2;
    packed_strides(ret->size, ret->ndim, channels_last, ret->stride);
    for (int d = 0; d < places + 2; d++)
        if (ret->size[d] != 1 && stride[d] != ret->stride[d])
            return false;
    ret->alignment = cudnn_alignment(x->at.p);
    return x->at.p != 0;
}

/* Converts all tensors, in one memory format if possible, or else each in its own. */
static bool tensors_of(const struct cuda_conv *c, struct cudnn_convolution *p)
{
    const struct conv_side *from[] = { &c->weight, &c->in, &c->out };
    struct cudnn_tensor *to[] = { &p->weight, &p->in, &p->out };
    for (int last = 0; last < 2; last++) {
        bool all = true;
        for (int i = 0; i < CUDNN_TENSORS; i++)
            all = all && cudnn_tensor_of(from[i], p->places, last, to[i]);
        if (all)
            return true;
    }
    for (int i = 0; i < CUDNN_TENSORS; i++)
        if (!cudnn_tensor_of(from[i], p->places, false, to[i]) &&
            !cudnn_tensor_of(from[i], p->places, true, to[i]))
            return false;
    return true;
}

static bool convolution_problem_of(const struct cuda_conv *c, enum conv_part part, bool exact,
                                   struct cudnn_convolution *p)
{
    static const int operations[] = { [CONV_TO_OUTPUT] = CUDNN_FORWARD,
                                      [CONV_TO_INPUT] = CUDNN_BACKWARD_DATA,
                                      [CONV_TO_WEIGHT] = CUDNN_BACKWARD_FILTER };
    memset(p, 0, sizeof *p);
    p->places = c->dims < 2 ? 2 : (int32_t)c->dims;
    p->operation = operations[part];
    for (int d = 0; d < p->places; d++) {
        int from = CONV_DIMS - p->places + d;
        p->stride[d] = c->stride[from];
        p->padding[d] = c->padding[from];
        p->dilation[d] = c->dilation[from];
    }
    if (!cudnn_type(c->in.dtype, &p->type) || !tensors_of(c, p))
        return false;
    p->exact = exact && p->type == CUDNN_F32;
    p->weight.id = CUDNN_WEIGHT_ID, p->in.id = CUDNN_IN_ID, p->out.id = CUDNN_OUT_ID;
    p->weight.type = p->in.type = p->out.type = p->type;
    return true;
}

/* Makes the key of the problems that get the same plan: they differ in their batch and positions,
 * whose number is within a factor of four, or, with `further`, that many factors more. Memory
 * formats and alignments are theirs, and a weight has the same sizes. */
static struct cudnn_convolution convolution_class_of(const struct cudnn_convolution *p,
                                                     int64_t further)
{
    struct cudnn_convolution class = *p;
    struct cudnn_tensor *varying[] = { &class.in, &class.out };
    for (int i = 0; i < 2; i++) {
        struct cudnn_tensor *x = varying[i];
        int64_t all = 1;
        for (int d = 0; d < x->ndim; d++) {
            all *= d == 1 ? 1 : x->size[d];
            x->size[d] = d == 1 ? x->size[d] : x->size[d] == 1;
            x->stride[d] = d == 1 ? x->stride[d] == 1 : 0;
        }
        x->size[0] = plan_size_range(all) / 2 + further;
    }
    return class;
}

static void describe_convolution(struct cudnn_graph *g, const void *key)
{
    cudnn_graph_convolve(g, key);
}

void cudnn_convolution_job(const struct cudnn_convolution *key, struct cudnn_convolution_job *ret)
{
    ret->key = *key;
    ret->class = convolution_class_of(key, 0);
    ret->less = convolution_class_of(key, -1);
    ret->more = convolution_class_of(key, 1);
    ret->job = (struct cudnn_job){
        .kind = CUDNN_CONVOLUTIONS,
        .key = &ret->key,
        .class = &ret->class,
        .near = { &ret->less, &ret->more },
        .describe = describe_convolution,
        .exact = key->exact,
        .n = CUDNN_TENSORS,
        .ids = { CUDNN_WEIGHT_ID, CUDNN_IN_ID, CUDNN_OUT_ID },
    };
}

bool cudnn_convolve(struct kernel *k, const struct cuda_conv *c, enum conv_part part)
{
    static const char *const names[] = { [CONV_TO_OUTPUT] = "cudnn convolution forward",
                                         [CONV_TO_INPUT] = "cudnn convolution backward data",
                                         [CONV_TO_WEIGHT] = "cudnn convolution backward filter" };
    const uint64_t addresses[] = { c->weight.at.p, c->in.at.p, c->out.at.p };
    struct cudnn_convolution p;
    struct cudnn_convolution_job convolution;
    if (!convolution_problem_of(c, part, !cuda_of(k)->base.tf32, &p))
        return false;
    cudnn_convolution_job(&p, &convolution);
    convolution.job.name = names[part];
    for (int i = 0; i < CUDNN_TENSORS; i++)
        convolution.job.pointers[i] = (void *)(uintptr_t)addresses[i];
    return cudnn_run(k, &convolution.job);
}
