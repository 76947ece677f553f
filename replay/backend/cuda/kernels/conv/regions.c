/* torchvision's roi_align and its backward. */
#include "replay/backend/cuda/device/conv/regions.h"

#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/planes.h"

static bool regions_args_of(struct kernel *k, struct kernel_tensor images,
                            struct kernel_tensor bins, struct kernel_tensor rois,
                            struct regions_args *a)
{
    i64 of_images[PLANE_STRIDES], of_bins[PLANE_STRIDES];
    int64_t stride[TENSOR_MAX_DIM], of_rois[TENSOR_MAX_DIM];
    memset(a, 0, sizeof *a);
    if (!planes_of(k, images, 2, of_images, a->image_stride) ||
        !planes_of(k, bins, 2, of_bins, a->bin_stride) || !rois.meta ||
        tensor_sizes(rois, of_rois) != 2 || of_rois[1] != REGION_NUMBERS ||
        !tensor_strides(rois, stride))
        return false;
    a->n_images = of_images[0];
    a->channels = of_images[1];
    a->regions = of_rois[0];
    for (uint32_t d = 0; d < 2; d++) {
        a->size[d] = of_images[3 + d];
        a->pooled[d] = of_bins[3 + d];
        a->roi_stride[d] = stride[d];
    }
    a->ratio = int_arg(k, "sampling_ratio", -1);
    a->scale = real_arg(k, "spatial_scale", 1);
    a->aligned = bool_arg(k, "aligned", false);
    a->images = cuda_address(k, images);
    a->bins = cuda_address(k, bins);
    a->rois = cuda_address(k, rois);
    return !k->failed;
}

/* roi_align; _roi_align_backward (PARAM 1). */
void cuda_roi_align(struct kernel *k)
{
    bool back = k->row->param == 1;
    struct kernel_tensor to = result(k, 0), given = tensor_arg(k, back ? "grad" : "input");
    struct kernel_tensor images = back ? to : given, bins = back ? given : to;
    struct kernel_tensor rois = tensor_arg(k, "rois"), walked[] = { images, bins, rois };
    struct regions_args a;
    struct strided_set all;
    bool supported = true;
    for (int i = 0; i < 3; i++)
        supported &= walked[i].meta && walked[i].meta->dtype == walked[0].meta->dtype &&
                     is_stored_real(walked[i]) &&
                     dense_kind_of(walked[i].meta->dtype) == DENSE_REAL &&
                     cuda_type(walked[i].meta->dtype);
    if (!supported || !regions_args_of(k, images, bins, rois, &a)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    strided_start(k, &all, to);
    a.n = all.n;
    a.error = cuda_error_word(k);
    char defines[128];
    snprintf(defines, sizeof defines, "#define T %s\n#define ACC %s\n#define I %s\n",
             cuda_type(to.meta->dtype), cuda_sum_type(to.meta->dtype),
             strided_index(&all, planes_reach(walked, 3)));
    struct cuda_function *f =
        cuda_function(k, "regions", back ? "roi_align_backward" : "roi_align", defines);
    if (a.n == 0)
        return;
    cuda_traffic(
        k, (uint64_t)(tensor_extent(images) + tensor_extent(bins)) * dtype_size(to.meta->dtype), 0);
    cuda_launch(k, f, (struct cuda_grid){ cuda_blocks(k, a.n, 256), 1, 1, 256, 0 }, &a, sizeof a);
}
