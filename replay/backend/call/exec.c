#include "replay/backend/call/exec.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/call/nested_calls.h"
#include "replay/backend/call/value_reads.h"
#include "replay/backend/values/elements.h"
#include "replay/ops/layers.h"

void exec_init(struct exec *exec, struct ops *ops, struct backend *backend, uint64_t seed)
{
    *exec = (struct exec){ .ops = ops,
                           .backend = backend,
                           .seed = seed,
                           .guess = -1,
                           .storages = { .backend = backend } };
    ops_set_eager(ops, true);
}

void exec_release(struct exec *exec)
{
    storages_release(&exec->storages);
    arena_release(&exec->values);
    vec_release(&exec->facts);
}

bool tensor_bytes(const struct sym_pool *pool, const struct tensor_meta *meta, size_t *ret)
{
    int64_t n = (int64_t)dtype_size(meta->dtype), size;
    bool empty = false, fits = true;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!sym_to_i64(pool, meta->size[i], &size) || size < 0)
            return false;
        empty |= size == 0;
        fits &= !__builtin_mul_overflow(n, size, &n);
    }
    *ret = empty ? 0 : (size_t)n;
    return empty || fits;
}

void exec_put_number(enum dtype dtype, void *p, size_t i, double number, bool bit)
{
    if (dense_kind_of(dtype) == DENSE_INT)
        store_int(dtype, p, (int64_t)i, bit);
    else
        store_complex(dtype, p, (int64_t)i, number);
}

/* ---- Elements in contiguous order ---- */

/* Walks a tensor's elements in order, a run of the last dimension at a time. */
struct walk {
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], at[TENSOR_MAX_DIM];
    int64_t offset;
};

static bool walk_start(const struct sym_pool *pool, const struct tensor_meta *meta, struct walk *w)
{
    w->ndim = meta->ndim;
    if (!meta->stride || meta->ndim > TENSOR_MAX_DIM || !sym_to_i64(pool, meta->offset, &w->offset))
        return false;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        w->at[i] = 0;
        if (!sym_to_i64(pool, meta->size[i], &w->size[i]) ||
            !sym_to_i64(pool, meta->stride[i], &w->stride[i]))
            return false;
    }
    return true;
}

/* Do the elements lie one after the other, as they are? */
static bool in_memory_order(const struct tensor_meta *meta, const struct walk *w)
{
    int64_t step = 1;
    for (uint32_t i = w->ndim; i-- > 0; step *= w->size[i])
        if (w->size[i] != 1 && w->stride[i] != step)
            return false;
    return !meta->conj && !meta->neg && w->offset >= 0;
}

/* The next element's place; false after the last. */
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

/* A copy of a storage, for elements that do not lie one after the other. */
struct whole {
    unsigned char *p;
    size_t bytes;
};

static bool fetch(struct exec *exec, struct tensor x, struct whole *ret, struct err *err)
{
    struct memory *m = storage_at(&exec->storages, x.storage);
    size_t reach;
    if (!tensor_needs(ops_pool(exec->ops), x.meta, &reach, err))
        return false;
    if (!m || m->bytes < reach)
        return err_set(err, ERR_USAGE, "a tensor that has no values yet");
    ret->bytes = reach;
    ret->p = malloc(reach + 1);
    if (!ret->p)
        return err_nomem(err);
    if (exec->backend->kind->read(exec->backend, m, 0, ret->p, reach, err))
        return true;
    free(ret->p);
    return false;
}

/* Memory of a tensor with the conjugate or negative bit holds what it is the conjugate or negative
 * of. */
static void flip_sign(unsigned char *element, size_t bytes)
{
    element[bytes - 1] ^= 0x80;
}

static void resolve(const struct tensor_meta *meta, unsigned char *element)
{
    size_t size = dtype_size(meta->dtype);
    if (meta->conj)
        flip_sign(element, size);
    if (meta->neg)
        flip_sign(element, size);
}

