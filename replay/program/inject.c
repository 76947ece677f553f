#include "replay/program/inject.h"

#include "replay/ops/dispatch/context.h"

static const struct {
    const char *name;
    enum injection_kind kind;
} faults[] = {
    { "size", INJECT_SIZE },
    { "dtype", INJECT_DTYPE },
    { "strides", INJECT_STRIDES },
    { "refuse", INJECT_REFUSE },
};

bool injection_parse(struct injection *injection, struct str text, struct err *err)
{
    struct str flip = STR("flip-equality:");
    size_t equals = str_find_char(text, '=');
    *injection = (struct injection){ .kind = INJECT_FLIP_EQUALITY };
    if (str_starts(text, flip)) {
        if (str_to_u64(str_from(text, flip.n), &injection->from) && injection->from)
            return true;
        return err_set(err, ERR_USAGE, "\"%.*s\": flip-equality:N needs an N of at least 1",
                       STR_ARG(text));
    }
    struct str how = str_from(text, equals + 1);
    for (size_t i = 0; i < sizeof faults / sizeof *faults && equals; i++)
        if (str_is(how, faults[i].name)) {
            *injection =
                (struct injection){ .kind = faults[i].kind, .op = str_first(text, equals) };
            return true;
        }
    return err_set(err, ERR_USAGE,
                   "\"%.*s\" is neither flip-equality:N nor OP=size, OP=dtype, OP=strides or "
                   "OP=refuse",
                   STR_ARG(text));
}

bool injection_hits(const struct injection *injection, struct str target)
{
    struct str ops = STR("torch.ops."), op = injection->op;
    if (op.n == 0)
        return false;
    if (str_starts(target, ops) && !str_starts(op, ops))
        target = str_from(target, ops.n);
    return str_starts(target, op) && (target.n == op.n || target.p[op.n] == '.');
}

/* Computes the strides of a dense tensor whose dimensions are in reversed order. */
static void reverse_strides(struct sym_pool *pool, const struct tensor_meta *meta, sym_id *stride)
{
    sym_id next = SYM_ID_ONE;
    for (uint32_t d = 0; d < meta->ndim; d++) {
        stride[d] = next;
        next = sym_mul(pool, next, sym_max(pool, meta->size[d], SYM_ID_ONE));
    }
}

static struct value with_fault(const struct injection *injection, struct ops *ops, struct tensor x)
{
    struct tensor_meta meta = *x.meta;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    memcpy(size, meta.size, meta.ndim * sizeof *size);
    memcpy(stride, meta.stride, meta.ndim * sizeof *stride);
    meta.size = size;
    meta.stride = stride;
    if (injection->kind == INJECT_DTYPE)
        meta.dtype = meta.dtype == DTYPE_F64 ? DTYPE_F32 : DTYPE_F64;
    else if (injection->kind == INJECT_STRIDES)
        reverse_strides(ops_pool(ops), x.meta, stride);
    else if (meta.ndim)
        size[meta.ndim - 1] = sym_add(ops_pool(ops), size[meta.ndim - 1], SYM_ID_ONE);
    return value_tensor(ops_new_tensor(ops, &meta));
}

static bool has_symbolic_size(struct ops *ops, const struct tensor_meta *meta)
{
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (!sym_is_number(ops_pool(ops), meta->size[d]))
            return true;
    return false;
}

static bool can_inject(struct ops *ops, struct value value)
{
    return value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim <= TENSOR_MAX_DIM &&
           has_symbolic_size(ops, value.u.tensor.meta);
}

/* Injects the fault into the first result that has a symbolic size. */
static enum op_outcome inject_first(const struct injection *injection, struct ops *ops,
                                    struct value *result)
{
    struct value *items = ops_values(ops, (size_t)result->n + 1);
    uint32_t i = 0;
    if (!items)
        return ops_no_memory(ops);
    while (i < result->n && !can_inject(ops, result->u.items[i]))
        i++;
    if (i == result->n)
        return OP_DONE;
    if (injection->kind == INJECT_REFUSE)
        return ops_refuse(ops, STR("RuntimeError"), "injected");
    memcpy(items, result->u.items, result->n * sizeof *items);
    items[i] = with_fault(injection, ops, items[i].u.tensor);
    *result = value_items(result->kind, items, result->n);
    return OP_DONE;
}

enum op_outcome injection_apply(const struct injection *injection, struct ops *ops,
                                struct value *result)
{
    bool several = result->kind == VALUE_TUPLE || result->kind == VALUE_LIST;
    if (injection->kind == INJECT_FLIP_EQUALITY)
        return OP_DONE;
    if (several)
        return inject_first(injection, ops, result);
    if (!can_inject(ops, *result))
        return OP_DONE;
    if (injection->kind == INJECT_REFUSE)
        return ops_refuse(ops, STR("RuntimeError"), "injected");
    *result = with_fault(injection, ops, result->u.tensor);
    return OP_DONE;
}
