/* extract_tensor_metadata of torch/_subclasses/fake_tensor.py: before PyTorch's cache of operators
 * knows a call, it asks each tensor for the memory format that its strides suggest, which guards
 * where sizes leave that open. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/layout.h"
#include "replay/ops/layout/storage.h"

static void ask(struct call *c, const struct value *value, unsigned nesting)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.meta->ndim >= 4)
        suggest_format(c, value->u.tensor);
    if ((value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) && nesting < 16)
        for (uint32_t i = 0; i < value->n && !c->failed; i++)
            ask(c, &value->u.items[i], nesting + 1);
}

void ask_metadata(struct call *c, const struct value *result)
{
    if (!c->symbolic || c->op->composite)
        return;
    if (result)
        ask(c, result, 0);
    for (uint32_t i = 0; i < c->n_args && !result && !c->failed; i++)
        ask(c, &c->args[i], 0);
}

/* --- The tensor that an entry of the cache would give --- */

/* set_() of aten/src/ATen/native/TensorShape.cpp's set_storage_meta__symint: does the storage have
 * to grow? */
static void ask_set(struct call *c, struct tensor x)
{
    const struct tensor_meta *meta = x.meta;
    sym_id has = storage_bytes(c->ops, x.storage), needs;
    if (!guard_or_true(c, ne(c, numel(c, x), SYM_ID_ZERO)))
        return;
    sym_id size = num(c, dtype_size(meta->dtype));
    if (is_contiguous(c, x, FORMAT_CONTIGUOUS))
        needs = contiguous_bytes(c, meta->dtype, meta->size, meta->ndim);
    else
        needs = strided_bytes(c, meta->dtype, meta->size, meta->stride, meta->ndim);
    needs = add(c, needs, mul(c, meta->offset, size));
    if (has != SYM_NONE && !c->failed)
        guard_bool(c, gt(c, needs, has));
}

static bool plain(struct call *c, const struct tensor_meta *meta)
{
    if (meta->layout != LAYOUT_STRIDED || !c->ops->metas.symbolic.v[meta->id])
        return false;
    bool plain = !env_has_unbacked(c->env, meta->offset);
    for (uint32_t i = 0; i < meta->ndim && plain; i++)
        plain =
            !env_has_unbacked(c->env, meta->size[i]) && !env_has_unbacked(c->env, meta->stride[i]);
    return plain;
}

static void synthesize(struct call *c, struct value result, bool view)
{
    if (result.kind == VALUE_TENSOR && plain(c, result.u.tensor.meta)) {
        const struct tensor_meta *meta = result.u.tensor.meta;
        strided_bytes(c, meta->dtype, meta->size, meta->stride, meta->ndim);
        if (view)
            ask_set(c, result.u.tensor);
    }
    if (result.kind == VALUE_TUPLE || result.kind == VALUE_LIST)
        for (uint32_t i = 0; i < result.n && !c->failed; i++)
            if (result.u.items[i].kind == VALUE_TENSOR)
                synthesize(c, result.u.items[i], view);
}

/* FunctionSchema::is_view_op: a result is an argument's alias, which is not written. */
static bool is_view(const struct schema *schema)
{
    return schema->n_results && schema->results[0].alias && !schema->results[0].written;
}

void ask_synthesized(struct ops *ops, const struct op *op, struct value result)
{
    struct call c = { .ops = ops, .env = ops->env, .pool = ops->pool, .op = op, .symbolic = true };
    if (op->writes)
        return; /* the entry names the argument */
    env_suppress_guards(ops->env);
    synthesize(&c, result, is_view(&op->schema));
    env_resume_guards(ops->env);
    env_raised(ops->env);
    ops->outcome = OP_DONE;
}
