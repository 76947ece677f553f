/* Reads cases: expressions over their symbols, and values. */
#include <stdio.h>
#include <stdlib.h>

#include "replay/cases/op_case.h"
#include "replay/shape/env/node.h"

/* --- Expressions --- */

static struct sym_range read_range(struct op_case *call, struct str text)
{
    struct str inside = str_first(str_from(text, 3), text.n > 4 ? text.n - 4 : 0); /* VR[a, b] */
    size_t comma = str_find(inside, STR(", "));
    sym_id lower = op_case_expr_text(call, str_first(inside, comma));
    sym_id upper = op_case_expr_text(call, str_from(inside, comma + 2));
    return (struct sym_range){ lower, upper };
}

static bool is_unbacked_name(struct str name)
{
    return str_starts(name, STR("u")) || str_starts(name, STR("zuf"));
}

/* What the recorded range was before any guard: a size is 2 or more, a number anything. */
static struct sym_range initial_range(struct op_case *call, struct str name,
                                      struct sym_range recorded)
{
    int64_t lower;
    if (is_unbacked_name(name) && recorded.lower != SYM_NONE && recorded.upper != SYM_NONE)
        return recorded;
    if (str_starts(name, STR("z")))
        return SYM_RANGE_UNKNOWN;
    if (recorded.lower == SYM_NONE || !sym_to_i64(call->pool, recorded.lower, &lower) || lower < 2)
        return SYM_RANGE_UNKNOWN_INT; /* a number that guards may have found to be 0 or more */
    return (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO };
}

static sym_id number_or_none(struct op_case *call, sym_id e)
{
    return e != SYM_NONE && sym_is_number(call->pool, e) ? e : SYM_NONE;
}

static struct sym_range recorded_range(struct op_case *call, struct str name)
{
    json_id at = json_get(call->doc, json_get(call->doc, JSON_ROOT, STR("ranges")), name);
    if (at == JSON_NONE)
        return SYM_RANGE_UNKNOWN_INT;
    struct sym_range ret = read_range(call, json_str(call->doc, at));
    ret.lower = number_or_none(call, ret.lower);
    ret.upper = number_or_none(call, ret.upper);
    return ret;
}

/* Its hint and range are numbers: a name in them does not get here again, since the symbol's row is
 * there first. */
static sym_id adopt(struct op_case *call, struct str name)
{
    json_id hint = json_get(call->doc, json_get(call->doc, JSON_ROOT, STR("hints")), name);
    if (call->n_symbols == CASE_MAX_SYMBOLS || !name.n)
        return SYM_NONE;
    struct case_symbol *row = &call->symbols[call->n_symbols++];
    *row = (struct case_symbol){ name, SYM_NONE };
    struct sym_range range = initial_range(call, name, recorded_range(call, name));
    sym_id value = hint == JSON_NONE ? SYM_NONE : number_or_none(call, op_case_expr(call, hint));
    if (hint == JSON_NONE || value != SYM_NONE)
        row->symbol = env_adopt_symbol(call->env, name, value, range, name);
    return row->symbol;
}

static int64_t symbol_number(struct str name)
{
    int64_t n = -1;
    while (name.n && !(name.p[0] >= '0' && name.p[0] <= '9'))
        name = str_from(name, 1);
    return str_to_i64(name, &n) ? n : -1;
}

static bool was_there(const struct op_case *call, struct str name)
{
    for (uint32_t i = 0; i < call->n_symbols; i++)
        if (str_eq(call->symbols[i].name, name))
            return true;
    return false;
}

/* A symbol that the call made: the one of that name, or the one with the same ordinal among the
 * symbols that the call made. */
static sym_id made(struct op_case *call, struct str name)
{
    uint32_t rank = 0, n = env_n_symbols(call->env);
    json_id ranges = json_get(call->doc, JSON_ROOT, STR("ranges"));
    for (uint32_t i = call->n_adopted; i < n; i++)
        if (str_eq(sym_name(call->pool, env_symbol_at(call->env, i)), name))
            return env_symbol_at(call->env, i);
    for (json_id at = json_first(call->doc, ranges); at != JSON_NONE;
         at = json_next(call->doc, at)) {
        struct str other = json_str(call->doc, at);
        if (is_unbacked_name(other) && other.p[0] == name.p[0] && !was_there(call, other) &&
            symbol_number(other) < symbol_number(name))
            rank++;
        at = json_next(call->doc, at);
    }
    for (uint32_t i = call->n_adopted; i < n; i++) {
        sym_id symbol = env_symbol_at(call->env, i);
        if (sym_name(call->pool, symbol).p[0] == name.p[0] && rank-- == 0)
            return symbol;
    }
    return SYM_NONE;
}

