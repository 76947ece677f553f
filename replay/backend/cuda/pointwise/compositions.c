/* Operators that call a few others on this backend, which join pending pointwise operators or have
 * kernels. The CPU backend has kernels of its own for them. */
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/pointwise/pointwise_ops.h"

/* glu: the first half times the sigmoid of the second. */
void cuda_glu(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    if (!x.meta || ndim == 0)
        return;
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), ndim);
    struct kernel_value second = value_of_tensor(narrowed(k, x, dim, size[dim] / 2, size[dim] / 2));
    struct kernel_value args[] = { value_of_tensor(narrowed(k, x, dim, 0, size[dim] / 2)),
                                   run_op(k, "aten.sigmoid.default", &second, 1) };
    run_into(k, "aten.mul.Tensor", args, 2, value_of_tensor(result(k, 0)));
}

/* Returns the product of two tensors. */
static struct kernel_value product_of(struct kernel *k, struct kernel_value x,
                                      struct kernel_value y)
{
    struct kernel_value args[] = { x, y };
    return run_op(k, "aten.mul.Tensor", args, 2);
}

/* The gradient of glu: with s, the sigmoid of the second half, grad * s for the first half and grad
 * * s * first * (1 - s) for the second. Half precision would be rounded between the steps. */
void cuda_glu_backward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    if (!x.meta || !to.meta || ndim == 0 ||
        (x.meta->dtype != DTYPE_F32 && x.meta->dtype != DTYPE_F64)) {
        cuda_decline(k);
        return;
    }
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), ndim);
    int64_t n = size[dim] / 2;
    struct kernel_value second = value_of_tensor(narrowed(k, x, dim, n, n));
    struct kernel_value first = value_of_tensor(narrowed(k, x, dim, 0, n));
    struct kernel_value gate = run_op(k, "aten.sigmoid.default", &second, 1);
    struct kernel_value up[] = { value_arg(k, "grad_output"), gate };
    struct kernel_value to_first = value_of_tensor(narrowed(k, to, dim, 0, n));
    run_into(k, "aten.mul.Tensor", up, 2, to_first);
    struct kernel_value rest[] = { gate, value_of_int(1) };
    struct kernel_value slope[] = { product_of(k, product_of(k, up[0], gate), first),
                                    run_op(k, "aten.rsub.Scalar", rest, 2) };
    run_into(k, "aten.mul.Tensor", slope, 2, value_of_tensor(narrowed(k, to, dim, n, n)));
}

/* The gradients of the values and of the weight, which is broadcast to them. */
void cuda_prelu_backward(struct kernel *k)
{
    struct kernel_value up = value_arg(k, "grad_output"), x = value_arg(k, "self");
    struct kernel_value above[] = { x, value_of_int(0) };
    above[0] = run_op(k, "aten.gt.Scalar", above, 2);
    struct kernel_value to_x[] = { above[0], up, product_of(k, up, value_arg(k, "weight")) };
    run_into(k, "aten.where.self", to_x, 3, value_of_tensor(result(k, 0)));
    struct kernel_value to_weight[] = { product_of(k, up, x), above[0], value_of_int(0) };
    run_into(k, "aten.masked_fill.Scalar", to_weight, 3, value_of_tensor(result(k, 1)));
}

/* Returns a vector of channels as a view that is broadcast to `like`, or none. */
static struct kernel_value along_channels(struct kernel *k, const char *name,
                                          struct kernel_tensor like)
{
    struct kernel_tensor x = tensor_arg(k, name);
    int64_t size[TENSOR_MAX_DIM], of_like[TENSOR_MAX_DIM];
    const uint32_t ndim = tensor_sizes(like, of_like);
    if (!x.meta || tensor_sizes(x, size) != 1)
        return (struct kernel_value){ .kind = KERNEL_NONE };
    for (uint32_t d = 1; d < ndim; d++)
        size[d] = 1;
    x = reshaped_view(k, x, size, ndim - 1);
    return x.meta ? value_of_tensor(x) : (struct kernel_value){ .kind = KERNEL_NONE };
}

/* Batch normalisation by running statistics, with pending pointwise operators. Half precision would
 * be rounded between its steps. */
void cuda_batch_norm_running(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input"), to = result(k, 0);
    struct kernel_tensor mean = tensor_arg(k, "running_mean");
    if (!x.meta || !to.meta || !mean.meta || x.meta->ndim < 2 ||
        mean.meta->dtype != x.meta->dtype ||
        (x.meta->dtype != DTYPE_F32 && x.meta->dtype != DTYPE_F64)) {
        cuda_batch_norm(k);
        return;
    }
    struct kernel_value scaled[] = { value_of_tensor(x), along_channels(k, "running_mean", x),
                                     along_channels(k, "running_var", x),
                                     along_channels(k, "weight", x) };
    struct kernel_value shifted[] = { value_of_tensor(to), along_channels(k, "bias", x) };
    if (scaled[1].kind == KERNEL_NONE || scaled[2].kind == KERNEL_NONE) {
        cuda_decline(k);
        return;
    }
    cuda_point_values(k, POINT_batch_norm_scaled, to, scaled);
    if (shifted[1].kind != KERNEL_NONE)
        cuda_point_values(k, POINT_batch_norm_shifted, to, shifted);
}

/* Returns the values, and a buffer for backward, which is empty on some devices. */
void cuda_log_sigmoid_forward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), kept = result(k, 1);
    int64_t size[TENSOR_MAX_DIM], of_x[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, of_x);
    bool keeps = kept.meta && tensor_sizes(kept, size) == ndim && (!ndim || size[0] == of_x[0]);
    cuda_point_row(k, POINT_log_sigmoid, result(k, 0));
    if (keeps)
        cuda_point_row(k, POINT_log_sigmoid_kept, kept);
}

