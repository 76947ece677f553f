/* Adaptive and fractional pooling, unpooling. */
#include "replay/ops/rules/conv/pooling_shape.h"

static bool positive_sizes(struct call *c, struct tensor x, uint32_t from, const char *name,
                           const char *what)
{
    for (uint32_t i = from; i < ndim_of(x) && !c->failed; i++)
        check(c, gt(c, size_of(c, x, i), SYM_ID_ZERO), "RuntimeError",
              "%s(): Expected %s to have non-zero size for non-batch dimensions, but %s has sizes "
              "%s with dimension %u being empty",
              name, what, what, pool_size_text(c, x), i);
    return !c->failed;
}

/* The last `n` sizes are those of the argument, the others are x's. */
static uint32_t adaptive_sizes(struct call *c, struct tensor x, uint32_t arg_index, uint32_t n,
                               const char *what, sym_id *ret)
{
    const sym_id *list;
    uint32_t have = arg_syms(c, arg_index, &list), ndim = ndim_of(x);
    require(c, have == n && ndim >= n, "RuntimeError",
            "%s: internal error: output_size.size() must be %u", what, n);
    for (uint32_t i = 0; i < ndim && !c->failed; i++)
        ret[i] = i < ndim - n ? size_of(c, x, i) : list[i - (ndim - n)];
    return c->failed ? 0 : ndim;
}

/* param is the number of dimensions. */
bool rule_adaptive_avg_pool_kernel(struct call *c)
{
    uint32_t n = (uint32_t)c->param, ndim;
    struct tensor x = arg_tensor(c, 0);
    sym_id sizes[TENSOR_MAX_DIM];
    ndim = ndim_of(x);
    if (!require(c, ndim == n + 1 || ndim == n + 2, "RuntimeError",
                 "Expected %uD or %uD tensor, but got %s", n + 1, n + 2, pool_size_text(c, x)))
        return false;
    ndim = adaptive_sizes(c, x, 1, n, "adaptive_avg_pool", sizes);
    if (c->failed)
        return false;
    enum memory_format format = n == 2 || eager(c) ? suggest_format(c, x) : FORMAT_CONTIGUOUS;
    return ret_tensor(c, new_tensor_format(c, dtype_of(x), device_of(x), sizes, ndim, format));
}

/* The arguments are grad_output, self. */
bool rule_adaptive_avg_pool_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1);
    if (!positive_sizes(c, grad, 1,
                        c->param == 2 ? "adaptive_avg_pool2d_backward"
                                      : "adaptive_avg_pool3d_backward",
                        "grad_output"))
        return false;
    if (c->param == 2)
        require(c, dtype_of(x) == dtype_of(grad), "RuntimeError",
                "expected dtype %s for `grad_output` but got dtype %s",
                dtype_python_name(dtype_of(x)), dtype_python_name(dtype_of(grad)));
    enum memory_format format = FORMAT_CONTIGUOUS;
    if (c->param == 2 && suggest_format(c, x) == FORMAT_CHANNELS_LAST)
        format = FORMAT_CHANNELS_LAST;
    return ret_tensor(
        c, new_tensor_format(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x), format));
}

bool rule_adaptive_max_pool(struct call *c)
{
    uint32_t n = (uint32_t)c->param, ndim;
    const char *name = n == 2 ? "adaptive_max_pool2d" : "adaptive_max_pool3d";
    struct tensor x = arg_tensor(c, 0), out[2];
    sym_id sizes[TENSOR_MAX_DIM];
    ndim = ndim_of(x);
    if (!require(c, ndim == n + 1 || ndim == n + 2, "RuntimeError",
                 "%s(): Expected %uD or %uD tensor, but got: %s", name, n + 1, n + 2,
                 pool_size_text(c, x)) ||
        !positive_sizes(c, x, 1, name, "input"))
        return false;
    ndim = adaptive_sizes(c, x, 1, n, n == 2 ? "adaptive_max_pool2d()" : "adaptive_max_pool3d()",
                          sizes);
    enum memory_format format = FORMAT_CONTIGUOUS;
    if (!c->failed && n == 2 && ndim == 4)
        format = suggest_format(c, x);
    out[0] = new_tensor_format(c, dtype_of(x), device_of(x), sizes, ndim, format);
    out[1] = new_tensor_format(c, DTYPE_I64, device_of(x), sizes, ndim, format);
    return ret_tensors(c, out, 2);
}

bool rule_adaptive_max_pool_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1);
    const char *name =
        c->param == 2 ? "adaptive_max_pool2d_backward" : "adaptive_max_pool3d_backward";
    if (!positive_sizes(c, grad, 1, name, "grad_output"))
        return false;
    enum memory_format format = c->param == 2 ? suggest_format(c, x) : FORMAT_CONTIGUOUS;
    return ret_tensor(
        c, new_tensor_format(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x), format));
}

