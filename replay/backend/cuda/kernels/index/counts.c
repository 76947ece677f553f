/* repeat_interleave, and the greatest number for bincount. */
#include <stdio.h>

#include "replay/backend/cuda/device/index/count.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/runtime/data_counts.h"

/* Reads a vector of integers. False: failed or declined. */
static bool read_integers(struct kernel *k, struct kernel_tensor x, int64_t *n, int64_t *step,
                          char *defines, size_t n_bytes)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    const char *type =
        x.meta && dense_kind_of(x.meta->dtype) == DENSE_INT ? cuda_type(x.meta->dtype) : NULL;
    uint32_t ndim = tensor_sizes(x, size);
    if (k->failed || !type || ndim > 1 || !tensor_strides(x, stride)) {
        if (!k->failed)
            cuda_decline(k);
        return false;
    }
    *n = ndim ? size[0] : 1;
    *step = ndim ? stride[0] : 0;
    snprintf(defines, n_bytes, "#define T %s\n#define O %s\n", type, type);
    return true;
}

void find_sums(struct kernel *k, struct kernel_tensor x, struct cuda_count_result *ret)
{
    char defines[64];
    struct repeat_args args = { 0 };
    if (!read_integers(k, x, &args.n, &args.step, defines, sizeof defines) || args.n == 0)
        return;
    args.numbers = cuda_address(k, x);
    args.total = ret->at[0] = cuda_workspace(k, 2 * sizeof(int64_t));
    args.sums = ret->at[1] = cuda_workspace(k, (size_t)args.n * sizeof(int64_t));
    cuda_launch(k, cuda_function(k, "count", "repeat_sums", defines),
                (struct cuda_grid){ 1, 1, 1, args.n <= 2048 ? 256 : COUNT_THREADS, 0 }, &args,
                sizeof args);
}

void find_extremes(struct kernel *k, struct kernel_tensor x, struct cuda_count_result *ret)
{
    char defines[64];
    struct extremes_args args = { 0 };
    if (!read_integers(k, x, &args.n, &args.step, defines, sizeof defines) || args.n == 0)
        return;
    struct cuda_grid grid = { cuda_blocks(k, args.n, 4096), 1, 1, 256, 0 };
    args.numbers = cuda_address(k, x);
    args.to = ret->at[0] = cuda_workspace(k, (size_t)grid.x * 2 * sizeof(int64_t));
    ret->n = grid.x;
    cuda_launch(k, cuda_function(k, "count", "extremes", defines), grid, &args, sizeof args);
}

/* Writes the number i repeats[i] times. */
static void repeat_places(struct kernel *k, struct kernel_tensor repeats, struct kernel_tensor to)
{
    char defines[64];
    struct repeat_args args = { 0 };
    struct cuda_count_result found;
    int64_t length[TENSOR_MAX_DIM], step[TENSOR_MAX_DIM];
    if (!read_integers(k, repeats, &args.n, &args.step, defines, sizeof defines) ||
        tensor_sizes(to, length) != 1 || !tensor_strides(to, step))
        return;
    if (to.meta->dtype != repeats.meta->dtype) {
        cuda_decline(k);
        return;
    }
    if (length[0] == 0 || args.n == 0 || !cuda_find(k, find_sums, repeats, &found))
        return;
    args.to = cuda_address(k, to);
    args.total = found.at[0];
    args.sums = found.at[1];
    args.length = length[0];
    args.to_step = step[0];
    cuda_launch_live(k, "count", "repeat_places", defines,
                     (struct cuda_grid){ cuda_blocks(k, args.length, 1024), 1, 1, 256, 0 }, &args,
                     sizeof args, "length", cuda_live_of(k, to, 1));
}

/* Repeats each slice of x equally often, by adding a dimension with stride 0. */
static void repeat_evenly(struct kernel *k, struct kernel_tensor x, uint32_t dim, int64_t times,
                          struct kernel_tensor to)
{
    int64_t size[TENSOR_MAX_DIM + 1], stride[TENSOR_MAX_DIM + 1];
    uint32_t ndim = tensor_sizes(x, size);
    if (!tensor_strides(x, stride) || ndim == TENSOR_MAX_DIM)
        return;
    for (uint32_t d = ndim; d > dim + 1; d--) {
        size[d] = size[d - 1];
        stride[d] = stride[d - 1];
    }
    size[dim + 1] = times;
    stride[dim + 1] = 0;
    copy_elements(k, strided_view(k, x, size, stride, ndim + 1), to);
}

static void repeat_slices(struct kernel *k, struct kernel_tensor x, uint32_t dim,
                          struct kernel_tensor repeats, struct kernel_tensor to)
{
    int64_t size[TENSOR_MAX_DIM], given[TENSOR_MAX_DIM], none[] = { 0 };
    tensor_sizes(x, size);
    if (tensor_sizes(repeats, given) == 0 || given[0] == 1)
        repeats = strided_view(k, repeats, &size[dim], none, 1);
    struct kernel_value args[] = { value_of_tensor(repeats) };
    struct kernel_tensor places = run_tensor(k, "aten.repeat_interleave.Tensor", args, 1);
    struct kernel_value select[] = { value_of_tensor(x), value_of_int(dim),
                                     value_of_tensor(places) };
    run_into(k, "aten.index_select.default", select, 3, value_of_tensor(to));
}

/* repeat_interleave: numbers, or slices with equal or individual repeats. */
void cuda_repeat_interleave(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    struct kernel_value repeats = value_arg(k, "repeats");
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(x, size);
    if (k->failed || !to.meta)
        return;
    if (!x.meta) {
        repeat_places(k, tensor_arg(k, "repeats"), to);
        return;
    }
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    if (!has_arg(k, "dim") || ndim == 0)
        x = reshaped(k, x, &n, 1);
    uint32_t dim = has_arg(k, "dim") ? wrapped_dim(int_arg(k, "dim", 0), ndim) : 0;
    if (repeats.kind == KERNEL_TENSOR)
        repeat_slices(k, x, dim, repeats.u.tensor, to);
    else
        repeat_evenly(k, x, dim, number_as_int(repeats, 1), to);
}
