#include "replay/backend/run/sizes/device_sizes.h"

#include <string.h>

#include "replay/backend/run/exec.h"
#include "replay/ops/layers.h"

void device_sizes_release(struct device_sizes *sizes)
{
    vec_release(&sizes->all);
    vec_release(&sizes->needs);
    vec_release(&sizes->asserts);
}

void device_sizes_reset(struct device_sizes *sizes)
{
    sizes->all.n = sizes->needs.n = sizes->asserts.n = 0;
    sizes->reads = 0;
}

void device_sizes_begin(struct device_sizes *sizes)
{
    for (size_t i = 0; i < sizes->all.n; i++)
        sizes->all.v[i].known = false;
    sizes->reads = 0;
}

/* ---- Expressions ---- */

static uint32_t slot_of(const struct device_sizes *sizes, sym_id symbol)
{
    for (uint32_t i = 0; i < sizes->all.n; i++)
        if (sizes->all.v[i].symbol == symbol)
            return i;
    return BACKEND_NO_SLOT;
}

bool device_extent_of(const struct device_sizes *sizes, const struct sym_pool *pool, sym_id size,
                      struct device_extent *ret)
{
    sym_id symbol = size;
    ret->times = 1;
    if (sym_kind_of(pool, size) == SYM_MUL) {
        if (sym_n_args(pool, size) != 2 || !sym_to_i64(pool, sym_arg(pool, size, 0), &ret->times) ||
            ret->times <= 0)
            return false;
        symbol = sym_arg(pool, size, 1);
    }
    ret->slot = slot_of(sizes, symbol);
    return ret->slot != BACKEND_NO_SLOT && !sizes->all.v[ret->slot].known &&
           !__builtin_mul_overflow(sizes->all.v[ret->slot].most, ret->times, &ret->most);
}

/* Replaces the symbols of `sizes` by their values, or, at their greatest, all of them. */
static sym_id with_numbers(struct exec *exec, sym_id e, bool greatest)
{
    struct sym_pool *pool = ops_pool(exec->ops);
    const struct device_sizes *sizes = &exec->sizes;
    struct sym_pair pairs[BACKEND_SLOTS];
    uint32_t n = 0;
    int64_t number;
    if (sym_to_i64(pool, e, &number))
        return e;
    for (uint32_t i = 0; i < sizes->all.n && n < BACKEND_SLOTS; i++) {
        const struct device_size *s = &sizes->all.v[i];
        if (s->known || greatest)
            pairs[n++] =
                (struct sym_pair){ s->symbol, sym_integer(pool, s->known ? s->value : s->most) };
    }
    return n ? sym_replace(pool, e, pairs, n) : e;
}

static bool has_symbol(struct exec *exec, sym_id e)
{
    struct sym_pool *pool = ops_pool(exec->ops);
    int64_t number;
    if (sym_to_i64(pool, e, &number) || sym_is_number(pool, e))
        return false;
    for (uint32_t i = 0; i < exec->sizes.all.n; i++)
        if (sym_has(pool, e, exec->sizes.all.v[i].symbol))
            return true;
    return false;
}

/* ---- Values ---- */

/* Makes the meta with other sizes, strides and offset. */
static const struct tensor_meta *meta_with(struct exec *exec, const struct tensor_meta *from,
                                           const sym_id *size, const sym_id *stride, sym_id offset)
{
    struct tensor_meta meta = *from;
    meta.size = size;
    meta.stride = from->stride ? stride : NULL;
    meta.offset = offset;
    return ops_intern(exec->ops, &meta);
}

static bool resolve_tensor(struct exec *exec, struct tensor *x, bool *left)
{
    const struct tensor_meta *meta = x->meta;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], offset;
    bool changed = false;
    if (!meta || meta->ndim > TENSOR_MAX_DIM)
        return true;
    for (uint32_t d = 0; d < meta->ndim; d++) {
        size[d] = with_numbers(exec, meta->size[d], false);
        stride[d] = meta->stride ? with_numbers(exec, meta->stride[d], false) : SYM_ID_ZERO;
        changed |= size[d] != meta->size[d] || (meta->stride && stride[d] != meta->stride[d]);
        *left |= has_symbol(exec, size[d]);
    }
    offset = with_numbers(exec, meta->offset, false);
    if (changed || offset != meta->offset)
        x->meta = meta_with(exec, meta, size, stride, offset);
    return x->meta != NULL;
}

