#include "replay/backend/run/exec.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/run/nested_calls.h"
#include "replay/backend/run/value_reads.h"
#include "replay/backend/values/elements.h"
#include "replay/ops/layers.h"

static const struct caller_kind exec_caller;

static void reset_exec(struct exec *exec, struct ops *ops, struct backend *backend)
{
    *exec = (struct exec){ .caller = { .kind = &exec_caller, .backend = backend },
                           .ops = ops,
                           .concrete = { .ops = ops },
                           .guess = -1,
                           .last_used = EXEC_NO_STORAGE,
                           .storages = { .backend = backend } };
}

void exec_init(struct exec *exec, struct ops *ops, struct backend *backend, uint64_t seed)
{
    reset_exec(exec, ops, backend);
    exec->seed = seed;
    exec->concrete.sizes = &exec->sizes;
    ops_set_eager(ops, true);
}

void exec_release(struct exec *exec)
{
    storages_release(&exec->storages);
    concrete_release(&exec->concrete);
    arena_release(&exec->values);
    vec_release(&exec->properties);
    device_sizes_release(&exec->sizes);
}

bool exec_reach(struct exec *exec, const struct tensor_meta *meta, size_t *ret, struct err *err)
{
    const struct kernel_meta *m = concrete_meta(&exec->concrete, meta);
    if (!m)
        return err_nomem(err);
    *ret = m->reach;
    return m->addressable || concrete_refuse(ops_pool(exec->ops), meta, err);
}

void exec_put_number(enum dtype dtype, void *p, size_t i, double number, bool bit)
{
    if (dense_kind_of(dtype) == DENSE_INT)
        store_int(dtype, p, (int64_t)i, bit);
    else
        store_complex(dtype, p, (int64_t)i, number);
}

/* ---- Elements in contiguous order ---- */

/* Iterates over a tensor's elements in order. */
struct walk {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], at[TENSOR_MAX_DIM];
    int64_t offset;
};

static bool walk_start(const struct kernel_meta *meta, struct walk *w)
{
    if (!meta->stride || !meta->addressable || meta->ndim > TENSOR_MAX_DIM)
        return false;
    w->ndim = meta->ndim;
    w->offset = meta->offset;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        w->at[i] = 0;
        w->size[i] = meta->size[i];
        w->stride[i] = meta->stride[i];
    }
    return true;
}

/* Returns whether the elements are contiguous and stored without the conjugate or negative bit. */
static bool in_memory_order(const struct kernel_meta *meta, const struct walk *w)
{
    int64_t step = 1;
    for (uint32_t i = w->ndim; i-- > 0; step *= w->size[i])
        if (w->size[i] != 1 && w->stride[i] != step)
            return false;
    return !meta->conj && !meta->neg && w->offset >= 0;
}

/* Moves to the next element; false after the last one. */
static bool walk_next(struct walk *w)
{
    for (uint32_t i = w->ndim; i-- > 0;) {
        w->offset += w->stride[i];
        if (++w->at[i] < w->size[i])
            return true;
        w->offset -= w->stride[i] * w->size[i];
        w->at[i] = 0;
    }
    return false;
}

/* A copy of a storage, for elements that are not contiguous. */
struct storage_copy {
    unsigned char *p;
    size_t bytes;
};

static bool read_storage(struct exec *exec, struct kernel_tensor x, struct storage_copy *ret,
                         struct err *err)
{
    struct memory *m = storage_at(&exec->storages, x.storage);
    struct backend *backend = exec->caller.backend;
    size_t reach = x.meta->reach;
    if (!m || m->bytes < reach)
        return err_set(err, ERR_USAGE, "a tensor that has no values yet");
    ret->bytes = reach;
    ret->p = malloc(reach + 1);
    if (!ret->p)
        return err_nomem(err);
    if (backend->kind->read(backend, m, 0, ret->p, reach, err))
        return true;
    free(ret->p);
    return false;
}

/* Changes the sign of an element of a tensor with the conjugate or negative bit, whose memory
 * contains the conjugate or the negative of its values. */
static void flip_sign(unsigned char *element, size_t bytes)
{
    element[bytes - 1] ^= 0x80;
}

