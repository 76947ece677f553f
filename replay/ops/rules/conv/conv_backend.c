#include "replay/ops/rules/conv/conv_backend.h"

#include <stdio.h>
#include <string.h>

static const int64_t int_max = INT32_MAX;

/* --- Shapes --- */

static bool any_element(struct call *c, const sym_id *list, uint32_t n,
                        sym_id (*compare)(struct call *c, sym_id a, sym_id b), int64_t with)
{
    for (uint32_t i = 0; i < n && !c->failed; i++)
        if (guard_bool(c, compare(c, list[i], num(c, with))))
            return true;
    return false;
}

static bool is_strided(struct call *c, const struct conv *v)
{
    return any_element(c, v->stride, v->n, ne, 1);
}

static bool is_dilated(struct call *c, const struct conv *v)
{
    return any_element(c, v->dilation, v->n, ne, 1);
}

static bool big_output_padding(struct call *c, const struct conv *v)
{
    for (uint32_t i = 0; i < v->n && !c->failed; i++)
        if (guard_bool(c, ge(c, v->output_padding[i], v->stride[i])))
            return true;
    return false;
}

static const char *weight_text(struct call *c, const struct conv *v)
{
    return sizes_text(c, sizes_of(v->weight), ndim_of(v->weight));
}

static const char *join_sizes(struct call *c, const sym_id *list, uint32_t n)
{
    char *text = scratch(c, 1);
    if (text)
        text[0] = '\0';
    for (uint32_t i = 0; text && i < n; i++) {
        const char *part = sym_text(c, list[i]);
        size_t size = strlen(text) + strlen(part) + 4;
        char *longer = scratch(c, size);
        if (!longer)
            return "";
        snprintf(longer, size, "%s%s%s", text, i ? " x " : "", part);
        text = longer;
    }
    return text ? text : "";
}

static bool bias_fits(struct call *c, const struct conv *v, sym_id wanted)
{
    if (!some(v->bias))
        return true;
    bool fits = ndim_of(v->bias) == 1 && guard_bool(c, eq(c, size_of(c, v->bias, 0), wanted));
    return require(c, fits, "RuntimeError",
                   "Given %sweight of size %s, expected bias to be 1-dimensional with %s elements, "
                   "but got bias of size %s instead",
                   v->transposed ? "transposed=1, " : "", weight_text(c, v), sym_text(c, wanted),
                   sizes_text(c, sizes_of(v->bias), ndim_of(v->bias)));
}

static void padding_fits(struct call *c, const struct conv *v, uint32_t i)
{
    sym_id most = sub(c, num(c, INT64_MAX), v->padding[i]);
    require(c, guard_bool(c, le(c, v->padding[i], most)), "RuntimeError",
            "Given padding=%s at dimension %u , expected padding to be at most 4611686018427387903",
            sym_text(c, v->padding[i]), i);
}

static bool check_not_transposed(struct call *c, const struct conv *v)
{
    const sym_id *weight = sizes_of(v->weight);
    sym_id channels = mul(c, weight[1], v->groups);
    if (!check(c, eq(c, size_of(c, v->input, 1), channels), "RuntimeError",
               "Given groups=%s, weight of size %s, expected input%s to have %s channels, but got "
               "%s channels instead",
               sym_text(c, v->groups), weight_text(c, v), shape_text(c, v->input),
               sym_text(c, channels), sym_text(c, size_of(c, v->input, 1))) ||
        !bias_fits(c, v, weight[0]))
        return false;
    sym_id have[CONV_MAX_SPATIAL], need[CONV_MAX_SPATIAL];
    bool fits = true;
    for (uint32_t i = 0; i < v->n && !c->failed; i++) {
        padding_fits(c, v, i);
        have[i] = add(c, size_of(c, v->input, i + 2), mul(c, num(c, 2), v->padding[i]));
        need[i] = add(c, mul(c, v->dilation[i], sub(c, weight[i + 2], SYM_ID_ONE)), SYM_ID_ONE);
        if (guard_bool(c, lt(c, have[i], need[i])))
            fits = false;
    }
    if (c->failed)
        return false;
    return fits || refuse(c, "RuntimeError",
                          "Calculated padded input size per channel: (%s). Kernel size: (%s). "
                          "Kernel size can't be greater than actual input size",
                          join_sizes(c, have, v->n), join_sizes(c, need, v->n));
}

