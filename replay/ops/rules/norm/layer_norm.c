/* Layer and RMS normalisation (torch/_refs, torch/_decomp/decompositions.py). */
#include "replay/ops/rules/compose.h"

/* sym_equals of c10/core/SymIntArrayRef.h, or sym_eq of Python. */
static sym_id same_shape(struct call *c, bool cpp, struct tensor x, uint32_t from,
                         const sym_id *shape, uint32_t n)
{
    if (!cpp)
        return shapes_equal(c, sizes_of(x) + from, ndim_of(x) - from, shape, n);
    sym_id all = ndim_of(x) - from == n ? SYM_ID_TRUE : SYM_ID_FALSE;
    for (uint32_t i = 0; i < n && all != SYM_ID_FALSE; i++)
        all = both(c, all, eq(c, sizes_of(x)[from + i], shape[i]));
    return all;
}

/* _check_layer_norm_inputs of C++ (aten/src/ATen/native/layer_norm.h), which rms_norm calls, too,
 * or native_layer_norm of torch/_refs. */
static bool check_inputs(struct call *c, bool cpp, struct tensor x, const sym_id *shape, uint32_t n,
                         struct tensor weight, struct tensor bias)
{
    const char *error = "RuntimeError", *wanted = sizes_text(c, shape, n);
    if (!require(c, n >= 1, error,
                 "Expected normalized_shape to be at least 1-dimensional, i.e., containing at "
                 "least one element, but got normalized_shape = %s",
                 wanted))
        return false;
    const struct {
        struct tensor x;
        const char *name;
    } affine[] = { { weight, "weight" }, { bias, "bias" } };
    for (uint32_t i = 0; i < 2 && !c->failed; i++) {
        struct tensor y = affine[i].x;
        if (!some(y))
            continue;
        const char *text = sizes_text(c, sizes_of(y), ndim_of(y));
        check(c, same_shape(c, cpp, y, 0, shape, n), error,
              !cpp ? "Expected %s to be of same shape as normalized_shape, but got %s of "
                     "shape torch.Size(%s) and normalized_shape = %s"
                   : "Expected %s to be of same shape as normalized_shape, but got %s of "
                     "shape %s and normalized_shape = %s",
              affine[i].name, affine[i].name, text, wanted);
    }
    uint32_t ndim = ndim_of(x);
    sym_id fits = ndim < n ? SYM_ID_FALSE : same_shape(c, cpp, x, ndim - n, shape, n);
    const char *got = sizes_text(c, sizes_of(x), ndim);
    if (!cpp)
        return check(c, fits, error,
                     "Given normalized_shape=%s, expected input with shape %s, but got input of "
                     "size torch.Size(%s)",
                     wanted, wanted, got);
    return check(c, fits, error,
                 "Given normalized_shape=%s, expected input with shape [*%s%s, but got input of "
                 "size%s",
                 wanted, n ? ", " : "", *wanted ? wanted + 1 : "", got);
}

/* x.clone(memory_format=torch.contiguous_format) of the references, where x is not known to be
 * contiguous. */
static struct tensor clone_contiguous(struct call *c, struct tensor x)
{
    if (!some(x) || contiguous_or_false(c, x))
        return x;
    return c->failed ? no_tensor() : clone_format(c, x, FORMAT_CONTIGUOUS);
}

/* native_layer_norm of torch/_refs from its call of _normalize on. */
static bool run_layer_norm_reference(struct call *c, struct tensor x, struct tensor weight,
                                     struct tensor bias, uint32_t n)
{
    int64_t list[TENSOR_MAX_DIM];
    enum dtype dtype = dtype_of(x);
    require(c, !dtype_is_complex(dtype), "RuntimeError",
            "native_layer_norm does not support complex inputs");
    x = clone_contiguous(c, x);
    weight = clone_contiguous(c, weight);
    bias = clone_contiguous(c, bias);
    for (uint32_t i = 0; i < n; i++)
        list[i] = ndim_of(x) - n + i;
    struct tensor var, mean, wide = convert(c, x, computation_dtype(dtype));
    var_mean(c, wide, list, n, &var, &mean);
    struct tensor rstd = CALL(c, "aten.rsqrt.default", T(plus(c, T(var), arg(c, 4))));
    struct tensor out = times(c, T(minus(c, T(wide), T(mean))), T(rstd));
    if (some(weight))
        out = times(c, T(out), T(weight));
    if (some(bias))
        out = plus(c, T(out), T(bias));
    out = convert(c, out, dtype);
    if (on_cpu(x)) {
        mean = convert(c, mean, dtype);
        rstd = convert(c, rstd, dtype);
    }
    return ret_tensors(c, (struct tensor[]){ out, mean, rstd }, 3);
}

