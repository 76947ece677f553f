/* grid_sampler_2d, grid_sampler_3d. */
#include "replay/backend/cuda/device/grid.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/planes.h"

static bool args_of(struct kernel *k, struct tensor x, struct tensor grid, struct tensor out,
                    struct grid_args *a)
{
    i64 in[PLANE_STRIDES], of_out[PLANE_STRIDES];
    int64_t stride[TENSOR_MAX_DIM];
    uint32_t dims = x.meta && x.meta->ndim > 2 ? x.meta->ndim - 2 : 0;
    memset(a, 0, sizeof *a);
    if (dims < 2 || dims > 3 || !planes_of(k, x, dims, in, a->in_stride) ||
        !planes_of(k, out, dims, of_out, a->out_stride) || !grid.meta ||
        grid.meta->ndim != dims + 2 || !tensor_strides(k, grid, stride))
        return false;
    a->channels = in[1];
    memcpy(a->in_size, in + 2, sizeof a->in_size);
    memcpy(a->out_size, of_out + 2, sizeof a->out_size);
    a->grid_stride[0] = stride[0];
    for (uint32_t i = 1; i < dims + 2; i++)
        a->grid_stride[GRID_STRIDES - (dims + 2) + i] = stride[i];
    a->x = cuda_address(k, x);
    a->grid = cuda_address(k, grid);
    a->out = cuda_address(k, out);
    return !k->failed;
}

void cuda_grid_sampler(struct kernel *k)
{
    struct tensor x = tensor_arg(k, "input"), grid = tensor_arg(k, "grid"), to = result(k, 0);
    int mode = (int)int_arg(k, "interpolation_mode", GRID_LINEAR);
    struct grid_args a;
    struct strided_set all;
    bool plain = x.meta && grid.meta && to.meta && x.meta->dtype == grid.meta->dtype &&
                 dense_kind_of(x.meta->dtype) == DENSE_REAL && cuda_type(x.meta->dtype) &&
                 is_plain(x) && is_plain(grid) && !(mode == GRID_CUBIC && x.meta->ndim != 4);
    if (!plain || !args_of(k, x, grid, to, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    strided_start(k, &all, to);
    a.n = all.n;
    struct tensor walked[] = { x, grid, to };
    char defines[224];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define I %s\n#define DIMS %u\n#define MODE %d\n"
             "#define PADDING %d\n#define CORNERS %d\n",
             cuda_type(x.meta->dtype), cuda_sum_type(x.meta->dtype),
             strided_index(&all, planes_reach(k, walked, 3)), x.meta->ndim - 2, mode,
             (int)int_arg(k, "padding_mode", GRID_ZEROS), bool_arg(k, "align_corners", false));
    struct cuda_function *f = cuda_function(k, "grid", "grid_sample", defines);
    if (a.n == 0)
        return;
    cuda_traffic(k,
                 (uint64_t)(tensor_extent(k, x) + tensor_extent(k, grid) + a.n) *
                     dtype_size(x.meta->dtype),
                 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}