bool exec_read(struct exec *exec, struct tensor x, void *to, size_t bytes, struct err *err)
{
    struct whole from;
    struct walk w;
    unsigned char *out = to;
    size_t size = dtype_size(x.meta->dtype);
    if (bytes == 0)
        return true;
    if (!walk_start(ops_pool(exec->ops), x.meta, &w))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    struct memory *m = storage_at(&exec->storages, x.storage);
    size_t at = (size_t)w.offset * size;
    if (m && in_memory_order(x.meta, &w) && at <= m->bytes && bytes <= m->bytes - at)
        return exec->backend->kind->read(exec->backend, m, at, to, bytes, err);
    if (!fetch(exec, x, &from, err))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    do {
        memcpy(out, from.p + (size_t)w.offset * size, size);
        resolve(x.meta, out);
        out += size;
    } while (walk_next(&w));
    free(from.p);
    return true;
}

bool exec_write(struct exec *exec, struct tensor x, const void *from, size_t bytes, struct err *err)
{
    struct whole whole;
    struct walk w;
    const unsigned char *in = from;
    size_t size = dtype_size(x.meta->dtype), reach;
    if (!tensor_needs(ops_pool(exec->ops), x.meta, &reach, err))
        return false;
    if (!walk_start(ops_pool(exec->ops), x.meta, &w))
        return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    if (!storage_need(&exec->storages, x.storage, reach, err))
        return false;
    struct memory *m = storage_at(&exec->storages, x.storage);
    m->written = true;
    if (bytes == 0)
        return true;
    size_t at = (size_t)w.offset * size;
    if (in_memory_order(x.meta, &w) && at <= m->bytes && bytes <= m->bytes - at)
        return exec->backend->kind->write(exec->backend, m, at, from, bytes, err);
    if (!fetch(exec, x, &whole, err))
        return false;
    do {
        memcpy(whole.p + (size_t)w.offset * size, in, size);
        resolve(x.meta, whole.p + (size_t)w.offset * size);
        in += size;
    } while (walk_next(&w));
    bool ok = exec->backend->kind->write(exec->backend, m, 0, whole.p, reach, err);
    free(whole.p);
    return ok;
}

/* ---- Calls ---- */

static struct op_facts facts_of(struct exec *exec, const struct op *op)
{
    struct op_facts ret = { .known = true, .has_kernel = true };
    const struct backend_kind *kind = exec->backend->kind;
    const struct schema *name = op_schema(op);
    ret.reads = shown_reads(name->base);
    ret.has_kernel = !kind->has || kind->has(exec->backend, name);
    return ret;
}

struct op_facts exec_facts(struct exec *exec, const struct op *op)
{
    uint32_t index = op_index(op);
    if (index >= exec->facts.n) {
        size_t more = index + 1 - exec->facts.n;
        if (!vec_reserve(&exec->facts, more))
            return facts_of(exec, op);
        memset(exec->facts.v + exec->facts.n, 0, more * sizeof *exec->facts.v);
        exec->facts.n += more;
    }
    if (!exec->facts.v[index].known)
        exec->facts.v[index] = facts_of(exec, op);
    return exec->facts.v[index];
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
    if (!tensor_needs(ops_pool(exec->ops), value.u.tensor.meta, &reach, err))
        return false;
    return storage_need(&exec->storages, value.u.tensor.storage, reach, err);
}

static uint64_t seed_of_call(struct exec *exec)
{
    if (exec->depth > 0 || exec->within)
        return exec->seed + exec->calls + (++exec->inner << 40);
    exec->inner = 0;
    return exec->seed + ++exec->calls;
}

static void mark_written(struct exec *exec, const struct value *v, unsigned depth)
{
    struct memory *m =
        v->kind == VALUE_TENSOR ? storage_at(&exec->storages, v->u.tensor.storage) : NULL;
    if (m)
        m->written = true;
    for (uint32_t i = 0; value_is_sequence(*v) && depth < 4 && i < v->n; i++)
        mark_written(exec, &v->u.items[i], depth + 1);
}