static bool check_transposed(struct call *c, const struct conv *v)
{
    const sym_id *weight = sizes_of(v->weight);
    for (uint32_t i = 0; i < v->n && !c->failed; i++)
        padding_fits(c, v, i);
    return check(c, eq(c, size_of(c, v->input, 1), weight[0]), "RuntimeError",
                 "Given transposed=1, weight of size %s, expected input%s to have %s channels, but "
                 "got %s channels instead",
                 weight_text(c, v), shape_text(c, v->input), sym_text(c, weight[0]),
                 sym_text(c, size_of(c, v->input, 1))) &&
           bias_fits(c, v, mul(c, weight[1], v->groups));
}

/* check_shape_forward */
bool conv_check(struct call *c, const struct conv *v)
{
    uint32_t k = ndim_of(v->input), dim = ndim_of(v->weight);
    const char *error = "RuntimeError";
    require(c, !any_element(c, v->padding, v->n, lt, 0), error,
            "negative padding is not supported");
    require(c, !any_element(c, v->output_padding, v->n, lt, 0), error,
            "negative output_padding is not supported");
    require(c, !any_element(c, v->stride, v->n, le, 0), error,
            "non-positive stride is not supported");
    require(c, !any_element(c, v->dilation, v->n, lt, 0), error,
            "dilation should be greater than zero");
    require(c, guard_bool(c, gt(c, v->groups, SYM_ID_ZERO)), error,
            "expected groups to be greater than 0, but got groups=%s", sym_text(c, v->groups));
    if (!require(c, k == dim, error,
                 "Expected %u-dimensional input for %u-dimensional weight %s, but got "
                 "%u-dimensional input of size %s instead",
                 dim, dim, weight_text(c, v), k, shape_text(c, v->input)))
        return false;
    sym_id first = size_of(c, v->weight, 0);
    const char *groups = sym_text(c, v->groups);
    check(c, ge(c, first, v->groups), error,
          "Given groups=%s, expected weight to be at least %s at dimension 0, but got weight of "
          "size %s instead",
          groups, groups, weight_text(c, v));
    check(c, eq_int(c, mod(c, first, v->groups), 0), error,
          "Given groups=%s, expected weight to be divisible by %s at dimension 0, but got weight "
          "of size [%s] instead",
          groups, groups, weight_text(c, v));
    return !c->failed && (v->transposed ? check_transposed(c, v) : check_not_transposed(c, v));
}

/* --- Backends --- */

/* conv_output_size and conv_input_size without the batch. */
static sym_id output_per_item(struct call *c, const struct conv *v)
{
    const sym_id *weight = sizes_of(v->weight);
    sym_id product_ = v->transposed ? mul(c, weight[1], v->groups) : weight[0];
    for (uint32_t i = 0; i < v->n; i++) {
        sym_id in = size_of(c, v->input, i + 2), twice = mul(c, v->padding[i], num(c, 2)), out;
        sym_id kernel =
            add(c, mul(c, v->dilation[i], sub(c, weight[i + 2], SYM_ID_ONE)), SYM_ID_ONE);
        if (v->transposed) {
            out = sub(c, mul(c, sub(c, in, SYM_ID_ONE), v->stride[i]), twice);
            out = add(c, add(c, out, kernel), v->output_padding[i]);
        } else {
            out = floordiv(c, sub(c, add(c, in, twice), kernel), v->stride[i]);
            out = add(c, out, SYM_ID_ONE);
        }
        product_ = mul(c, product_, out);
    }
    return product_;
}

/* needs_64bit_indexing_no_split: cuDNN 9.3 and later support it, but the guards are still
 * evaluated. */
static void guard_64bit(struct call *c, const struct conv *v)
{
    sym_id n = numel(c, v->input);
    if (guard_bool(c, eq_int(c, n, 0)))
        return;
    if (guard_bool(c, gt(c, floordiv(c, n, size_of(c, v->input, 0)), num(c, int_max))))
        return;
    guard_bool(c, gt(c, output_per_item(c, v), num(c, int_max)));
}

