/* extract_tensor_metadata of torch/_subclasses/fake_tensor.py: for the key of its operator cache
 * PyTorch before 2.14 computes the memory format that each tensor's strides suggest, which adds
 * guards where sizes leave it open. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/layout.h"
#include "replay/ops/layout/storage.h"

static void evaluate_format(struct call *c, const struct value *value, unsigned nesting)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.meta->ndim >= 4)
        suggest_format(c, value->u.tensor);
    if ((value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) && nesting < 16)
        for (uint32_t i = 0; i < value->n && !c->failed; i++)
            evaluate_format(c, &value->u.items[i], nesting + 1);
}

void ask_metadata(struct call *c, const struct value *result)
{
    if (!c->symbolic || c->op->composite || behaves(c->env, BEHAVIOR_METADATA_SKIPS_SYMBOLIC))
        return;
    if (result)
        evaluate_format(c, result, 0);
    for (uint32_t i = 0; i < c->n_args && !result && !c->failed; i++)
        evaluate_format(c, &c->args[i], 0);
}

/* --- The tensor that an entry of the cache would create --- */

/* set_() of set_storage_meta__symint of aten/src/ATen/native/TensorShape.cpp: evaluates whether the
 * storage has to grow. */
static void evaluate_storage_growth(struct call *c, struct tensor x)
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

static bool is_backed_symbolic(struct call *c, const struct tensor_meta *meta)
{
    if (meta->layout != LAYOUT_STRIDED || !c->ops->metas.symbolic.v[meta->id])
        return false;
    bool plain = !env_has_unbacked(c->env, meta->offset);
    for (uint32_t i = 0; i < meta->ndim && plain; i++)
        plain =
            !env_has_unbacked(c->env, meta->size[i]) && !env_has_unbacked(c->env, meta->stride[i]);
    return plain;
}

static void synthesize_tensor(struct call *c, struct value result, bool view)
{
    if (result.kind == VALUE_TENSOR && is_backed_symbolic(c, result.u.tensor.meta)) {
        const struct tensor_meta *meta = result.u.tensor.meta;
        if (!view || !behaves(c->env, BEHAVIOR_CACHED_VIEWS_START_EMPTY))
            strided_bytes(c, meta->dtype, meta->size, meta->stride, meta->ndim);
        if (view)
            evaluate_storage_growth(c, result.u.tensor);
    }
    if (result.kind == VALUE_TUPLE || result.kind == VALUE_LIST)
        for (uint32_t i = 0; i < result.n && !c->failed; i++)
            if (result.u.items[i].kind == VALUE_TENSOR)
                synthesize_tensor(c, result.u.items[i], view);
}

/* FunctionSchema::is_view_op: a result is an alias of an argument that is not written. */
static bool is_view_schema(const struct schema *schema)
{
    return schema->n_results && schema->results[0].alias && !schema->results[0].written;
}

void ops_ask_cached(struct ops *ops, struct value result, bool view)
{
    struct call c = { .ops = ops, .env = ops->env, .pool = ops->pool, .symbolic = true };
    env_suppress_guards(ops->env);
    synthesize_tensor(&c, result, view);
    env_resume_guards(ops->env);
    env_raised(ops->env);
    ops->outcome = OP_DONE;
}

void ask_synthesized(struct ops *ops, const struct op *op, struct value result)
{
    if (!op->writes) /* otherwise the entry refers to the argument */
        ops_ask_cached(ops, result, is_view_schema(&op->schema));
}
