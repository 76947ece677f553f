#include "replay/cases/case_write.h"

#include "replay/cases/op_case.h"

void case_writer_release(struct case_writer *cw)
{
    vec_release(&cw->storages);
    vec_release(&cw->symbols);
}

static struct buf *out_of(struct case_writer *cw)
{
    return cw->json.out;
}

/* ---- Expressions ---- */

static size_t symbol_row(const struct case_writer *cw, sym_id symbol)
{
    size_t i = 0;
    while (i < cw->symbols.n && cw->symbols.v[i] != symbol)
        i++;
    return i;
}

static void add_symbol(void *user, sym_id symbol)
{
    struct case_writer *cw = user;
    if (cw->symbols.n < CASE_MAX_SYMBOLS && symbol_row(cw, symbol) == cw->symbols.n)
        out_of(cw)->failed |= !vec_push(&cw->symbols, symbol);
}

/* As the environment knows it now. */
static sym_id expression_now(struct case_writer *cw, sym_id e)
{
    e = env_replace(ops_env(cw->ops), e);
    if (cw->sizes && e != SYM_NONE && !sym_is_number(ops_pool(cw->ops), e))
        e = sym_replace(ops_pool(cw->ops), e, cw->sizes, cw->n_sizes);
    if (e != SYM_NONE && !sym_is_number(ops_pool(cw->ops), e))
        sym_free_symbols(ops_pool(cw->ops), e, add_symbol, cw);
    return e;
}

/* Writes an integer as a number and another expression as a string. */
static void put_integer(struct case_writer *cw, const char *key, sym_id e)
{
    struct buf text = BUF_INIT;
    int64_t number;
    e = expression_now(cw, e);
    if (e != SYM_NONE && sym_to_i64(ops_pool(cw->ops), e, &number)) {
        cw->negative |= number < 0;
        json_put_i64(&cw->json, key, number);
        return;
    }
    cw->symbolic = true;
    if (e != SYM_NONE)
        sym_print(ops_pool(cw->ops), e, &text);
    json_put_str(&cw->json, key, buf_str(&text));
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
}

static void put_integers(struct case_writer *cw, const char *key, const sym_id *e, uint32_t n)
{
    json_open_array(&cw->json, key);
    for (uint32_t i = 0; i < n; i++)
        put_integer(cw, NULL, e[i]);
    json_close(&cw->json);
}

/* ---- Values ---- */

static void put_object(struct case_writer *cw, const char *key, const char *kind, struct str text)
{
    json_open_object(&cw->json, key);
    json_put_str(&cw->json, kind, text);
    json_close(&cw->json);
}

static void put_double(struct case_writer *cw, const char *key, double number)
{
    struct buf text = BUF_INIT;
    if (number != number)
        buf_puts(&text, "nan");
    else if (number > 1.7976931348623157e308 || number < -1.7976931348623157e308)
        buf_puts(&text, number > 0 ? "inf" : "-inf");
    else
        json_number(&text, number);
    json_put_str(&cw->json, key, buf_str(&text));
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
}

static void put_symbolic(struct case_writer *cw, const char *key, const char *kind, sym_id e)
{
    struct buf text = BUF_INIT;
    cw->symbolic = true;
    if (e != SYM_NONE)
        sym_print(ops_pool(cw->ops), e, &text);
    put_object(cw, key, kind, buf_str(&text));
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
}

void case_put_number(struct case_writer *cw, const char *key, struct value number)
{
    struct sym_pool *pool = ops_pool(cw->ops);
    sym_id e = expression_now(cw, number.u.sym);
    int64_t integer;
    bool known = e != SYM_NONE && sym_is_number(pool, e);
    if (number.kind == VALUE_BOOL && (e == SYM_ID_TRUE || e == SYM_ID_FALSE)) {
        json_put_bool(&cw->json, key, e == SYM_ID_TRUE);
    } else if (number.kind == VALUE_FLOAT && known) {
        json_open_object(&cw->json, key);
        put_double(cw, "float", sym_to_double(pool, e));
        json_close(&cw->json);
    } else if (number.kind == VALUE_INT && known && sym_to_i64(pool, e, &integer)) {
        json_put_i64(&cw->json, key, integer);
    } else {
        put_symbolic(cw, key,
                     number.kind == VALUE_INT     ? "symint"
                     : number.kind == VALUE_FLOAT ? "symfloat"
                                                  : "symbool",
                     e);
    }
}

static struct str dtype_word(enum dtype dtype)
{
    struct str name = str_of(dtype_python_name(dtype));
    return str_starts(name, STR("torch.")) ? str_from(name, 6) : name;
}

static const char *layout_word(enum layout layout)
{
    return layout == LAYOUT_STRIDED  ? "torch.strided"
           : layout == LAYOUT_JAGGED ? "torch.jagged"
                                     : "torch.sparse_coo";
}

