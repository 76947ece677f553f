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

/* One run of dimensions that lie densely in memory: view dimensions from *view_d down have to make
 * up its `numel`. */
static bool ask_run(struct call *c, const struct tensor_meta *view, uint32_t *view_d, sym_id numel)
{
    sym_id made = num(c, 1);
    while (*view_d > 0 && !c->failed &&
           (guard_or_true(c, lt(c, made, numel)) ||
            guard_or_false(c, eq(c, view->size[*view_d - 1], num(c, 1)))))
        made = mul(c, made, view->size[--*view_d]);
    return !guard_or_true(c, ne(c, made, numel));
}

/* computeStride_impl of aten/src/ATen/TensorUtils.cpp: as long as it finds strides. */
static void ask_strides(struct call *c, const struct tensor_meta *from,
                        const struct tensor_meta *view)
{
    uint32_t view_d = view->ndim;
    sym_id numel = num(c, 1), base = from->stride[from->ndim - 1];
    for (uint32_t d = from->ndim; d-- > 0 && !c->failed;) {
        numel = mul(c, numel, from->size[d]);
        if (d > 0 && !(guard_or_true(c, ne(c, from->size[d - 1], num(c, 1))) &&
                       guard_or_true(c, ne(c, from->stride[d - 1], mul(c, numel, base)))))
            continue;
        if (!ask_run(c, view, &view_d, numel) || d == 0)
            return;
        base = from->stride[d - 1];
        numel = num(c, 1);
    }
}

void traced_ask_view(struct ops *ops, struct tensor from, struct tensor view)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    if (from.meta->ndim && (is_symbolic(ops, from.meta) || is_symbolic(ops, view.meta)))
        ask_strides(&c, from.meta, view.meta);
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