/* pow: by 2 and 3 it multiplies, as PyTorch does (pow_tensor_scalar_kernel_impl() in
 * aten/src/ATen/native/cuda/PowKernel.cu). That is faster, and a kernel that calls pow() takes
 * NVRTC about three times as long. */
void cuda_pow(struct kernel *k)
{
    const struct kernel_value exponent = value_arg(k, "exponent");
    const struct kernel_tensor to = result(k, 0);
    const bool real =
        value_has_number(exponent) && to.meta && dense_kind_of(to.meta->dtype) == DENSE_REAL;
    const double number = real ? number_as_real(exponent, 0) : 0;
    cuda_point_row(k, number == 2 ? POINT_square : number == 3 ? POINT_cube : POINT_pow, to);
}

/* linspace between numbers. */
void cuda_linspace(struct kernel *k)
{
    struct kernel_value start = value_arg(k, "start"), end = value_arg(k, "end");
    struct kernel_tensor to = result(k, 0);
    bool ints = to.meta && dense_kind_of(to.meta->dtype) == DENSE_INT;
    if (!to.meta || !value_has_number(start) || !value_has_number(end) ||
        start.kind == KERNEL_COMPLEX || end.kind == KERNEL_COMPLEX)
        cuda_decline(k);
    else
        cuda_point_row(k, ints ? POINT_linspace_whole : POINT_linspace_real, to);
}

/* Writes values at the positions `indices` of their planes: max_unpool (PARAM: dimensions), or the
 * backward of fractional_max_pool (PARAM plus 10), which adds those of one position. */
void cuda_max_unpool(struct kernel *k)
{
    bool adds = k->row->param > 10;
    struct kernel_tensor x = tensor_arg(k, adds ? "grad_output" : "self"), to = result(k, 0);
    struct kernel_tensor index = tensor_arg(k, "indices");
    int64_t size[TENSOR_MAX_DIM], of_to[TENSOR_MAX_DIM], in[2] = { 1, 1 }, out[2] = { 1, 1 };
    uint32_t ndim = tensor_sizes(x, size), dims = (uint32_t)k->row->param % 10;
    if (k->failed || tensor_sizes(to, of_to) != ndim)
        return;
    for (uint32_t d = 0; d < ndim; d++) {
        in[d + dims >= ndim] *= size[d];
        out[d + dims >= ndim] *= of_to[d];
    }
    struct kernel_tensor seen = reshaped_view(k, to, out, 2);
    if (!seen.meta) {
        cuda_decline(k);
        return;
    }
    zero_elements(k, to);
    struct kernel_value args[] = { value_of_tensor(seen), value_of_int(1),
                                   value_of_tensor(reshaped(k, index, in, 2)),
                                   value_of_tensor(reshaped(k, x, in, 2)) };
    run_into(k, adds ? "aten.scatter_add_.default" : "aten.scatter_.src", args, 4, args[0]);
}

/* Each of the three components is a determinant of the others. */
void cuda_cross(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), y = tensor_arg(k, "other"), to = result(k, 0);
    if (!x.meta || !y.meta || !to.meta || x.meta->ndim != to.meta->ndim ||
        y.meta->ndim != to.meta->ndim) {
        cuda_decline(k);
        return;
    }
    uint32_t dim = wrapped_dim(int_arg(k, "dim", -1), to.meta->ndim);
    for (int i = 0; i < 3 && !k->failed; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        struct kernel_value first[] = { value_of_tensor(narrowed(k, x, dim, p, 1)),
                                        value_of_tensor(narrowed(k, y, dim, q, 1)) };
        struct kernel_value second[] = { value_of_tensor(narrowed(k, x, dim, q, 1)),
                                         value_of_tensor(narrowed(k, y, dim, p, 1)) };
        struct kernel_value both[] = { run_op(k, "aten.mul.Tensor", first, 2),
                                       run_op(k, "aten.mul.Tensor", second, 2) };
        run_into(k, "aten.sub.Tensor", both, 2, value_of_tensor(narrowed(k, to, dim, i, 1)));
    }
}

void cuda_trace(struct kernel *k)
{
    struct kernel_value x = value_of_tensor(tensor_arg(k, "self"));
    x = run_op(k, "aten.diagonal.default", &x, 1);
    run_into(k, "aten.sum.default", &x, 1, value_of_tensor(result(k, 0)));
}

/* dist: the norm of the difference. */
void cuda_dist(struct kernel *k)
{
    struct kernel_value args[] = { value_arg(k, "self"), value_arg(k, "other") };
    struct kernel_value norm[] = { run_op(k, "aten.sub.Tensor", args, 2), value_arg(k, "p") };
    run_into(k, "aten.linalg_vector_norm.default", norm, 2, value_of_tensor(result(k, 0)));
}

/* Places each matrix on the diagonal after the one before. */
void cuda_block_diag(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items);
    struct kernel_tensor to = result(k, 0);
    int64_t row = 0, column = 0, size[TENSOR_MAX_DIM];
    zero_elements(k, to);
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        struct kernel_tensor x = items[i].u.tensor;
        uint32_t ndim = tensor_sizes(x, size);
        int64_t h = ndim > 1 ? size[0] : 1, w = ndim ? size[ndim - 1] : 1;
        x = ndim == 2 ? x : reshaped(k, x, (int64_t[]){ h, w }, 2);
        if (h && w)
            copy_elements(k, x, narrowed(k, narrowed(k, to, 0, row, h), 1, column, w));
        row += h;
        column += w;
    }
}
