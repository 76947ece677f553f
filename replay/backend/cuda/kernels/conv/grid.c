/* grid_sampler_2d, grid_sampler_3d, and their backward. */
#include "replay/backend/cuda/device/conv/grid.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/planes.h"

static void give_grid_strides(const int64_t *stride, uint32_t dims, i64 *ret)
{
    ret[0] = stride[0];
    for (uint32_t i = 1; i < dims + 2; i++)
        ret[GRID_STRIDES - (dims + 2) + i] = stride[i];
}

static bool grid_args_of(struct kernel *k, struct kernel_tensor x, struct kernel_tensor grid,
                         struct kernel_tensor out, struct grid_args *a)
{
    i64 in[PLANE_STRIDES], of_out[PLANE_STRIDES];
    int64_t stride[TENSOR_MAX_DIM];
    uint32_t dims = x.meta && x.meta->ndim > 2 ? x.meta->ndim - 2 : 0;
    memset(a, 0, sizeof *a);
    if (dims < 2 || dims > 3 || !planes_of(k, x, dims, in, a->in_stride) ||
        !planes_of(k, out, dims, of_out, a->out_stride) || !grid.meta ||
        grid.meta->ndim != dims + 2 || !tensor_strides(grid, stride))
        return false;
    a->channels = in[1];
    memcpy(a->in_size, in + 2, sizeof a->in_size);
    memcpy(a->out_size, of_out + 2, sizeof a->out_size);
    give_grid_strides(stride, dims, a->grid_stride);
    a->x = cuda_address(k, x);
    a->grid = cuda_address(k, grid);
    a->out = cuda_address(k, out);
    return !k->failed;
}

static bool is_grid_supported(struct kernel *k, struct kernel_tensor x, struct kernel_tensor grid,
                              struct kernel_tensor out)
{
    struct kernel_tensor all[] = { x, grid, out };
    for (int i = 0; i < 3; i++)
        if (!all[i].meta || !x.meta || all[i].meta->dtype != x.meta->dtype ||
            !is_stored_real(all[i]))
            return false;
    return dense_kind_of(x.meta->dtype) == DENSE_REAL && cuda_type(x.meta->dtype) &&
           !(int_arg(k, "interpolation_mode", 0) == GRID_CUBIC && x.meta->ndim != 4);
}

static struct cuda_function *grid_function(struct kernel *k, const char *file, const char *name,
                                           struct kernel_tensor x, const char *index)
{
    char defines[224];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define I %s\n#define DIMS %u\n#define MODE %d\n"
             "#define PADDING %d\n#define CORNERS %d\n",
             cuda_type(x.meta->dtype), cuda_sum_type(x.meta->dtype), index, x.meta->ndim - 2,
             (int)int_arg(k, "interpolation_mode", GRID_LINEAR),
             (int)int_arg(k, "padding_mode", GRID_ZEROS), bool_arg(k, "align_corners", false));
    return cuda_function(k, file, name, defines);
}

static void launch_grid(struct kernel *k, struct cuda_function *f, const struct grid_args *a)
{
    if (a->n > 0)
        cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a->n, 256), 1, 1, 256, 0 }, a,
                    sizeof *a);
}

void cuda_grid_sampler(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input"), grid = tensor_arg(k, "grid"),
                         to = result(k, 0);
    struct kernel_tensor walked[] = { x, grid, to };
    struct grid_args a;
    struct strided_set all;
    if (!is_grid_supported(k, x, grid, to) || !grid_args_of(k, x, grid, to, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    strided_start(k, &all, to);
    a.n = all.n;
    cuda_traffic(
        k, (uint64_t)(tensor_extent(x) + tensor_extent(grid) + a.n) * dtype_size(x.meta->dtype), 0);
    launch_grid(
        k, grid_function(k, "grid", "grid_sample", x, strided_index(&all, planes_reach(walked, 3))),
        &a);
}

/* ---- Backward ---- */

/* Returns the tensor in which gradients of x are summed: float32 or float64. */
static struct kernel_tensor sums_of(struct kernel *k, struct kernel_tensor x,
                                    struct kernel_tensor to)
{
    bool small = x.meta->dtype != DTYPE_F32 && x.meta->dtype != DTYPE_F64;
    struct kernel_value args[] = { value_of_tensor(x),
                                   { .kind = KERNEL_DTYPE, .u.dtype = DTYPE_F32 } };
    return small ? run_tensor(k, "prims.convert_element_type.default", args, 2) : to;
}

static void to_input(struct kernel *k, struct grid_args a, struct kernel_tensor x,
                     struct kernel_tensor to, const char *index)
{
    struct kernel_tensor sums = sums_of(k, x, to);
    i64 size[PLANE_STRIDES];
    if (k->failed || !planes_of(k, sums, x.meta->ndim - 2, size, a.to_x_stride))
        return;
    a.to_x = cuda_address(k, sums);
    zero_elements(k, sums);
    for (int d = 0; d < PLANE_DIMS; d++)
        a.n *= a.out_size[d];
    a.n *= a.channels;
    launch_grid(k, grid_function(k, "grid_backward", "grid_to_input", x, index), &a);
    if (sums.storage != to.storage)
        copy_elements(k, sums, to);
}

static void to_grid(struct kernel *k, struct grid_args a, struct kernel_tensor x,
                    struct kernel_tensor to, const char *index)
{
    int64_t stride[TENSOR_MAX_DIM];
    if (k->failed || !tensor_strides(to, stride))
        return;
    give_grid_strides(stride, x.meta->ndim - 2, a.to_grid_stride);
    a.to_grid = cuda_address(k, to);
    for (int d = 0; d < PLANE_DIMS; d++)
        a.n *= a.out_size[d];
    launch_grid(k, grid_function(k, "grid_backward", "grid_to_grid", x, index), &a);
}

void cuda_grid_sampler_backward(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "input"), grid = tensor_arg(k, "grid");
    struct kernel_tensor g = tensor_arg(k, "grad_output"), to[] = { result(k, 0), result(k, 1) };
    struct kernel_tensor walked[] = { x, grid, g };
    struct grid_args a;
    struct strided_set all;
    int64_t size[TENSOR_MAX_DIM];
    if (!is_grid_supported(k, x, grid, g) || !grid_args_of(k, x, grid, g, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    strided_start(k, &all, g);
    const char *index = strided_index(&all, planes_reach(walked, 3));
    tensor_sizes(x, size);
    a.n = size[0];
    if (to[0].meta && to[0].meta->ndim == x.meta->ndim)
        to_input(k, a, x, to[0], index);
    if (to[1].meta && to[1].meta->ndim == grid.meta->ndim)
        to_grid(k, a, x, to[1], index);
}
