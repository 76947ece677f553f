/* Convolutions (conv of torch/_subclasses/fake_impls.py, meta_conv of _meta_registrations.py). */
#include "replay/ops/rules/conv/conv_backend.h"

/* expand_param_if_needed: a single number applies to all dimensions. */
static const sym_id *expand_param(struct call *c, uint32_t i, uint32_t n, const char *name)
{
    const sym_id *list;
    uint32_t have = arg_syms(c, i, &list);
    if (have == n)
        return list;
    require(c, have == 1, "RuntimeError",
            "expected %s to be a single integer value or a list of %d values to match the "
            "convolution dimensions, but got %s=%s",
            name, (int)n, name, sizes_text(c, list, have));
    sym_id *ret = syms(c, n);
    for (uint32_t k = 0; ret && k < n && !c->failed; k++)
        ret[k] = list[0];
    return ret;
}

/* Reads the arguments from `first` on, the argument that is the stride. */
static bool read_conv(struct call *c, uint32_t first, struct conv *ret)
{
    uint32_t k = ndim_of(ret->weight);
    if (!require(c, k > 2, "RuntimeError", "weight should have at least three dimensions"))
        return false;
    ret->n = k - 2;
    ret->stride = expand_param(c, first, ret->n, "stride");
    ret->padding = expand_param(c, first + 1, ret->n, "padding");
    ret->dilation = expand_param(c, first + 2, ret->n, "dilation");
    ret->transposed = arg_bool(c, first + 3);
    ret->output_padding = expand_param(c, first + 4, ret->n, "output_padding");
    ret->groups = arg_sym(c, first + 5);
    return !c->failed;
}

/* Returns a convolution of one dimension as one of two dimensions, as the kernels compute it.
 * The lists change, too. */
static struct conv as_2d(struct call *c, const struct conv *v)
{
    struct conv ret = *v;
    if (v->n != 1)
        return ret;
    sym_id *lists = syms(c, 8);
    if (!lists)
        return ret;
    const sym_id first[] = { SYM_ID_ONE, SYM_ID_ZERO, SYM_ID_ONE, SYM_ID_ZERO };
    const sym_id second[] = { v->stride[0], v->padding[0], v->dilation[0], v->output_padding[0] };
    for (uint32_t i = 0; i < 4; i++) {
        lists[2 * i] = first[i];
        lists[2 * i + 1] = second[i];
    }
    ret.n = 2;
    ret.stride = lists;
    ret.padding = lists + 2;
    ret.dilation = lists + 4;
    ret.output_padding = lists + 6;
    ret.input = unsqueeze(c, contiguous(c, v->input), 2);
    ret.weight = unsqueeze(c, v->weight, 2);
    return ret;
}

static bool all_hinted(const struct call *c, struct tensor x)
{
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (env_has_unbacked(c->env, x.meta->size[i]))
            return false;
    return true;
}

/* Returns the memory format of the results, or FORMAT_PRESERVE to leave it unchanged. */
static enum memory_format choose_format(struct call *c, const struct conv *v)
{
    if (!all_hinted(c, v->input) || !all_hinted(c, v->weight))
        return FORMAT_PRESERVE;
    if (!conv_check(c, v))
        return FORMAT_PRESERVE;
    struct conv wide = as_2d(c, v);
    enum conv_backend backend = conv_select(c, &wide);
    if (v->n == 1) /* Python adds the dimension a second time */
        wide = as_2d(c, v);
    return c->failed ? FORMAT_PRESERVE : conv_format(c, &wide, backend);
}