static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    struct op_case *call = user;
    for (uint32_t i = 0; i < call->n_symbols; i++)
        if (str_eq(call->symbols[i].name, name))
            return call->symbols[i].symbol;
    sym_id symbol = call->n_adopted == UINT32_MAX ? adopt(call, name) : made(call, name);
    return symbol == SYM_NONE ? sym_by_name(NULL, pool, name) : symbol;
}

sym_id op_case_expr_text(struct op_case *call, struct str text)
{
    int64_t n;
    if (str_to_i64(text, &n))
        return sym_integer(call->pool, n);
    return sym_parse(call->pool, text, resolve, call);
}

sym_id op_case_expr(struct op_case *call, json_id at)
{
    int64_t n;
    if (json_kind_of(call->doc, at) == JSON_NUMBER && json_i64(call->doc, at, &n))
        return sym_integer(call->pool, n);
    return op_case_expr_text(call, json_text(call->doc, at));
}

/* What is compared with each other is limited, since all of it is compared with all. */
static bool has_limits(const struct op_case *call)
{
    static const struct {
        const char *name;
        size_t most; /* elements, or keys and values */
    } LISTS[] = { { "hints", 2 * CASE_MAX_SYMBOLS },    { "ranges", 2 * CASE_MAX_SYMBOLS },
                  { "replaced", 2 * CASE_MAX_SYMBOLS }, { "given", CASE_MAX_GUARDS },
                  { "guards", CASE_MAX_GUARDS },        { "asserts", CASE_MAX_GUARDS } };
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++)
        if (json_count(call->doc, json_get(call->doc, JSON_ROOT, str_of(LISTS[i].name))) >
            LISTS[i].most)
            return false;
    return true;
}

bool op_case_adopt_symbols(struct op_case *call)
{
    json_id hints = json_get(call->doc, JSON_ROOT, STR("hints"));
    if (!has_limits(call))
        return false;
    call->n_adopted = UINT32_MAX; /* names that are not known yet were there before the call */
    for (json_id at = json_first(call->doc, hints); at != JSON_NONE;
         at = json_next(call->doc, at)) {
        struct str name = json_str(call->doc, at);
        at = json_next(call->doc, at);
        if (resolve(call, call->pool, name) == SYM_NONE)
            return false;
    }
    return true;
}

/* --- Values --- */

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* The elements of a tensor; NULL when there are fewer than its size says. */
static const unsigned char *decode_base64(struct arena *arena, struct str text, size_t needed)
{
    unsigned char *out = (unsigned char *)arena_bytes(arena, text.n + 16), *at = out;
    unsigned bits = 0, n = 0;
    for (size_t i = 0; i < text.n && out; i++) {
        int digit = base64_digit(text.p[i]);
        if (digit < 0)
            break;
        bits = bits << 6 | (unsigned)digit;
        n += 6;
        if (n >= 8) {
            n -= 8;
            *at++ = (unsigned char)(bits >> n);
        }
    }
    return out && (size_t)(at - out) >= needed ? out : NULL;
}

enum dtype op_case_dtype(struct op_case *call, json_id at)
{
    char name[64];
    struct str text = json_str(call->doc, at);
    snprintf(name, sizeof name, "torch.%.*s", STR_ARG(text));
    return dtype_by_python_name(str_of(name));
}

/* Sizes are integers, and no number of them is negative. */
static bool read_ids(struct op_case *call, json_id list, sym_id *ids, uint32_t *n)
{
    uint32_t most = call->any_rank ? CASE_MAX_DIM : TENSOR_MAX_DIM;
    *n = 0;
    for (json_id at = json_first(call->doc, list); at != JSON_NONE; at = json_next(call->doc, at)) {
        int64_t number;
        sym_id id = *n == most ? SYM_NONE : op_case_expr(call, at);
        if (id == SYM_NONE || number_type_of(call->env, id) != NUMBER_INT ||
            (sym_is_number(call->pool, id) && (!sym_to_i64(call->pool, id, &number) || number < 0)))
            return false;
        ids[(*n)++] = id;
    }
    return true;
}

static enum layout layout_of(struct str text)
{
    return str_is(text, "strided") || str_is(text, "torch.strided") ? LAYOUT_STRIDED
           : str_is(text, "jagged") || str_is(text, "torch.jagged") ? LAYOUT_JAGGED
                                                                    : LAYOUT_SPARSE;
}

static void read_storage(struct op_case *call, json_id at, struct tensor *x)
{
    uint64_t storage = CASE_MAX_STORAGES;
    json_u64(call->doc, json_get(call->doc, at, STR("storage")), &storage);
    if (storage < CASE_MAX_STORAGES && call->storage_known[storage])
        x->storage = call->storages[storage];
    else if (storage < CASE_MAX_STORAGES)
        call->storages[storage] = x->storage, call->storage_known[storage] = 1;
}

