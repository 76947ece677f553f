/* The context of calls: its state and queries. Calls are in call.c. */
#include "replay/ops/dispatch/context.h"

#include "replay/ops/layout/storage.h"

bool context_init(struct ops *ops, struct shape_env *env, const struct op_catalog *catalog,
                  struct err *err)
{
    *ops = (struct ops){ .catalog = catalog, .env = env, .pool = env_pool(env) };
    ops->layers.enter = compute_call;
    return op_table_borrow(&ops->table, catalog) || err_nomem(err);
}

void context_release(struct ops *ops)
{
    op_table_release(&ops->table);
    meta_table_release(&ops->metas);
    arena_release(&ops->arena);
    arena_release(&ops->schemas);
    arena_release(&ops->lifetime);
    intern_release(&ops->names);
    vec_release(&ops->parsed);
    vec_release(&ops->written);
    vec_release(&ops->batched);
    vec_release(&ops->storage_bytes);
    vec_release(&ops->gradients);
    cached_views_release(&ops->cached_views);
    cached_strides_release(&ops->cached_strides);
    tensor_memo_release(&ops->memos);
    buf_release(&ops->error_text);
}

void context_reset(struct ops *ops)
{
    arena_reset(&ops->arena);
    ops->autocast = (struct autocast){ 0 };
    ops->excluded_sdpa = 0;
    ops->next_storage = 0;
    ops->storage_bytes.n = 0;
    ops->gradients.n = 0;
    tensor_memo_clear(&ops->memos);
    ops->written.n = 0;
    ops->batched.n = 0;
}

void context_set_env(struct ops *ops, struct shape_env *env)
{
    meta_table_release(&ops->metas);
    ops->metas = (struct meta_table){ 0 };
    cached_views_clear(&ops->cached_views);
    cached_strides_clear(&ops->cached_strides);
    memset(ops->wrapped, 0, sizeof ops->wrapped);
    ops->env = env;
    ops->pool = env_pool(env);
    for (size_t i = 0; i < ops->parsed.n; i++)
        ops->table.own->rows[ops->parsed.v[i]]->parsed =
            false; /* default values belong to the old pool */
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

struct device ops_pin_device(const struct ops *ops, struct device device)
{
    if (device.type == DEVICE_CUDA && device.index < 0)
        device.index = ops->current_device;
    return device;
}

const struct tensor_meta *ops_intern(struct ops *ops, const struct tensor_meta *meta)
{
    struct tensor_meta pinned = *meta;
    pinned.device = ops_pin_device(ops, meta->device);
    const struct tensor_meta *ret = meta_intern(&ops->metas, ops->pool, &pinned);
    ops->short_of_memory |= !ret;
    return ret;
}

struct tensor ops_new_tensor(struct ops *ops, const struct tensor_meta *meta)
{
    /* A process of several works on the device of its inputs. */
    if (meta->device.type == DEVICE_CUDA && meta->device.index > 0 && !ops->current_device)
        ops->current_device = meta->device.index;
    struct tensor x = { .meta = ops_intern(ops, meta) };
    x.storage = ops->next_storage++;
    if (x.meta && x.meta->layout == LAYOUT_STRIDED && ops->metas.symbolic.v[x.meta->id])
        storage_note(ops, x.storage, storage_of_input(ops->pool, x.meta));
    return x;
}

bool ops_short_of_memory(const struct ops *ops)
{
    return ops->short_of_memory || ops->table.own->no_memory || env_short_of_memory(ops->env);
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
    bool ok = tensor_memo_set(&ops->memos, x, MEMO_ITEM, number);
    ops->short_of_memory |= !ok;
    return ok;
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

void ops_set_autocast(struct ops *ops, enum device_type device, enum dtype dtype)
{
    ops->autocast = (struct autocast){ .device = device, .dtype = dtype, .enabled = true };
}

void ops_set_scalar_indices(struct ops *ops, bool on)
{
    ops->scalar_tensors_index = on;
}

void ops_set_backward(struct ops *ops, bool on)
{
    ops->backward = on;
}

/* --- The kind of call, for rules --- */

bool in_backward(const struct call *c)
{
    const struct call *outer = c->ops->outermost;
    struct str base = outer ? outer->op->schema.base : STR("reshape");
    return c->ops->backward &&
           (str_is(base, "reshape") || str_is(base, "_unsafe_view") || str_is(base, "view"));
}

bool in_kernel(const struct call *c)
{
    return c->in_kernel || c->ops->kernel;
}

bool eager(const struct call *c)
{
    return !c->symbolic && c->ops->eager;
}

bool exporting(const struct call *c)
{
    return c->ops->exporting;
}

bool leaves_backward(const struct call *c)
{
    return c->ops->leaves_backward;
}

/* --- Rows --- */

const struct op *ops_find(const struct ops *ops, struct str name)
{
    return op_table_find(&ops->table, name);
}

bool ops_is_packet(const struct ops *ops, struct str name)
{
    struct str prefix = STR("torch.ops.");
    struct str rest = str_starts(name, prefix) ? str_from(name, prefix.n) : name;
    bool packet = str_starts(rest, STR("aten.")) &&
                  str_find_char(str_from(rest, 5), '.') == rest.n - 5; /* no overload is named */
    const struct op *first = packet ? op_table_base(&ops->table, rest) : NULL;
    return first && first->next_overload;
}

size_t ops_count(const struct ops *ops)
{
    return ops->table.n;
}

const struct op *ops_at(const struct ops *ops, size_t i)
{
    return i < ops->table.n ? op_table_row(&ops->table, (uint32_t)i) : NULL;
}

const struct op *ops_looked_up(const struct ops *ops, size_t i)
{
    return ops->table.own->rows[i];
}

const struct schema *op_schema(const struct op *op)
{
    return &op->schema;
}

const struct schema *ops_prepare(struct ops *ops, const struct op *op)
{
    struct op *row = op_table_row(&ops->table, op->index);
    if (!row)
        ops_no_memory(ops);
    return row && op_prepare(ops, row) ? &row->schema : NULL;
}

bool op_allocates(struct str op)
{
    static const char *const STARTS[] = { "aten.empty", "aten.new_empty" };
    for (size_t i = 0; i < sizeof STARTS / sizeof *STARTS; i++)
        if (str_starts(op, str_of(STARTS[i])))
            return true;
    return false;
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

/* --- The result of the last call --- */

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
    if (ops->table.own->no_memory)
        return ops_no_memory(ops); /* the operator may be known */
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

bool ops_note_gradient(struct ops *ops, struct tensor x)
{
    return !ops->autograd || vec_push(&ops->gradients, x.storage);
}

void ops_forget_gradients(struct ops *ops, bool disabled)
{
    ops->gradients.n = 0;
    ops->gradients_disabled = disabled;
}

bool ops_requires_gradient(const struct ops *ops, struct tensor x)
{
    bool ret = x.meta && x.meta->requires_grad;
    for (size_t i = 0; x.meta && i < ops->gradients.n && !ret; i++)
        ret = ops->gradients.v[i] == x.storage;
    return ret;
}

bool ops_records_gradient(const struct ops *ops, struct tensor x)
{
    return !ops->gradients_disabled && ops_requires_gradient(ops, x);
}
