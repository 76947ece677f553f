/* Operators that write at indices (combine.c): scatter, index_add, index_put, put, and gradients of
 * operators that read at indices. */
#include "replay/backend/cuda/kernels/index/scatter.h"

/* Returns the result after copying self to it. */
static struct kernel_tensor result_from_self(struct kernel *k)
{
    struct kernel_tensor self = tensor_arg(k, "self"), to = result(k, 0);
    if (to.meta && self.meta && to.storage != self.storage)
        copy_elements(k, self, to);
    return to;
}

/* Returns the tensor of that name, or a number as a tensor without dimensions. */
static struct kernel_tensor values_arg(struct kernel *k, const char *name,
                                       struct kernel_tensor like)
{
    struct kernel_value v = value_arg(k, name);
    if (v.kind == KERNEL_TENSOR || k->failed || !like.meta)
        return v.kind == KERNEL_TENSOR ? v.u.tensor : (struct kernel_tensor){ 0 };
    struct kernel_value args[] = { value_of_tensor(like), value_of_ints(k, NULL, 0), v };
    return run_tensor(k, "aten.new_full.default", args, 3);
}

/* Returns the first elements of src, as many as there are indices. */
static struct kernel_tensor part_for(struct kernel *k, struct kernel_tensor src,
                                     struct kernel_tensor index)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(index, size);
    if (!src.meta || src.meta->ndim == 0 || !tensor_strides(src, stride))
        return src;
    if (ndim != src.meta->ndim)
        ndim = 0;
    return strided_view(k, src, size, stride, ndim);
}

/* scatter (src or value), scatter_add (PARAM 1), scatter_reduce (PARAM 2). */
void cuda_scatter(struct kernel *k)
{
    struct scattered s = { .alpha = 1 };
    struct kernel_tensor index = tensor_arg(k, "index"), to = result_from_self(k);
    if (!to.meta || !index.meta)
        return;
    s.how = k->row->param == 1 ? COMBINE_ADD : combine_named(text_arg(k, "reduce"));
    s.include_self = bool_arg(k, "include_self", true);
    s.values = part_for(k, values_arg(k, has_arg(k, "src") ? "src" : "value", to), index);
    index_along(k, &s.ix, to, index, wrapped_dim(int_arg(k, "dim", 0), to.meta->ndim));
    scatter_entries(k, &s);
}

/* index_add, index_copy, index_fill, index_reduce along a dimension. PARAM: 0 add, 1 copy, 2 fill,
 * 3 reduce. */
void cuda_index_rows(struct kernel *k)
{
    struct scattered s = { 0 };
    int64_t one[] = { 1 };
    struct kernel_tensor index = tensor_arg(k, "index"), to = result_from_self(k);
    if (!to.meta || !index.meta)
        return;
    s.how = k->row->param == 0   ? COMBINE_ADD
            : k->row->param == 3 ? combine_named(text_arg(k, "reduce"))
                                 : COMBINE_SET;
    s.include_self = bool_arg(k, "include_self", true);
    s.alpha = real_arg(k, "alpha", 1);
    s.values = values_arg(k, has_arg(k, "source") ? "source" : "value", to);
    if (to.meta->ndim == 0)
        to = reshaped(k, to, one, 1);
    if (index.meta->ndim == 0)
        index = reshaped(k, index, one, 1);
    if (to.meta)
        index_rows(k, &s.ix, to, index, wrapped_dim(int_arg(k, "dim", 0), to.meta->ndim));
    scatter_entries(k, &s);
}

/* put: positions as if there were one dimension. */
void cuda_put_elements(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true };
    struct kernel_tensor to = result_from_self(k), index = tensor_arg(k, "index");
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(to, size);
    for (uint32_t d = 0; d < ndim; d++)
        n *= size[d];
    struct kernel_tensor flat = reshaped_view(k, to, &n, 1);
    if (!flat.meta || !index.meta) {
        if (!k->failed)
            cuda_decline(k);
        return;
    }
    s.how = bool_arg(k, "accumulate", false) ? COMBINE_ADD : COMBINE_SET;
    s.values = reshaped(k, tensor_arg(k, "source"), size, tensor_sizes(index, size));
    index_flat(k, &s.ix, flat, index);
    scatter_entries(k, &s);
}

void cuda_index_put(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true };
    struct kernel_tensor to = result_from_self(k);
    s.how = bool_arg(k, "accumulate", false) ? COMBINE_ADD : COMBINE_SET;
    s.values = tensor_arg(k, "values");
    if (index_by_list(k, &s.ix, to))
        scatter_entries(k, &s);
}

/* The gradient of _unsafe_masked_index: adds values if the mask is true. */
void cuda_masked_index_put(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true, .how = COMBINE_ADD };
    struct kernel_tensor to = result_from_self(k);
    s.values = tensor_arg(k, "values");
    if (!index_by_list(k, &s.ix, to))
        return;
    s.ix.mask = tensor_arg(k, "mask");
    s.ix.clamp = true;
    if (s.ix.mask.meta && s.ix.mask.meta->dtype != DTYPE_B8)
        cuda_decline(k);
    else
        scatter_entries(k, &s);
}

