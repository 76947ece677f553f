#include "replay/ops/rules/index/index_fill.h"

#include "replay/ops/rules/compose.h"

/* torch.scalar_tensor(number, dtype=like.dtype, device=like.device) */
static struct tensor scalar_like(struct call *c, struct value number, struct tensor like)
{
    struct keyword keywords[] = {
        { STR("dtype"), dtype_value(dtype_of(like)) },
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = device_of(like) } },
    };
    struct value ret = call_op_keywords(c, "aten.scalar_tensor.default", &number, 1, keywords, 2);
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : no_tensor();
}

static bool same_strides(struct tensor x, struct tensor y)
{
    bool ret = ndim_of(x) == ndim_of(y);
    for (uint32_t i = 0; ret && i < ndim_of(x); i++)
        ret = x.meta->stride[i] == y.meta->stride[i];
    return ret;
}

bool index_fill_reference(struct call *c, struct tensor x, uint32_t dim, struct tensor index,
                          struct tensor value)
{
    bool scalar = !ndim_of(x);
    struct tensor y = scalar ? unsqueeze(c, x, 0) : x;
    if (arg(c, 3).kind != VALUE_TENSOR)
        value = scalar_like(c, arg(c, 3), x);
    if (c->failed)
        return false;
    sym_id sizes[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < ndim_of(y); i++)
        sizes[i] = i == dim ? numel(c, index) : y.meta->size[i];
    value = expand(c, value, sizes, ndim_of(y));
    struct tensor out = CALL(c, "aten.index_copy.default", T(y), I(c, dim), T(index), T(value));
    if (scalar)
        out = clone_format(c, CALL(c, "aten.squeeze.dim", T(out), I(c, 0)), FORMAT_PRESERVE);
    if (c->failed)
        return false;
    /* index_copy is contiguous; it is copied where x is dense and has other strides. */
    if (!same_strides(out, x) && non_overlapping_and_dense_or_false(c, x))
        out = CALL(c, "prims.copy_strided.default", T(out), ints(c, x.meta->stride, ndim_of(x)));
    return ret_tensor(c, out);
}