static void apply_conj_neg(const struct kernel_meta *meta, unsigned char *element)
{
    size_t size = dtype_size(meta->dtype);
    if (meta->conj)
        flip_sign(element, size);
    if (meta->neg)
        flip_sign(element, size);
}

bool exec_read(struct exec *exec, struct tensor tensor, void *to, size_t bytes, struct err *err)
{
    struct backend *backend = exec->caller.backend;
    struct kernel_tensor x = concrete_tensor(&exec->concrete, tensor);
    struct storage_copy from;
    struct walk w;
    unsigned char *out = to;
    size_t size = dtype_size(tensor.meta->dtype);
    if (bytes == 0)
        return true;
    if (!x.meta)
        return err_nomem(err);
    if (!walk_start(x.meta, &w))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    struct memory *m = storage_at(&exec->storages, x.storage);
    size_t at = (size_t)w.offset * size;
    bool in_order = m && in_memory_order(x.meta, &w) && at <= m->bytes && bytes <= m->bytes - at;
    if (in_order && !m->written && at + bytes <= m->n_known)
        return memcpy(to, m->known + at, bytes), true;
    if (in_order)
        return backend->kind->read(backend, m, at, to, bytes, err);
    if (!read_storage(exec, x, &from, err))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    do {
        memcpy(out, from.p + (size_t)w.offset * size, size);
        apply_conj_neg(x.meta, out);
        out += size;
    } while (walk_next(&w));
    free(from.p);
    return true;
}

bool exec_write(struct exec *exec, struct tensor tensor, const void *from, size_t bytes,
                struct err *err)
{
    struct backend *backend = exec->caller.backend;
    struct storage_copy whole;
    struct walk w;
    const unsigned char *in = from;
    size_t size = dtype_size(tensor.meta->dtype), reach;
    if (!exec_reach(exec, tensor.meta, &reach, err))
        return false;
    struct kernel_tensor x = concrete_tensor(&exec->concrete, tensor);
    if (!walk_start(x.meta, &w))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    if (!storage_need(&exec->storages, x.storage, reach, err))
        return false;
    struct memory *m = storage_at(&exec->storages, x.storage);
    m->written = true;
    m->n_known = 0;
    if (bytes == 0)
        return true;
    size_t at = (size_t)w.offset * size;
    bool in_order = in_memory_order(x.meta, &w) && at <= m->bytes && bytes <= m->bytes - at;
    if (in_order && at == 0 && bytes <= MEMORY_KNOWN && from) {
        memcpy(m->known, from, bytes);
        m->n_known = bytes;
    }
    if (in_order)
        return backend->kind->write(backend, m, at, from, bytes, err);
    if (!read_storage(exec, x, &whole, err))
        return false;
    do {
        memcpy(whole.p + (size_t)w.offset * size, in, size);
        apply_conj_neg(x.meta, whole.p + (size_t)w.offset * size);
        in += size;
    } while (walk_next(&w));
    bool ok = backend->kind->write(backend, m, 0, whole.p, reach, err);
    free(whole.p);
    return ok;
}

/* ---- Calls ---- */

bool exec_leaves_unfilled(struct str base)
{
    static const char *const names[] = {
        "empty",          "empty_like", "new_empty", "empty_strided", "new_empty_strided",
        "empty_permuted", "resize",     "resize_"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(base, names[i]))
            return true;
    return false;
}

static struct op_properties properties_of(struct exec *exec, const struct op *op)
{
    struct op_properties ret = { .known = true, .has_kernel = true };
    struct backend *backend = exec->caller.backend;
    struct str base = op_schema(op)->base;
    ret.reads = rule_reads_values(base);
    ret.unfilled = exec_leaves_unfilled(base);
    ret.has_kernel = !backend->kind->has || backend->kind->has(backend, base);
    return ret;
}

/* Returns the operator's entry in the table, which it adds if needed. NULL: out of memory. */
static struct op_properties *properties_at(struct exec *exec, const struct op *op)
{
    uint32_t index = op_index(op);
    if (index >= exec->properties.n) {
        size_t more = index + 1 - exec->properties.n;
        if (!vec_reserve(&exec->properties, more))
            return NULL;
        memset(exec->properties.v + exec->properties.n, 0, more * sizeof *exec->properties.v);
        exec->properties.n += more;
    }
    struct op_properties *ret = &exec->properties.v[index];
    if (!ret->known)
        *ret = properties_of(exec, op);
    return ret;
}