/* --- Composites --- */

/* adaptive_avg_pool2d_symint, adaptive_avg_pool3d_symint: a single window is a mean. */
bool rule_adaptive_avg_pool(struct call *c)
{
    uint32_t n = (uint32_t)c->param;
    struct tensor x = arg_tensor(c, 0);
    const sym_id *out;
    uint32_t have = arg_syms(c, 1, &out);
    require(c, have == n, "RuntimeError", "adaptive_avg_pool%ud: output_size must be %u", n, n);
    bool good = true, single = true;
    for (uint32_t i = 0; i < n && !c->failed; i++)
        good = good && guard_bool(c, ge(c, out[i], SYM_ID_ZERO));
    require(c, good, "RuntimeError",
            "adaptive_avg_pool%ud: elements of output_size must be greater than or equal to 0 but "
            "received %s",
            n, sizes_text(c, out, have));
    for (uint32_t i = 0; i < n && single && !c->failed; i++)
        single = guard_bool(c, eq_int(c, out[i], 1));
    if (c->failed)
        return false;
    if (!single)
        return ret_tensor(c, CALL(c,
                                  n == 2 ? "aten._adaptive_avg_pool2d.default"
                                         : "aten._adaptive_avg_pool3d.default",
                                  T(x), ints(c, out, n)));
    int64_t list[] = { -1, -2, -3 };
    struct tensor mean = CALL(c, "aten.mean.dim", T(x), dims(c, list, n), B(true));
    enum memory_format last = n == 2 ? FORMAT_CHANNELS_LAST : FORMAT_CHANNELS_LAST_3D;
    if (!c->failed && suggest_format_c10(c, x) == last) {
        sym_id channels = size_of(c, x, 1), one = SYM_ID_ONE;
        sym_id sizes[] = { size_of(c, x, 0), channels, one, one, one };
        sym_id strides[] = { channels, one, channels, channels, channels };
        mean = CALL(c, "aten.as_strided.default", T(mean), ints(c, sizes, n + 2),
                    ints(c, strides, n + 2));
    }
    return ret_tensor(c, mean);
}

/* param is 1 for the maximum. */
bool rule_adaptive_pool1d(struct call *c)
{
    const int64_t *out;
    uint32_t n = arg_ints(c, 1, &out);
    require(c, n == 1, "RuntimeError",
            "adaptive_pool1d() argument 'output_size' must be of length 1");
    struct tensor x = unsqueeze(c, arg_tensor(c, 0), -2), ret[2];
    if (c->failed)
        return false;
    struct value size = dims(c, (int64_t[]){ 1, out[0] }, 2);
    if (!c->param) {
        struct tensor mean = CALL(c, "aten.adaptive_avg_pool2d.default", T(x), size);
        return ret_tensor(c, CALL(c, "aten.squeeze.dim", T(mean), I(c, -2)));
    }
    struct value both_ = CALL_VALUE(c, "aten.adaptive_max_pool2d.default", T(x), size);
    for (uint32_t i = 0; i < 2; i++)
        ret[i] = CALL(c, "aten.squeeze.dim", T(item_tensor(c, both_, i)), I(c, -2));
    return ret_tensors(c, ret, 2);
}

/* --- Fractional --- */

static void check_samples(struct call *c, struct tensor x, struct tensor samples, sym_id batch)
{
    require(c, dtype_of(x) == dtype_of(samples), "RuntimeError",
            "Expect _random_samples to have the same dtype as input");
    if (!require(c, ndim_of(samples) == 3, "RuntimeError",
                 "Expect _random samples to have 3 dimensions got, %u", ndim_of(samples)))
        return;
    const sym_id *s = sizes_of(samples);
    check(c, ge(c, s[0], batch), "RuntimeError",
          "Expect _random_samples.size(0) no less then input batch size.");
    check(c, py_eq(c, s[1], size_of(c, x, -3)), "RuntimeError",
          "Expect _random_samples.size(1) equals to input channel size.");
    check(c, py_eq(c, s[2], num(c, 2)), "RuntimeError",
          "Expect _random_samples.size(2) equals to 2 got %s.", sym_text(c, s[2]));
}

/* The arguments are self, kernel_size, output_size, random_samples; param is the number of
 * dimensions. For three dimensions the kernel's meta function takes concrete sizes only. */
