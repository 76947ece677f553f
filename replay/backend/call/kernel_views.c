/* Views that kernels make, and copies from one place to another: what operators that are made of
 * others are written with. */
#include <string.h>

#include "replay/backend/call/exec.h"
#include "replay/backend/call/kernel.h"

struct value value_of_int(struct kernel *k, int64_t n)
{
    return value_int(sym_integer(ops_pool(k->call->exec->ops), n));
}

struct value value_of_ints(struct kernel *k, const int64_t *x, uint32_t n)
{
    struct value *items = workspace(k, n, sizeof *items);
    for (uint32_t i = 0; i < n && items; i++)
        items[i] = value_of_int(k, x[i]);
    return value_items(VALUE_LIST, items, items ? n : 0);
}

struct value value_of_bool(bool yes)
{
    return value_sym(VALUE_BOOL, yes ? SYM_ID_TRUE : SYM_ID_FALSE);
}

bool tensor_strides(const struct kernel *k, struct tensor x, int64_t *stride)
{
    if (!x.meta || (x.meta->ndim && !x.meta->stride))
        return false;
    for (uint32_t i = 0; i < x.meta->ndim; i++)
        if (!sym_to_i64(k->call->pool, x.meta->stride[i], &stride[i]))
            return false;
    return true;
}

static struct tensor view_from(struct kernel *k, struct tensor x, int64_t skip, const int64_t *size,
                               const int64_t *stride, uint32_t ndim)
{
    struct ops *ops = k->call->exec->ops;
    struct tensor none = { 0 };
    int64_t offset;
    if (k->failed || !x.meta || ndim > TENSOR_MAX_DIM ||
        !sym_to_i64(k->call->pool, x.meta->offset, &offset))
        return none;
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < ndim; i++) {
        sizes[i] = sym_integer(ops_pool(ops), size[i]);
        strides[i] = sym_integer(ops_pool(ops), stride[i]);
    }
    struct tensor_meta meta = *x.meta;
    meta.ndim = ndim;
    meta.size = sizes;
    meta.stride = strides;
    meta.offset = sym_integer(ops_pool(ops), offset + skip);
    struct tensor ret = { .meta = ops_intern(ops, &meta), .storage = x.storage };
    if (!ret.meta) {
        err_nomem(k->err);
        k->failed = true;
    }
    return ret;
}

struct tensor strided_view(struct kernel *k, struct tensor x, const int64_t *size,
                           const int64_t *stride, uint32_t ndim)
{
    return view_from(k, x, 0, size, stride, ndim);
}

struct tensor narrowed(struct kernel *k, struct tensor x, uint32_t dim, int64_t start, int64_t n)
{
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], skip = 0;
    uint32_t ndim = tensor_sizes(k, x, size), kept = 0;
    if (!tensor_strides(k, x, stride))
        return (struct tensor){ 0 };
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

/* Dimensions of x whose elements lie one behind the other are one run; each run takes the new
 * dimensions that fill it (aten/src/ATen/TensorUtils.cpp, computeStride). */
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

struct tensor reshaped_view(struct kernel *k, struct tensor x, const int64_t *size, uint32_t ndim)
{
    int64_t from[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], ret[TENSOR_MAX_DIM], n = 1;
    struct tensor none = { 0 };
    if (k->failed || !x.meta || ndim > TENSOR_MAX_DIM || !tensor_strides(k, x, stride))
        return none;
    uint32_t from_ndim = tensor_sizes(k, x, from);
    for (uint32_t i = 0; i < from_ndim; i++)
        n *= from[i];
    for (uint32_t i = ndim, step = 1; n == 0 && i-- > 0;)
        ret[i] = step;
    if (n != 0 && !strides_of_view(from, stride, from_ndim, size, ndim, ret))
        return none;
    return strided_view(k, x, size, ret, ndim);
}

/* A tensor of its own with x's elements, one after the other. */
static struct tensor contiguous_copy(struct kernel *k, struct tensor x)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, x, size);
    struct value args[] = { value_tensor(x), value_of_ints(k, size, ndim) };
    struct tensor to = run_tensor(k, "aten.new_empty.default", args, 2);
    copy_elements(k, x, to);
    return to;
}

struct tensor reshaped(struct kernel *k, struct tensor x, const int64_t *size, uint32_t ndim)
{
    struct tensor view = reshaped_view(k, x, size, ndim);
    if (view.meta || k->failed || !x.meta)
        return view;
    return reshaped_view(k, contiguous_copy(k, x), size, ndim);
}

static bool same_sizes(const struct tensor_meta *a, const struct tensor_meta *b)
{
    bool same = a->ndim == b->ndim;
    for (uint32_t i = 0; same && i < a->ndim; i++)
        same = a->size[i] == b->size[i];
    return same;
}

void copy_elements(struct kernel *k, struct tensor from, struct tensor to)
{
    if (k->failed || !from.meta || !to.meta)
        return;
    if (!same_sizes(from.meta, to.meta)) {
        int64_t size[TENSOR_MAX_DIM];
        struct tensor view = reshaped_view(k, to, size, tensor_sizes(k, from, size));
        if (view.meta)
            to = view;
        else if (!k->failed)
            from = reshaped(k, from, size, tensor_sizes(k, to, size));
    }
    struct value args[] = { value_tensor(to), value_tensor(from) };
    if (from.meta)
        run_into(k, "aten.copy_.default", args, 2, value_tensor(to));
}

void copy_results(struct kernel *k, struct value from)
{
    if (from.kind == VALUE_TENSOR)
        copy_elements(k, from.u.tensor, result(k, 0));
    for (uint32_t i = 0; (from.kind == VALUE_LIST || from.kind == VALUE_TUPLE) && i < from.n; i++)
        if (from.u.items[i].kind == VALUE_TENSOR)
            copy_elements(k, from.u.items[i].u.tensor, result(k, i));
}

void zero_elements(struct kernel *k, struct tensor x)
{
    struct value args[] = { value_tensor(x) };
    if (x.meta)
        run_into(k, "aten.zero_.default", args, 1, args[0]);
}