/* cudnn_conv_suggest_memory_format, mkldnn_conv_use_channels_last */
static enum memory_format suggested_format(struct call *c, const struct conv *v)
{
    if (dtype_of(v->input) == DTYPE_F64 || dtype_of(v->weight) == DTYPE_F64)
        return FORMAT_CONTIGUOUS;
    enum memory_format input = suggest_format_c10(c, v->input);
    enum memory_format weight = suggest_format_c10(c, v->weight);
    uint32_t k = ndim_of(v->weight);
    if (k == 4 && (input == FORMAT_CHANNELS_LAST || weight == FORMAT_CHANNELS_LAST))
        return FORMAT_CHANNELS_LAST;
    if (k == 5 && (input == FORMAT_CHANNELS_LAST_3D || weight == FORMAT_CHANNELS_LAST_3D))
        return FORMAT_CHANNELS_LAST_3D;
    return FORMAT_CONTIGUOUS;
}

static bool use_cudnn(struct call *c, const struct conv *v)
{
    if (!on_cuda(v->input))
        return false;
    guard_64bit(c, v);
    if (suggested_format(c, v) == FORMAT_CONTIGUOUS)
        is_dilated(c, v);
    return !big_output_padding(c, v);
}

static bool is_depthwise(struct call *c, const struct conv *v)
{
    uint32_t k = ndim_of(v->input);
    sym_id channels = k > 1 ? size_of(c, v->input, 1) : SYM_ID_ONE;
    return on_cuda(v->input) && !v->transposed && (k == 4 || k == 5) &&
           guard_bool(c, eq(c, channels, v->groups)) &&
           guard_bool(c, gt(c, v->groups, SYM_ID_ONE)) &&
           guard_bool(c, eq_int(c, mod(c, size_of(c, v->weight, 0), channels), 0));
}

/* canUse32BitIndexMath of aten/src/ATen/native/CanUse32BitIndexMath.cpp */
static bool fits_32bit(struct call *c, struct tensor x)
{
    sym_id elements = numel(c, x), most = num(c, int_max), offset = SYM_ID_ZERO;
    if (guard_bool(c, ge(c, elements, most)))
        return false;
    if (guard_bool(c, eq_int(c, elements, 0)))
        return true;
    sym_id left = sub(c, elements, SYM_ID_ONE);
    for (uint32_t i = ndim_of(x); i-- > 0 && !c->failed;) {
        sym_id at = mod(c, left, x.meta->size[i]);
        offset = add(c, offset, mul(c, at, x.meta->stride[i]));
        left = floordiv(c, left, x.meta->size[i]);
    }
    return !guard_bool(c, ge(c, offset, most));
}

static bool use_cudnn_depthwise(struct call *c, const struct conv *v)
{
    if (!fits_32bit(c, v->input) || !fits_32bit(c, v->weight)) {
        suggested_format(c, v);
        return true;
    }
    if (suggested_format(c, v) != FORMAT_CONTIGUOUS)
        return true;
    if (!use_cudnn(c, v) || dtype_of(v->input) != DTYPE_F16 || dtype_of(v->weight) != DTYPE_F16)
        return false;
    bool square = ndim_of(v->input) == 4 && !is_dilated(c, v) &&
                  (guard_bool(c, eq(c, v->stride[0], v->stride[1])) ||
                   guard_bool(c, eq_int(c, size_of(c, v->input, 2), 1))) &&
                  guard_bool(c, ge(c, size_of(c, v->input, 1), num(c, 32)));
    /* A table of workloads decides further, but both results have the same metadata. */
    return square;
}

/* torch.export traces without MKLDNN and NNPACK (_ignore_backend_decomps of
 * torch/export/_trace.py). */
