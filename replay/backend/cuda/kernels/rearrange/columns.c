/* im2col and col2im: windows as columns, and the sum of windows. */
#include "replay/backend/cuda/device/rearrange/columns.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/planes.h"

static bool columns_args_of(struct kernel *k, struct kernel_tensor image,
                            struct kernel_tensor columns, struct columns_args *a)
{
    i64 size[PLANE_STRIDES];
    int64_t of_columns[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(columns, of_columns);
    memset(a, 0, sizeof *a);
    if (!planes_of(k, image, 2, size, a->image_stride) || ndim < 2 || ndim > 3 ||
        !tensor_strides(columns, stride))
        return false;
    ints_per_dim(k, "kernel_size", 2, a->window, 1);
    ints_per_dim(k, "stride", 2, a->stride, 1);
    ints_per_dim(k, "padding", 2, a->padding, 0);
    ints_per_dim(k, "dilation", 2, a->dilation, 1);
    a->channels = size[1];
    for (uint32_t i = 0; i < ndim; i++)
        a->column_stride[COLUMN_STRIDES - ndim + i] = stride[i];
    for (uint32_t d = 0; d < 2; d++) {
        a->size[d] = size[3 + d];
        int64_t reach = a->size[d] + 2 * a->padding[d] - a->dilation[d] * (a->window[d] - 1) - 1;
        if (a->stride[d] <= 0 || a->window[d] <= 0 || reach < 0)
            return false;
        a->windows[d] = reach / a->stride[d] + 1;
    }
    a->image = cuda_address(k, image);
    a->columns = cuda_address(k, columns);
    return !k->failed;
}

/* back: sums the columns; otherwise copies the bits of elements. */
static void launch_columns(struct kernel *k, struct kernel_tensor image,
                           struct kernel_tensor columns, bool back)
{
    struct columns_args a;
    struct strided_set all;
    if (!image.meta || !columns.meta || image.meta->dtype != columns.meta->dtype ||
        !is_stored_real(image) || !is_stored_real(columns) ||
        !columns_args_of(k, image, columns, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    enum dtype dtype = image.meta->dtype;
    size_t bytes = dtype_size(dtype);
    const char *type = back ? cuda_type(dtype) : cuda_bits_type((uint32_t)bytes);
    if (!type) {
        cuda_decline(k);
        return;
    }
    strided_start(k, &all, back ? image : columns);
    a.n = all.n;
    char defines[128], sum[32] = "";
    if (back)
        snprintf(sum, sizeof sum, "#define ACC %s\n", cuda_sum_type(dtype));
    snprintf(defines, sizeof defines, "#define T %s\n%s#define I %s\n", type, sum,
             strided_index(&all, planes_reach((struct kernel_tensor[]){ image, columns }, 2)));
    struct cuda_function *f = cuda_function(k, "columns", back ? "col2im" : "im2col", defines);
    if (a.n == 0)
        return;
    cuda_traffic(k, (uint64_t)(tensor_extent(image) + tensor_extent(columns)) * bytes, 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

void cuda_im2col(struct kernel *k)
{
    launch_columns(k, tensor_arg(k, "self"), result(k, 0), false);
}

void cuda_col2im(struct kernel *k)
{
    launch_columns(k, result(k, 0), tensor_arg(k, "self"), true);
}
