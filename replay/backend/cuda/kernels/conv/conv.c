/* Convolutions of one to three dimensions, transposed ones, and their gradients: special cases
 * (conv.h) first; then cuDNN computes the cases that it supports, our own kernel all others
 * (replay/backend/cuda/device/conv/conv.cu). */
#include "replay/backend/cuda/kernels/conv/conv.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/libraries/cudnn.h"

enum { CONV_TILE = 64, FEW_CHANNELS = 8 };

/* Reads the numbers of the last `dims` dimensions; the others are `otherwise`. */
static void read_conv_ints(const struct kernel *k, const char *name, uint32_t dims, int64_t *ret,
                           int64_t otherwise)
{
    for (uint32_t d = 0; d < CONV_DIMS; d++)
        ret[d] = otherwise;
    ints_per_dim(k, name, dims, ret + CONV_DIMS - dims, otherwise);
}

/* Reads a tensor. `dims` positions are the last of CONV_DIMS; an input without a batch has a batch
 * of one. */
static bool conv_side_of(struct kernel *k, struct kernel_tensor x, uint32_t dims,
                         struct conv_side *ret)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size), first = ndim == dims + 1;
    memset(ret, 0, sizeof *ret);
    ret->dtype = x.meta->dtype;
    if (ndim + first != dims + 2 || !tensor_strides(x, stride) || x.meta->conj || x.meta->neg)
        return false;
    ret->at.p = cuda_address(k, x);
    ret->batch = first ? 1 : size[0];
    ret->at.batch = first ? 0 : stride[0];
    ret->channels = size[1 - first];
    ret->at.channel = stride[1 - first];
    for (uint32_t d = 0; d < CONV_DIMS; d++) {
        uint32_t from = ndim + d - CONV_DIMS; /* wraps around if there is none */
        bool is = d + dims >= CONV_DIMS;
        ret->size[d] = is ? size[from] : 1;
        ret->at.place[d] = is ? stride[from] : 0;
    }
    return true;
}

/* Reads the convolution. x and y are its input and output, as in the schema. */
static bool read_cuda_conv(struct kernel *k, struct kernel_tensor x, struct kernel_tensor y,
                           struct kernel_tensor weight, struct cuda_conv *c)
{
    memset(c, 0, sizeof *c);
    if (!x.meta || !y.meta || !weight.meta || weight.meta->ndim < 3 ||
        weight.meta->ndim > 2 + CONV_DIMS)
        return false;
    c->dims = weight.meta->ndim - 2;
    c->transposed = bool_arg(k, "transposed", false);
    c->groups = int_arg(k, "groups", 1);
    read_conv_ints(k, "stride", c->dims, c->stride, 1);
    read_conv_ints(k, "padding", c->dims, c->padding, 0);
    read_conv_ints(k, "dilation", c->dims, c->dilation, 1);
    struct conv_side *in = c->transposed ? &c->out : &c->in,
                     *out = c->transposed ? &c->in : &c->out;
    if (!conv_side_of(k, x, c->dims, in) || !conv_side_of(k, y, c->dims, out) ||
        !conv_side_of(k, weight, c->dims, &c->weight))
        return false;
    return c->groups > 0 && x.meta->dtype == y.meta->dtype && x.meta->dtype == weight.meta->dtype &&
           cuda_type(x.meta->dtype) && dense_kind_of(x.meta->dtype) == DENSE_REAL;
}

/* ---- Our own kernels ---- */

static int64_t product3(const int64_t *size)
{
    return size[0] * size[1] * size[2];
}

