#include "replay/backend/run/concrete.h"

#include <string.h>

void concrete_release(struct concrete *c)
{
    arena_release(&c->arena);
    arena_release(&c->items);
    vec_release(&c->metas);
}

void concrete_forget_items(struct concrete *c)
{
    arena_reset(&c->items);
}

/* ---- Metas ---- */

static bool count_bytes(struct kernel_meta *m)
{
    int64_t n = (int64_t)dtype_size(m->dtype);
    bool empty = false, fits = true;
    for (uint32_t i = 0; i < m->ndim; i++) {
        if (m->size[i] < 0)
            return false;
        empty |= m->size[i] == 0;
        fits &= !__builtin_mul_overflow(n, m->size[i], &n);
    }
    m->bytes = empty ? 0 : (size_t)n;
    return empty || fits;
}

static bool count_reach(struct kernel_meta *m)
{
    int64_t reach = 1;
    bool empty = false;
    if (!m->stride || m->offset < 0)
        return false;
    for (uint32_t i = 0; i < m->ndim; i++) {
        int64_t span;
        if (m->size[i] < 0 || m->stride[i] < 0)
            return false;
        empty |= m->size[i] == 0;
        if (!empty && (__builtin_mul_overflow(m->size[i] - 1, m->stride[i], &span) ||
                       __builtin_add_overflow(reach, span, &reach)))
            return false;
    }
    if (empty)
        return true;
    if (__builtin_add_overflow(reach, m->offset, &reach) ||
        __builtin_mul_overflow(reach, (int64_t)dtype_size(m->dtype), &reach))
        return false;
    m->reach = (size_t)reach;
    return true;
}

/* Replaces a size that the device knows by its greatest value. */
static bool most_of(const struct concrete *c, sym_id size, uint32_t dim, int64_t *ret,
                    struct kernel_extent *extent)
{
    struct device_extent e;
    if (!c->sizes || extent->is || !device_extent_of(c->sizes, ops_pool(c->ops), size, &e))
        return false;
    *ret = e.most;
    *extent = (struct kernel_extent){ true, dim, e.slot, e.times };
    return true;
}

static bool sizes_of(const struct concrete *c, const struct tensor_meta *from, int64_t *size,
                     struct kernel_extent *extent)
{
    bool all = true;
    for (uint32_t i = 0; i < from->ndim; i++)
        all &= sym_to_i64(ops_pool(c->ops), from->size[i], &size[i]) ||
               most_of(c, from->size[i], i, &size[i], extent);
    return all;
}

/* Converts expressions to numbers; false: some of them are not numbers. */
static bool numbers_of(const struct sym_pool *pool, const sym_id *from, uint32_t n, int64_t *ret)
{
    bool all = true;
    for (uint32_t i = 0; i < n; i++)
        all &= sym_to_i64(pool, from[i], &ret[i]);
    return all;
}

static const struct kernel_meta *convert_meta(struct concrete *c, const struct tensor_meta *meta)
{
    const struct sym_pool *pool = ops_pool(c->ops);
    struct kernel_meta *ret = arena_new(&c->arena, struct kernel_meta);
    int64_t *size = arena_array(&c->arena, int64_t, 2 * (size_t)meta->ndim + 1);
    if (!ret || !size)
        return NULL;
    *ret = (struct kernel_meta){ .dtype = meta->dtype,
                                 .conj = meta->conj,
                                 .neg = meta->neg,
                                 .ndim = meta->ndim,
                                 .size = size,
                                 .origin = meta };
    int64_t *stride = size + meta->ndim;
    bool numbers = sizes_of(c, meta, size, &ret->extent);
    ret->countable = numbers && count_bytes(ret);
    if (meta->stride && numbers_of(pool, meta->stride, meta->ndim, stride))
        ret->stride = stride;
    numbers &= sym_to_i64(pool, meta->offset, &ret->offset);
    ret->addressable = numbers && count_reach(ret);
    return ret;
}

const struct kernel_meta *concrete_meta(struct concrete *c, const struct tensor_meta *meta)
{
    while (c->metas.n <= meta->id)
        if (!vec_push(&c->metas, NULL))
            return NULL;
    const struct kernel_meta **known = &c->metas.v[meta->id];
    if (!*known || (*known)->origin != meta)
        *known = convert_meta(c, meta);
    return *known;
}

