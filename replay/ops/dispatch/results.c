/* Results of rules, and calls that rules make. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/storage.h"
#include "replay/ops/layout/strides.h"

void *scratch(struct call *c, size_t bytes)
{
    void *p = arena_alloc(&c->ops->arena, bytes ? bytes : 1, alignof(max_align_t));
    if (!p)
        call_no_memory(c);
    return p;
}

sym_id *syms(struct call *c, uint32_t n)
{
    sym_id *p = arena_array(&c->ops->arena, sym_id, n ? n : 1);
    if (!p)
        call_no_memory(c);
    return p;
}

struct value *values(struct call *c, uint32_t n)
{
    struct value *p = ops_values(c->ops, n);
    if (!p)
        call_no_memory(c);
    return p;
}

/* --- Tensors --- */

static struct tensor make_tensor(struct call *c, const struct tensor_meta *meta, uint32_t storage)
{
    struct tensor x = { .meta = NULL };
    if (c->failed)
        return x;
    if (meta->ndim > TENSOR_MAX_DIM) {
        refuse(c, "RuntimeError", "too many dimensions: %u", meta->ndim);
        return x;
    }
    for (uint32_t i = 0; i < meta->ndim; i++)
        if (meta->size[i] == SYM_NONE || (meta->stride && meta->stride[i] == SYM_NONE))
            guard_bool(c, SYM_NONE); /* reports what was raised */
    if (meta->offset == SYM_NONE)
        guard_bool(c, SYM_NONE);
    if (c->failed)
        return x;
    x.meta = ops_intern(c->ops, meta);
    if (!x.meta)
        call_no_memory(c);
    else
        c->ops->symbolic_tensors += c->ops->metas.symbolic.v[x.meta->id];
    x.storage = storage == STORAGE_FRESH ? c->ops->next_storage++ : storage;
    return x;
}

/* check_size_nonnegative of aten/src/ATen/EmptyTensor.h: functions that allocate check each size.
 */
static void check_nonnegative(struct call *c, const sym_id *sizes, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        int64_t size;
        if (sizes[i] == SYM_NONE || (sym_to_i64(c->pool, sizes[i], &size) && size >= 0))
            continue;
        sym_id holds = ge(c, sizes[i], SYM_ID_ZERO);
        if (holds != SYM_ID_TRUE)
            check(c, holds, "RuntimeError",
                  "Trying to create tensor with negative dimension %s: %s", sym_text(c, sizes[i]),
                  sizes_text(c, sizes, n));
    }
}

static struct tensor make_fresh_tensor(struct call *c, enum dtype dtype, struct device device,
                                       const sym_id *sizes, const sym_id *strides, uint32_t n,
                                       sym_id bytes)
{
    const struct tensor_meta meta = { .dtype = dtype,
                                      .device = device,
                                      .ndim = n,
                                      .size = sizes,
                                      .stride = strides,
                                      .offset = SYM_ID_ZERO };
    struct tensor x = make_tensor(c, &meta, STORAGE_FRESH);
    if (x.meta && bytes != SYM_NONE)
        storage_note(c->ops, x.storage, bytes);
    return x;
}

struct tensor new_tensor_strided(struct call *c, enum dtype dtype, struct device device,
                                 const sym_id *sizes, const sym_id *strides, uint32_t n)
{
    check_nonnegative(c, sizes, n);
    sym_id bytes =
        c->symbolic && !c->failed ? strided_bytes(c, dtype, sizes, strides, n) : SYM_NONE;
    return make_fresh_tensor(c, dtype, device, sizes, strides, n, bytes);
}

struct tensor new_tensor_permuted(struct call *c, enum dtype dtype, struct device device,
                                  const sym_id *sizes, const sym_id *strides, uint32_t n)
{
    check_nonnegative(c, sizes, n);
    sym_id bytes = c->symbolic && !c->failed ? contiguous_bytes(c, dtype, sizes, n) : SYM_NONE;
    return make_fresh_tensor(c, dtype, device, sizes, strides, n, bytes);
}

struct tensor new_tensor_format(struct call *c, enum dtype dtype, struct device device,
                                const sym_id *sizes, uint32_t n, enum memory_format format)
{
    sym_id strides[TENSOR_MAX_DIM];
    if (n > TENSOR_MAX_DIM) {
        refuse(c, "RuntimeError", "too many dimensions: %u", n);
        return (struct tensor){ .meta = NULL };
    }
    if (!c->failed)
        format_strides(c, sizes, n, format, strides);
    check_nonnegative(c, sizes, n);
    sym_id bytes = c->symbolic && !c->failed ? contiguous_bytes(c, dtype, sizes, n) : SYM_NONE;
    struct tensor x = make_fresh_tensor(c, dtype, device, sizes, strides, n, bytes);
    x.channels_last =
        (format == FORMAT_CHANNELS_LAST && n == 4) || (format == FORMAT_CHANNELS_LAST_3D && n == 5);
    x.contiguous = format == FORMAT_CONTIGUOUS;
    return x;
}