struct conv_args conv_args_of(const struct cuda_conv *c, enum conv_part part, uint64_t bias)
{
    struct conv_args a = {
        .in = c->in.at,
        .out = c->out.at,
        .weight = c->weight.at,
        .bias = bias,
        .batch = c->in.batch,
        .groups = c->groups,
        .in_group = c->in.channels / c->groups,
        .out_group = c->out.channels / c->groups,
    };
    memcpy(a.in_size, c->in.size, sizeof a.in_size);
    memcpy(a.out_size, c->out.size, sizeof a.out_size);
    memcpy(a.window, c->weight.size, sizeof a.window);
    memcpy(a.stride, c->stride, sizeof a.stride);
    memcpy(a.padding, c->padding, sizeof a.padding);
    memcpy(a.dilation, c->dilation, sizeof a.dilation);
    int64_t window = product3(a.window);
    a.m = part == CONV_TO_INPUT ? a.in_group : a.out_group;
    a.n = part == CONV_TO_OUTPUT  ? a.batch * product3(a.out_size)
          : part == CONV_TO_INPUT ? a.batch * product3(a.in_size)
                                  : a.in_group * window;
    a.inner = part == CONV_TO_OUTPUT  ? a.in_group * window
              : part == CONV_TO_INPUT ? a.out_group * window
                                      : a.batch * product3(a.out_size);
    a.row_tiles = (a.m + CONV_TILE - 1) / CONV_TILE;
    a.column_tiles = (a.n + CONV_TILE - 1) / CONV_TILE;
    a.splits = 1;
    a.split = a.inner;
    return a;
}

/* Splits long sums of few elements, so that the whole device has work. */
static void split_inner(struct kernel *k, struct conv_args *a, int64_t work, int64_t least)
{
    int64_t wanted = 2 * (int64_t)cuda_multiprocessors(k);
    int64_t splits = work ? wanted / work : 1, most = a->inner / least;
    splits = splits > most ? most : splits;
    if (splits < 2)
        return;
    a->split = (a->inner + splits - 1) / splits;
    a->splits = (a->inner + a->split - 1) / a->split;
}

static const char *defines_of(const struct cuda_conv *c, enum conv_part part, char *ret, size_t n)
{
    snprintf(ret, n, "#define T %s\n#define ACC %s\n#define PART %d\n", cuda_type(c->in.dtype),
             cuda_sum_type(c->in.dtype), (int)part);
    return ret;
}

static void launch_conv(struct kernel *k, const struct cuda_conv *c, enum conv_part part,
                        uint64_t bias)
{
    struct conv_args a = conv_args_of(c, part, bias);
    char defines[128];
    bool few = a.m <= FEW_CHANNELS;
    int64_t elements = a.groups * a.m * a.n, tiles = a.groups * a.row_tiles * a.column_tiles;
    defines_of(c, part, defines, sizeof defines);
    if (few)
        split_inner(k, &a, (elements + 255) / 256, 64);
    else
        split_inner(k, &a, tiles, 256);
    if (tiles > INT32_MAX / (a.splits + 1)) {
        cuda_decline(k);
        return;
    }
    size_t width = c->in.dtype == DTYPE_F64 ? 8 : 4;
    if (a.splits > 1)
        a.part = cuda_workspace(k, (size_t)(a.splits * elements) * width);
    struct cuda_grid grid = { (uint32_t)(tiles * a.splits), 1, 1, 256, 0 };
    if (few)
        grid.x = cuda_blocks(k, elements * a.splits, 256);
    cuda_launch(k, cuda_function(k, "conv", few ? "conv_element" : "conv_tile", defines), grid, &a,
                sizeof a);
    if (a.splits > 1) {
        grid.x = cuda_blocks(k, elements, 256);
        cuda_launch(k, cuda_function(k, "conv", "conv_sum", defines), grid, &a, sizeof a);
    }
}

/* ---- The choice of a kernel ---- */

static uint64_t side_bytes(const struct conv_side *x)
{
    return (uint64_t)(x->batch * x->channels * product3(x->size)) * dtype_size(x->dtype);
}

static void set_conv_traffic(struct kernel *k, const struct cuda_conv *c)
{
    uint64_t pairs = (uint64_t)(c->in.batch * c->out.channels * product3(c->out.size)) *
                     (uint64_t)(c->in.channels / c->groups * product3(c->weight.size));
    cuda_traffic(k, side_bytes(&c->in) + side_bytes(&c->out) + side_bytes(&c->weight), 2 * pairs);
}