static bool use_mkldnn(struct call *c, const struct conv *v)
{
    if (exporting(c))
        return false;
    if (v->transposed && big_output_padding(c, v))
        return false;
    if (!on_cpu(v->input))
        return false;
    if (dtype_of(v->input) == DTYPE_BF16 || dtype_of(v->input) == DTYPE_F16)
        return true;
    if (dtype_of(v->input) != DTYPE_F32)
        return false;
    const sym_id *x = sizes_of(v->input);
    sym_id last = size_of(c, v->weight, -1), before = size_of(c, v->weight, -2);
    /* The recordings were made with one thread. With more, MKLDNN also runs 1x1 kernels. */
    if (!is_strided(c, v) && !is_dilated(c, v) && !guard_bool(c, ge(c, x[0], num(c, 16))) &&
        !guard_bool(c, ne(c, last, SYM_ID_ONE)) && !guard_bool(c, ne(c, before, SYM_ID_ONE)))
        return false;
    sym_id volume = mul(c, mul(c, mul(c, x[0], x[1]), x[2]), x[3]);
    return guard_bool(c, gt(c, v->groups, SYM_ID_ONE)) ||
           (guard_bool(c, gt(c, last, num(c, 3))) && guard_bool(c, gt(c, before, num(c, 3)))) ||
           guard_bool(c, gt(c, x[0], SYM_ID_ONE)) || guard_bool(c, gt(c, volume, num(c, 20480)));
}

static bool use_nnpack(struct call *c, const struct conv *v)
{
    if (exporting(c) || !on_cpu(v->input) || dtype_of(v->input) != DTYPE_F32 || v->transposed ||
        ndim_of(v->input) != 4 || ndim_of(v->weight) != 4)
        return false;
    sym_id height = size_of(c, v->weight, 2), width = size_of(c, v->weight, 3);
    return guard_bool(c, lt(c, height, num(c, 17))) && guard_bool(c, lt(c, width, num(c, 17))) &&
           guard_bool(c, lt(c, v->padding[0], height)) &&
           guard_bool(c, lt(c, v->padding[1], width)) &&
           guard_bool(c, ge(c, size_of(c, v->input, 0), num(c, 16)));
}

enum conv_backend conv_select(struct call *c, const struct conv *v)
{
    uint32_t k = ndim_of(v->input);
    if (guard_bool(c, eq_int(c, size_of(c, v->input, 0), 0)) ||
        guard_bool(c, eq_int(c, size_of(c, v->input, 1), 0)))
        return CONV_EMPTY;
    require(c, !guard_bool(c, eq_int(c, numel(c, v->input), 0)), "RuntimeError",
            "Only zero batch or zero channel inputs are supported, but got input shape: %s",
            shape_text(c, v->input));
    if (is_depthwise(c, v))
        return use_cudnn_depthwise(c, v) ? CONV_CUDNN : CONV_CUDA_DEPTHWISE;
    if (use_cudnn(c, v))
        return CONV_CUDNN;
    if (k >= 4 && use_mkldnn(c, v))
        return CONV_MKLDNN;
    if (!on_cpu(v->input) && !on_cuda(v->input))
        return CONV_OVERRIDEABLE;
    if (k == 5 && on_cpu(v->input) && !v->transposed && !is_dilated(c, v))
        return CONV_SLOW_3D;
    require(c, k == 4 || k == 5, "RuntimeError", "unsupported ConvNd parameters");
    if (k == 5)
        return CONV_SLOW_3D;
    if (!v->transposed && !is_dilated(c, v) && use_nnpack(c, v))
        return CONV_NNPACK;
    return CONV_SLOW_2D;
}

enum memory_format conv_format(struct call *c, const struct conv *v, enum conv_backend backend)
{
    switch (backend) {
    case CONV_CUDNN:
    case CONV_MKLDNN: return suggested_format(c, v);
    case CONV_SLOW_2D: {
        enum memory_format input = suggest_format_c10(c, v->input);
        enum memory_format weight = suggest_format_c10(c, v->weight);
        bool last = input == FORMAT_CHANNELS_LAST || weight == FORMAT_CHANNELS_LAST;
        return on_cpu(v->input) && last ? FORMAT_CHANNELS_LAST : FORMAT_CONTIGUOUS;
    }
    default: return FORMAT_CONTIGUOUS;
    }
}
