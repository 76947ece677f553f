/* view, reshape and the composites built on them. */
#include "replay/ops/rules/view/views.h"

#include <string.h>

/* is_xla(), is_lazy() and is_ipu() of c10/core/TensorImpl.h, which reshape asks before
 * _reshape_alias. */
enum { RESHAPE_DEVICES = 3 };

static bool ret_viewed(struct call *c, struct tensor x, const sym_id *shape, uint32_t n)
{
    struct geometry g;
    bool copied;
    if (!view_geometry(c, x, shape, n, false, &g, &copied))
        return false;
    return ret_tensor(c, geometry_view(c, x, &g));
}

bool rule_view(struct call *c)
{
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    return ret_viewed(c, arg_tensor(c, 0), shape, n);
}

/* A view's copy has the sizes that the view computed. */
bool rule_view_copy(struct call *c)
{
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    struct tensor x = arg_tensor(c, 0);
    struct geometry g;
    bool copied;
    if (!x.meta || !view_geometry(c, x, shape, n, true, &g, &copied))
        return false;
    return ret_tensor(c, new_tensor(c, x.meta->dtype, x.meta->device, g.size, g.n));
}

bool rule_reshape_copy(struct call *c)
{
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    struct tensor x = arg_tensor(c, 0);
    sym_id full[TENSOR_MAX_DIM];
    if (!x.meta || !check_ndim(c, n) || !infer_shape(c, x, shape, n, full))
        return false;
    if (contiguous_or_false(c, x))
        return ret_tensor(c, call_clone_format(c, call_view(c, x, full, n), FORMAT_CONTIGUOUS));
    return ret_tensor(c, call_view(c, call_clone_format(c, x, FORMAT_CONTIGUOUS), full, n));
}

/* reshape_symint of ATen/native/TensorShape.cpp */
static struct tensor reshape_symint(struct call *c, struct tensor x, const sym_id *shape,
                                    uint32_t n)
{
    const struct tensor none = { 0 };
    if (!x.meta || !check_ndim(c, n))
        return none;
    if (contiguous_or_false_cpp(c, x))
        return call_view(c, x, shape, n);
    sym_id full[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    if (!infer_shape_cpp(c, numel(c, x), shape, n, full))
        return none;
    struct geometry g = geometry_of(x);
    if (compute_stride(c, &g, full, n, STRIDE_CPP, stride)) {
        count_devices(c, RESHAPE_DEVICES);
        return call_view(c, x, full, n); /* _reshape_alias */
    }
    if (c->failed)
        return none;
    struct value args[] = { value_tensor(call_clone_format(c, x, FORMAT_CONTIGUOUS)),
                            sizes_value(c, full, n) };
    return call_tensor(c, "aten._unsafe_view.default", args, 2);
}

bool rule_reshape(struct call *c)
{
    const sym_id *shape;
    uint32_t n = arg_syms(c, 1, &shape);
    return ret_tensor(c, reshape_symint(c, arg_tensor(c, 0), shape, n));
}

bool rule_view_as(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), other = arg_tensor(c, 1);
    if (!x.meta || !other.meta)
        return false;
    if (c->param)
        return ret_tensor(c, call_reshape(c, x, other.meta->size, other.meta->ndim));
    return ret_tensor(c, call_view(c, x, other.meta->size, other.meta->ndim));
}

bool rule_ravel(struct call *c)
{
    sym_id shape[] = { SYM_ID_MINUS_ONE };
    struct tensor x = call_contiguous(c, arg_tensor(c, 0));
    return ret_tensor(c, call_view(c, x, shape, 1));
}

bool rule_flatten(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    const struct tensor_meta *m = x.meta;
    uint32_t first = wrap_dim(c, arg_int(c, 1), m->ndim);
    uint32_t last = wrap_dim(c, arg_int(c, 2), m->ndim);
    if (c->failed)
        return false;
    REQUIRE(c, first <= last, "RuntimeError",
            "flatten() has invalid args: start_dim cannot come after end_dim");
    sym_id shape[TENSOR_MAX_DIM] = { SYM_ID_ONE };
    if (m->ndim == 0)
        return ret_tensor(c, reshape_symint(c, x, shape, 1));
    if (first == last)
        return ret_tensor(c, x);
    uint32_t n = 0;
    for (uint32_t i = 0; i < first; i++)
        shape[n++] = m->size[i];
    shape[n++] = product(c, m->size + first, last - first + 1);
    for (uint32_t i = last + 1; i < m->ndim; i++)
        shape[n++] = m->size[i];
    return ret_tensor(c, reshape_symint(c, x, shape, n));
}

bool rule_unflatten(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 2, &sizes);
    if (!x.meta)
        return false;
    const struct tensor_meta *m = x.meta;
    uint32_t dim = wrap_dim(c, arg_int(c, 1), m->ndim);
    REQUIRE(c, n > 0, "RuntimeError", "unflatten: sizes must be non-empty");
    sym_id shape[TENSOR_MAX_DIM * 2];
    if (c->failed || m->ndim == 0 || !check_ndim(c, (uint64_t)m->ndim + n))
        return c->failed ? false : unsupported(c, "unflatten of a 0-dim tensor");
    memcpy(shape, m->size, dim * sizeof(*shape));
    if (!infer_shape_cpp(c, m->size[dim], sizes, n, shape + dim))
        return false;
    memcpy(shape + dim + n, m->size + dim + 1, (m->ndim - dim - 1) * sizeof(*shape));
    return ret_tensor(c, call_view(c, x, shape, m->ndim - 1 + n));
}

bool rule_atleast(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!x.meta)
        return false;
    uint32_t least = (uint32_t)c->param, ndim = x.meta->ndim;
    if (ndim >= least)
        return ret_tensor(c, x);
    const sym_id ones[] = { SYM_ID_ONE, SYM_ID_ONE, SYM_ID_ONE };
    if (ndim == 0)
        return ret_tensor(c, call_reshape(c, x, ones, least));
    if (least == 3 && ndim == 2)
        return ret_tensor(c, call_unsqueeze(c, x, -1));
    x = call_unsqueeze(c, x, 0);
    return ret_tensor(c, least == 3 ? call_unsqueeze(c, x, -1) : x);
}