/* False: a size has no value, or the sizes are too many. */
static bool count_bytes(struct op_case *call, const struct tensor_meta *meta, size_t *ret)
{
    *ret = dtype_size(meta->dtype);
    for (uint32_t i = 0; i < meta->ndim; i++) {
        int64_t size;
        sym_id hint = env_hint(call->env, meta->size[i]);
        if (hint == SYM_NONE || !sym_to_i64(call->pool, hint, &size) ||
            __builtin_mul_overflow(*ret, (size_t)size, ret))
            return false;
    }
    return true;
}

static void read_data(struct op_case *call, json_id at, struct tensor *x)
{
    size_t bytes;
    json_id data = json_get(call->doc, at, STR("v"));
    if (data != JSON_NONE && count_bytes(call, x->meta, &bytes))
        x->data = decode_base64(&call->arena, json_text(call->doc, data), bytes);
    call->lacks_data |= !x->data;
}

static bool read_tensor(struct op_case *call, json_id at, struct value *ret)
{
    const struct json *doc = call->doc;
    sym_id size[CASE_MAX_DIM], stride[CASE_MAX_DIM];
    uint32_t n_strides = 0;
    struct tensor_meta meta = { .dtype = op_case_dtype(call, json_get(doc, at, STR("t"))),
                                .offset = SYM_ID_ZERO,
                                .size = size };
    json_id layout = json_get(doc, at, STR("layout")), offset = json_get(doc, at, STR("offset"));
    if (meta.dtype == DTYPE_NONE ||
        !read_ids(call, json_get(doc, at, STR("size")), size, &meta.ndim) ||
        !read_ids(call, json_get(doc, at, STR("stride")), stride, &n_strides) ||
        !device_parse(json_str(doc, json_get(doc, at, STR("device"))), &meta.device))
        return false;
    meta.conj = json_get(doc, at, STR("conj")) != JSON_NONE;
    meta.layout = layout == JSON_NONE ? LAYOUT_STRIDED : layout_of(json_str(doc, layout));
    meta.stride = meta.layout == LAYOUT_STRIDED ? stride : NULL;
    if (meta.stride && n_strides != meta.ndim)
        return false;
    if (offset != JSON_NONE)
        meta.offset = op_case_expr(call, offset);
    if (meta.offset == SYM_NONE || number_type_of(call->env, meta.offset) != NUMBER_INT)
        return false;
    struct tensor x = ops_new_tensor(call->ops, &meta);
    if (!x.meta)
        return false;
    read_storage(call, at, &x);
    read_data(call, at, &x);
    *ret = value_tensor(x);
    return true;
}

static bool read_list(struct op_case *call, json_id at, struct value *ret)
{
    if (call->depth == CASE_MAX_DEPTH)
        return false;
    call->depth++;
    uint32_t n = (uint32_t)json_count(call->doc, at), i = 0;
    struct value *items = arena_array(&call->arena, struct value, n ? n : 1);
    if (!items)
        return false;
    for (json_id k = json_first(call->doc, at); k != JSON_NONE; k = json_next(call->doc, k))
        if (!op_case_read_value(call, k, &items[i++]))
            return false;
    call->depth--;
    *ret = value_items(VALUE_LIST, items, n);
    return true;
}

/* A number as Python prints it, infinities and nan included. */
static bool read_double(struct op_case *call, struct str text, double *ret)
{
    struct str copy = arena_copy(&call->arena, text);
    char *end = NULL;
    *ret = copy.p ? strtod(copy.p, &end) : 0;
    return copy.n && end == copy.p + copy.n;
}

static bool read_complex(struct op_case *call, json_id at, struct value *ret)
{
    json_id re = json_first(call->doc, at);
    ret->kind = VALUE_COMPLEX;
    return read_double(call, json_text(call->doc, re), &ret->u.complex.re) &&
           read_double(call, json_text(call->doc, json_next(call->doc, re)), &ret->u.complex.im);
}

static bool read_symbolic(struct op_case *call, json_id at, enum value_kind kind, struct value *ret)
{
    static const enum number_type TYPES[] = {
        [VALUE_INT] = NUMBER_INT, [VALUE_FLOAT] = NUMBER_FLOAT, [VALUE_BOOL] = NUMBER_BOOL
    };
    sym_id e = op_case_expr(call, at);
    if (e == SYM_NONE)
        return false;
    enum number_type type = number_type_of(call->env, e);
    *ret = value_sym(kind, e);
    /* The expression of a SymFloat may be an Integer. */
    return type == TYPES[kind] || (kind == VALUE_FLOAT && type == NUMBER_INT);
}

