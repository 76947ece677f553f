/* Collectives: meta kernels of torch/distributed/_functional_collectives.py. */
#include "replay/ops/layout/layout.h"

static struct tensor like_input(struct call *c, struct tensor x, bool keep_strides)
{
    return keep_strides ? new_like(c, x)
                        : new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size, x.meta->ndim);
}

/* all_reduce returns a contiguous tensor. broadcast, wait_tensor and irecv (param 1) keep
 * strides. */
bool rule_collective(struct call *c)
{
    return ret_tensor(c, like_input(c, arg_tensor(c, 0), c->param == 1));
}

bool rule_collective_inplace(struct call *c)
{
    return ret_value(c, arg(c, 0));
}

static struct tensor sent(struct call *c, struct tensor x)
{
    sym_id zero = SYM_ID_ZERO;
    return new_tensor(c, x.meta->dtype, x.meta->device, &zero, 1);
}

bool rule_collective_send(struct call *c)
{
    return ret_tensor(c, sent(c, arg_tensor(c, 0)));
}

/* op_list, peer_list, tag_list, tensors: what is received is the tensor itself. */
bool rule_collective_batch(struct call *c)
{
    struct value list = arg(c, 0);
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 3, &x);
    n = n < list.n ? n : list.n;
    struct tensor *out = n ? scratch(c, n * sizeof *out) : NULL;
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = str_is(list.u.items[i].u.text, "irecv") ? x[i] : sent(c, x[i]);
    return ret_list(c, out, out ? n : 0);
}

/* --- One tensor, or each of a list --- */

typedef struct tensor one_tensor(struct call *c, struct tensor x);

static bool map_tensors(struct call *c, one_tensor *rule)
{
    const struct tensor *x;
    uint32_t n = arg_tensors(c, 0, &x);
    struct tensor *out = n ? scratch(c, n * sizeof *out) : NULL;
    for (uint32_t i = 0; out && i < n; i++)
        out[i] = rule(c, x[i]);
    return ret_list(c, out, out ? n : 0);
}

static struct tensor contiguous_like(struct call *c, struct tensor x)
{
    return new_like(c, x);
}

bool rule_collective_list(struct call *c)
{
    return map_tensors(c, contiguous_like);
}

/* Returns x.new_empty() with another size of dimension 0. */
static struct tensor resize_first_dim(struct call *c, struct tensor x, sym_id first)
{
    sym_id size[TENSOR_MAX_DIM] = { first };
    uint32_t n = x.meta->ndim ? x.meta->ndim : 1;
    for (uint32_t i = 1; i < n; i++)
        size[i] = x.meta->size[i];
    return new_tensor(c, x.meta->dtype, x.meta->device, size, n);
}

static struct tensor gather_one(struct call *c, struct tensor x)
{
    sym_id group = arg_sym(c, 1);
    return resize_first_dim(c, x, x.meta->ndim ? mul(c, x.meta->size[0], group) : group);
}

bool rule_all_gather(struct call *c)
{
    return ret_tensor(c, gather_one(c, arg_tensor(c, 0)));
}

bool rule_all_gather_list(struct call *c)
{
    return map_tensors(c, gather_one);
}

static struct tensor scatter_one(struct call *c, struct tensor x)
{
    if (!x.meta->ndim) {
        refuse(c, "IndexError", "list index out of range");
        return x;
    }
    return resize_first_dim(c, x, floordiv(c, x.meta->size[0], arg_sym(c, 2)));
}

bool rule_reduce_scatter(struct call *c)
{
    return ret_tensor(c, scatter_one(c, arg_tensor(c, 0)));
}

bool rule_reduce_scatter_list(struct call *c)
{
    return map_tensors(c, scatter_one);
}

/* The arguments are input, output_split_sizes, input_split_sizes. The sizes may be
 * data-dependent. */
bool rule_all_to_all(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 1, &sizes);
    sym_id total = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n; i++)
        check(c, ge(c, sizes[i], SYM_ID_ZERO), "RuntimeError",
              "Expected cond to be True, but got False.");
    for (uint32_t i = 0; i < n; i++)
        total = add(c, total, sizes[i]);
    if (!require(c, x.meta->ndim > 0, "IndexError", "list assignment index out of range"))
        return false;
    return ret_tensor(c, arg_given(c, 1) ? resize_first_dim(c, x, total) : like_input(c, x, false));
}