bool rule_fractional_max_pool(struct call *c)
{
    uint32_t n = (uint32_t)c->param, ndim;
    struct tensor x = arg_tensor(c, 0), samples = arg_tensor(c, 3), out[2];
    sym_id sizes[TENSOR_MAX_DIM];
    const sym_id *kernel, *wanted;
    ndim = ndim_of(x);
    if (!require(c, ndim == n + 1 || ndim == n + 2, "RuntimeError",
                 "fractional_max_pool%ud: Expected %uD or %uD tensor, but got: %u", n, n + 1, n + 2,
                 ndim))
        return false;
    for (uint32_t i = ndim - n - 1; i < ndim && n == 2 && !c->failed; i++)
        check(c, gt(c, size_of(c, x, i), SYM_ID_ZERO), "RuntimeError",
              "fractional_max_pool2d: Expected input to have non-zero  size for non-batch "
              "dimensions, but got torch.Size(%s) with dimension %u empty",
              sizes_text(c, sizes_of(x), ndim), i);
    uint32_t n_kernel = arg_syms(c, 1, &kernel), n_wanted = arg_syms(c, 2, &wanted);
    require(c, n_kernel == n && n_wanted == n, "RuntimeError",
            "fractional_max_pool%ud: kernel_size must either be a single int or tuple of Ints", n);
    if (c->failed)
        return false;
    adaptive_sizes(c, x, 2, n, "pooling", sizes);
    if (n == 2)
        check_samples(c, x, samples, ndim == 4 ? size_of(c, x, 0) : SYM_ID_ONE);
    for (uint32_t i = 0; i < ndim && n == 3; i++)
        sizes[i] = i < ndim - n ? num(c, guard_int(c, sizes[i])) : sizes[i];
    for (uint32_t i = ndim - n; i < ndim && n == 3; i++)
        guard_int(c, size_of(c, x, i));
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        sym_id need = sub(c, add(c, wanted[i], kernel[i]), SYM_ID_ONE);
        sym_id in = size_of(c, x, (int64_t)i - n);
        static const char *const names[] = { "time", "height", "width" };
        check(c, le(c, need, in), "RuntimeError",
              "fractional_max_pool%ud: kernel %s %s is too large relative to input %s %s", n,
              names[i + 3 - n], sym_text(c, kernel[i]), names[i + 3 - n], sym_text(c, in));
    }
    out[0] = new_tensor(c, dtype_of(x), device_of(x), sizes, ndim);
    out[1] = new_tensor(c, DTYPE_I64, device_of(x), sizes, ndim);
    return ret_tensors(c, out, 2);
}

/* The arguments are grad_output, self, ... The result is like self. */
bool rule_fractional_max_pool_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 1);
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x)));
}

/* --- Unpooling --- */

/* max_unpool3d has two more arguments, strides and padding; the out= forms have one more. */
bool rule_max_unpool(struct call *c)
{
    uint32_t n = c->n_args > 4 ? 3 : 2, ndim;
    struct tensor x = arg_tensor(c, 0), indices = arg_tensor(c, 1);
    sym_id sizes[TENSOR_MAX_DIM];
    ndim = ndim_of(x);
    require(c, dtype_of(indices) == DTYPE_I64, "RuntimeError",
            "elements in indices should be type int64 but got: %s",
            dtype_python_name(dtype_of(indices)));
    require(c, ndim == n + 1 || ndim == n + 2, "RuntimeError",
            "Input to max_unpooling%ud should be a %ud or %ud Tensor, but got a tensor with %u "
            "dimensions.",
            n, n + 1, n + 2, ndim);
    bool same = ndim_of(indices) == ndim;
    for (uint32_t i = 0; i < ndim && same && !c->failed; i++)
        same = guard_bool(c, eq(c, size_of(c, x, i), size_of(c, indices, i)));
    require(c, same, "RuntimeError",
            "Expected shape of indices to be same as that of the input tensor (%s) but got indices "
            "tensor with shape: %s",
            pool_size_text(c, x), pool_size_text(c, indices));
    for (uint32_t i = 1; i < ndim && !c->failed; i++)
        check(c, gt(c, size_of(c, x, i), SYM_ID_ZERO), "RuntimeError",
              "max_unpooling%ud(): Expected input to have non-zero size for non-batch dimensions, "
              "but got %s with dimension %u being empty.",
              n, pool_size_text(c, x), i);
    adaptive_sizes(c, x, 2, n, "pooling", sizes);
    if (c->failed)
        return false;
    if (!eager(c))
        return decompose(c, NULL);
    enum memory_format format = n == 2 ? suggest_format(c, x) : FORMAT_CONTIGUOUS;
    return ret_tensor(c, new_tensor_format(c, dtype_of(x), device_of(x), sizes, ndim, format));
}