/* The kernel must not be larger than the padded input. */
static bool check_kernel_fits(struct call *c, const struct conv *v)
{
    const sym_id *in = sizes_of(v->input), *weight = sizes_of(v->weight);
    sym_id fits = SYM_ID_TRUE;
    if (!behaves(c->env, BEHAVIOR_CONV_CHECKS_KERNEL_SIZE))
        return true;
    for (uint32_t i = 0; i < v->n; i++) {
        sym_id padded = add(c, in[i + 2], mul(c, SYM_ID_TWO, v->padding[i]));
        sym_id kernel = mul(c, v->dilation[i], sub(c, weight[i + 2], SYM_ID_ONE));
        sym_id condition = py_ge(c, padded, add(c, kernel, SYM_ID_ONE));
        fits = i ? sym_and(c->pool, fits, condition) : condition;
    }
    return check(c, fits, "RuntimeError",
                 "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size can't "
                 "be greater than actual input size",
                 sizes_text(c, in + 2, v->n), sizes_text(c, weight + 2, v->n));
}

/* calc_conv_nd_return_shape */
static bool return_shape(struct call *c, const struct conv *v, sym_id *ret)
{
    const sym_id *in = sizes_of(v->input), *weight = sizes_of(v->weight);
    if (!require(c, ndim_of(v->input) == v->n + 2, "RuntimeError",
                 "Expected %u-dimensional input for %u-dimensional weight %s, but got "
                 "%u-dimensional input of size %s instead",
                 v->n + 2, v->n + 2, sizes_text(c, weight, v->n + 2), ndim_of(v->input),
                 sizes_text(c, in, ndim_of(v->input))))
        return false;
    ret[0] = in[0];
    if (v->transposed) {
        ret[1] = mul(c, v->groups, weight[1]);
    } else {
        ret[1] = weight[0];
        check(c, eq(c, mul(c, weight[1], v->groups), in[1]), "RuntimeError",
              "Invalid channel dimensions");
    }
    if (!v->transposed && !check_kernel_fits(c, v))
        return false;
    sym_id two = num(c, 2), some_left = SYM_ID_FALSE;
    for (uint32_t i = 0; i < v->n; i++) {
        sym_id kernel = mul(c, v->dilation[i], sub(c, weight[i + 2], SYM_ID_ONE)), size;
        sym_id pads = mul(c, two, v->padding[i]);
        if (v->transposed) {
            size = sub(c, mul(c, sub(c, in[i + 2], SYM_ID_ONE), v->stride[i]), pads);
            size = add(c, add(c, size, kernel), v->output_padding[i]);
        } else {
            size = sub(c, sub(c, add(c, in[i + 2], pads), kernel), SYM_ID_ONE);
            size = floordiv(c, size, v->stride[i]);
        }
        ret[i + 2] = add(c, size, SYM_ID_ONE);
        some_left = either(c, some_left, gt(c, ret[i + 2], SYM_ID_ZERO));
    }
    if (!on_cuda(v->input))
        check(c, some_left, "RuntimeError",
              "Given input size per channel: %s. Calculated output size per channel: %s. Output "
              "size is too small",
              sizes_text(c, in + 2, v->n), sizes_text(c, ret + 2, v->n));
    if (guard_or_false(c, eq_int(c, in[1], 0)))
        ret[1] = SYM_ID_ZERO;
    return !c->failed;
}

/* Returns a new tensor in this format: x.to(memory_format=...) of a contiguous tensor. */
static struct tensor new_in_format(struct call *c, struct tensor like, const sym_id *sizes,
                                   uint32_t n, enum memory_format format)
{
    if (n == 3 && format == FORMAT_CHANNELS_LAST && !c->failed) {
        sym_id wide[] = { sizes[0], sizes[1], SYM_ID_ONE, sizes[2] }, strides[4];
        format_strides(c, wide, 4, format, strides);
        sym_id kept[] = { strides[0], strides[1], strides[3] };
        return new_tensor_strided(c, dtype_of(like), device_of(like), sizes, kept, 3);
    }
    return empty_to_format(c, like, sizes, n, format);
}

/* Choosing the backend dispatches prim.device. The check of MKLDNN does so twice more, and the
 * format of a kernel that torch.export has instead once. */
static void count_backend(struct call *c, struct tensor input)
{
    count_dispatches(c, on_cuda(input) ? 2 : exporting(c) ? 3 : 4);
}