bool rule_native_layer_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weight = arg_tensor(c, 2), bias = arg_tensor(c, 3);
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    if (!check_inputs(c, eager(c), x, shape, n, weight, bias))
        return false;
    c->in_kernel = !c->symbolic;
    if (!eager(c))
        return run_layer_norm_reference(c, x, weight, bias, n);
    struct device device = common_device(c, (struct tensor[]){ x, weight, bias }, 3);
    sym_id stat[TENSOR_MAX_DIM];
    uint32_t ndim = ndim_of(x);
    for (uint32_t i = 0; i < ndim; i++)
        stat[i] = i < ndim - n ? size_of(c, x, i) : SYM_ID_ONE;
    enum dtype dtype = on_cpu(x) && !some(weight) ? dtype_of(x) : computation_dtype(dtype_of(x));
    if (on_cpu(x) && some(weight))
        dtype = dtype_of(weight);
    struct tensor out[3];
    out[0] = new_tensor(c, dtype_of(x), device, sizes_of(x), ndim);
    out[1] = new_tensor(c, dtype, device, stat, ndim);
    out[2] = new_tensor(c, dtype, device, stat, ndim);
    return ret_tensors(c, out, 3);
}

/* --- Backward --- */

struct axes {
    int64_t inner[TENSOR_MAX_DIM], outer[TENSOR_MAX_DIM];
    uint32_t n_inner, n_outer;
    sym_id inner_size, outer_size;
};

static struct axes split_axes(struct call *c, struct tensor x, uint32_t n)
{
    struct axes a = { .n_inner = 0 };
    uint32_t ndim = ndim_of(x), axis = ndim > n ? ndim - n : 0;
    a.inner_size = a.outer_size = SYM_ID_ONE;
    for (uint32_t i = 0; i < ndim; i++) {
        if (i >= axis) {
            a.inner[a.n_inner++] = i;
            a.inner_size = mul(c, a.inner_size, size_of(c, x, i));
        } else {
            a.outer[a.n_outer++] = i;
            a.outer_size = mul(c, a.outer_size, size_of(c, x, i));
        }
    }
    return a;
}

static bool mask_at(const struct call *c, uint32_t arg_index, uint32_t i)
{
    struct value mask = arg(c, arg_index);
    return i < mask.n && mask.u.items[i].u.sym == SYM_ID_TRUE;
}

static bool ret_empty_backward(struct call *c, struct tensor x, const struct axes *a, uint32_t mask,
                               uint32_t n_out)
{
    struct tensor out[3];
    for (uint32_t i = 0; i < n_out; i++) {
        bool all = i == 0;
        out[i] = !mask_at(c, mask, i) ? no_tensor()
                                      : zeros_of(c, x, sizes_of(x) + (all ? 0 : a->n_outer),
                                                 all ? ndim_of(x) : a->n_inner, DTYPE_NONE);
    }
    return ret_tensors(c, out, n_out);
}

/* grad, input, normalized_shape, mean, rstd, weight, bias, output_mask */
bool rule_native_layer_norm_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1), mean = arg_tensor(c, 3);
    struct tensor rstd = arg_tensor(c, 4), weight = arg_tensor(c, 5), bias = arg_tensor(c, 6);
    struct tensor out[3] = { no_tensor(), no_tensor(), no_tensor() };
    enum dtype dtype = dtype_of(x), computation = computation_dtype(dtype);
    struct tensor g = to_dtype_format(c, grad, computation, FORMAT_CONTIGUOUS);
    struct tensor in = to_dtype_format(c, x, computation, FORMAT_CONTIGUOUS);
    struct tensor w = to_dtype_format(c, weight, computation, FORMAT_CONTIGUOUS);
    struct tensor b = to_dtype_format(c, bias, computation, FORMAT_CONTIGUOUS);
    struct axes a = split_axes(c, x, arg(c, 2).n);
    if (c->failed)
        return false;
    if (known_true(c, eq_int(c, a.outer_size, 0)) || known_true(c, eq_int(c, a.inner_size, 0)))
        return ret_empty_backward(c, x, &a, 7, 3);
    mean = unsqueeze_to(c, mean, ndim_of(in));
    rstd = unsqueeze_to(c, rstd, ndim_of(in));
    struct tensor hat = times(c, T(minus(c, T(in), T(mean))), T(rstd));
    struct tensor grad_hat = some(w) ? times(c, T(g), T(w)) : g;
    struct tensor t = times(c, T(grad_hat), N(a.inner_size));
    struct tensor sum = sum_dims(c, grad_hat, a.inner, a.n_inner, true);
    struct tensor c1 = times(c, T(grad_hat), T(hat));
    struct tensor c2 = sum_dims(c, c1, a.inner, a.n_inner, true);
    struct tensor c3 = times(c, T(hat), T(c2));
    struct tensor inner = minus(c, T(minus(c, T(t), T(sum))), T(c3));
    if (mask_at(c, 7, 0))
        out[0] = times(c, T(over(c, T(rstd), N(a.inner_size))), T(inner));
    if (mask_at(c, 7, 1) && some(w)) {
        out[1] = times(c, T(g), T(hat));
        if (a.n_outer)
            out[1] = sum_dims(c, out[1], a.outer, a.n_outer, false);
    }
    if (mask_at(c, 7, 2) && some(b))
        out[2] = a.n_outer ? sum_dims(c, g, a.outer, a.n_outer, false)
                           : CALL(c, "aten.clone.default", T(g));
    out[0] = to_dtype(c, out[0], dtype);
    out[1] = to_dtype(c, out[1], dtype_of(weight));
    out[2] = to_dtype(c, out[2], dtype_of(bias));
    return ret_tensors(c, out, 3);
}