struct op_properties exec_properties(struct exec *exec, const struct op *op)
{
    struct op_properties *known = properties_at(exec, op);
    return known ? *known : properties_of(exec, op);
}

static const struct backend_op *backend_op_of(struct exec *exec, const struct op *op,
                                              const struct schema *schema)
{
    struct op_properties *known = properties_at(exec, op);
    if (known && !known->op)
        known->op = concrete_op(&exec->concrete, op, schema);
    return known ? known->op : NULL;
}

bool exec_give(struct exec *exec, struct value value, struct err *err)
{
    size_t reach;
    if (value.kind == VALUE_LIST || value.kind == VALUE_TUPLE) {
        for (uint32_t i = 0; i < value.n; i++)
            if (!exec_give(exec, value.u.items[i], err))
                return false;
        return true;
    }
    if (value.kind != VALUE_TENSOR)
        return true;
    if (!exec_reach(exec, value.u.tensor.meta, &reach, err))
        return false;
    return storage_need(&exec->storages, value.u.tensor.storage, reach, err);
}

static uint64_t seed_of_call(struct exec *exec)
{
    if (exec->caller.depth > 0 || exec->within)
        return exec->seed + exec->caller.calls + (++exec->inner << 40);
    exec->inner = 0;
    return exec->seed + ++exec->caller.calls;
}

static void mark_written(struct exec *exec, const struct kernel_value *v, unsigned depth)
{
    struct memory *m =
        v->kind == KERNEL_TENSOR ? storage_at(&exec->storages, v->u.tensor.storage) : NULL;
    if (m)
        m->written = true;
    for (uint32_t i = 0; value_has_items(*v) && depth < 4 && i < v->n; i++)
        mark_written(exec, &v->u.items[i], depth + 1);
}

static void note_written(struct exec *exec, const struct backend_call *call)
{
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->op->args[i].written)
            mark_written(exec, &call->args[i], 0);
}

_Static_assert((int)BACKEND_MAX_ARGS == (int)SCHEMA_MAX_SLOTS, "a backend's call takes any schema");

bool exec_backend_call(struct exec *exec, const struct op *op, const struct schema *schema,
                       const struct value *bound, struct kernel_value *args,
                       struct backend_call *ret, struct err *err)
{
    *ret = (struct backend_call){ .op = backend_op_of(exec, op, schema),
                                  .args = args,
                                  .storages = &exec->storages,
                                  .caller = &exec->caller,
                                  .node = exec->node };
    return (ret->op && concrete_values(&exec->concrete, bound, schema->n_args, args)) ||
           err_nomem(err);
}

static bool run_backend(struct exec *exec, struct backend_call *call, struct err *err)
{
    struct backend *backend = exec->caller.backend;
    call->seed = seed_of_call(exec);
    note_written(exec, call);
    exec->caller.depth++;
    bool done = backend->kind->call(backend, call, err);
    if (done && exec->watch && exec->caller.depth == 1)
        done = exec->watch(exec->watcher, call, err);
    exec->caller.depth--;
    return done;
}

/* Allocates memory for the tensors of a rule's result and for those that the call writes. */
static bool give_results(struct exec *exec, struct value result, struct err *err)
{
    for (size_t i = 0; i < ops_n_written(exec->ops); i++) {
        uint32_t arg;
        if (!exec_give(exec, value_tensor(ops_written(exec->ops, i, &arg)), err))
            return false;
    }
    return exec_give(exec, result, err);
}

static bool same_layout(const struct kernel_meta *a, const struct kernel_meta *b)
{
    size_t bytes = a && b ? a->ndim * sizeof *a->size : 0;
    return a && b && a->dtype == b->dtype && a->ndim == b->ndim && a->offset == b->offset &&
           a->stride && b->stride && !a->conj && !a->neg && memcmp(a->size, b->size, bytes) == 0 &&
           memcmp(a->stride, b->stride, bytes) == 0;
}