static void launch_bias(struct kernel *k, const struct cuda_conv *c, const struct conv_side *to,
                        uint64_t bias)
{
    struct conv_bias_args a = {
        .out = to->at, .to = bias, .batch = to->batch, .channels = to->channels
    };
    int64_t n = to->batch * to->channels * product3(to->size);
    char defines[128];
    memcpy(a.out_size, to->size, sizeof a.out_size);
    defines_of(c, CONV_TO_OUTPUT, defines, sizeof defines);
    cuda_traffic(k, 2 * side_bytes(to), (uint64_t)n);
    cuda_launch(k, cuda_function(k, "conv", "conv_add_bias", defines),
                (struct cuda_grid){ cuda_blocks(k, n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

static void compute(struct kernel *k, const struct cuda_conv *c, enum conv_part part, uint64_t bias)
{
    const struct conv_side *to = part == CONV_TO_OUTPUT  ? &c->out
                                 : part == CONV_TO_INPUT ? &c->in
                                                         : &c->weight;
    if (to->batch * to->channels * product3(to->size) == 0 || k->failed)
        return;
    set_conv_traffic(k, c);
    if (conv_depthwise(k, c, part, bias) || conv_by_matmul(k, c, part, bias))
        return;
    if (!cudnn_convolve(k, c, part))
        launch_conv(k, c, part, bias);
    else if (bias)
        launch_bias(k, c, to, bias);
}

/* ---- Operators ---- */

/* Returns whether x is a bias, the gradient of one, or absent. */
static bool is_channel_vector(struct kernel_tensor x, const struct cuda_conv *c, int64_t n)
{
    int64_t size[TENSOR_MAX_DIM];
    return !x.meta || (tensor_sizes(x, size) == 1 && size[0] == n && x.meta->dtype == c->in.dtype);
}

void cuda_convolution(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, has_arg(k, "input") ? "input" : "self");
    struct kernel_tensor bias = tensor_arg(k, "bias");
    struct cuda_conv c;
    if (!read_cuda_conv(k, x, result(k, 0), tensor_arg(k, "weight"), &c) ||
        !is_channel_vector(bias, &c, c.transposed ? c.in.channels : c.out.channels)) {
        cuda_decline(k);
        return;
    }
    compute(k, &c, c.transposed ? CONV_TO_INPUT : CONV_TO_OUTPUT,
            bias.meta ? cuda_contiguous(k, bias) : 0);
}

static void bias_gradient(struct kernel *k, const struct cuda_conv *c, struct kernel_tensor to)
{
    const struct conv_side *g = c->transposed ? &c->in : &c->out;
    struct conv_bias_args a = { .out = g->at, .to = cuda_address(k, to), .batch = g->batch };
    char defines[128];
    memcpy(a.out_size, g->size, sizeof a.out_size);
    if (g->channels == 0 || k->failed)
        return;
    cuda_traffic(k, side_bytes(g), side_bytes(g) / dtype_size(g->dtype));
    defines_of(c, CONV_TO_OUTPUT, defines, sizeof defines);
    cuda_launch(k, cuda_function(k, "conv", "conv_bias", defines),
                (struct cuda_grid){ (uint32_t)g->channels, 1, 1, 256, 0 }, &a, sizeof a);
}

static bool put_result(struct kernel *k, struct kernel_tensor to, uint32_t dims,
                       struct conv_side *ret)
{
    return !to.meta || (to.meta->dtype == ret->dtype && conv_side_of(k, to, dims, ret));
}

/* Results: the gradients of input, weight and bias, each if output_mask requests it. */
void cuda_convolution_backward(struct kernel *k)
{
    struct kernel_tensor g = tensor_arg(k, "grad_output"), x = tensor_arg(k, "input");
    struct kernel_tensor to[] = { result(k, 0), result(k, 1), result(k, 2) };
    struct cuda_conv c;
    if (!read_cuda_conv(k, x, g, tensor_arg(k, "weight"), &c)) {
        cuda_decline(k);
        return;
    }
    struct cuda_conv to_input = c, to_weight = c;
    if (!put_result(k, to[0], c.dims, c.transposed ? &to_input.out : &to_input.in) ||
        !put_result(k, to[1], c.dims, &to_weight.weight) ||
        !is_channel_vector(to[2], &c, c.transposed ? c.in.channels : c.out.channels)) {
        cuda_decline(k);
        return;
    }
    if (to[0].meta)
        compute(k, &to_input, c.transposed ? CONV_TO_OUTPUT : CONV_TO_INPUT, 0);
    if (to[1].meta)
        compute(k, &to_weight, CONV_TO_WEIGHT, 0);
    if (to[2].meta)
        bias_gradient(k, &c, to[2]);
}