/* embedding_dense_backward: adds rows of the gradient to the rows that were read. */
void cuda_embedding_backward(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true, .how = COMBINE_ADD };
    struct kernel_tensor to = result(k, 0);
    if (!to.meta)
        return;
    if (bool_arg(k, "scale_grad_by_freq", false)) { /* divided by the number of equal indices */
        s.how = COMBINE_MEAN;
        s.include_self = false;
    }
    zero_elements(k, to);
    s.values = tensor_arg(k, "grad_output");
    index_rows(k, &s.ix, to, tensor_arg(k, "indices"), 0);
    s.ix.skip = int_arg(k, "padding_idx", -1);
    s.ix.has_skip = s.ix.skip >= 0;
    scatter_entries(k, &s);
}

/* Returns the gradient of each entry's bag, divided by the bag's size (mean), or multiplied with
 * the entry's weight. */
static struct kernel_tensor spread_gradient(struct kernel *k, struct kernel_tensor grad,
                                            struct kernel_tensor bags)
{
    int64_t size[TENSOR_MAX_DIM], column[2] = { 0, 1 };
    struct kernel_value select[] = { value_of_tensor(grad), value_of_int(0),
                                     value_of_tensor(bags) };
    struct kernel_tensor rows = run_tensor(k, "aten.index_select.default", select, 3);
    tensor_sizes(bags, size);
    column[0] = size[0];
    if (int_arg(k, "mode", 0) == 1) {
        struct kernel_value of_bag[] = { value_arg(k, "bag_size"), value_of_int(0),
                                         value_of_tensor(bags) };
        struct kernel_tensor n = run_tensor(k, "aten.index_select.default", of_bag, 3);
        struct kernel_value args[] = { value_of_tensor(rows),
                                       value_of_tensor(reshaped(k, n, column, 2)) };
        rows = run_tensor(k, "aten.div.Tensor", args, 2);
    }
    if (has_arg(k, "per_sample_weights")) {
        struct kernel_tensor scales = reshaped(k, tensor_arg(k, "per_sample_weights"), column, 2);
        struct kernel_value args[] = { value_of_tensor(rows), value_of_tensor(scales) };
        rows = run_tensor(k, "aten.mul.Tensor", args, 2);
    }
    return rows;
}

/* The gradient of _embedding_bag: for max (mode 2) it is added to the greatest elements, otherwise
 * to all of a bag. */
void cuda_embedding_bag_backward(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true, .how = COMBINE_ADD };
    struct kernel_tensor to = result(k, 0), grad = tensor_arg(k, "grad");
    struct kernel_tensor indices = tensor_arg(k, "indices"), bags = tensor_arg(k, "offset2bag");
    int64_t n[TENSOR_MAX_DIM], entries[TENSOR_MAX_DIM];
    if (k->failed || !to.meta || !grad.meta || !indices.meta || !bags.meta)
        return;
    bool greatest = int_arg(k, "mode", 0) == 2;
    if (bool_arg(k, "scale_grad_by_freq", false) || bool_arg(k, "sparse", false) ||
        tensor_sizes(bags, n) != 1 || tensor_sizes(indices, entries) != 1 ||
        (!greatest && n[0] != entries[0])) {
        cuda_decline(k);
        return;
    }
    zero_elements(k, to);
    if (greatest) {
        s.values = grad;
        index_along(k, &s.ix, to, tensor_arg(k, "maximum_indices"), 0);
    } else {
        s.values = spread_gradient(k, grad, bags);
        index_rows(k, &s.ix, to, indices, 0);
        s.ix.skip = int_arg(k, "padding_idx", -1);
        s.ix.has_skip = s.ix.skip >= 0;
    }
    scatter_entries(k, &s);
}

/* bincount: adds ones or weights at the positions in x. */
void cuda_bincount(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true, .how = COMBINE_ADD };
    struct kernel_tensor to = result(k, 0), x = tensor_arg(k, "self");
    if (!to.meta || !x.meta)
        return;
    zero_elements(k, to);
    struct kernel_value shape[] = { value_of_tensor(to), value_of_ints(k, NULL, 0) };
    s.values = has_arg(k, "weights") ? tensor_arg(k, "weights")
                                     : run_tensor(k, "aten.new_ones.default", shape, 2);
    index_along(k, &s.ix, to, x, 0);
    scatter_entries(k, &s);
}

/* Sums gradients, since unfold's windows overlap. The position of an entry is that in unfold's view
 * of the result. */
void cuda_unfold_backward(struct kernel *k)
{
    struct scattered s = { .alpha = 1, .include_self = true, .how = COMBINE_ADD, .overlaps = true };
    struct kernel_tensor to = result(k, 0);
    struct kernel_value args[] = { value_of_tensor(to), value_arg(k, "dim"), value_arg(k, "size"),
                                   value_arg(k, "step") };
    struct kernel_tensor windows = run_tensor(k, "aten.unfold.default", args, 4);
    if (!windows.meta)
        return;
    zero_elements(k, to);
    s.values = tensor_arg(k, "grad_in");
    index_of_view(k, &s.ix, to, windows);
    scatter_entries(k, &s);
}