static bool read_float(struct op_case *call, struct str text, struct value *ret)
{
    double number;
    if (!read_double(call, text, &number))
        return false;
    *ret = value_sym(VALUE_FLOAT, sym_float(call->pool, number));
    return ret->u.sym != SYM_NONE;
}

static enum memory_format format_of(struct str text)
{
    return str_is(text, "preserve_format")    ? FORMAT_PRESERVE
           : str_is(text, "channels_last")    ? FORMAT_CHANNELS_LAST
           : str_is(text, "channels_last_3d") ? FORMAT_CHANNELS_LAST_3D
                                              : FORMAT_CONTIGUOUS;
}

/* {"float": "0.5"}, {"symint": "s0 + 1"} ...: one key tells what it is. */
static bool read_object(struct op_case *call, json_id at, struct value *ret)
{
    json_id key = json_first(call->doc, at), inside = json_next(call->doc, key);
    struct str kind = json_str(call->doc, key), text = json_text(call->doc, inside);
    if (json_get(call->doc, at, STR("t")) != JSON_NONE)
        return read_tensor(call, at, ret);
    if (str_is(kind, "float"))
        return read_float(call, text, ret);
    if (str_is(kind, "symint"))
        return read_symbolic(call, inside, VALUE_INT, ret);
    if (str_is(kind, "symfloat"))
        return read_symbolic(call, inside, VALUE_FLOAT, ret);
    if (str_is(kind, "symbool"))
        return read_symbolic(call, inside, VALUE_BOOL, ret);
    if (str_is(kind, "complex"))
        return read_complex(call, inside, ret);
    if (str_is(kind, "device"))
        return ret->kind = VALUE_DEVICE, device_parse(text, &ret->u.device);
    if (str_is(kind, "dtype"))
        *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = op_case_dtype(call, inside) };
    else if (str_is(kind, "layout"))
        *ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = layout_of(text) };
    else if (str_is(kind, "memory_format"))
        *ret = (struct value){ .kind = VALUE_MEMORY_FORMAT, .u.memory_format = format_of(text) };
    else
        call->skip = true;
    return ret->kind != VALUE_DTYPE || ret->u.dtype != DTYPE_NONE;
}

bool op_case_read_value(struct op_case *call, json_id at, struct value *ret)
{
    *ret = value_none();
    switch (json_kind_of(call->doc, at)) {
    case JSON_NULL: return true;
    case JSON_TRUE:
    case JSON_FALSE:
        *ret = value_sym(VALUE_BOOL, sym_boolean(json_kind_of(call->doc, at) == JSON_TRUE));
        return true;
    case JSON_NUMBER: return read_symbolic(call, at, VALUE_INT, ret);
    case JSON_STRING:
        *ret = (struct value){ .kind = VALUE_STRING,
                               .u.text = json_decoded(call->doc, at, &call->arena) };
        return true;
    case JSON_ARRAY: return read_list(call, at, ret);
    case JSON_OBJECT: return read_object(call, at, ret);
    default: return false;
    }
}

bool op_case_read_args(struct op_case *call)
{
    json_id list = json_get(call->doc, JSON_ROOT, STR("args"));
    json_id keywords = json_get(call->doc, JSON_ROOT, STR("kwargs"));
    if (json_count(call->doc, list) > CASE_MAX_ARGS ||
        json_count(call->doc, keywords) > 2 * CASE_MAX_ARGS)
        return false;
    for (json_id at = json_first(call->doc, list); at != JSON_NONE; at = json_next(call->doc, at))
        if (!op_case_read_value(call, at, &call->args[call->n_args++]))
            return op_case_differs(call, "argument %u cannot be read", call->n_args - 1);
    for (json_id at = json_first(call->doc, keywords); at != JSON_NONE;) {
        struct keyword *keyword = &call->keywords[call->n_keywords++];
        keyword->name = json_str(call->doc, at);
        at = json_next(call->doc, at);
        if (!op_case_read_value(call, at, &keyword->value))
            return op_case_differs(call, "argument %.*s cannot be read", STR_ARG(keyword->name));
        at = json_next(call->doc, at);
    }
    return true;
}

void op_case_clear(struct op_case *call)
{
    buf_clear(&call->why);
    arena_release(&call->arena);
    memset(call->storage_known, 0, sizeof call->storage_known);
    call->n_args = call->n_keywords = call->n_symbols = call->n_adopted = call->depth = 0;
    call->skip = call->lacks_data = false;
}

void op_case_release(struct op_case *call)
{
    op_case_clear(call);
    buf_release(&call->why);
}
