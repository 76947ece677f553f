/* vmap: inside its function a batched tensor is one slice of it; results computed on slices get the
 * batch dimension in front again, contiguous (torch/_functorch/vmap.py). */
#include "replay/ops/python/python_internal.h"

/* x, batch_dim, level */
bool python_add_batch_dim(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    if (c->failed)
        return false;
    uint32_t dim = wrap_dim(c, arg_int(c, 1), x.meta->ndim), n = 0;
    for (uint32_t i = 0; i < x.meta->ndim && !c->failed; i++) {
        if (i == dim)
            continue;
        size[n] = x.meta->size[i];
        stride[n++] = x.meta->stride[i];
    }
    return ret_tensor(c, new_view(c, x, size, stride, n, x.meta->offset));
}

/* Returns the stride of the batch dimension: a slice may be a view of a larger tensor, and sizes
 * of a contiguous one count at least 1 (make_contiguous_strides_for). */
static sym_id batch_stride(struct call *c, struct tensor x)
{
    sym_id whole = SYM_ID_ONE, outer = x.meta->stride[0];
    bool dense = true;
    for (uint32_t i = x.meta->ndim; i-- > 1;) {
        whole = mul(c, whole, x.meta->size[i]);
        dense &= x.meta->stride[i - 1] != SYM_ID_ONE && x.meta->stride[i] != SYM_ID_ZERO;
    }
    return dense ? mul(c, outer, sym_max2(c, x.meta->size[0], SYM_ID_ONE))
                 : mul(c, whole, x.meta->size[0]);
}

/* x, level, batch_size, out_dim */
bool python_remove_batch_dim(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], whole = SYM_ID_ONE;
    if (c->failed || x.meta->ndim >= TENSOR_MAX_DIM)
        return false;
    uint32_t n = x.meta->ndim + 1, dim = wrap_dim(c, arg_int(c, 3), n), from = 0;
    if (x.meta->ndim)
        whole = batch_stride(c, x);
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        size[i] = i == dim ? arg_sym(c, 2) : x.meta->size[from];
        stride[i] = i == dim ? whole : x.meta->stride[from];
        from += i != dim;
    }
    return ret_tensor(c, new_tensor_strided(c, x.meta->dtype, x.meta->device, size, stride, n));
}
