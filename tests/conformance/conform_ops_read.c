#include <stdio.h>
#include <stdlib.h>

#include "tests/conformance/conform_ops.h"

/* --- Expressions --- */

static struct sym_range read_range(struct row *row, struct str text)
{
    struct str inside = str_first(str_from(text, 3), text.n > 4 ? text.n - 4 : 0); /* VR[a, b] */
    size_t comma = str_find(inside, STR(", "));
    sym_id lower = row_expr_text(row, str_first(inside, comma));
    sym_id upper = row_expr_text(row, str_from(inside, comma + 2));
    return (struct sym_range){ lower, upper };
}

static bool is_unbacked_name(struct str name)
{
    return str_starts(name, STR("u")) || str_starts(name, STR("zuf"));
}

/* What the recorded range was before any guard: a size is 2 or more, a number anything. */
static struct sym_range initial_range(struct row *row, struct str name, struct sym_range recorded)
{
    int64_t lower;
    if (is_unbacked_name(name))
        return recorded;
    if (name.p[0] == 'z')
        return SYM_RANGE_UNKNOWN;
    if (!sym_to_i64(row->pool, recorded.lower, &lower) || lower < 2)
        return SYM_RANGE_UNKNOWN_INT; /* a number that guards may have found to be 0 or more */
    return (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO };
}

static sym_id adopt(struct row *row, struct str name)
{
    json_id hint = json_get(row->doc, json_get(row->doc, JSON_ROOT, STR("hints")), name);
    json_id range = json_get(row->doc, json_get(row->doc, JSON_ROOT, STR("ranges")), name);
    if (row->n_symbols == ROW_MAX_SYMBOLS)
        return SYM_NONE;
    struct sym_range recorded =
        range == JSON_NONE ? SYM_RANGE_UNKNOWN_INT : read_range(row, json_str(row->doc, range));
    sym_id value = hint == JSON_NONE ? SYM_NONE : row_expr(row, hint);
    sym_id symbol =
        env_adopt_symbol(row->env, name, value, initial_range(row, name, recorded), name);
    row->symbols[row->n_symbols++] = (struct row_symbol){ name, symbol };
    return symbol;
}

static int64_t symbol_number(struct str name)
{
    int64_t n = -1;
    while (name.n && !(name.p[0] >= '0' && name.p[0] <= '9'))
        name = str_from(name, 1);
    return str_to_i64(name, &n) ? n : -1;
}

static bool was_there(const struct row *row, struct str name)
{
    for (uint32_t i = 0; i < row->n_symbols; i++)
        if (str_eq(row->symbols[i].name, name))
            return true;
    return false;
}

/* A symbol that the call made: the one of that name, or the one with the same ordinal among the
 * symbols that the call made. */
static sym_id made(struct row *row, struct str name)
{
    uint32_t rank = 0, n = env_n_symbols(row->env);
    json_id ranges = json_get(row->doc, JSON_ROOT, STR("ranges"));
    for (uint32_t i = row->n_adopted; i < n; i++)
        if (str_eq(sym_name(row->pool, env_symbol_at(row->env, i)), name))
            return env_symbol_at(row->env, i);
    for (json_id at = json_first(row->doc, ranges); at != JSON_NONE; at = json_next(row->doc, at)) {
        struct str other = json_str(row->doc, at);
        if (is_unbacked_name(other) && other.p[0] == name.p[0] && !was_there(row, other) &&
            symbol_number(other) < symbol_number(name))
            rank++;
        at = json_next(row->doc, at);
    }
    for (uint32_t i = row->n_adopted; i < n; i++) {
        sym_id symbol = env_symbol_at(row->env, i);
        if (sym_name(row->pool, symbol).p[0] == name.p[0] && rank-- == 0)
            return symbol;
    }
    return SYM_NONE;
}

static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    struct row *row = user;
    for (uint32_t i = 0; i < row->n_symbols; i++)
        if (str_eq(row->symbols[i].name, name))
            return row->symbols[i].symbol;
    sym_id symbol = row->n_adopted == UINT32_MAX ? adopt(row, name) : made(row, name);
    return symbol == SYM_NONE ? sym_by_name(NULL, pool, name) : symbol;
}

sym_id row_expr_text(struct row *row, struct str text)
{
    int64_t n;
    if (str_to_i64(text, &n))
        return sym_integer(row->pool, n);
    return sym_parse(row->pool, text, resolve, row);
}

