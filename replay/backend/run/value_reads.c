#include "replay/backend/run/value_reads.h"

#include <string.h>

#include "replay/backend/values/elements.h"

enum { READ_NESTING = 4 };

/* How an operator's rule uses the values of its arguments, which determines the values to
 * invent. */
enum read_kind {
    READ_NOTHING,
    READ_MASK,     /* the number of elements that are not zero */
    READ_VALUES,   /* all values */
    READ_MASKS,    /* the same, of arguments that are bool or uint8; others are indices */
    READ_NUMBER,   /* the first element */
    READ_DISTINCT, /* the number of different elements */
    READ_COUNTS,   /* the sum of the elements */
    READ_GREATEST, /* the greatest element plus one */
};

enum { EVERY = -1 };

struct value_read {
    const char *base;
    enum read_kind kind;
    int arg; /* the number of the argument; EVERY: all of them */
};

/* Returns the row of an operator whose rule reads values (replay/ops/rules/index/data_dependent.c
 * and others). */
static const struct value_read *value_read_of(struct str base, uint32_t n)
{
    static const struct value_read rows[] = {
        { "nonzero", READ_MASK, 0 },         { "nonzero_numpy", READ_MASK, 0 },
        { "masked_select", READ_MASK, 1 },   { "_unique2", READ_DISTINCT, 0 },
        { "unique_dim", READ_DISTINCT, 0 },  { "unique_consecutive", READ_DISTINCT, 0 },
        { "item", READ_NUMBER, 0 },          { "_local_scalar_dense", READ_NUMBER, 0 },
        { "is_nonzero", READ_NUMBER, 0 },    { "bincount", READ_GREATEST, 0 },
        { "index", READ_MASKS, 1 },          { "index_put", READ_MASKS, 1 },
        { "index_put_", READ_MASKS, 1 },     { "_index_put_impl_", READ_MASKS, 1 },
        { "_unsafe_index", READ_MASKS, 1 },  { "nms", READ_VALUES, EVERY },
        { "equal", READ_MASK, EVERY },       { "allclose", READ_MASK, EVERY },
        { "_assert_async", READ_NUMBER, 0 }, { "tensor_split", READ_NUMBER, 1 },
    };
    static const struct value_read of_repeats = { "repeat_interleave", READ_COUNTS, 0 },
                                   of_self_by_repeats = { "repeat_interleave", READ_COUNTS, 1 },
                                   places = { "where", READ_MASK, 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return &rows[i];
    if (str_is(base, of_repeats.base))
        return n > 1 ? &of_self_by_repeats : &of_repeats;
    return str_is(base, places.base) && n == 1 ? &places : NULL; /* where(condition) is nonzero */
}

static void put_invented(enum dtype dtype, void *p, size_t i, int64_t value)
{
    if (dense_kind_of(dtype) == DENSE_INT)
        store_int(dtype, p, (int64_t)i, value);
    else
        store_complex(dtype, p, (int64_t)i, (double)value);
}

/* Invents values for which the rule finds `guess`: a mask gets `guess` ones, and so on. */
static void invent(enum read_kind kind, enum dtype dtype, void *p, size_t n, int64_t guess)
{
    size_t most = guess < 0 ? n : (size_t)guess;
    for (size_t i = 0; i < n; i++)
        put_invented(dtype, p, i, kind == READ_DISTINCT ? (int64_t)(i < most ? i : 0) : i < most);
    if (guess < 0 || n == 0)
        return;
    if (kind == READ_NUMBER || kind == READ_COUNTS || kind == READ_GREATEST)
        put_invented(dtype, p, 0, guess - (kind == READ_GREATEST));
    for (size_t i = 1; i < n && kind == READ_COUNTS; i++)
        put_invented(dtype, p, i, 0);
}

struct argument_reader {
    struct exec *exec;
    enum read_kind kind;
    const struct backend_call *call; /* NULL: the backend does not count */
    uint32_t slot;                   /* for the count; BACKEND_NO_SLOT: the host needs it */
    struct err *err;
};

/* Lets the backend count, so that the elements are not copied to the host. */
static bool count_there(struct argument_reader *r, struct tensor *x, bool *known)
{
    struct backend *backend = r->exec->caller.backend;
    int64_t count;
    uint32_t slot = r->slot;
    *known = x->counted; /* counted by the call that contains this one */
    if (*known || !r->call || r->kind == READ_NUMBER || r->kind == READ_VALUES)
        return true;
    struct kernel_tensor tensor = concrete_tensor(&r->exec->concrete, *x);
    if (!tensor.meta)
        return err_nomem(r->err);
    if (!backend->kind->count(backend, r->call, tensor, slot, &count, known, r->err))
        return false;
    if (!*known || slot != BACKEND_NO_SLOT)
        return true;
    char *data = arena_bytes(&r->exec->values, sizeof count);
    if (!data)
        return err_nomem(r->err);
    memcpy(data, &count, sizeof count);
    x->data = (unsigned char *)data;
    x->counted = true;
    return true;
}

static bool read_tensor_argument(struct argument_reader *r, struct tensor *x)
{
    struct exec *exec = r->exec;
    enum dtype dtype = x->meta->dtype;
    bool index = r->kind == READ_MASKS && dtype != DTYPE_B8 && dtype != DTYPE_U8, known;
    size_t bytes;
    if (index || !storage_at(&exec->storages, x->storage))
        return true;
    bool numbers = tensor_bytes(ops_pool(exec->ops), x->meta, &bytes);
    if (!numbers && r->slot == BACKEND_NO_SLOT)
        return true;
    if (!count_there(r, x, &known) || known || !numbers)
        return known || !err_is_set(r->err);
    unsigned char *data = (unsigned char *)arena_bytes(&exec->values, bytes + 1);
    if (!data)
        return err_set(r->err, ERR_ENV, "cannot allocate %zu bytes of memory", bytes);
    x->data = data;
    bool invents = exec->caller.backend->kind->shapes_only ||
                   (exec->invents && r->kind == READ_NUMBER && exec->guess >= 0);
    if (!invents)
        return exec_read(exec, *x, data, bytes, r->err);
    invent(r->kind, dtype, data, bytes / dtype_size(dtype), exec->guess);
    exec->guesses++;
    return true;
}

static bool read_values(struct argument_reader *r, struct value *value, unsigned depth)
{
    if (value->kind == VALUE_TENSOR)
        return read_tensor_argument(r, &value->u.tensor);
    if (!value_is_sequence(*value) || depth > READ_NESTING)
        return true;
    struct value *items = arena_array(&r->exec->values, struct value, (size_t)value->n + 1);
    if (!items)
        return err_nomem(r->err);
    for (uint32_t i = 0; i < value->n; i++) {
        items[i] = value->u.items[i];
        if (!read_values(r, &items[i], depth + 1))
            return false;
    }
    value->u.items = items;
    return true;
}

bool rule_reads_values(struct str base)
{
    return value_read_of(base, 1) || value_read_of(base, 2);
}

/* Returns whether all that the rule needs of the count is the size of its result. */
static bool may_stay_on_device(struct str base)
{
    static const char *const names[] = {
        "nonzero",    "nonzero_numpy",      "where", "masked_select",     "_unique2",
        "unique_dim", "unique_consecutive", "index", "repeat_interleave", "_unsafe_index"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(base, names[i]))
            return true;
    return false;
}

bool add_read_values(struct exec *exec, const struct op *op, const struct schema *schema,
                     bool may_count, struct value *bound, struct err *err)
{
    struct kernel_value args[BACKEND_MAX_ARGS];
    struct backend_call call;
    if (!exec_properties(exec, op).reads)
        return true;
    const struct value_read *row = value_read_of(schema->base, schema->n_positional);
    if (!row)
        return true;
    struct argument_reader reader = {
        .exec = exec, .kind = row->kind, .slot = BACKEND_NO_SLOT, .err = err
    };
    if (exec->caller.backend->kind->count && may_count) {
        if (!exec_backend_call(exec, op, schema, bound, args, &call, err))
            return false;
        reader.call = &call;
        if (may_stay_on_device(schema->base))
            reader.slot = device_sizes_slot(&exec->sizes);
    }
    for (uint32_t i = 0; i < schema->n_args; i++)
        if ((row->arg == EVERY || row->arg == (int)i) && !read_values(&reader, &bound[i], 0))
            return false;
    return true;
}
