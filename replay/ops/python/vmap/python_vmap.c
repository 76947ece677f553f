/* What enters and leaves vmap (torch/_functorch/vmap.py): inside its function a tensor is one slice
 * of the batch. */
#include "replay/ops/python/python_internal.h"
#include "replay/ops/python/vmap/vmap.h"

/* x, batch_dim, level */
bool python_add_batch_dim(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    uint32_t dim = wrap_dim(c, arg_int(c, 1), x.meta->ndim);
    int64_t level = arg_int_or(c, 2, 1);
    return !c->failed && ret_tensor(c, vmap_batch(c, x, dim, level));
}

/* Returns x with the dimension `from` at `to` (_movedim of BatchingRegistrations.cpp). */
static struct value moved(struct call *c, struct tensor x, uint32_t from, uint32_t to)
{
    struct value order[TENSOR_MAX_DIM];
    uint32_t n = 0;
    if (from == to)
        return value_tensor(x);
    for (uint32_t i = 0; i < x.meta->ndim; i++) {
        if (n == to)
            order[n++] = py_int(c, from);
        if (i != from)
            order[n++] = py_int(c, i);
    }
    if (n == to)
        order[n++] = py_int(c, from);
    return py_op(c, "aten.permute",
                 (struct value[]){ value_tensor(x), py_list(c, order, x.meta->ndim) }, 2);
}

/* x, level, batch_size, out_dim */
bool python_remove_batch_dim(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    int64_t level = arg_int_or(c, 1, 1);
    if (c->failed || x.meta->ndim >= TENSOR_MAX_DIM)
        return false;
    const struct batched *batched = vmap_batched(c->ops, x, level);
    struct tensor whole = batched ? batched->whole : vmap_whole(c, x, arg_sym(c, 2));
    uint32_t from = batched ? batched->dim : 0;
    if (c->failed)
        return false;
    uint32_t to = wrap_dim(c, arg_int(c, 3), whole.meta->ndim);
    return !c->failed && ret_call(c, moved(c, whole, from, to));
}
