#include "replay/ops/layers.h"

#include "replay/ops/dispatch/context.h"
#include "replay/ops/memo/memo.h"
#include "replay/ops/model/model.h"
#include "replay/ops/python/vmap/vmap.h"
#include "replay/ops/rules/pointwise/pointwise.h"

struct ops *ops_new(struct shape_env *env, struct err *err)
{
    return ops_new_with_rules(env, NULL, err);
}

static bool add_layers(struct ops *ops, struct err *err)
{
    ops->memo = memo_new();
    ops->model = model_new(ops->table.n);
    if (!ops->memo || !ops->model)
        return err_nomem(err);
    ops_set_layers(ops, true, true);
    ops->call_batched = vmap_call;
    ops->added_fast_path = added_fast_path;
    return true;
}

struct ops *ops_new_with_rules(struct shape_env *env, const struct custom_rules *rules,
                               struct err *err)
{
    struct op_catalog *catalog = op_catalog_new(rules, err);
    struct ops *ops = catalog ? ops_new_from(env, catalog, err) : NULL;
    if (ops)
        ops->own_catalog = catalog;
    else
        op_catalog_free(catalog);
    return ops;
}

struct ops *ops_new_from(struct shape_env *env, const struct op_catalog *catalog, struct err *err)
{
    struct ops *ops = malloc(sizeof *ops);
    if (!ops) {
        err_nomem(err);
        return NULL;
    }
    if (context_init(ops, env, catalog, err) && add_layers(ops, err))
        return ops;
    ops_free(ops);
    return NULL;
}

void ops_free(struct ops *ops)
{
    if (!ops)
        return;
    model_free(ops->model);
    memo_free(ops->memo);
    context_release(ops);
    op_catalog_free(ops->own_catalog);
    free(ops);
}

void ops_set_layers(struct ops *ops, bool model, bool memo)
{
    struct ops_layers below = { .enter = memo ? memo_call : compute_call };
    memo_set_answers(ops->memo, memo);
    ops->layers = model ? model_layers : below;
}

void ops_reset(struct ops *ops)
{
    context_reset(ops);
    model_reset(ops->model);
}

void ops_forget_calls(struct ops *ops)
{
    memo_clear_calls(ops->memo);
    model_forget_calls(ops->model);
}

void ops_set_env(struct ops *ops, struct shape_env *env)
{
    ops_reset(ops);
    ops_forget_calls(ops);
    context_set_env(ops, env);
}

void ops_set_eager(struct ops *ops, bool on)
{
    if (ops->eager != on)
        ops_forget_calls(ops);
    ops->eager = on;
}

void ops_set_export(struct ops *ops, bool on)
{
    if (ops->exporting != on)
        ops_forget_calls(ops);
    ops->exporting = on;
}

void ops_set_autograd(struct ops *ops, bool on)
{
    if (ops->autograd != on)
        ops_forget_calls(ops);
    ops->autograd = on;
}

void ops_leave_backward(struct ops *ops, bool on)
{
    ops->leaves_backward = on;
}
