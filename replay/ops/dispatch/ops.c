/* The context: making, resetting, asking. Calls are in call.c. */
#include "replay/ops/dispatch/context.h"

#include "replay/ops/layout/storage.h"
#include "replay/ops/memo/cache.h"
#include "replay/ops/model/recall.h"

struct ops *ops_new(struct shape_env *env, struct err *err)
{
    return ops_new_with_rules(env, NULL, err);
}

struct ops *ops_new_with_rules(struct shape_env *env, const struct custom_rules *rules,
                               struct err *err)
{
    struct ops *ops = calloc(1, sizeof *ops);
    if (!ops) {
        err_nomem(err);
        return NULL;
    }
    ops->rules = rules;
    ops->env = env;
    ops->pool = env_pool(env);
    if (!op_table_init(&ops->table, rules, &ops->lifetime, err)) {
        ops_free(ops);
        return NULL;
    }
    ops->stats.by_op = calloc(ops->table.n + 1, sizeof *ops->stats.by_op);
    ops->stats.outer = calloc(ops->table.n + 1, sizeof *ops->stats.outer);
    ops->stats.top = ops->table.n;
    ops->cache = op_cache_new();
    ops->recall = recall_new();
    if (!ops->stats.by_op || !ops->stats.outer || !ops->cache || !ops->recall) {
        err_nomem(err);
        ops_free(ops);
        return NULL;
    }
    return ops;
}

void ops_free(struct ops *ops)
{
    if (!ops)
        return;
    bodies_release(&ops->bodies);
    op_cache_free(ops->cache);
    recall_free(ops->recall);
    meta_table_release(&ops->metas);
    stats_release(&ops->stats);
    model_release(&ops->model);
    fake_cache_release(&ops->fake_cache);
    arena_release(&ops->arena);
    arena_release(&ops->schemas);
    arena_release(&ops->lifetime);
    intern_release(&ops->names);
    vec_release(&ops->parsed);
    vec_release(&ops->written);
    vec_release(&ops->storage_bytes);
    memo_release(&ops->memos);
    buf_release(&ops->error_text);
    free(ops);
}

void ops_reset(struct ops *ops)
{
    arena_reset(&ops->arena);
    ops->autocast = (struct autocast){ 0 };
    ops->next_storage = 0;
    ops->storage_bytes.n = 0;
    memo_clear(&ops->memos);
    ops->written.n = 0;
    ops->model.grads.n = 0;
    fake_cache_forget_tensors(&ops->fake_cache);
}

void ops_set_recall(struct ops *ops, unsigned runs)
{
    ops->recalls = runs < RECALL_RUNS ? runs : RECALL_RUNS;
    if (runs)
        recall_begin(ops);
}

void ops_forget_calls(struct ops *ops)
{
    op_cache_clear(ops->cache);
    recall_clear(ops->recall);
    fake_cache_clear(&ops->fake_cache);
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
        op_cache_clear(ops->cache);
    ops->exporting = on;
}

void ops_set_env(struct ops *ops, struct shape_env *env)
{
    ops_reset(ops);
    meta_table_release(&ops->metas);
    ops->metas = (struct meta_table){ 0 };
    memset(ops->wrapped, 0, sizeof ops->wrapped);
    ops_forget_calls(ops);
    ops->env = env;
    ops->pool = env_pool(env);
    for (size_t i = 0; i < ops->parsed.n; i++)
        ops->table.rows[ops->parsed.v[i]].parsed = false; /* default values are of the old pool */
    ops->parsed.n = 0;
    arena_release(&ops->schemas);
}

struct shape_env *ops_env(const struct ops *ops)
{
    return ops->env;
}

struct sym_pool *ops_pool(const struct ops *ops)
{
    return ops->pool;
}

struct arena *ops_arena(struct ops *ops)
{
    return &ops->arena;
}

struct value *ops_values(struct ops *ops, size_t n)
{
    return arena_array(&ops->arena, struct value, n ? n : 1);
}

