#include "replay/traced.h"

#include "replay/ops/layout.h"

enum { NESTING = 16 };

bool traces_results(enum graph_kind kind)
{
    return kind == GRAPH_JOINT || kind == GRAPH_INFERENCE;
}

static bool is_symbolic(struct ops *ops, const struct tensor_meta *meta)
{
    bool ret = false;
    for (uint32_t d = 0; d < meta->ndim && !ret; d++)
        ret = !sym_is_number(ops_pool(ops), meta->size[d]) ||
              !sym_is_number(ops_pool(ops), meta->stride[d]);
    return ret;
}

static bool was_asked(struct traced *traced, uint32_t meta, bool *failed)
{
    while (traced->asked.n <= meta)
        if (!vec_push(&traced->asked, false))
            return *failed = true;
    bool ret = traced->asked.v[meta];
    traced->asked.v[meta] = true;
    return ret;
}

/* A functional wrapper (torch/_subclasses/functional_tensor.py) has a storage of so many bytes,
 * none where a size is 0 (computeStorageNbytes in aten/src/ATen/EmptyTensor.cpp). */
static void ask_storage(struct call *c, const struct tensor_meta *meta)
{
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (guard_or_false(c, eq(c, meta->size[d], num(c, 0))))
            return;
}

static void ask_formats(struct ops *ops, struct tensor x)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    ask_storage(&c, x.meta);
    bool found = contiguous_or_false(&c, x) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST_3D);
    (void)found;
    env_raised(c.env);
    sym_ok(c.pool, &ignored);
}

static bool ask(struct traced *traced, struct ops *ops, const struct value *value, unsigned depth)
{
    bool failed = false;
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) {
        for (uint32_t i = 0; i < value->n && depth < NESTING; i++)
            if (!ask(traced, ops, &value->u.items[i], depth + 1))
                return false;
    } else if (value->kind == VALUE_TENSOR && value->u.tensor.meta->layout == LAYOUT_STRIDED &&
               is_symbolic(ops, value->u.tensor.meta) &&
               !was_asked(traced, value->u.tensor.meta->id, &failed)) {
        ask_formats(ops, value->u.tensor);
    }
    return !failed;
}

bool traced_ask(struct traced *traced, struct ops *ops, struct value result)
{
    return ask(traced, ops, &result, 0);
}

void traced_release(struct traced *traced)
{
    vec_release(&traced->asked);
}
