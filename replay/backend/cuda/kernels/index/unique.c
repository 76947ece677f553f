/* Distinct values: sorts the values (or, for slices, computes their order by comparing all pairs),
 * marks those that differ from the one before them, and sums the marks. */
#include <stdio.h>

#include "replay/backend/cuda/device/index/unique.h"
#include "replay/backend/cuda/kernels/index/sort_keys.h"
#include "replay/backend/cuda/kernels/strided.h"
#include "replay/backend/cuda/runtime/data_counts.h"

enum { MOST_SLICES = 1 << 16 }; /* the limit for comparing all pairs */

struct unique_request {
    struct unique_args a;
    bool sorted, slices;
    struct cuda_live live; /* the number of distinct values, if the device knows it */
    uint32_t dim;
    char defines[64];
};

/* Reads the request about x. False: failed or declined. */
static bool unique_request_of(struct kernel *k, struct kernel_tensor x, struct unique_request *d)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    const char *type = x.meta ? cuda_type(x.meta->dtype) : NULL;
    *d = (struct unique_request){ .a = { .n = 1, .outer = 1, .inner = 1 } };
    d->sorted = !str_is(k->call->op->base, "unique_consecutive");
    d->slices = has_arg(k, "dim");
    if (k->failed || !type || !is_stored_real(x) || (d->slices && ndim == 0))
        goto decline;
    d->dim = d->slices ? wrapped_dim(int_arg(k, "dim", 0), ndim) : 0;
    for (uint32_t i = 0; i < ndim; i++)
        *(!d->slices || i == d->dim ? &d->a.n : i < d->dim ? &d->a.outer : &d->a.inner) *= size[i];
    bool ordered = !d->sorted || d->slices || cuda_sorts(x.meta->dtype);
    if (d->a.n >= INT32_MAX || !ordered || (d->sorted && d->slices && d->a.n > MOST_SLICES))
        goto decline;
    snprintf(d->defines, sizeof d->defines, "#define T %s\n#define V %s\n", type,
             cuda_bits_type((uint32_t)dtype_size(x.meta->dtype)));
    return true;
decline:
    if (!k->failed)
        cuda_decline(k);
    return false;
}

static void launch_unique(struct kernel *k, const struct unique_request *d, const char *name,
                          uint32_t blocks)
{
    cuda_launch_live(k, "unique", name, d->defines, (struct cuda_grid){ blocks, 1, 1, 256, 0 },
                     &d->a, sizeof d->a, "distinct", d->live);
}

void find_distinct(struct kernel *k, struct kernel_tensor x, struct cuda_count_result *ret)
{
    struct unique_request d;
    if (!unique_request_of(k, x, &d) || d.a.n == 0 || d.a.outer == 0 || d.a.inner == 0)
        return;
    d.a.from = ret->at[2] = cuda_contiguous(k, x);
    d.a.total = ret->at[0] = cuda_workspace(k, sizeof(uint32_t));
    d.a.heads = ret->at[1] = cuda_workspace(k, (size_t)d.a.n * sizeof(uint32_t));
    if (d.sorted)
        d.a.order = ret->at[3] = cuda_workspace(k, (size_t)d.a.n * sizeof(int64_t));
    if (d.sorted && d.slices)
        launch_unique(k, &d, "unique_order", cuda_blocks(k, d.a.n, 1));
    else if (d.sorted)
        cuda_sort_places(k, d.a.from, x.meta->dtype, d.a.n, d.a.order);
    launch_unique(k, &d, "unique_heads", cuda_blocks(k, d.a.n, 1024));
    cuda_offsets(k, d.a.heads, d.a.n, false, d.a.total);
}

/* Returns the address of a contiguous result with that many elements; 0: it is not so, or not
 * requested. */
static uint64_t contiguous_result(struct kernel *k, struct kernel_tensor x, int64_t n)
{
    struct cuda_layout l;
    if (!x.meta || !cuda_layout_of(k, &x, 1, &l) || l.n != n || n == 0)
        return 0;
    return l.ndim == 0 || (l.ndim == 1 && l.stride[0][0] == 1) ? cuda_address(k, x) : 0;
}

/* Returns whether the result's slices are contiguous, and also one after the other. */
static bool slices_in_order(struct kernel_tensor to, const struct unique_request *d)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], step = 1;
    uint32_t ndim = tensor_sizes(to, size);
    if (!tensor_strides(to, stride))
        return false;
    for (uint32_t i = ndim; i-- > 0;) {
        if (d->slices && i == d->dim)
            continue;
        if (size[i] > 1 && stride[i] != step)
            return false;
        step *= size[i];
    }
    return !d->slices || size[d->dim] <= 1 || stride[d->dim] == step;
}

/* _unique2, unique_consecutive, unique_dim: values, the index of each element's value, and
 * counts. */
void cuda_unique(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), to = result(k, 0);
    int64_t size[TENSOR_MAX_DIM];
    struct unique_request d;
    struct cuda_count_result found;
    if (k->failed || !to.meta || !unique_request_of(k, x, &d))
        return;
    uint32_t ndim = tensor_sizes(to, size);
    d.a.distinct = ndim > d.dim ? size[d.dim] : 0;
    if (to.meta->extent.is && to.meta->extent.dim == d.dim)
        d.live = cuda_live_of(k, to, 1);
    if (!slices_in_order(to, &d)) {
        cuda_decline(k);
        return;
    }
    if (d.a.distinct == 0 || !cuda_find(k, find_distinct, x, &found))
        return;
    d.a.total = found.at[0];
    d.a.heads = found.at[1];
    d.a.from = found.at[2];
    d.a.order = found.at[3];
    d.a.to = cuda_address(k, to);
    d.a.inverse = contiguous_result(k, result(k, 1), d.a.n);
    d.a.counts = n_results(k) > 2 ? contiguous_result(k, result(k, 2), d.a.distinct) : 0;
    if (d.a.counts)
        d.a.starts = cuda_workspace(k, (size_t)d.a.distinct * sizeof(int64_t));
    launch_unique(k, &d, "unique_give", cuda_blocks(k, d.a.n * d.a.outer * d.a.inner, 1024));
    if (d.a.counts)
        launch_unique(k, &d, "unique_counts", cuda_blocks(k, d.a.distinct, 1024));
}
