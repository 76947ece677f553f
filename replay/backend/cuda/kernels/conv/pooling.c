/* Pooling of one to three dimensions and its backward: every position of the result gathers its
 * values in a fixed order. */
#include "replay/backend/cuda/device/conv/pooling.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/planes.h"

/* Returns the dimensions of prims._low_memory_max_pool_*, which have one name for 2 and 3
 * dimensions. */
static uint32_t pooling_dims_arg(const struct kernel *k)
{
    int64_t window[PLANE_DIMS];
    uint32_t dims = (uint32_t)k->row->param % 10;
    return dims ? dims : ints_arg(k, "kernel_size", window, PLANE_DIMS);
}

/* Reads the sizes; `inner` has those of the input, `outer` those of the output. */
static bool pool_args_of(struct kernel *k, struct kernel_tensor inner, struct kernel_tensor outer,
                         struct kernel_tensor indices, struct pool_args *a)
{
    uint32_t dims = pooling_dims_arg(k);
    i64 in[PLANE_STRIDES], out[PLANE_STRIDES], index[PLANE_STRIDES];
    memset(a, 0, sizeof *a);
    if (!planes_of(k, inner, dims, in, a->inner_stride) ||
        !planes_of(k, outer, dims, out, a->outer_stride) ||
        (indices.meta && !planes_of(k, indices, dims, index, a->index_stride)))
        return false;
    a->channels = in[1];
    memcpy(a->in, in + 2, sizeof a->in);
    memcpy(a->out, out + 2, sizeof a->out);
    a->adaptive = k->row->param > 10 && k->row->param < 20;
    plane_numbers(k, "kernel_size", dims, a->window, NULL, 1);
    plane_numbers(k, "stride", dims, a->stride, a->window, 1);
    plane_numbers(k, "padding", dims, a->padding, NULL, 0);
    plane_numbers(k, "dilation", dims, a->dilation, NULL, 1);
    a->divisor = has_arg(k, "divisor_override") ? int_arg(k, "divisor_override", 1) : 0;
    a->count_padding = bool_arg(k, "count_include_pad", true) && !a->adaptive;
    a->inner = cuda_address(k, inner);
    a->outer = cuda_address(k, outer);
    u64 where = indices.meta ? cuda_address(k, indices) : 0;
    bool offsets = where && indices.meta->dtype == DTYPE_I8;
    a->indices = offsets ? 0 : where;
    a->offsets = offsets ? where : 0;
    return !k->failed;
}

/* Adds the samples of fractional_max_pool (PARAM plus 30), by plane. False: failed or declined. */
static bool add_samples(struct kernel *k, struct pool_args *a, struct kernel_tensor inner)
{
    struct kernel_tensor samples = tensor_arg(k, "random_samples");
    int64_t stride[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM], of_inner[TENSOR_MAX_DIM];
    uint32_t dims = (uint32_t)k->row->param % 10;
    if (k->row->param < 30)
        return true;
    bool supported = samples.meta && samples.meta->dtype == inner.meta->dtype &&
                     is_stored_real(samples) && tensor_sizes(samples, size) == 3 &&
                     tensor_strides(samples, stride) && size[2] == dims;
    uint32_t ndim = tensor_sizes(inner, of_inner);
    int64_t batch = ndim > dims + 1 ? of_inner[0] : 1;
    if (!supported || size[0] < batch || size[1] < a->channels) {
        cuda_decline(k);
        return false;
    }
    memcpy(a->sample_stride, stride, sizeof a->sample_stride);
    a->samples = cuda_address(k, samples);
    a->adaptive = dims;
    return true;
}