struct kernel_tensor concrete_tensor(struct concrete *c, struct tensor x)
{
    return (struct kernel_tensor){ .meta = x.meta ? concrete_meta(c, x.meta) : NULL,
                                   .storage = x.storage,
                                   .counted = x.counted,
                                   .data = x.data };
}

const struct kernel_meta *concrete_view(struct concrete *c, const struct kernel_meta *x,
                                        const int64_t *size, const int64_t *stride, uint32_t ndim,
                                        int64_t offset)
{
    struct sym_pool *pool = ops_pool(c->ops);
    struct tensor_meta meta = *(const struct tensor_meta *)x->origin;
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < ndim; i++) {
        sizes[i] = sym_integer(pool, size[i]);
        strides[i] = sym_integer(pool, stride[i]);
    }
    meta.ndim = ndim;
    meta.size = sizes;
    meta.stride = strides;
    meta.offset = sym_integer(pool, offset);
    const struct tensor_meta *interned = ops_intern(c->ops, &meta);
    return interned ? concrete_meta(c, interned) : NULL;
}

/* ---- Values ---- */

static bool concrete_items(struct concrete *c, const struct value *from, struct kernel_value *ret)
{
    struct kernel_value *items = arena_array(&c->items, struct kernel_value, (size_t)from->n + 1);
    *ret = value_of_items(from->kind == VALUE_LIST ? KERNEL_LIST : KERNEL_TUPLE, items, from->n);
    return items && concrete_values(c, from->u.items, from->n, items);
}

/* An int of more than 64 bits keeps the caller's value, for rules. */
static struct kernel_value concrete_int(const struct concrete *c, sym_id sym)
{
    const struct sym_pool *pool = ops_pool(c->ops);
    struct kernel_extent ignored = { 0 };
    struct kernel_value ret = { .kind = KERNEL_INT };
    ret.u.number.fits = sym_to_i64(pool, sym, &ret.u.number.integer);
    if (!ret.u.number.fits && most_of(c, sym, 0, &ret.u.number.integer, &ignored))
        ret.u.number.fits = ret.u.number.on_device = true;
    if (!ret.u.number.fits)
        ret.u.number.integer = (int64_t)sym;
    ret.u.number.real = ret.u.number.fits ? (double)ret.u.number.integer : sym_to_double(pool, sym);
    return ret;
}

bool concrete_value(struct concrete *c, const struct value *from, struct kernel_value *ret)
{
    const struct sym_pool *pool = ops_pool(c->ops);
    switch (from->kind) {
    case VALUE_NONE: *ret = value_of_none(); return true;
    case VALUE_TENSOR:
        *ret = value_of_tensor(concrete_tensor(c, from->u.tensor));
        return ret->kind == KERNEL_TENSOR;
    case VALUE_INT: *ret = concrete_int(c, from->u.sym); return true;
    case VALUE_FLOAT: *ret = value_of_float(sym_to_double(pool, from->u.sym)); return true;
    case VALUE_BOOL: *ret = value_of_bool(from->u.sym == SYM_ID_TRUE); return true;
    case VALUE_COMPLEX:
        *ret = (struct kernel_value){ .kind = KERNEL_COMPLEX };
        ret->u.complex.re = from->u.complex.re;
        ret->u.complex.im = from->u.complex.im;
        return true;
    case VALUE_STRING:
        *ret = (struct kernel_value){ .kind = KERNEL_STRING, .u.text = from->u.text };
        return true;
    case VALUE_DTYPE:
        *ret = (struct kernel_value){ .kind = KERNEL_DTYPE, .u.dtype = from->u.dtype };
        return true;
    case VALUE_LIST:
    case VALUE_TUPLE: return concrete_items(c, from, ret);
    default: *ret = (struct kernel_value){ .kind = KERNEL_OTHER, .u.other = from }; return true;
    }
}

bool concrete_values(struct concrete *c, const struct value *from, uint32_t n,
                     struct kernel_value *ret)
{
    for (uint32_t i = 0; i < n; i++)
        if (!concrete_value(c, &from[i], &ret[i]))
            return false;
    return true;
}

static bool symbolic_items(struct concrete *c, const struct kernel_value *from, struct value *ret)
{
    struct value *items = arena_array(&c->items, struct value, (size_t)from->n + 1);
    for (uint32_t i = 0; items && i < from->n; i++)
        if (!symbolic_value(c, &from->u.items[i], &items[i]))
            return false;
    *ret = value_items(from->kind == KERNEL_LIST ? VALUE_LIST : VALUE_TUPLE, items, from->n);
    return items != NULL;
}

