#include "replay/backend/call/value_reads.h"

#include <string.h>

#include "replay/backend/values/elements.h"

enum { SHOWN_NESTING = 4 };

/* What an operator's rule reads of its arguments, and what can be invented for it. */
enum shown_kind {
    SHOWN_NOTHING,
    SHOWN_MASK,     /* how many are not zero */
    SHOWN_VALUES,   /* themselves */
    SHOWN_MASKS,    /* the same, of arguments that are bool or uint8: others are indices */
    SHOWN_NUMBER,   /* the first element */
    SHOWN_DISTINCT, /* how many there are */
    SHOWN_COUNTS,   /* their sum */
    SHOWN_GREATEST, /* and one more */
};

enum { EVERY = -1 };

struct shown {
    const char *base;
    enum shown_kind kind;
    int arg; /* whose values; EVERY: all of them */
};

/* Operators whose rules read values (replay/ops/rules/index/data_dependent.c and others). */
static const struct shown *shown_by(struct str base, uint32_t n)
{
    static const struct shown rows[] = {
        { "nonzero", SHOWN_MASK, 0 },         { "nonzero_numpy", SHOWN_MASK, 0 },
        { "masked_select", SHOWN_MASK, 1 },   { "_unique2", SHOWN_DISTINCT, 0 },
        { "unique_dim", SHOWN_DISTINCT, 0 },  { "unique_consecutive", SHOWN_DISTINCT, 0 },
        { "item", SHOWN_NUMBER, 0 },          { "_local_scalar_dense", SHOWN_NUMBER, 0 },
        { "is_nonzero", SHOWN_NUMBER, 0 },    { "bincount", SHOWN_GREATEST, 0 },
        { "index", SHOWN_MASKS, 1 },          { "index_put", SHOWN_MASKS, 1 },
        { "index_put_", SHOWN_MASKS, 1 },     { "_index_put_impl_", SHOWN_MASKS, 1 },
        { "_unsafe_index", SHOWN_MASKS, 1 },  { "nms", SHOWN_VALUES, EVERY },
        { "equal", SHOWN_MASK, EVERY },       { "allclose", SHOWN_MASK, EVERY },
        { "_assert_async", SHOWN_NUMBER, 0 }, { "tensor_split", SHOWN_NUMBER, 1 },
    };
    static const struct shown of_repeats = { "repeat_interleave", SHOWN_COUNTS, 0 },
                              of_self_by_repeats = { "repeat_interleave", SHOWN_COUNTS, 1 },
                              places = { "where", SHOWN_MASK, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return &rows[i];
    if (str_is(base, of_repeats.base))
        return n > 1 ? &of_self_by_repeats : &of_repeats;
    return str_is(base, places.base) && n == 1 ? &places : NULL; /* nonzero in other words */
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

struct showing {
    struct exec *exec;
    enum shown_kind kind;
    const struct backend_call *call; /* NULL: the backend is not asked to count */
    struct err *err;
};

/* Counted where they are, the elements stay there. */
static bool count_there(struct showing *s, struct tensor *x, bool *known)
{
    struct backend *backend = s->exec->backend;
    int64_t count;
    *known = x->counted; /* by the call that this one is part of */
    if (*known || !s->call || s->kind == SHOWN_NUMBER || s->kind == SHOWN_VALUES)
        return true;
    if (!backend->kind->count(backend, s->call, *x, &count, known, s->err))
        return false;
    if (!*known)
        return true;
    char *data = arena_bytes(&s->exec->values, sizeof count);
    if (!data)
        return err_nomem(s->err);
    memcpy(data, &count, sizeof count);
    x->data = (unsigned char *)data;
    x->counted = true;
    return true;
}

static bool show_tensor(struct showing *s, struct tensor *x)
{
    struct exec *exec = s->exec;
    enum dtype dtype = x->meta->dtype;
    bool index = s->kind == SHOWN_MASKS && dtype != DTYPE_B8 && dtype != DTYPE_U8, known;
    size_t bytes;
    if (index || !storage_at(&exec->storages, x->storage) ||
        !tensor_bytes(ops_pool(exec->ops), x->meta, &bytes))
        return true;
    if (!count_there(s, x, &known) || known)
        return known || !err_is_set(s->err);
    unsigned char *data = (unsigned char *)arena_bytes(&exec->values, bytes + 1);
    if (!data)
        return err_set(s->err, ERR_ENV, "cannot allocate %zu bytes of memory", bytes);
    x->data = data;
    bool invents = exec->backend->kind->shapes_only ||
                   (exec->invents && s->kind == SHOWN_NUMBER && exec->guess >= 0);
    if (!invents)
        return exec_read(exec, *x, data, bytes, s->err);
    invent(s->kind, dtype, data, bytes / dtype_size(dtype), exec->guess);
    exec->guesses++;
    return true;
}

static bool show_values(struct showing *s, struct value *value, unsigned depth)
{
    if (value->kind == VALUE_TENSOR)
        return show_tensor(s, &value->u.tensor);
    if (!value_is_sequence(*value) || depth > SHOWN_NESTING)
        return true;
    struct value *items = arena_array(&s->exec->values, struct value, (size_t)value->n + 1);
    if (!items)
        return err_nomem(s->err);
    for (uint32_t i = 0; i < value->n; i++) {
        items[i] = value->u.items[i];
        if (!show_values(s, &items[i], depth + 1))
            return false;
    }
    value->u.items = items;
    return true;
}

bool shown_reads(struct str base)
{
    return shown_by(base, 1) || shown_by(base, 2);
}

static bool show(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                 const struct backend_call *call, struct value *shown, struct err *err)
{
    const struct shown *by = shown_by(op_schema(op)->base, n);
    memcpy(shown, args, n * sizeof *args);
    if (!by)
        return true;
    if (exec->depth == 0 &&
        !exec->within) /* the call that this one is part of still needs what it was shown */
        arena_reset(&exec->values);
    struct showing s = { exec, by->kind, call, err };
    for (uint32_t i = 0; i < n; i++)
        if ((by->arg == EVERY || by->arg == (int)i) && !show_values(&s, &shown[i], 0))
            return false;
    return true;
}

bool shown_args(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                struct value *shown, struct err *err)
{
    if (exec_facts(exec, op).reads)
        return show(exec, op, args, n, NULL, shown, err);
    memcpy(shown, args, n * sizeof *args);
    return true;
}

bool counted_args(struct exec *exec, const struct op *op, const struct value *args, uint32_t n,
                  const struct keyword *keywords, uint32_t n_keywords, struct value *shown,
                  struct err *err)
{
    struct value bound[SCHEMA_MAX_SLOTS];
    struct backend_call call = { .op = op,
                                 .args = bound,
                                 .pool = ops_pool(exec->ops),
                                 .storages = &exec->storages,
                                 .exec = exec,
                                 .node = exec->node };
    if (!exec_facts(exec, op).reads) {
        memcpy(shown, args, n * sizeof *args);
        return true;
    }
    if (exec->backend->kind->count && shown_by(op_schema(op)->base, n))
        call.schema =
            ops_bound(exec->ops, op, &(struct arguments){ args, n, keywords, n_keywords }, bound);
    return show(exec, op, args, n, call.schema ? &call : NULL, shown, err);
}