sym_id row_expr(struct row *row, json_id at)
{
    int64_t n;
    if (json_kind_of(row->doc, at) == JSON_NUMBER && json_i64(row->doc, at, &n))
        return sym_integer(row->pool, n);
    return row_expr_text(row, json_text(row->doc, at));
}

bool row_adopt_symbols(struct row *row)
{
    json_id hints = json_get(row->doc, JSON_ROOT, STR("hints"));
    row->n_adopted = UINT32_MAX; /* names that are not known yet were there before the call */
    for (json_id at = json_first(row->doc, hints); at != JSON_NONE; at = json_next(row->doc, at)) {
        struct str name = json_str(row->doc, at);
        at = json_next(row->doc, at);
        if (resolve(row, row->pool, name) == SYM_NONE)
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

static const unsigned char *decode_base64(struct arena *arena, struct str text)
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
    return out;
}

enum dtype row_dtype(struct row *row, json_id at)
{
    char name[64];
    struct str text = json_str(row->doc, at);
    snprintf(name, sizeof name, "torch.%.*s", STR_ARG(text));
    return dtype_by_python_name(str_of(name));
}

static bool read_ids(struct row *row, json_id list, sym_id *ids, uint32_t *n)
{
    *n = 0;
    for (json_id at = json_first(row->doc, list); at != JSON_NONE; at = json_next(row->doc, at)) {
        if (*n == ROW_MAX_DIM)
            return false;
        ids[(*n)++] = row_expr(row, at);
    }
    return true;
}

static enum layout layout_of(struct str text)
{
    return str_is(text, "strided") || str_is(text, "torch.strided") ? LAYOUT_STRIDED
           : str_is(text, "jagged") || str_is(text, "torch.jagged") ? LAYOUT_JAGGED
                                                                    : LAYOUT_SPARSE;
}

static bool read_tensor(struct row *row, json_id at, struct value *ret)
{
    const struct json *doc = row->doc;
    sym_id size[ROW_MAX_DIM], stride[ROW_MAX_DIM];
    uint32_t n_strides = 0;
    uint64_t storage = ROW_MAX_STORAGES;
    struct tensor_meta meta = { .dtype = row_dtype(row, json_get(doc, at, STR("t"))),
                                .offset = SYM_ID_ZERO,
                                .size = size };
    json_id layout = json_get(doc, at, STR("layout")), offset = json_get(doc, at, STR("offset"));
    if (!read_ids(row, json_get(doc, at, STR("size")), size, &meta.ndim) ||
        !read_ids(row, json_get(doc, at, STR("stride")), stride, &n_strides) ||
        !device_parse(json_str(doc, json_get(doc, at, STR("device"))), &meta.device))
        return false;
    meta.conj = json_get(doc, at, STR("conj")) != JSON_NONE;
    meta.layout = layout == JSON_NONE ? LAYOUT_STRIDED : layout_of(json_str(doc, layout));
    meta.stride = layout == JSON_NONE ? stride : NULL;
    if (offset != JSON_NONE)
        meta.offset = row_expr(row, offset);
    struct tensor x = ops_new_tensor(row->ops, &meta);
    json_u64(doc, json_get(doc, at, STR("storage")), &storage);
    if (storage < ROW_MAX_STORAGES && row->storage_known[storage])
        x.storage = row->storages[storage];
    else if (storage < ROW_MAX_STORAGES)
        row->storages[storage] = x.storage, row->storage_known[storage] = 1;
    json_id data = json_get(doc, at, STR("v"));
    if (data != JSON_NONE)
        x.data = decode_base64(&row->arena, json_text(doc, data));
    row->lacks_data |= data == JSON_NONE;
    *ret = value_tensor(x);
    return x.meta != NULL;
}

static bool read_list(struct row *row, json_id at, struct value *ret)
{
    uint32_t n = (uint32_t)json_count(row->doc, at), i = 0;
    struct value *items = arena_array(&row->arena, struct value, n ? n : 1);
    if (!items)
        return false;
    for (json_id k = json_first(row->doc, at); k != JSON_NONE; k = json_next(row->doc, k))
        if (!row_read_value(row, k, &items[i++]))
            return false;
    *ret = value_items(VALUE_LIST, items, n);
    return true;
}

static bool read_complex(struct row *row, json_id at, struct value *ret)
{
    ret->kind = VALUE_COMPLEX;
    json_id re = json_first(row->doc, at);
    struct str a = json_text(row->doc, re), b = json_text(row->doc, json_next(row->doc, re));
    ret->u.complex.re = strtod(arena_copy(&row->arena, a).p, NULL);
    ret->u.complex.im = strtod(arena_copy(&row->arena, b).p, NULL);
    return true;
}

static enum memory_format format_of(struct str text)
{
    return str_is(text, "preserve_format")    ? FORMAT_PRESERVE
           : str_is(text, "channels_last")    ? FORMAT_CHANNELS_LAST
           : str_is(text, "channels_last_3d") ? FORMAT_CHANNELS_LAST_3D
                                              : FORMAT_CONTIGUOUS;
}

/* {"float": "0.5"}, {"symint": "s0 + 1"} ...: one key tells what it is. */
static bool read_object(struct row *row, json_id at, struct value *ret)
{
    json_id key = json_first(row->doc, at), inside = json_next(row->doc, key);
    struct str kind = json_str(row->doc, key), text = json_text(row->doc, inside);
    if (json_get(row->doc, at, STR("t")) != JSON_NONE)
        return read_tensor(row, at, ret);
    if (str_is(kind, "float"))
        *ret = value_sym(VALUE_FLOAT,
                         sym_float(row->pool, strtod(arena_copy(&row->arena, text).p, NULL)));
    else if (str_is(kind, "symint"))
        *ret = value_int(row_expr(row, inside));
    else if (str_is(kind, "symfloat"))
        *ret = value_sym(VALUE_FLOAT, row_expr(row, inside));
    else if (str_is(kind, "symbool"))
        *ret = value_sym(VALUE_BOOL, row_expr(row, inside));
    else if (str_is(kind, "dtype"))
        *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = row_dtype(row, inside) };
    else if (str_is(kind, "layout"))
        *ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = layout_of(text) };
    else if (str_is(kind, "memory_format"))
        *ret = (struct value){ .kind = VALUE_MEMORY_FORMAT, .u.memory_format = format_of(text) };
    else if (str_is(kind, "device"))
        return ret->kind = VALUE_DEVICE, device_parse(text, &ret->u.device);
    else if (str_is(kind, "complex"))
        return read_complex(row, inside, ret);
    else
        row->skip = true;
    return true;
}