/* Launches one thread for each element of `written`. */
static void launch_pooling(struct kernel *k, const char *file, const char *name,
                           struct kernel_tensor inner, struct kernel_tensor outer,
                           struct kernel_tensor indices, struct kernel_tensor written)
{
    struct pool_args a;
    struct strided_set all;
    const char *type = written.meta ? cuda_type(written.meta->dtype) : NULL;
    bool supported = type && is_stored_real(inner) && is_stored_real(outer) && inner.meta &&
                     outer.meta && inner.meta->dtype == outer.meta->dtype &&
                     dense_kind_of(written.meta->dtype) != DENSE_COMPLEX &&
                     (!indices.meta || indices.meta->dtype == DTYPE_I64 ||
                      (indices.meta->dtype == DTYPE_I8 && k->row->param == 20));
    if (!supported) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    if (!pool_args_of(k, inner, outer, indices, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    if (!add_samples(k, &a, inner))
        return;
    strided_start(k, &all, written);
    a.n = all.n;
    int64_t reach = planes_reach((struct kernel_tensor[]){ inner, outer }, 2);
    bool is_int = dense_kind_of(written.meta->dtype) == DENSE_INT;
    char defines[160];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define I %s\n#define LOWEST %s\n", type,
             is_int                             ? "i64"
             : written.meta->dtype == DTYPE_F64 ? "f64"
                                                : "f32",
             strided_index(&all, reach), is_int ? "I64_MIN" : "-INFINITY");
    struct cuda_function *f = cuda_function(k, file, name, defines);
    if (a.n == 0)
        return;
    cuda_traffic(k,
                 (uint64_t)(tensor_extent(inner) + tensor_extent(outer)) *
                     dtype_size(written.meta->dtype),
                 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

/* PARAM: dimensions, plus 10 for adaptive pooling. */
void cuda_avg_pool(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0), none = { 0 };
    launch_pooling(k, "pooling_average", "pool_avg", x, to, none, to);
}

void cuda_avg_pool_backward(struct kernel *k)
{
    struct kernel_tensor g = tensor_arg(k, "grad_output"), to = result(k, 0), none = { 0 };
    launch_pooling(k, "pooling_average", "pool_avg_backward", to, g, none, to);
}

void cuda_max_pool(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0), none = { 0 };
    launch_pooling(k, "pooling_max", "pool_max", x, to, n_results(k) > 1 ? result(k, 1) : none, to);
}

void cuda_max_pool_backward(struct kernel *k)
{
    struct kernel_tensor g = tensor_arg(k, "grad_output"), to = result(k, 0);
    launch_pooling(k, "pooling_max", "pool_max_backward", to, g, tensor_arg(k, "indices"), to);
}

/* prims._low_memory_max_pool_offsets_to_indices: the planes are no argument. */
void cuda_pool_indices(struct kernel *k)
{
    struct kernel_tensor offsets = tensor_arg(k, "self"), to = result(k, 0);
    struct pool_args a;
    struct strided_set all;
    int64_t in[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "input_size", in, TENSOR_MAX_DIM), dims = pooling_dims_arg(k);
    bool supported = offsets.meta && to.meta && offsets.meta->dtype == DTYPE_I8 &&
                     to.meta->dtype == DTYPE_I64 && dims <= n;
    if (!supported || !pool_args_of(k, offsets, offsets, to, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    for (uint32_t d = 0; d < dims; d++)
        a.in[PLANE_DIMS - dims + d] = in[n - dims + d];
    a.offsets = a.outer;
    strided_start(k, &all, to);
    a.n = all.n;
    char defines[128];
    snprintf(defines, sizeof defines,
             "#define T i8\n#define ACC i64\n#define I %s\n#define LOWEST I64_MIN\n",
             strided_index(&all, tensor_extent(offsets)));
    struct cuda_function *f = cuda_function(k, "pooling_max", "pool_indices", defines);
    if (a.n == 0)
        return;
    cuda_traffic(k, (uint64_t)a.n * 9, 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

void cuda_fractional_max_pool(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    launch_pooling(k, "pooling_fractional", "pool_fractional", x, to, result(k, 1), to);
}