bool device_sizes_resolve(struct exec *exec, struct value *value, bool *left)
{
    switch (value->kind) {
    case VALUE_TENSOR: return resolve_tensor(exec, &value->u.tensor, left);
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_BOOL:
        value->u.sym = with_numbers(exec, value->u.sym, false);
        *left |= has_symbol(exec, value->u.sym);
        return true;
    case VALUE_LIST:
    case VALUE_TUPLE: {
        struct value *items = ops_values(exec->ops, (size_t)value->n + 1);
        if (!items)
            return false;
        if (value->n)
            memcpy(items, value->u.items, value->n * sizeof *items);
        value->u.items = items;
        return device_sizes_resolve_all(exec, items, value->n, left);
    }
    default: return true;
    }
}

bool device_sizes_resolve_all(struct exec *exec, struct value *values, uint32_t n, bool *left)
{
    for (uint32_t i = 0; i < n; i++)
        if (!device_sizes_resolve(exec, &values[i], left))
            return false;
    return true;
}

/* ---- Results of rules ---- */

uint32_t device_sizes_slot(const struct device_sizes *sizes)
{
    return sizes->on && sizes->all.n < BACKEND_SLOTS ? (uint32_t)sizes->all.n : BACKEND_NO_SLOT;
}

/* The greatest value of a new symbol: its range's, or the recorded one. */
static int64_t greatest_value(struct exec *exec, sym_id symbol)
{
    struct sym_pool *pool = ops_pool(exec->ops);
    const struct device_sizes *sizes = &exec->sizes;
    struct sym_range range;
    int64_t most, recorded = sizes->most ? sizes->most(sizes->user, exec->node) : -1;
    if (!env_range(ops_env(exec->ops), symbol, &range) || !sym_to_i64(pool, range.upper, &most) ||
        most > INT32_MAX)
        most = -1;
    return recorded >= 0 && (most < 0 || recorded < most) ? recorded : most;
}

struct new_symbols {
    struct exec *exec;
    uint32_t slot;
    bool failed;
    const char *needs;
};

static void add_symbol(void *user, sym_id symbol)
{
    struct new_symbols *made = user;
    struct exec *exec = made->exec;
    struct device_sizes *sizes = &exec->sizes;
    if (slot_of(sizes, symbol) != BACKEND_NO_SLOT || !env_is_unbacked(ops_env(exec->ops), symbol))
        return;
    struct device_size size = { .symbol = symbol,
                                .node = exec->node,
                                .most = greatest_value(exec, symbol) };
    if (size.most < 0)
        made->needs = "the size has no upper bound";
    if (made->slot != sizes->all.n)
        made->needs = "nothing counts the size on the device";
    made->failed |= !vec_push(&sizes->all, size);
}

/* Replaces the symbols in strides and the offset of a new tensor by their greatest values, and
 * counts its bytes. Other tensors must have numbers. */
static bool lay_out(struct new_symbols *made, struct tensor *x)
{
    struct exec *exec = made->exec;
    struct sym_pool *pool = ops_pool(exec->ops);
    const struct tensor_meta *meta = x->meta;
    struct device_extent extent = { .slot = BACKEND_NO_SLOT };
    sym_id stride[TENSOR_MAX_DIM];
    uint32_t n = 0;
    bool symbolic = has_symbol(exec, meta->offset);
    int64_t bytes = (int64_t)dtype_size(meta->dtype), number;
    for (uint32_t d = 0; d < meta->ndim; d++) {
        symbolic |= meta->stride && has_symbol(exec, meta->stride[d]);
        stride[d] = meta->stride ? with_numbers(exec, meta->stride[d], true) : SYM_ID_ZERO;
        if (sym_to_i64(pool, meta->size[d], &number)) {
            if (__builtin_mul_overflow(bytes, number, &bytes))
                bytes = 0;
            continue;
        }
        n++;
        if (!device_extent_of(&exec->sizes, pool, meta->size[d], &extent))
            made->needs = "a size is computed from others in a way that kernels do not compute";
    }
    bool fresh = !storage_at(&exec->storages, x->storage);
    if (n > 1)
        made->needs = "two sizes of a tensor are on the device";
    if (symbolic && !fresh)
        made->needs = "strides depend on the size";
    if (made->needs || n == 0)
        return true;
    if (fresh)
        exec->sizes.all.v[extent.slot].bytes += (uint64_t)(bytes * extent.times);
    if (symbolic)
        x->meta = meta_with(exec, meta, meta->size, stride, with_numbers(exec, meta->offset, true));
    return x->meta != NULL;
}

