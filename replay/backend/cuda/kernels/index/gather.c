/* Reads at indices: index_select, embedding, gather, take, index. */
#include <stdio.h>
#include <string.h>

#include "replay/backend/cuda/kernels/index/indexing.h"

/* Copies the entries; both tensors have one dtype, and `to` has the entries' sizes. */
static void read_indexed(struct kernel *k, struct indexed_access *ix, struct kernel_tensor to,
                         const uint64_t *fill)
{
    struct index_args args;
    if (k->failed || !to.meta || !ix->x.meta)
        return;
    uint32_t bytes = (uint32_t)dtype_size(to.meta->dtype);
    if (to.meta->dtype != ix->x.meta->dtype || !is_stored_real(to) || !is_stored_real(ix->x) ||
        !cuda_bits_type(bytes) || (ix->mask.meta && bytes > 8)) {
        cuda_decline(k);
        return;
    }
    index_entries(k, ix, to);
    strided_merge(&ix->set);
    uint64_t at_to = cuda_address(k, to), at_x = cuda_address(k, ix->x);
    if (!ix->mask.meta)
        bytes = strided_widen(&ix->set, bytes, at_to, at_x);
    if (!index_give(k, ix, &args) || ix->set.n == 0)
        return;
    int64_t times = bytes / (int64_t)dtype_size(to.meta->dtype);
    for (uint32_t i = 0; i < ix->n_tensors; i++) /* steps of dimensions, in wider elements */
        args.tensor[i].step /= times;
    args.to = at_to;
    args.from = at_x;
    if (fill)
        memcpy(args.fill, fill, sizeof args.fill);
    char defines[128];
    snprintf(defines, sizeof defines, "#define T %s\n#define I %s\n#define DIMS %d\n",
             cuda_bits_type(bytes), strided_index(&ix->set, tensor_extent(ix->x)),
             strided_dims(&ix->set));
    int64_t most = to.meta->extent.is ? to.meta->size[to.meta->extent.dim] : 1;
    cuda_traffic(k, 2 * (uint64_t)args.n * bytes, 0);
    cuda_launch_live(k, "index", "index_read", defines,
                     (struct cuda_grid){ cuda_blocks(k, args.n, 1024), 1, 1, 256, 0 }, &args,
                     sizeof args, "n", cuda_live_of(k, to, most ? args.n / most : 0));
}

/* index_select; embedding (PARAM 1: rows of the weight). */
void cuda_index_select(struct kernel *k)
{
    struct indexed_access ix;
    bool rows = k->row->param == 1;
    struct kernel_tensor x = tensor_arg(k, rows ? "weight" : "self");
    struct kernel_tensor index = tensor_arg(k, rows ? "indices" : "index"), to = result(k, 0);
    uint32_t dim = rows || !x.meta ? 0 : wrapped_dim(int_arg(k, "dim", 0), x.meta->ndim);
    int64_t one[] = { 1 };
    if (!rows && index.meta && index.meta->ndim == 0)
        index = reshaped(k, index, one, 1);
    if (to.meta && to.meta->ndim == 0)
        to = reshaped(k, to, one, 1);
    index_rows(k, &ix, x, index, dim);
    read_indexed(k, &ix, to, NULL);
}

void cuda_gather(struct kernel *k)
{
    struct indexed_access ix;
    struct kernel_tensor x = tensor_arg(k, "self");
    uint32_t dim = x.meta ? wrapped_dim(int_arg(k, "dim", 0), x.meta->ndim) : 0;
    index_along(k, &ix, x, tensor_arg(k, "index"), dim);
    read_indexed(k, &ix, result(k, 0), NULL);
}

void cuda_take_elements(struct kernel *k)
{
    struct indexed_access ix;
    struct kernel_tensor x = tensor_arg(k, "self");
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    index_flat(k, &ix, reshaped(k, x, &n, 1), tensor_arg(k, "index"));
    read_indexed(k, &ix, result(k, 0), NULL);
}

/* Returns the only index if it is a mask with the sizes of x. */
static struct kernel_tensor whole_mask(struct kernel *k, struct kernel_tensor x)
{
    const struct kernel_value *items;
    struct kernel_tensor none = { 0 }, mask;
    if (list_arg(k, "indices", &items) != 1 || items[0].kind != KERNEL_TENSOR || !x.meta)
        return none;
    mask = items[0].u.tensor;
    if (mask.meta->dtype != DTYPE_B8 || mask.meta->ndim == 0 || mask.meta->ndim != x.meta->ndim)
        return none;
    for (uint32_t d = 0; d < x.meta->ndim; d++)
        if (mask.meta->size[d] != x.meta->size[d])
            return none;
    return mask;
}

void cuda_index(struct kernel *k)
{
    struct indexed_access ix;
    struct kernel_tensor x = tensor_arg(k, "self"), mask = whole_mask(k, x);
    if (mask.meta)
        select_masked(k, x, mask, result(k, 0));
    else if (index_by_list(k, &ix, x))
        read_indexed(k, &ix, result(k, 0), NULL);
}

/* _unsafe_masked_index: x[indices] if the mask is true, else `fill`. */
void cuda_masked_index(struct kernel *k)
{
    struct indexed_access ix;
    struct kernel_tensor x = tensor_arg(k, "self");
    struct kernel_value fill = value_arg(k, "fill");
    uint64_t bits[2] = { 0 };
    if (!x.meta)
        return;
    if (dense_kind_of(x.meta->dtype) == DENSE_INT)
        store_int(x.meta->dtype, bits, 0, number_as_int(fill, 0));
    else if (dense_kind_of(x.meta->dtype) == DENSE_REAL)
        store_real(x.meta->dtype, bits, 0, number_as_real(fill, 0));
    else
        store_complex(x.meta->dtype, bits, 0, complex_arg(k, "fill", 0));
    if (!index_by_list(k, &ix, x))
        return;
    ix.mask = tensor_arg(k, "mask");
    ix.clamp = true;
    if (ix.mask.meta && ix.mask.meta->dtype != DTYPE_B8) {
        cuda_decline(k);
        return;
    }
    read_indexed(k, &ix, result(k, 0), bits);
}