/* Returns whether the result of the call is its argument, which nothing else uses. */
static bool is_last_wait(struct exec *exec, const struct schema *schema, const struct value *bound,
                         const struct value *result)
{
    if (exec->last_used == EXEC_NO_STORAGE || exec->within || exec->caller.depth ||
        !str_is(schema->base, "wait_tensor") || bound[0].kind != VALUE_TENSOR ||
        result->kind != VALUE_TENSOR || bound[0].u.tensor.storage != exec->last_used ||
        result->u.tensor.storage == exec->last_used)
        return false;
    const struct memory *m = storage_at(&exec->storages, exec->last_used);
    return m && !m->borrowed && !storage_at(&exec->storages, result->u.tensor.storage) &&
           same_layout(concrete_tensor(&exec->concrete, bound[0].u.tensor).meta,
                       concrete_tensor(&exec->concrete, result->u.tensor).meta);
}

bool exec_run_bound(struct exec *exec, const struct op *op, const struct schema *schema,
                    const struct value *bound, struct value result, struct err *err)
{
    struct kernel_value args[BACKEND_MAX_ARGS];
    struct backend_call call;
    if (is_last_wait(exec, schema, bound, &result)) {
        seed_of_call(exec);
        return storage_move(&exec->storages, exec->last_used, result.u.tensor.storage, err);
    }
    if (!give_results(exec, result, err) ||
        !exec_backend_call(exec, op, schema, bound, args, &call, err))
        return false;
    if (!concrete_value(&exec->concrete, &result, &call.result))
        return err_nomem(err);
    return run_backend(exec, &call, err);
}

void exec_begin(struct exec *exec)
{
    if (exec->open++)
        return;
    concrete_forget_items(&exec->concrete);
    arena_reset(&exec->values);
}

void exec_end(struct exec *exec)
{
    exec->open--;
}

static enum exec_outcome exec_failure(struct exec *exec, enum op_outcome outcome, struct err *err)
{
    if (outcome == OP_REFUSED)
        return EXEC_REFUSED;
    if (outcome == OP_UNSUPPORTED)
        return EXEC_UNSUPPORTED;
    if (!err_is_set(err) && !ops_failed(exec->ops, err))
        err_nomem(err);
    return EXEC_FAILED;
}

/* ---- Calls of sizes that the device knows ---- */

/* How a call deals with such sizes among its arguments. */
struct size_use {
    bool any;      /* some argument has one */
    bool deferred; /* a condition of sizes, which is checked later */
    uint32_t slot; /* of the count of this call's result */
};

/* The host learns all sizes: the call is made with numbers. */
static bool use_numbers(struct exec *exec, const struct op *op, const char *why,
                        const struct schema *schema, struct value *bound, struct size_use *use,
                        struct err *err)
{
    use->any = false;
    return device_sizes_learn(exec, op_name(op), why, err) &&
           (device_sizes_resolve_all(exec, bound, schema->n_args, &use->any) || err_nomem(err));
}

/* Before the rule: arguments keep such sizes if the backend's kernel takes them. */
static bool begin_sizes(struct exec *exec, const struct op *op, const struct schema *schema,
                        struct value *bound, struct size_use *use, struct err *err)
{
    const struct backend_kind *kind = exec->caller.backend->kind;
    struct kernel_value args[BACKEND_MAX_ARGS];
    struct backend_call call;
    *use = (struct size_use){ .slot = BACKEND_NO_SLOT };
    if (!exec->sizes.on)
        return true;
    use->slot = device_sizes_slot(&exec->sizes);
    if (!device_sizes_resolve_all(exec, bound, schema->n_args, &use->any))
        return err_nomem(err);
    if (!use->any)
        return true;
    if (!device_sizes_defer(exec, schema->base, bound, &use->deferred))
        return err_nomem(err);
    if (use->deferred)
        return true;
    if (!exec_backend_call(exec, op, schema, bound, args, &call, err))
        return false;
    return kind->takes_extents(exec->caller.backend, &call) ||
           use_numbers(exec, op, "no kernel of it reads them on the device", schema, bound, use,
                       err);
}

