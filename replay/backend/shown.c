#include "replay/backend/shown.h"

#include <string.h>

#include "replay/backend/elements.h"

enum { SHOWN_NESTING = 4 };

/* What an operator's rule reads of its arguments, and what can be invented for it. */
enum shown_kind {
    SHOWN_NOTHING,
    SHOWN_MASK,     /* how many are not zero */
    SHOWN_MASKS,    /* the same, of arguments that are bool or uint8: others are indices */
    SHOWN_NUMBER,   /* the first element */
    SHOWN_DISTINCT, /* how many there are */
    SHOWN_COUNTS,   /* their sum */
    SHOWN_GREATEST, /* and one more */
};

/* Operators whose rules read values (replay/ops/data_dependent.c and others). */
static enum shown_kind shown_kind_of(struct str base, uint32_t n)
{
    static const struct {
        const char *base;
        enum shown_kind kind;
    } rows[] = {
        { "nonzero", SHOWN_MASK },
        { "nonzero_numpy", SHOWN_MASK },
        { "masked_select", SHOWN_MASKS },
        { "_unique2", SHOWN_DISTINCT },
        { "unique_dim", SHOWN_DISTINCT },
        { "unique_consecutive", SHOWN_DISTINCT },
        { "item", SHOWN_NUMBER },
        { "_local_scalar_dense", SHOWN_NUMBER },
        { "is_nonzero", SHOWN_NUMBER },
        { "bincount", SHOWN_GREATEST },
        { "repeat_interleave", SHOWN_COUNTS },
        { "index", SHOWN_MASKS },
        { "index_put", SHOWN_MASKS },
        { "index_put_", SHOWN_MASKS },
        { "_index_put_impl_", SHOWN_MASKS },
        { "_unsafe_index", SHOWN_MASKS },
        { "equal", SHOWN_MASK },
        { "allclose", SHOWN_MASK },
        { "_assert_async", SHOWN_NUMBER },
        { "tensor_split", SHOWN_NUMBER },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return rows[i].kind;
    return str_is(base, "where") && n == 1 ? SHOWN_MASK : SHOWN_NOTHING; /* nonzero in other words */
}

static void put(enum dtype dtype, void *p, size_t i, int64_t value)
{
    if (dense_kind_of(dtype) == DENSE_INT)
        store_int(dtype, p, (int64_t)i, value);
    else
        store_complex(dtype, p, (int64_t)i, (double)value);
}

/* Values of which the rule finds `guess`: of a mask the first so many, and so on. */
static void invent(enum shown_kind kind, enum dtype dtype, void *p, size_t n, int64_t guess)
{
    size_t most = guess < 0 ? n : (size_t)guess;
    for (size_t i = 0; i < n; i++)
        put(dtype, p, i, kind == SHOWN_DISTINCT ? (int64_t)(i < most ? i : 0) : i < most);
    if (guess < 0 || n == 0)
        return;
    if (kind == SHOWN_NUMBER || kind == SHOWN_COUNTS || kind == SHOWN_GREATEST)
        put(dtype, p, 0, guess - (kind == SHOWN_GREATEST));
    for (size_t i = 1; i < n && kind == SHOWN_COUNTS; i++)
        put(dtype, p, i, 0);
}

static bool show_tensor(struct exec *exec, enum shown_kind kind, struct tensor *x, struct err *err)
{
    enum dtype dtype = x->meta->dtype;
    bool index = kind == SHOWN_MASKS && dtype != DTYPE_B8 && dtype != DTYPE_U8;
    size_t bytes;
    if (index || !storage_at(&exec->storages, x->storage) ||
        !tensor_bytes(ops_pool(exec->ops), x->meta, &bytes))
        return true;
    unsigned char *data = (unsigned char *)arena_bytes(&exec->values, bytes + 1);
    if (!data)
        return err_set(err, ERR_ENV, "%zu bytes of memory cannot be had", bytes);
    x->data = data;
    bool invents = exec->backend->kind->shapes_only ||
                   (exec->invents && kind == SHOWN_NUMBER && exec->guess >= 0);
    if (!invents)
        return exec_read(exec, *x, data, bytes, err);
    invent(kind, dtype, data, bytes / dtype_size(dtype), exec->guess);
    exec->guesses++;
    return true;
}

static bool show_values(struct exec *exec, enum shown_kind kind, struct value *value, unsigned depth,
                        struct err *err)
{
    if (value->kind == VALUE_TENSOR)
        return show_tensor(exec, kind, &value->u.tensor, err);
    if (!value_is_sequence(*value) || depth > SHOWN_NESTING)
        return true;
    struct value *items = arena_array(&exec->values, struct value, (size_t)value->n + 1);
    if (!items)
        return err_nomem(err);
    for (uint32_t i = 0; i < value->n; i++) {
        items[i] = value->u.items[i];
        if (!show_values(exec, kind, &items[i], depth + 1, err))
            return false;
    }
    value->u.items = items;
    return true;
}

bool shown_args(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                struct value *shown, struct err *err)
{
    struct schema name;
    enum shown_kind kind = schema_parse_name(op_schema(op), &name) ? shown_kind_of(name.base, n)
                                                                   : SHOWN_NOTHING;
    memcpy(shown, args, n * sizeof *args);
    if (kind == SHOWN_NOTHING)
        return true;
    if (exec->depth == 0 && !exec->within) /* the call that this one is part of still needs what it was shown */
        arena_reset(&exec->values);
    for (uint32_t i = 0; i < n; i++)
        if (!show_values(exec, kind, &shown[i], 0, err))
            return false;
    return true;
}
