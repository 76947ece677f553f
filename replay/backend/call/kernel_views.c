/* Views that kernels make, and copies of elements: the base of operators that are made of
 * others. */
#include <string.h>

#include "replay/backend/call/kernel.h"

struct kernel_value value_of_ints(struct kernel *k, const int64_t *x, uint32_t n)
{
    struct kernel_value *items = workspace(k, n, sizeof *items);
    for (uint32_t i = 0; i < n && items; i++)
        items[i] = value_of_int(x[i]);
    return value_of_items(KERNEL_LIST, items, items ? n : 0);
}

bool tensor_strides(struct kernel_tensor x, int64_t *stride)
{
    if (!x.meta || (x.meta->ndim && !x.meta->stride))
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        stride[i] = x.meta->stride[i];
    return true;
}

static struct kernel_tensor view_from(struct kernel *k, struct kernel_tensor x, int64_t skip,
                                      const int64_t *size, const int64_t *stride, uint32_t ndim)
{
    struct caller *caller = k->call->caller;
    struct kernel_tensor ret = { .storage = x.storage };
    if (k->failed || !x.meta || ndim > TENSOR_MAX_DIM)
        return (struct kernel_tensor){ 0 };
    ret.meta = caller->kind->view(caller, x.meta, size, stride, ndim, x.meta->offset + skip);
    if (!ret.meta) {
        err_nomem(k->err);
        k->failed = true;
    }
    return ret;
}

struct kernel_tensor strided_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                  const int64_t *stride, uint32_t ndim)
{
    return view_from(k, x, 0, size, stride, ndim);
}

struct kernel_tensor narrowed(struct kernel *k, struct kernel_tensor x, uint32_t dim, int64_t start,
                              int64_t n)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], skip = 0;
    uint32_t ndim = tensor_sizes(x, size), kept = 0;
    if (!tensor_strides(x, stride))
        return (struct kernel_tensor){ 0 };
    for (uint32_t d = 0; d < ndim; d++) {
        if (d == dim)
            skip = start * stride[d];
        if (d == dim && n == 0)
            continue;
        size[kept] = d == dim ? n : size[d];
        stride[kept++] = stride[d];
    }
    return view_from(k, x, skip, size, stride, kept);
}

/* Computes the strides of a view with other sizes; false: a copy is needed. Dimensions of x whose
 * elements are contiguous form a run, and each run is split into the new dimensions that fill it
 * (aten/src/ATen/TensorUtils.cpp, computeStride). */
static bool strides_of_view(const int64_t *size, const int64_t *stride, uint32_t ndim,
                            const int64_t *to, uint32_t to_ndim, int64_t *ret)
{
    int64_t run = 1, filled = 1, step = ndim ? stride[ndim - 1] : 1;
    uint32_t at = to_ndim;
    for (uint32_t d = ndim; d-- > 0;) {
        run *= size[d];
        if (d > 0 && (size[d - 1] == 1 || stride[d - 1] == run * step))
            continue;
        while (at > 0 && (filled < run || to[at - 1] == 1)) {
            ret[--at] = filled * step;
            filled *= to[at];
        }
        if (filled != run)
            return false;
        run = filled = 1;
        step = d > 0 ? stride[d - 1] : 1;
    }
    for (; at > 0 && to[at - 1] == 1; at--)
        ret[at - 1] = 1;
    return at == 0;
}

struct kernel_tensor reshaped_view(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                                   uint32_t ndim)
{
    int64_t from[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], ret[TENSOR_MAX_DIM], n = 1;
    struct kernel_tensor none = { 0 };
    if (k->failed || !x.meta || ndim > TENSOR_MAX_DIM || !tensor_strides(x, stride))
        return none;
    uint32_t from_ndim = tensor_sizes(x, from);
    for (uint32_t i = 0; i < from_ndim; i++)
        n *= from[i];
    for (uint32_t i = ndim, step = 1; n == 0 && i-- > 0;)
        ret[i] = step;
    if (n != 0 && !strides_of_view(from, stride, from_ndim, size, ndim, ret))
        return none;
    return strided_view(k, x, size, ret, ndim);
}

/* Returns a new contiguous tensor with x's elements. */
static struct kernel_tensor contiguous_copy(struct kernel *k, struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(x, size);
    struct kernel_value args[] = { value_of_tensor(x), value_of_ints(k, size, ndim) };
    struct kernel_tensor to = run_tensor(k, "aten.new_empty.default", args, 2);
    copy_elements(k, x, to);
    return to;
}

struct kernel_tensor reshaped(struct kernel *k, struct kernel_tensor x, const int64_t *size,
                              uint32_t ndim)
{
    struct kernel_tensor view = reshaped_view(k, x, size, ndim);
    if (view.meta || k->failed || !x.meta)
        return view;
    return reshaped_view(k, contiguous_copy(k, x), size, ndim);
}

static bool equal_meta_sizes(const struct kernel_meta *a, const struct kernel_meta *b)
{
    bool same = a->ndim == b->ndim;
    for (uint32_t i = 0; same && i < a->ndim; i++)
        same = a->size[i] == b->size[i];
    return same;
}

void copy_elements(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    if (k->failed || !from.meta || !to.meta)
        return;
    if (!equal_meta_sizes(from.meta, to.meta)) {
        int64_t size[TENSOR_MAX_DIM];
        struct kernel_tensor view = reshaped_view(k, to, size, tensor_sizes(from, size));
        if (view.meta)
            to = view;
        else if (!k->failed)
            from = reshaped(k, from, size, tensor_sizes(to, size));
    }
    struct kernel_value args[] = { value_of_tensor(to), value_of_tensor(from) };
    if (from.meta)
        run_into(k, "aten.copy_.default", args, 2, value_of_tensor(to));
}

void copy_results(struct kernel *k, struct kernel_value from)
{
    if (from.kind == KERNEL_TENSOR)
        copy_elements(k, from.u.tensor, result(k, 0));
    for (uint32_t i = 0; (from.kind == KERNEL_LIST || from.kind == KERNEL_TUPLE) && i < from.n; i++)
        if (from.u.items[i].kind == KERNEL_TENSOR)
            copy_elements(k, from.u.items[i].u.tensor, result(k, i));
}

void zero_elements(struct kernel *k, struct kernel_tensor x)
{
    struct kernel_value args[] = { value_of_tensor(x) };
    if (x.meta)
        run_into(k, "aten.zero_.default", args, 1, args[0]);
}