static void put_device(struct case_writer *cw, struct device device)
{
    struct buf text = BUF_INIT;
    device_print(device, &text);
    json_put_str(&cw->json, "device", buf_str(&text));
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
}

void case_put_meta(struct case_writer *cw, const struct tensor_meta *meta)
{
    json_put_str(&cw->json, "t", dtype_word(meta->dtype));
    if (meta->device.type != DEVICE_NONE)
        put_device(cw, meta->device);
    put_integers(cw, "size", meta->size, meta->ndim);
    if (meta->layout != LAYOUT_STRIDED)
        json_put_cstr(&cw->json, "layout", layout_word(meta->layout));
    else if (meta->stride)
        put_integers(cw, "stride", meta->stride, meta->ndim);
    if (meta->conj)
        json_put_bool(&cw->json, "conj", true);
}

/* Which of the storages it is, as far as a case can say. */
static uint64_t storage_row(struct case_writer *cw, uint32_t storage)
{
    size_t i = 0;
    while (i < cw->storages.n && cw->storages.v[i] != storage)
        i++;
    if (i == cw->storages.n && i < CASE_MAX_STORAGES)
        out_of(cw)->failed |= !vec_push(&cw->storages, storage);
    return i;
}

static void put_tensor(struct case_writer *cw, const char *key, struct tensor x)
{
    json_open_object(&cw->json, key);
    case_put_meta(cw, x.meta);
    put_integer(cw, "offset", x.meta->offset);
    json_put_u64(&cw->json, "storage", storage_row(cw, x.storage));
    json_close(&cw->json);
}

static void put_value(struct case_writer *cw, const char *key, struct value v, unsigned depth);

static void put_items(struct case_writer *cw, const char *key, struct value v, unsigned depth)
{
    json_open_array(&cw->json, key);
    for (uint32_t i = 0; i < v.n; i++)
        put_value(cw, NULL, v.u.items[i], depth + 1);
    json_close(&cw->json);
}

static void put_complex(struct case_writer *cw, const char *key, struct value v)
{
    json_open_object(&cw->json, key);
    json_open_array(&cw->json, "complex");
    put_double(cw, NULL, v.u.complex.re);
    put_double(cw, NULL, v.u.complex.im);
    json_close(&cw->json);
    json_close(&cw->json);
}

static const char *format_word(enum memory_format format)
{
    static const char *const WORDS[] = { [FORMAT_CONTIGUOUS] = "contiguous_format",
                                         [FORMAT_PRESERVE] = "preserve_format",
                                         [FORMAT_CHANNELS_LAST] = "channels_last",
                                         [FORMAT_CHANNELS_LAST_3D] = "channels_last_3d" };
    return WORDS[format];
}

static void put_value(struct case_writer *cw, const char *key, struct value v, unsigned depth)
{
    switch (v.kind) {
    case VALUE_NONE: json_put_null(&cw->json, key); return;
    case VALUE_TENSOR: put_tensor(cw, key, v.u.tensor); return;
    case VALUE_INT:
    case VALUE_FLOAT:
    case VALUE_BOOL: case_put_number(cw, key, v); return;
    case VALUE_COMPLEX: put_complex(cw, key, v); return;
    case VALUE_STRING: json_put_str(&cw->json, key, v.u.text); return;
    case VALUE_DTYPE: put_object(cw, key, "dtype", dtype_word(v.u.dtype)); return;
    case VALUE_LAYOUT: put_object(cw, key, "layout", str_of(layout_word(v.u.layout))); return;
    case VALUE_MEMORY_FORMAT:
        put_object(cw, key, "memory_format", str_of(format_word(v.u.memory_format)));
        return;
    case VALUE_DEVICE:
        json_open_object(&cw->json, key);
        put_device(cw, v.u.device);
        json_close(&cw->json);
        return;
    case VALUE_LIST:
    case VALUE_TUPLE:
        if (depth < CASE_MAX_DEPTH) {
            put_items(cw, key, v, depth);
            return;
        }
        break;
    default: break;
    }
    put_object(cw, key, "other", STR("an object that a case cannot have"));
}

void case_put_call(struct case_writer *cw, struct str op, struct str torch,
                   const struct arguments *arguments)
{
    json_open_object(&cw->json, NULL);
    json_put_str(&cw->json, "op", op);
    if (torch.n)
        json_put_str(&cw->json, "torch", torch);
    json_open_array(&cw->json, "args");
    for (uint32_t i = 0; i < arguments->n; i++)
        put_value(cw, NULL, arguments->values[i], 0);
    json_close(&cw->json);
    json_open_object(&cw->json, "kwargs");
    for (uint32_t i = 0; i < arguments->n_keywords; i++) {
        json_put_key(&cw->json, arguments->keywords[i].name);
        put_value(cw, NULL, arguments->keywords[i].value, 0);
    }
    json_close(&cw->json);
    cw->n_argument_symbols = cw->symbols.n;
}