const struct tensor_meta *ops_intern(struct ops *ops, const struct tensor_meta *meta)
{
    const struct tensor_meta *ret = meta_intern(&ops->metas, ops->pool, meta);
    ops->short_of_memory |= !ret;
    return ret;
}

struct tensor ops_new_tensor(struct ops *ops, const struct tensor_meta *meta)
{
    struct tensor x = { .meta = ops_intern(ops, meta) };
    x.storage = ops->next_storage++;
    if (x.meta && ops->metas.symbolic.v[x.meta->id])
        storage_note(ops, x.storage, storage_of_input(ops->pool, x.meta));
    return x;
}

bool ops_short_of_memory(const struct ops *ops)
{
    return ops->short_of_memory || ops->model.failed || env_short_of_memory(ops->env);
}

uint64_t ops_memo_uses(const struct ops *ops)
{
    return ops->memo_uses;
}

const char *ops_keep_name(struct ops *ops, struct str name)
{
    uint32_t id = intern(&ops->names, name);
    return id == INTERN_NONE ? NULL : intern_text(&ops->names, id).p;
}

bool ops_remember_item(struct ops *ops, struct tensor x, struct value number)
{
    return memo_set(&ops->memos, x, MEMO_ITEM, number);
}

uint32_t ops_next_storage(const struct ops *ops)
{
    return ops->next_storage;
}

void ops_set_subgraph(struct ops *ops, ops_subgraph *run, void *user)
{
    ops->subgraph = run;
    ops->subgraph_user = user;
}

/* --- Rows --- */

const struct op *ops_find(const struct ops *ops, struct str name)
{
    return op_table_find(&ops->table, name);
}

size_t ops_count(const struct ops *ops)
{
    return ops->table.n;
}

const struct op *ops_at(const struct ops *ops, size_t i)
{
    return i < ops->table.n ? &ops->table.rows[i] : NULL;
}

const struct schema *op_schema(const struct op *op)
{
    return &op->schema;
}

const struct schema *ops_prepare(struct ops *ops, const struct op *op)
{
    return op_prepare(ops, &ops->table.rows[op->index]) ? &op->schema : NULL;
}

bool op_is_pointwise(const struct op *op)
{
    return op->pointwise;
}

struct str op_name(const struct op *op)
{
    return op->name;
}

uint32_t op_index(const struct op *op)
{
    return op->index;
}

/* --- How the last call ended --- */

static enum op_outcome set_error(struct ops *ops, enum op_outcome outcome, struct str type,
                                 const char *format, va_list args)
{
    buf_clear(&ops->error_text);
    buf_vprintf(&ops->error_text, format, args);
    if (ops->error_text.failed)
        return ops_no_memory(ops);
    ops->error = (struct ops_error){ type, buf_str(&ops->error_text) };
    return ops->outcome = outcome;
}

enum op_outcome ops_refuse(struct ops *ops, struct str type, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum op_outcome outcome = set_error(ops, OP_REFUSED, type, format, args);
    va_end(args);
    return outcome;
}

enum op_outcome ops_unsupported(struct ops *ops, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    enum op_outcome outcome = set_error(ops, OP_UNSUPPORTED, STR("unsupported"), format, args);
    va_end(args);
    return outcome;
}

enum op_outcome ops_no_memory(struct ops *ops)
{
    if (!err_is_set(&ops->failure))
        err_nomem(&ops->failure);
    buf_release(&ops->error_text);
    ops->error_text = BUF_INIT;
    ops->error = (struct ops_error){ STR("MemoryError"), STR("out of memory") };
    return ops->outcome = OP_FAILED;
}

const struct ops_error *ops_error(const struct ops *ops)
{
    return &ops->error;
}

bool ops_failed(const struct ops *ops, struct err *err)
{
    if (ops->outcome != OP_FAILED)
        return false;
    *err = ops->failure;
    return true;
}

size_t ops_n_written(const struct ops *ops)
{
    return ops->written.n;
}

struct tensor ops_written(const struct ops *ops, size_t i, uint32_t *arg)
{
    *arg = ops->written.v[i].arg;
    return ops->written.v[i].tensor;
}