/* param is the argument of the stride. */
bool rule_convolution(struct call *c)
{
    struct conv v = { .input = arg_tensor(c, 0), .weight = arg_tensor(c, 1) };
    v.bias = arg_tensor(c, 2);
    sym_id shape[TENSOR_MAX_DIM];
    if (!read_conv(c, 3, &v))
        return false;
    count_backend(c, v.input);
    enum memory_format format = choose_format(c, &v);
    if (c->failed || !return_shape(c, &v, shape))
        return false;
    return ret_tensor(c, new_in_format(c, v.input, shape, v.n + 2, format));
}

/* The arguments are grad_output, input, weight, bias_sizes, stride, padding, dilation,
 * transposed, output_padding, groups, output_mask. */
bool rule_convolution_backward(struct call *c)
{
    struct conv v = { .input = arg_tensor(c, 1), .weight = arg_tensor(c, 2) };
    struct tensor grad = arg_tensor(c, 0), out[3] = { no_tensor(), no_tensor(), no_tensor() };
    v.bias = no_tensor();
    if (!read_conv(c, 4, &v))
        return false;
    count_backend(c, v.input);
    enum memory_format format = choose_format(c, &v);
    struct value mask = arg(c, 10);
    bool on[3] = { false, false, false };
    for (uint32_t i = 0; i < 3 && i < mask.n; i++)
        on[i] = mask.u.items[i].u.sym == SYM_ID_TRUE;
    if (c->failed)
        return false;
    grad.meta = grad.meta ? grad.meta : v.input.meta;
    if (on[0])
        out[0] = new_in_format(c, grad, sizes_of(v.input), ndim_of(v.input), format);
    if (on[1])
        out[1] = new_in_format(c, grad, sizes_of(v.weight), ndim_of(v.weight), format);
    if (on[2]) {
        const sym_id *sizes;
        uint32_t n = arg_syms(c, 3, &sizes);
        out[2] = new_tensor(c, dtype_of(grad), device_of(grad), sizes, n);
    }
    return ret_tensors(c, out, 3);
}

/* --- conv1d ... conv_transpose3d --- */

/* batchify */
static struct tensor add_batch(struct call *c, struct tensor x, uint32_t n, const char *name,
                               bool *is_batched)
{
    *is_batched = ndim_of(x) == n + 2;
    require(c, *is_batched || ndim_of(x) == n + 1, "RuntimeError",
            "Expected %uD (unbatched) or %uD (batched) input to %s, but got input of size: %s",
            n + 1, n + 2, name, sizes_text(c, sizes_of(x), ndim_of(x)));
    return *is_batched || c->failed ? x : unsqueeze(c, x, 0);
}

static struct tensor remove_batch(struct call *c, struct tensor x, bool is_batched)
{
    return is_batched ? x : CALL(c, "aten.squeeze.dim", T(x), I(c, 0));
}

static const char *const names[] = { "conv1d", "conv2d", "conv3d" };
static const char *const transposed_names[] = { "conv_transpose1d", "conv_transpose2d",
                                                "conv_transpose3d" };

static const char *cpp_dtype(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F32: return "float";
    case DTYPE_F64: return "double";
    case DTYPE_F16: return "c10::Half";
    case DTYPE_BF16: return "c10::BFloat16";
    case DTYPE_I64: return "long int";
    case DTYPE_I32: return "int";
    default: return dtype_python_name(dtype);
    }
}

static void same_bias_dtype(struct call *c, struct tensor x, struct tensor bias)
{
    require(c, !some(bias) || dtype_of(bias) == dtype_of(x), "RuntimeError",
            "Input type (%s) and bias type (%s) should be the same", cpp_dtype(dtype_of(x)),
            cpp_dtype(dtype_of(bias)));
}

/* param is the number of spatial dimensions. */
bool rule_conv(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    struct tensor x = arg_tensor(c, 0), bias = arg_tensor(c, 2);
    bool is_batched;
    same_bias_dtype(c, x, bias);
    x = add_batch(c, x, n, names[n - 1], &is_batched);
    if (c->failed)
        return false;
    sym_id zeros[3] = { SYM_ID_ZERO, SYM_ID_ZERO, SYM_ID_ZERO };
    struct tensor out = CALL(c, "aten.convolution.default", T(x), arg(c, 1), T(bias), arg(c, 3),
                             arg(c, 4), arg(c, 5), B(false), ints(c, zeros, n), arg(c, 6));
    return ret_tensor(c, remove_batch(c, out, is_batched));
}

