/* histc. */
#include <stdio.h>

#include "replay/backend/cuda/device/reduce/histogram.h"
#include "replay/backend/cuda/kernels/strided.h"

static void launch_histogram(struct kernel *k, const struct histogram_args *a, const char *name,
                             const char *defines, uint32_t blocks, uint32_t threads)
{
    cuda_launch(k, cuda_function(k, "histogram", name, defines),
                (struct cuda_grid){ blocks, 1, 1, threads, 0 }, a, sizeof *a);
}

void cuda_histc(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], bins[TENSOR_MAX_DIM];
    struct histogram_args a = { .n = 1,
                                .low = real_arg(k, "min", 0),
                                .high = real_arg(k, "max", 0) };
    char defines[64];
    if (k->failed || !x.meta || !to.meta)
        return;
    const char *type = cuda_type(x.meta->dtype);
    if (!type || !is_stored_real(x) || to.meta->dtype != x.meta->dtype ||
        tensor_sizes(to, bins) != 1 || !tensor_strides(to, stride)) {
        cuda_decline(k);
        return;
    }
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t d = 0; d < ndim; d++)
        a.n *= size[d];
    a.bins = bins[0];
    a.to_step = stride[0];
    a.of_data = a.low == a.high && a.n > 0;
    if (a.bins == 0)
        return;
    a.x = a.n ? cuda_contiguous(k, x) : 0;
    a.to = cuda_address(k, to);
    a.range = cuda_workspace(k, 2 * sizeof(double));
    a.counts = cuda_workspace(k, (size_t)a.bins * sizeof(uint64_t));
    snprintf(defines, sizeof defines, "#define T %s\n#define ACC f64\n", type);
    launch_histogram(k, &a, "histogram_begin", defines, 1, 1024);
    cuda_traffic(k, (uint64_t)a.n * dtype_size(x.meta->dtype), 0);
    launch_histogram(k, &a, "histogram_count", defines, cuda_blocks(k, a.n, 1024), 256);
    launch_histogram(k, &a, "histogram_give", defines, cuda_blocks(k, a.bins, 1024), 256);
}