/* ---- The environment ---- */

static void put_hints(struct case_writer *cw)
{
    struct sym_pool *pool = ops_pool(cw->ops);
    json_open_object(&cw->json, "hints");
    for (size_t i = 0; i < cw->symbols.n; i++) {
        sym_id symbol = cw->symbols.v[i], hint = env_hint(ops_env(cw->ops), symbol);
        int64_t integer;
        if (hint == SYM_NONE || env_is_unbacked(ops_env(cw->ops), symbol))
            continue;
        json_put_key(&cw->json, sym_name(pool, symbol));
        if (sym_to_i64(pool, hint, &integer))
            json_put_i64(&cw->json, NULL, integer);
        else
            put_double(cw, NULL, sym_to_double(pool, hint));
    }
    json_close(&cw->json);
}

static void put_ranges(struct case_writer *cw)
{
    struct buf text = BUF_INIT;
    json_open_object(&cw->json, "ranges");
    for (size_t i = 0; i < cw->symbols.n; i++) {
        struct sym_range range;
        if (!env_range(ops_env(cw->ops), cw->symbols.v[i], &range))
            continue;
        buf_clear(&text);
        sym_range_print(ops_pool(cw->ops), range, &text);
        json_put_key(&cw->json, sym_name(ops_pool(cw->ops), cw->symbols.v[i]));
        json_put_str(&cw->json, NULL, buf_str(&text));
    }
    json_close(&cw->json);
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
}

struct condition_symbols {
    const struct case_writer *cw;
    bool any, others, unbacked;
};

static void look_at_symbol(void *user, sym_id symbol)
{
    struct condition_symbols *in = user;
    in->any = true;
    in->others |= symbol_row(in->cw, symbol) >= in->cw->n_argument_symbols;
    in->unbacked |= env_is_unbacked(ops_env(in->cw->ops), symbol);
}

/* Writes a condition that is about symbols of the arguments alone and not known from replacements.
 */
static bool put_condition(struct case_writer *cw, sym_id e, bool deferred)
{
    struct condition_symbols in = { .cw = cw };
    e = env_replace(ops_env(cw->ops), e);
    if (e == SYM_NONE || sym_is_number(ops_pool(cw->ops), e))
        return false;
    sym_free_symbols(ops_pool(cw->ops), e, look_at_symbol, &in);
    if (!in.any || in.others || (in.unbacked && !deferred))
        return false;
    struct buf text = BUF_INIT;
    sym_print(ops_pool(cw->ops), e, &text);
    json_put_str(&cw->json, NULL, buf_str(&text));
    out_of(cw)->failed |= text.failed;
    buf_release(&text);
    return true;
}

static void put_environment(struct case_writer *cw)
{
    struct shape_env *env = ops_env(cw->ops);
    uint32_t n = 0;
    put_hints(cw);
    put_ranges(cw);
    json_open_array(&cw->json, "given");
    for (uint32_t i = 0; i < env_n_guards(env) && n < CASE_GUARDS_WRITTEN; i++)
        n += put_condition(cw, env_guard_at(env, i)->expr, false);
    json_close(&cw->json);
    json_open_array(&cw->json, "asserts");
    n = 0;
    for (uint32_t i = 0; i < env_n_asserts(env) && n < CASE_GUARDS_WRITTEN; i++)
        n += put_condition(cw, env_assert_at(env, i)->expr, true);
    json_close(&cw->json);
}

/* Returns the number of the case's symbols: the arguments', which come first, and the others. */
static uint32_t symbols_number(struct case_writer *cw)
{
    sym_id key[CASE_MAX_SYMBOLS + 1];
    size_t n = cw->symbols.n;
    if (n)
        memcpy(key, cw->symbols.v, n * sizeof *key);
    key[n] = (sym_id)cw->n_argument_symbols;
    return intern(&cw->environments->symbols,
                  (struct str){ (const char *)key, (n + 1) * sizeof *key });
}

/* The members are written once for the same symbols; another member stands before them. */
void case_put_environment(struct case_writer *cw)
{
    struct case_environments *known = cw->environments;
    if (!known) {
        put_environment(cw);
        return;
    }
    uint32_t number = symbols_number(cw);
    if (number < known->texts.n) {
        buf_put(out_of(cw), known->texts.v[number]);
        return;
    }
    size_t before = out_of(cw)->n;
    put_environment(cw);
    struct str text = arena_copy(&known->arena, str_from(buf_str(out_of(cw)), before));
    out_of(cw)->failed |= number == INTERN_NONE || !text.p || !vec_push(&known->texts, text);
}

void case_environments_release(struct case_environments *environments)
{
    intern_release(&environments->symbols);
    vec_release(&environments->texts);
    arena_release(&environments->arena);
}