bool row_read_value(struct row *row, json_id at, struct value *ret)
{
    *ret = value_none();
    switch (json_kind_of(row->doc, at)) {
    case JSON_NULL: return true;
    case JSON_TRUE:
    case JSON_FALSE:
        *ret = value_sym(VALUE_BOOL, sym_boolean(json_kind_of(row->doc, at) == JSON_TRUE));
        return true;
    case JSON_NUMBER: *ret = value_int(row_expr(row, at)); return true;
    case JSON_STRING:
        *ret = (struct value){ .kind = VALUE_STRING,
                               .u.text = json_decoded(row->doc, at, &row->arena) };
        return true;
    case JSON_ARRAY: return read_list(row, at, ret);
    case JSON_OBJECT: return read_object(row, at, ret);
    default: return false;
    }
}

bool row_read_args(struct row *row)
{
    json_id list = json_get(row->doc, JSON_ROOT, STR("args"));
    json_id keywords = json_get(row->doc, JSON_ROOT, STR("kwargs"));
    for (json_id at = json_first(row->doc, list); at != JSON_NONE; at = json_next(row->doc, at))
        if (row->n_args == ROW_MAX_ARGS || !row_read_value(row, at, &row->args[row->n_args++]))
            return false;
    for (json_id at = json_first(row->doc, keywords); at != JSON_NONE;) {
        struct keyword *keyword = &row->keywords[row->n_keywords++];
        keyword->name = json_str(row->doc, at);
        at = json_next(row->doc, at);
        if (row->n_keywords == ROW_MAX_ARGS || !row_read_value(row, at, &keyword->value))
            return false;
        at = json_next(row->doc, at);
    }
    return true;
}

void row_clear(struct row *row)
{
    buf_clear(&row->why);
    arena_release(&row->arena);
    memset(row->storage_known, 0, sizeof row->storage_known);
    row->n_args = row->n_keywords = row->n_symbols = row->n_adopted = 0;
    row->skip = row->lacks_data = false;
}