/* The arguments are input, weight, bias, stride, padding, output_padding, groups, dilation. */
bool rule_conv_transpose(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    bool is_batched;
    struct tensor x = add_batch(c, arg_tensor(c, 0), n, transposed_names[n - 1], &is_batched);
    if (c->failed)
        return false;
    struct tensor out = CALL(c, "aten.convolution.default", T(x), arg(c, 1), arg(c, 2), arg(c, 3),
                             arg(c, 4), arg(c, 7), B(true), arg(c, 5), arg(c, 6));
    return ret_tensor(c, remove_batch(c, out, is_batched));
}

/* convolution_same: the padding keeps the sizes. If it is odd, the right side gets one more. */
static struct tensor pad_same(struct call *c, struct tensor x, struct tensor weight,
                              const sym_id *dilation, uint32_t n_dilation, uint32_t n)
{
    sym_id left[CONV_MAX_SPATIAL], pads[2 * CONV_MAX_SPATIAL], zeros[CONV_MAX_SPATIAL];
    bool symmetric = true;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        sym_id d = dilation[n_dilation == 1 ? 0 : i];
        sym_id total = mul(c, d, sub(c, size_of(c, weight, i + 2), SYM_ID_ONE));
        left[i] = floordiv(c, total, num(c, 2));
        sym_id right = sub(c, total, left[i]);
        pads[2 * (n - 1 - i)] = SYM_ID_ZERO;
        pads[2 * (n - 1 - i) + 1] = sub(c, right, left[i]);
        zeros[i] = SYM_ID_ZERO;
        if (guard_bool(c, ne(c, left[i], right)))
            symmetric = false;
    }
    if (!symmetric)
        x = CALL(c, "aten.constant_pad_nd.default", T(x), ints(c, pads, 2 * n), I(c, 0));
    return CALL(c, "aten.convolution.default", T(x), T(weight), arg(c, 2), arg(c, 3),
                ints(c, left, n), arg(c, 5), B(false), ints(c, zeros, n), arg(c, 6));
}

/* padding is a string; param is the number of spatial dimensions. */
bool rule_conv_padding(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    bool is_batched;
    struct str padding = arg_string(c, 4);
    struct tensor x = add_batch(c, arg_tensor(c, 0), n, names[n - 1], &is_batched), out;
    struct tensor weight = arg_tensor(c, 1);
    const sym_id *stride, *dilation;
    uint32_t n_stride = arg_syms(c, 3, &stride), n_dilation = arg_syms(c, 5, &dilation);
    if (c->failed)
        return false;
    if (str_eq(padding, STR("same"))) {
        for (uint32_t i = 0; i < n_stride && !c->failed; i++)
            require(c, guard_bool(c, eq_int(c, stride[i], 1)), "RuntimeError",
                    "padding='same' is not supported for strided convolutions");
        require(c, n_dilation == n || n_dilation == 1, "RuntimeError",
                "dilation cannot broadcast to %u dimensions", n);
        if (c->failed || n > CONV_MAX_SPATIAL)
            return false;
        out = pad_same(c, x, weight, dilation, n_dilation, n);
    } else if (str_eq(padding, STR("valid"))) {
        sym_id zero[] = { SYM_ID_ZERO };
        out = CALL(c, "aten.convolution.default", T(x), T(weight), arg(c, 2), arg(c, 3),
                   ints(c, zero, 1), arg(c, 5), B(false), ints(c, zero, 1), arg(c, 6));
    } else {
        return refuse(c, "RuntimeError", "Invalid padding string: '%.*s'", (int)padding.n,
                      padding.p);
    }
    return ret_tensor(c, remove_batch(c, out, is_batched));
}
