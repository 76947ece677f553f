#include "replay/program/audit.h"

static bool is_contiguous_now(struct ops *ops, const struct tensor_meta *meta)
{
    struct shape_env *env = ops_env(ops);
    sym_id stride = SYM_ID_ONE;
    for (uint32_t d = meta->ndim; d-- > 0;) {
        if (env_replace(env, meta->stride[d]) != stride)
            return false;
        stride = sym_mul(ops_pool(ops), stride, env_replace(env, meta->size[d]));
    }
    return true;
}

static bool has_same_sizes(struct ops *ops, const struct tensor_meta *a,
                           const struct tensor_meta *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (uint32_t d = 0; d < a->ndim; d++)
        if (env_replace(ops_env(ops), a->size[d]) != env_replace(ops_env(ops), b->size[d]))
            return false;
    return true;
}

bool could_be_fast(struct ops *ops, const struct step *step, struct value result)
{
    bool symbolic = false;
    uint32_t tensors = 0;
    if (step->kind != STEP_OPERATOR || result.kind != VALUE_TENSOR || !op_is_pointwise(step->op) ||
        result.u.tensor.meta->layout != LAYOUT_STRIDED)
        return false;
    const struct tensor_meta *meta = result.u.tensor.meta;
    for (uint32_t d = 0; d < meta->ndim; d++)
        symbolic |= !sym_is_number(ops_pool(ops), env_replace(ops_env(ops), meta->size[d]));
    for (uint32_t i = 0; i < step->n_args && symbolic; i++) {
        if (step->args[i].kind != VALUE_TENSOR)
            continue;
        const struct tensor_meta *x = step->args[i].u.tensor.meta;
        tensors++;
        if (!has_same_sizes(ops, x, meta) || !is_contiguous_now(ops, x))
            return false;
    }
    return symbolic && tensors && is_contiguous_now(ops, meta);
}