static void note_written(struct exec *exec, const struct backend_call *call)
{
    for (uint32_t i = 0; i < call->schema->n_args; i++)
        if (call->schema->args[i].written)
            mark_written(exec, &call->args[i], 0);
}

static bool run_backend(struct exec *exec, const struct op *op, const struct schema *schema,
                        const struct value *bound, struct value result, struct err *err)
{
    struct backend_call call = { .op = op,
                                 .schema = schema,
                                 .args = bound,
                                 .result = result,
                                 .pool = ops_pool(exec->ops),
                                 .storages = &exec->storages,
                                 .exec = exec,
                                 .seed = seed_of_call(exec),
                                 .node = exec->node };
    if (!schema)
        return err_nomem(err);
    note_written(exec, &call);
    exec->depth++;
    bool done = exec->backend->kind->call(exec->backend, &call, err);
    if (done && exec->watch && exec->depth == 1)
        done = exec->watch(exec->watcher, &call, err);
    exec->depth--;
    return done;
}

/* Memory for all that a rule has answered with. */
static bool give_results(struct exec *exec, struct value result, struct err *err)
{
    for (size_t i = 0; i < ops_n_written(exec->ops); i++) {
        uint32_t arg;
        if (!exec_give(exec, value_tensor(ops_written(exec->ops, i, &arg)), err))
            return false;
    }
    return exec_give(exec, result, err);
}

bool exec_run_bound(struct exec *exec, const struct op *op, const struct schema *schema,
                    const struct value *bound, struct value result, struct err *err)
{
    return give_results(exec, result, err) && run_backend(exec, op, schema, bound, result, err);
}

enum exec_outcome exec_call(struct exec *exec, const struct op *op, const struct value *args,
                            uint32_t n, const struct keyword *keywords, uint32_t n_keywords,
                            struct value *ret, struct err *err)
{
    struct value shown[SCHEMA_MAX_SLOTS];
    struct nested_calls parts;
    if (n > SCHEMA_MAX_SLOTS)
        return err_set(err, ERR_USAGE, "too many arguments"), EXEC_FAILED;
    if (!counted_args(exec, op, args, n, keywords, n_keywords, shown, err))
        return EXEC_FAILED;
    bool whole = nested_calls_has_kernel(exec, op);
    if (!whole)
        nested_calls_begin(&parts, exec);
    enum op_outcome outcome =
        ops_call_op(exec->ops, op, &(struct arguments){ shown, n, keywords, n_keywords }, ret);
    if (!whole)
        nested_calls_end(&parts);
    switch (outcome) {
    case OP_DONE: break;
    case OP_REFUSED: return EXEC_REFUSED;
    case OP_UNSUPPORTED: return EXEC_UNSUPPORTED;
    default:
        if (!ops_failed(exec->ops, err))
            err_nomem(err);
        return EXEC_FAILED;
    }
    struct value bound[SCHEMA_MAX_SLOTS];
    bool ok = whole
                  ? give_results(exec, *ret, err) &&
                        run_backend(exec, op,
                                    ops_bound(exec->ops, op,
                                              &(struct arguments){ shown, n, keywords, n_keywords },
                                              bound),
                                    bound, *ret, err)
                  : nested_calls_finish(exec, op_name(op), *ret, err);
    return ok ? EXEC_DONE : EXEC_FAILED;
}

bool exec_call_into(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                    struct value result, struct err *err)
{
    if (n > SCHEMA_MAX_SLOTS)
        return err_set(err, ERR_USAGE, "too many arguments");
    struct value bound[SCHEMA_MAX_SLOTS];
    return run_backend(exec, op,
                       ops_bound(exec->ops, op, &(struct arguments){ args, n, NULL, 0 }, bound),
                       bound, result, err);
}