struct tensor new_tensor(struct call *c, enum dtype dtype, struct device device,
                         const sym_id *sizes, uint32_t n)
{
    return new_tensor_format(c, dtype, device, sizes, n, FORMAT_CONTIGUOUS);
}

struct tensor new_like_dtype(struct call *c, struct tensor x, enum dtype dtype)
{
    sym_id strides[TENSOR_MAX_DIM];
    if (c->failed || !x.meta)
        return (struct tensor){ .meta = NULL };
    like_strides(c, x, strides);
    return new_tensor_permuted(c, dtype, x.meta->device, x.meta->size, strides, x.meta->ndim);
}

struct tensor new_like(struct call *c, struct tensor x)
{
    return new_like_dtype(c, x, x.meta ? x.meta->dtype : DTYPE_F32);
}

struct tensor new_view_dtype(struct call *c, struct tensor x, enum dtype dtype, const sym_id *sizes,
                             const sym_id *strides, uint32_t n, sym_id offset)
{
    if (c->failed || !x.meta)
        return (struct tensor){ .meta = NULL };
    struct tensor_meta meta = *x.meta;
    meta.dtype = dtype;
    meta.size = sizes;
    meta.stride = strides;
    meta.ndim = n;
    meta.offset = offset;
    return make_tensor(c, &meta, x.storage);
}

struct tensor new_view(struct call *c, struct tensor x, const sym_id *sizes, const sym_id *strides,
                       uint32_t n, sym_id offset)
{
    return new_view_dtype(c, x, x.meta ? x.meta->dtype : DTYPE_F32, sizes, strides, n, offset);
}

sym_id new_unbacked(struct call *c)
{
    if (c->failed)
        return SYM_NONE;
    sym_id ret = env_create_unbacked_symint(c->env);
    if (ret == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return ret;
}

sym_id new_unbacked_size(struct call *c, sym_id min, sym_id max)
{
    sym_id size = new_unbacked(c);
    if (size == SYM_NONE || env_constrain_range_for_size(c->env, size, min, max))
        return size;
    guard_bool(c, SYM_NONE);
    return SYM_NONE;
}

/* --- Results --- */

bool ret_value(struct call *c, struct value value)
{
    c->ret = value;
    return !c->failed;
}

bool ret_tensor(struct call *c, struct tensor x)
{
    return ret_value(c, value_tensor(x));
}

static bool ret_items(struct call *c, enum value_kind kind, const struct tensor *x, uint32_t n)
{
    struct value *items = c->failed ? NULL : values(c, n);
    for (uint32_t i = 0; i < n && items; i++)
        items[i] = value_tensor(x[i]);
    return items && ret_value(c, value_items(kind, items, n));
}

bool ret_tensors(struct call *c, const struct tensor *x, uint32_t n)
{
    return ret_items(c, VALUE_TUPLE, x, n);
}

bool ret_list(struct call *c, const struct tensor *x, uint32_t n)
{
    return ret_items(c, VALUE_LIST, x, n);
}

bool ret_none(struct call *c)
{
    return ret_value(c, value_none());
}

/* --- Calls of other operators --- */

struct value call_op_keywords(struct call *c, const char *name, const struct value *args,
                              uint32_t n, const struct keyword *keywords, uint32_t n_keywords)
{
    struct op *op = c->failed ? NULL : op_table_find(&c->ops->table, str_of(name));
    if (!op && !c->failed)
        unsupported(c, "%s", name);
    return op ? call_row(c, op, args, n, keywords, n_keywords) : value_none();
}

struct value call_row(struct call *c, struct op *op, const struct value *args, uint32_t n,
                      const struct keyword *keywords, uint32_t n_keywords)
{
    struct value ret = value_none();
    size_t written = c->ops->written.n; /* writes of a nested call are not those of this call */
    c->ops->kernel += c->in_kernel;
    enum op_outcome outcome =
        ops_dispatch(c->ops, op, &(struct arguments){ args, n, keywords, n_keywords }, &ret);
    c->ops->kernel -= c->in_kernel;
    c->ops->written.n = written;
    c->failed = outcome != OP_DONE;
    c->unsupported = outcome == OP_UNSUPPORTED;
    return c->failed ? value_none() : ret;
}

struct value call_op(struct call *c, const char *name, const struct value *args, uint32_t n)
{
    return call_op_keywords(c, name, args, n, NULL, 0);
}

struct tensor call_tensor(struct call *c, const char *name, const struct value *args, uint32_t n)
{
    struct value value = call_op(c, name, args, n);
    if (value.kind == VALUE_TENSOR)
        return value.u.tensor;
    refuse(c, "RuntimeError", "%s gave no tensor", name);
    return (struct tensor){ .meta = NULL };
}