/* --- RMS --- */

/* rms_norm_symint of C++, which gives the shape to _fused_rms_norm without reading symbols as
 * ints. Only its length is used there. */
bool rule_rms_norm(struct call *c)
{
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    struct tensor x = arg_tensor(c, 0);
    if (!check_inputs(c, true, x, shape, n, arg_tensor(c, 2), no_tensor()))
        return false;
    struct value *sizes = values(c, n + 1);
    for (uint32_t i = 0; sizes && i < n; i++)
        sizes[i] = is_number(c, shape[i]) ? N(shape[i]) : I(c, 0);
    struct value list = value_items(VALUE_LIST, sizes, sizes ? n : 0);
    struct value both =
        CALL_VALUE(c, "aten._fused_rms_norm.default", T(x), list, arg(c, 2), arg(c, 3));
    return ret_tensor(c, item_tensor(c, both, 0));
}

bool rule_fused_rms_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weight = arg_tensor(c, 2);
    uint32_t n = arg(c, 1).n, ndim = ndim_of(x);
    enum dtype dtype = dtype_of(x), computation = computation_dtype(dtype);
    int64_t list[TENSOR_MAX_DIM];
    if (!require(c, n <= ndim, "RuntimeError",
                 "Given normalized_shape of %u dimensions, but got input of size %s", n,
                 sizes_text(c, sizes_of(x), ndim)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        list[i] = (int64_t)ndim - i - 1;
    bool single = computation == DTYPE_F32 || computation == DTYPE_C64;
    struct value eps = arg_given(c, 3) ? arg(c, 3) : F(c, single ? 0x1p-23 : 0x1p-52);
    struct tensor wide = to_dtype(c, x, computation);
    struct tensor square = CALL(c, "aten.pow.Tensor_Scalar", T(wide), I(c, 2));
    struct tensor mean = CALL(c, "aten.mean.dim", T(square), dims(c, list, n), B(true));
    struct tensor shifted = CALL(c, "aten.add.Scalar", T(mean), eps);
    struct tensor rstd = CALL(c, "aten.rsqrt.default", T(shifted));
    struct tensor out = times(c, T(wide), T(rstd));
    if (some(weight))
        out = times(c, T(out), T(weight));
    if (some(x) && suggest_format(c, x) == FORMAT_CONTIGUOUS) {
        out = contiguous(c, out);
        rstd = contiguous(c, rstd);
    }
    return ret_tensors(c, (struct tensor[]){ to_dtype(c, out, dtype), rstd }, 2);
}

/* grad, input, normalized_shape, rstd, weight, output_mask */
bool rule_fused_rms_norm_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1), rstd = arg_tensor(c, 3);
    struct tensor weight = arg_tensor(c, 4), out[2] = { no_tensor(), no_tensor() };
    enum dtype dtype = dtype_of(x), computation = computation_dtype(dtype);
    struct tensor g = to_dtype_format(c, grad, computation, FORMAT_CONTIGUOUS);
    struct tensor in = to_dtype_format(c, x, computation, FORMAT_CONTIGUOUS);
    struct tensor w = to_dtype_format(c, weight, computation, FORMAT_CONTIGUOUS);
    struct axes a = split_axes(c, x, arg(c, 2).n);
    if (c->failed)
        return false;
    if (guard_or_false(c, eq_int(c, a.outer_size, 0)) ||
        guard_or_false(c, eq_int(c, a.inner_size, 0)))
        return ret_empty_backward(c, x, &a, 5, 2);
    rstd = unsqueeze_to(c, rstd, ndim_of(in));
    struct tensor grad_hat = some(w) ? times(c, T(g), T(w)) : g;
    struct tensor hat = times(c, T(in), T(rstd));
    if (mask_at(c, 5, 0)) {
        struct tensor sum = sum_dims(c, times(c, T(hat), T(grad_hat)), a.inner, a.n_inner, true);
        struct tensor part = times(c, T(over(c, T(hat), N(a.inner_size))), T(sum));
        out[0] = times(c, T(minus(c, T(grad_hat), T(part))), T(rstd));
    }
    if (mask_at(c, 5, 1) && some(w)) {
        out[1] = times(c, T(g), T(hat));
        if (a.n_outer)
            out[1] = sum_dims(c, out[1], a.outer, a.n_outer, false);
    }
    out[0] = to_dtype(c, out[0], dtype);
    out[1] = to_dtype(c, out[1], dtype);
    return ret_tensors(c, out, 2);
}
