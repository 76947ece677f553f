#include "replay/backend/run/nested_calls.h"

#include "replay/backend/run/value_reads.h"

enum { NESTING_LIMIT = 8 };

bool nested_calls_has_kernel(struct exec *exec, const struct op *op)
{
    const struct backend_kind *kind = exec->caller.backend->kind;
    return !kind->has || exec_properties(exec, op).has_kernel;
}

static bool computed(struct exec *exec, const struct value *v, unsigned depth)
{
    size_t bytes;
    if (v->kind == VALUE_TENSOR)
        return storage_at(&exec->storages, v->u.tensor.storage) ||
               (tensor_bytes(ops_pool(exec->ops), v->u.tensor.meta, &bytes) && bytes == 0);
    bool nested = value_is_sequence(*v) || v->kind == VALUE_DICT;
    for (uint32_t i = 0; nested && depth < NESTING_LIMIT && i < v->n; i++)
        if (!computed(exec, &v->u.items[i], depth + 1))
            return false;
    return true;
}

bool nested_calls_computed(struct exec *exec, const struct value *v)
{
    return computed(exec, v, 0);
}

/* A fake kernel makes its results with empty(), and computes nothing. */
static bool has_unfilled(struct exec *exec, const struct value *v, unsigned depth)
{
    size_t bytes;
    if (v->kind == VALUE_TENSOR) {
        struct memory *m = storage_at(&exec->storages, v->u.tensor.storage);
        return m && m->unfilled && !m->written &&
               !(tensor_bytes(ops_pool(exec->ops), v->u.tensor.meta, &bytes) && bytes == 0);
    }
    bool nested = value_is_sequence(*v) || v->kind == VALUE_DICT;
    for (uint32_t i = 0; nested && depth < NESTING_LIMIT && i < v->n; i++)
        if (has_unfilled(exec, &v->u.items[i], depth + 1))
            return true;
    return false;
}

bool nested_calls_finish(struct exec *exec, struct str name, struct value result, struct err *err)
{
    exec->caller.backend->lacks_kernel =
        !computed(exec, &result, 0) || has_unfilled(exec, &result, 0);
    if (exec->caller.backend->lacks_kernel)
        return err_set(err, ERR_USAGE, "%.*s: no kernel of backend %s", STR_ARG(name),
                       exec->caller.backend->kind->name);
    return exec_give(exec, result, err);
}

static enum observation begin_nested_call(void *user, const struct op *op, struct value *args,
                                          uint32_t n, struct err *err)
{
    struct exec *exec = user;
    if (n > SCHEMA_MAX_SLOTS)
        return err_set(err, ERR_USAGE, "too many arguments"), OBSERVE_FAILED;
    for (uint32_t i = 0; i < n; i++)
        if (!computed(exec, &args[i], 0)) {
            exec->caller.backend->lacks_kernel = true;
            return err_set(err, ERR_USAGE, "no kernel of backend %s computes an argument of %.*s",
                           exec->caller.backend->kind->name, STR_ARG(op_name(op))),
                   OBSERVE_FAILED;
        }
    if (!add_read_values(exec, op, op_schema(op), false, args, err))
        return OBSERVE_FAILED;
    return nested_calls_has_kernel(exec, op) ? OBSERVE_WHOLE : OBSERVE_INSIDE;
}

static bool end_nested_call(void *user, const struct op *op, const struct schema *schema,
                            const struct value *args, struct value result, struct err *err)
{
    struct exec *exec = user;
    struct ops_outside outside = ops_step_out(exec->ops);
    exec->nested++;
    bool ok = exec_run_bound(exec, op, schema, args, result, err);
    struct memory *m = ok && result.kind == VALUE_TENSOR
                           ? storage_at(&exec->storages, result.u.tensor.storage)
                           : NULL;
    if (m && exec_properties(exec, op).unfilled)
        m->unfilled = true;
    ops_step_in(exec->ops, outside);
    return ok;
}

void nested_calls_begin(struct nested_calls *nested, struct exec *exec)
{
    exec_begin(exec);
    *nested = (struct nested_calls){ .exec = exec,
                                     .observer = { begin_nested_call, end_nested_call, exec } };
    nested->before = ops_set_nested_observer(exec->ops, &nested->observer);
    nested->within = exec->within;
    exec->within = true;
}

void nested_calls_end(struct nested_calls *nested)
{
    nested->exec->within = nested->within;
    ops_set_nested_observer(nested->exec->ops, nested->before);
    exec_end(nested->exec);
}
