/* Interpolation of one to three dimensions, and its backward, which gathers. */
#include "replay/backend/cuda/device/conv/upsample.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/planes.h"

/* Returns the positions of the input per position of the output (area_pixel_compute_scale,
 * ATen/native/UpSample.h). */
static double area_pixel_scale(const struct kernel *k, uint32_t d, uint32_t dims, int64_t in,
                               int64_t out)
{
    static const char *const by_dims[][PLANE_DIMS] = { { "scales", "", "" },
                                                       { "scales_h", "scales_w", "" },
                                                       { "scales_d", "scales_h", "scales_w" } };
    double factors[PLANE_DIMS];
    uint32_t n = reals_arg(k, "scale_factors", factors, PLANE_DIMS);
    double given = n > d ? factors[d] : real_arg(k, by_dims[dims - 1][d], 0);
    if (bool_arg(k, "align_corners", false))
        return out > 1 ? (double)(in - 1) / (double)(out - 1) : 0;
    return given > 0 ? 1 / given : (double)in / (double)out;
}

static bool upsample_args_of(struct kernel *k, struct kernel_tensor in, struct kernel_tensor out,
                             struct upsample_args *a)
{
    uint32_t dims = (uint32_t)k->row->param / 10;
    i64 of_in[PLANE_STRIDES], of_out[PLANE_STRIDES];
    memset(a, 0, sizeof *a);
    if (!planes_of(k, in, dims, of_in, a->in_stride) ||
        !planes_of(k, out, dims, of_out, a->out_stride))
        return false;
    a->channels = of_in[1];
    memcpy(a->in_size, of_in + 2, sizeof a->in_size);
    memcpy(a->out_size, of_out + 2, sizeof a->out_size);
    for (uint32_t d = PLANE_DIMS - dims; d < PLANE_DIMS; d++)
        a->scale[d] =
            area_pixel_scale(k, d + dims - PLANE_DIMS, dims, a->in_size[d], a->out_size[d]);
    a->corners = bool_arg(k, "align_corners", false);
    a->in = cuda_address(k, in);
    a->out = cuda_address(k, out);
    return !k->failed;
}

/* PARAM: dimensions times ten, plus UPSAMPLE_... One thread computes an element of `written`. */
static void launch_upsample(struct kernel *k, const char *name, struct kernel_tensor in,
                            struct kernel_tensor out, struct kernel_tensor written)
{
    struct upsample_args a;
    struct strided_set all;
    int dims = k->row->param / 10, how = k->row->param % 10;
    const char *type = written.meta ? cuda_type(written.meta->dtype) : NULL;
    bool is_int = type && dense_kind_of(written.meta->dtype) == DENSE_INT;
    bool supported = type && in.meta && out.meta && in.meta->dtype == out.meta->dtype &&
                     is_stored_real(in) && is_stored_real(out) &&
                     !(is_int && how > UPSAMPLE_NEAREST_EXACT);
    if (!supported || !upsample_args_of(k, in, out, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    strided_start(k, &all, written);
    a.n = all.n;
    char defines[160];
    snprintf(defines, sizeof defines,
             "#define T %s\n#define ACC %s\n#define I %s\n#define HOW %d\n#define DIMS %d\n", type,
             is_int                             ? "i64"
             : written.meta->dtype == DTYPE_F64 ? "f64"
                                                : "f32",
             strided_index(&all, planes_reach((struct kernel_tensor[]){ in, out }, 2)), how, dims);
    struct cuda_function *f = cuda_function(k, "upsample", name, defines);
    if (a.n == 0)
        return;
    cuda_traffic(
        k, (uint64_t)(tensor_extent(in) + tensor_extent(out)) * dtype_size(written.meta->dtype), 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}

void cuda_upsample(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    launch_upsample(k, "upsample", tensor_arg(k, has_arg(k, "self") ? "self" : "input"), to, to);
}

void cuda_upsample_backward(struct kernel *k)
{
    struct kernel_tensor to = result(k, 0);
    launch_upsample(k, "upsample_backward", to, tensor_arg(k, "grad_output"), to);
}