bool symbolic_value(struct concrete *c, const struct kernel_value *from, struct value *ret)
{
    struct sym_pool *pool = ops_pool(c->ops);
    switch (from->kind) {
    case KERNEL_NONE: *ret = value_none(); return true;
    case KERNEL_TENSOR:
        *ret = value_tensor((struct tensor){ .meta = from->u.tensor.meta->origin,
                                             .storage = from->u.tensor.storage,
                                             .counted = from->u.tensor.counted,
                                             .data = from->u.tensor.data });
        return true;
    case KERNEL_INT:
        *ret = value_int(from->u.number.fits ? sym_integer(pool, from->u.number.integer)
                                             : (sym_id)from->u.number.integer);
        return true;
    case KERNEL_FLOAT:
        *ret = value_sym(VALUE_FLOAT, sym_float(pool, from->u.number.real));
        return true;
    case KERNEL_BOOL:
        *ret = value_sym(VALUE_BOOL, sym_boolean(from->u.number.integer != 0));
        return true;
    case KERNEL_COMPLEX:
        *ret = (struct value){ .kind = VALUE_COMPLEX };
        ret->u.complex.re = from->u.complex.re;
        ret->u.complex.im = from->u.complex.im;
        return true;
    case KERNEL_STRING:
        *ret = (struct value){ .kind = VALUE_STRING, .u.text = from->u.text };
        return true;
    case KERNEL_DTYPE:
        *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = from->u.dtype };
        return true;
    case KERNEL_LIST:
    case KERNEL_TUPLE: return symbolic_items(c, from, ret);
    default: *ret = *(const struct value *)from->u.other; return true;
    }
}

/* ---- Operators ---- */

static bool returns_tensors(const struct schema *schema)
{
    for (uint32_t i = 0; i < schema->n_results; i++)
        if (schema->results[i].type == SCHEMA_TENSOR)
            return true;
    for (uint32_t i = 0; i < schema->n_args; i++)
        if (schema->args[i].written)
            return true;
    return false;
}

/* batch_p2p_ops receives into its tensors, though its schema does not say that it writes them
 * (torch/csrc/distributed/c10d/Functional.cpp). */
static bool is_written(const struct schema *schema, uint32_t i)
{
    return schema->args[i].written ||
           (str_is(schema->base, "batch_p2p_ops") && str_is(schema->args[i].name, "tensors"));
}

const struct backend_op *concrete_op(struct concrete *c, const struct op *op,
                                     const struct schema *schema)
{
    struct backend_op *ret = arena_new(&c->arena, struct backend_op);
    struct backend_parameter *args =
        arena_array(&c->arena, struct backend_parameter, (size_t)schema->n_args + 1);
    if (!ret || !args)
        return NULL;
    for (uint32_t i = 0; i < schema->n_args; i++)
        args[i] = (struct backend_parameter){ schema->args[i].name, is_written(schema, i) };
    *ret = (struct backend_op){ .name = op_name(op),
                                .base = schema->base,
                                .overload = schema->overload,
                                .n_args = schema->n_args,
                                .n_positional = schema->n_positional,
                                .returns_tensors = returns_tensors(schema),
                                .args = args };
    return ret;
}

/* ---- Sizes of symbolic metas ---- */

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

bool concrete_refuse(const struct sym_pool *pool, const struct tensor_meta *meta, struct err *err)
{
    int64_t n;
    for (uint32_t i = 0; i < meta->ndim; i++) {
        if (!sym_to_i64(pool, meta->size[i], &n))
            return err_set(err, ERR_USAGE, "dimension %u has no number; --set gives it one", i);
        if (n < 0)
            return err_set(err, ERR_USAGE, "dimension %u is %lld", i, (long long)n);
        if (!meta->stride || !sym_to_i64(pool, meta->stride[i], &n) || n < 0)
            return err_set(err, ERR_USAGE, "a tensor whose strides are not numbers");
    }
    if (!sym_to_i64(pool, meta->offset, &n) || n < 0)
        return err_set(err, ERR_USAGE, "a tensor without a plain offset");
    return err_set(err, ERR_ENV, "it needs more than 2^63 bytes");
}