static bool take(struct new_symbols *made, struct value *value, unsigned depth)
{
    struct sym_pool *pool = ops_pool(made->exec->ops);
    if (value->kind == VALUE_TENSOR && value->u.tensor.meta) {
        const struct tensor_meta *meta = value->u.tensor.meta;
        for (uint32_t d = 0; d < meta->ndim; d++)
            if (!sym_free_symbols(pool, meta->size[d], add_symbol, made) || made->failed)
                return false;
        return made->needs || lay_out(made, &value->u.tensor);
    }
    if (!value_is_sequence(*value) || depth > 4)
        return true;
    struct value *items = ops_values(made->exec->ops, (size_t)value->n + 1);
    if (!items)
        return false;
    if (value->n)
        memcpy(items, value->u.items, value->n * sizeof *items);
    value->u.items = items;
    for (uint32_t i = 0; i < value->n; i++)
        if (!take(made, &items[i], depth + 1))
            return false;
    return true;
}

bool device_sizes_take(struct exec *exec, uint32_t slot, struct value *result, const char **needs)
{
    struct new_symbols made = { .exec = exec, .slot = slot };
    bool ok = take(&made, result, 0);
    *needs = made.needs;
    return ok;
}

/* ---- Conditions ---- */

bool device_sizes_defer(struct exec *exec, struct str base, const struct value *bound,
                        bool *deferred)
{
    *deferred = str_is(base, "_assert_scalar") || str_is(base, "sym_constrain_range") ||
                str_is(base, "sym_constrain_range_for_size");
    struct device_assert later = { exec->node, bound[0].u.sym };
    return !str_is(base, "_assert_scalar") || bound[0].kind != VALUE_BOOL ||
           vec_push(&exec->sizes.asserts, later);
}

static bool check_asserts(struct exec *exec, struct err *err)
{
    struct device_sizes *sizes = &exec->sizes;
    bool ok = true;
    for (size_t i = 0; i < sizes->asserts.n && ok; i++) {
        struct device_assert a = sizes->asserts.v[i];
        if (with_numbers(exec, a.condition, false) == SYM_ID_FALSE) {
            exec->caller.backend->late = true;
            exec->caller.backend->late_node = a.node;
            ok = err_set(err, ERR_USAGE, "RuntimeError: the runtime assertion is false");
        }
    }
    return ok;
}

/* ---- Reading them ---- */

bool device_sizes_learn(struct exec *exec, struct str op, const char *why, struct err *err)
{
    struct device_sizes *sizes = &exec->sizes;
    struct backend *backend = exec->caller.backend;
    int64_t values[BACKEND_SLOTS];
    uint32_t n = (uint32_t)sizes->all.n;
    bool unknown = false;
    for (uint32_t i = 0; i < n; i++)
        unknown |= !sizes->all.v[i].known;
    if (!unknown)
        return true;
    if (!backend->kind->read_sizes(backend, values, n, err))
        return op.n ? err_at(err, "%.*s takes sizes from the host (%s)", STR_ARG(op), why) : false;
    sizes->reads++;
    if (op.n && !vec_push(&sizes->needs, ((struct host_need){ exec->node, op, why })))
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++) {
        struct device_size *s = &sizes->all.v[i];
        s->value = values[i];
        s->known = true;
        if (s->most < 0)
            s->most = s->value; /* memory is allocated for that */
        if (values[i] >= 0 && values[i] <= s->most)
            continue;
        backend->late = true;
        backend->late_node = s->node;
        return values[i] < 0 ? err_set(err, ERR_USAGE, "RuntimeError: repeats can not be negative")
                             : err_set(err, ERR_USAGE,
                                       "the size is %lld, and was recorded to be at most %lld",
                                       (long long)values[i], (long long)s->most);
    }
    return check_asserts(exec, err);
}