/* Evaluates the rule; without a kernel of the operator, the calls that it makes are run. */
static enum op_outcome call_rule(struct exec *exec, const struct op *op, bool whole,
                                 struct value *bound, struct value *ret)
{
    struct nested_calls nested;
    if (!whole)
        nested_calls_begin(&nested, exec);
    enum op_outcome outcome = ops_call_bound(exec->ops, op, bound, ret);
    if (!whole)
        nested_calls_end(&nested);
    return outcome;
}

/* After the rule. A rule that asked for the value of a size is evaluated again, with numbers. */
static enum op_outcome end_sizes(struct exec *exec, const struct op *op,
                                 const struct schema *schema, bool whole, struct value *bound,
                                 struct size_use *use, enum op_outcome outcome, struct value *ret,
                                 struct err *err)
{
    const char *needs = NULL;
    bool left = false;
    if (!exec->sizes.on || use->deferred)
        return outcome;
    if (outcome == OP_REFUSED && use->any) {
        if (!use_numbers(exec, op, "its rule asks for one", schema, bound, use, err))
            return OP_FAILED;
        outcome = call_rule(exec, op, whole, bound, ret);
    }
    if (outcome != OP_DONE)
        return outcome;
    if (!device_sizes_take(exec, use->slot, ret, &needs))
        return err_nomem(err), OP_FAILED;
    if (!needs)
        return OP_DONE;
    if (!use_numbers(exec, op, needs, schema, bound, use, err))
        return OP_FAILED;
    return device_sizes_resolve(exec, ret, &left) ? OP_DONE : (err_nomem(err), OP_FAILED);
}

/* Runs the call on the backend. If its kernel declines what has sizes of the device, the host
 * learns these, and the call is made again with numbers. */
static bool run_sized(struct exec *exec, const struct op *op, const struct schema *schema,
                      struct value *bound, struct size_use *use, struct value *ret, struct err *err)
{
    struct backend *backend = exec->caller.backend;
    struct err why = { 0 };
    backend->wants_sizes = false;
    if (exec_run_bound(exec, op, schema, bound, *ret, &why))
        return true;
    if (!exec->sizes.on || !backend->wants_sizes)
        return err_copy(err, &why);
    backend->wants_sizes = false;
    if (!use_numbers(exec, op, "its kernel does not support this case", schema, bound, use, err))
        return false;
    use->slot = device_sizes_slot(&exec->sizes);
    enum op_outcome outcome = call_rule(exec, op, true, bound, ret);
    outcome = end_sizes(exec, op, schema, true, bound, use, outcome, ret, err);
    if (outcome == OP_DONE)
        return exec_run_bound(exec, op, schema, bound, *ret, err);
    return err_is_set(err) ? false : err_copy(err, &why);
}

enum exec_outcome exec_call(struct exec *exec, const struct op *op, const struct value *args,
                            uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                            struct value *ret, struct err *err)
{
    struct value bound[SCHEMA_MAX_SLOTS];
    const struct schema *schema;
    struct nested_calls nested;
    bool whole = nested_calls_has_kernel(exec, op);
    exec_begin(exec);
    if (!whole)
        nested_calls_begin(&nested, exec);
    enum op_outcome outcome = ops_bind_call(
        exec->ops, op, &(struct arguments){ args, n, keywords, n_keywords }, bound, &schema);
    if (!whole)
        nested_calls_end(&nested);
    struct size_use use = { .slot = BACKEND_NO_SLOT };
    if (outcome == OP_DONE && (!begin_sizes(exec, op, schema, bound, &use, err) ||
                               !add_read_values(exec, op, schema, true, bound, err)))
        outcome = OP_FAILED;
    if (outcome == OP_DONE)
        outcome = call_rule(exec, op, whole, bound, ret);
    outcome = end_sizes(exec, op, schema, whole, bound, &use, outcome, ret, err);
    bool ok = outcome == OP_DONE &&
              (use.deferred || (whole ? run_sized(exec, op, schema, bound, &use, ret, err)
                                      : nested_calls_finish(exec, op_name(op), *ret, err)));
    exec_end(exec);
    return ok ? EXEC_DONE : outcome == OP_DONE ? EXEC_FAILED : exec_failure(exec, outcome, err);
}

