/* _embedding_bag; its gradient is in scatter.c. */
#include <stdio.h>

#include "replay/backend/cuda/device/index/bags.h"
#include "replay/backend/cuda/kernels/strided.h"

static int64_t length_of(struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    return x.meta ? n : 0;
}

/* Returns the address of a contiguous result with that many elements; 0: it is not requested. */
static uint64_t requested_result(struct kernel *k, struct kernel_tensor x, int64_t n)
{
    return x.meta && n && length_of(x) == n ? cuda_address(k, x) : 0;
}

static bool supports_bags(struct kernel *k, struct kernel_tensor weight,
                          struct kernel_tensor indices, struct kernel_tensor offsets,
                          struct kernel_tensor scales)
{
    enum dtype index = indices.meta->dtype;
    bool ok = cuda_type(weight.meta->dtype) && dense_kind_of(weight.meta->dtype) == DENSE_REAL &&
              weight.meta->ndim == 2 && (index == DTYPE_I64 || index == DTYPE_I32) &&
              offsets.meta->dtype == index &&
              (!scales.meta || scales.meta->dtype == weight.meta->dtype);
    for (uint32_t i = 0; i < n_results(k) && ok; i++)
        ok = (!result(k, i).meta || cuda_is_contiguous(k, result(k, i))) &&
             (i == 0 || result(k, i).meta->dtype == index);
    return ok;
}

/* PARAM 1: without a backward, which would need the counts. */
void cuda_embedding_bag(struct kernel *k)
{
    struct kernel_tensor weight = tensor_arg(k, "weight"), indices = tensor_arg(k, "indices");
    struct kernel_tensor offsets = tensor_arg(k, "offsets"),
                         scales = tensor_arg(k, "per_sample_weights");
    int64_t size[TENSOR_MAX_DIM], step[TENSOR_MAX_DIM];
    struct bag_args a = { .mode = (uint32_t)int_arg(k, "mode", 0) };
    char defines[96];
    if (k->failed || !weight.meta || !indices.meta || !offsets.meta || n_results(k) < 4)
        return;
    if (!supports_bags(k, weight, indices, offsets, scales) || !tensor_strides(weight, step)) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    tensor_sizes(weight, size);
    a.rows = size[0];
    a.width = size[1];
    a.row_step = step[0];
    a.column_step = step[1];
    a.scale_step = 1;
    a.n_indices = length_of(indices);
    a.n_offsets = length_of(offsets);
    a.bags = a.n_offsets - bool_arg(k, "include_last_offset", false);
    a.padding = int_arg(k, "padding_idx", -1);
    if (a.bags <= 0)
        return;
    bool only = k->row->param == 1 && a.mode != BAG_MAX;
    zero_elements(k, result(k, 1)); /* of indices in no bag */
    if (a.mode != BAG_MAX && !only)
        zero_elements(k, result(k, 3));
    a.weight = cuda_address(k, weight);
    a.indices = cuda_contiguous(k, indices);
    a.offsets = cuda_contiguous(k, offsets);
    a.scales = scales.meta ? cuda_contiguous(k, scales) : 0;
    a.to = cuda_address(k, result(k, 0));
    a.to_bag = requested_result(k, result(k, 1), a.n_indices);
    a.counts = requested_result(k, result(k, 2), a.bags);
    a.most = a.mode != BAG_MAX ? 0 : requested_result(k, result(k, 3), a.bags * a.width);
    a.no_counts = only && a.mode == BAG_SUM;
    a.error = cuda_error_word(k);
    snprintf(defines, sizeof defines, "#define T %s\n#define X %s\n#define ACC f64\n",
             cuda_type(weight.meta->dtype), cuda_type(indices.meta->dtype));
    cuda_launch(
        k, cuda_function(k, "bags", "bags", defines),
        (struct cuda_grid){ cuda_blocks(k, a.bags * (a.width ? a.width : 1), 256), 1, 1, 256, 0 },
        &a, sizeof a);
    if (only && requested_result(k, result(k, 3), a.bags) && a.counts)
        copy_elements(k, result(k, 2), result(k, 3));
}