/* ---- What kernels call ---- */

static struct exec *exec_of(struct caller *caller)
{
    return (struct exec *)caller;
}

static const struct op *op_named(struct exec *exec, const char *name, uint32_t n, struct err *err)
{
    const struct op *op = ops_find(exec->ops, str_of(name));
    if (n > BACKEND_MAX_ARGS)
        err_set(err, ERR_USAGE, "too many arguments");
    else if (!op && ops_short_of_memory(exec->ops))
        err_nomem(err);
    else if (!op)
        err_set(err, ERR_USAGE, "it is made of %s, which has no rule", name);
    return n > BACKEND_MAX_ARGS ? NULL : op;
}

static bool symbolic_args(struct exec *exec, const struct kernel_value *args, uint32_t n,
                          struct value *ret, struct err *err)
{
    for (uint32_t i = 0; i < n; i++)
        if (!symbolic_value(&exec->concrete, &args[i], &ret[i]))
            return err_nomem(err);
    return true;
}

static bool call_by_kernel(struct caller *caller, const char *name, const struct kernel_value *args,
                           uint32_t n, struct kernel_value *ret, struct err *err)
{
    struct exec *exec = exec_of(caller);
    const struct op *op = op_named(exec, name, n, err);
    struct value values[BACKEND_MAX_ARGS], *result;
    if (!op || !symbolic_args(exec, args, n, values, err))
        return false;
    result = arena_new(&exec->concrete.items, struct value);
    if (!result)
        return err_nomem(err);
    if (exec_call(exec, op, values, n, NULL, 0, result, err) == EXEC_DONE)
        return concrete_value(&exec->concrete, result, ret) || err_nomem(err);
    return err->kind
               ? false
               : err_set(err, ERR_USAGE, "%s: %.*s", name, STR_ARG(ops_error(exec->ops)->text));
}

static bool call_into_by_kernel(struct caller *caller, const char *name,
                                const struct kernel_value *args, uint32_t n,
                                struct kernel_value result, struct err *err)
{
    struct exec *exec = exec_of(caller);
    const struct op *op = op_named(exec, name, n, err);
    struct value values[BACKEND_MAX_ARGS], bound[SCHEMA_MAX_SLOTS];
    struct kernel_value bound_args[BACKEND_MAX_ARGS];
    const struct schema *schema;
    struct backend_call call;
    if (!op || !symbolic_args(exec, args, n, values, err))
        return false;
    if (ops_bind_call(exec->ops, op, &(struct arguments){ values, n, NULL, 0 }, bound, &schema) !=
        OP_DONE)
        return err_nomem(err);
    if (!exec_backend_call(exec, op, schema, bound, bound_args, &call, err))
        return false;
    call.result = result;
    return run_backend(exec, &call, err);
}

static const struct kernel_meta *view_by_kernel(struct caller *caller, const struct kernel_meta *x,
                                                const int64_t *size, const int64_t *stride,
                                                uint32_t ndim, int64_t offset)
{
    return concrete_view(&exec_of(caller)->concrete, x, size, stride, ndim, offset);
}

static struct caller *open_within(struct caller *caller, struct backend *backend,
                                  struct storages **storages, struct err *err)
{
    struct exec *outer = exec_of(caller), *ret = malloc(sizeof *ret);
    if (!ret)
        return err_nomem(err), NULL;
    reset_exec(ret, outer->ops, backend);
    ret->seed = outer->seed;
    ret->node = outer->node;
    ret->open = outer->open + 1;
    ret->caller.calls = outer->caller.calls;
    ret->caller.depth = outer->caller.depth;
    *storages = &ret->storages;
    return &ret->caller;
}

static void close_within(struct caller *within, struct caller *caller)
{
    caller->calls = within->calls;
    exec_release(exec_of(within));
    free(exec_of(within));
}

static const struct caller_kind exec_caller = {
    .call = call_by_kernel,
    .call_into = call_into_by_kernel,
    .view = view_by_kernel,
    .open_within = open_within,
    .close_within = close_within,
};
