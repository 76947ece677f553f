/* Reads metas of a program (TensorMeta, SymInt, SymFloat, SymBool and CustomObjArgument of
 * torch/_export/serde/schema.py) and prints them as the annotations of readable graphs. */
#include "trace/pt2/pt2_program.h"

#include "trace/graph/python_name.h"

/* ---- expressions --------------------------------------------------------------------------- */

/* Returns whether a text is srepr(), which names the class of every atom; str(), which archives
 * before torch 2.5 have, does not. */
static bool is_srepr(struct str text)
{
    return str_contains(text, STR("Symbol('")) || str_contains(text, STR("Integer(")) ||
           str_contains(text, STR("Float(")) || str_is(text, "true") || str_is(text, "false");
}

/* Adds the symbol if it is new, and its hint if it had none. */
static void note_symbol(struct program_reader *program, struct str name, struct str srepr,
                        struct str hint)
{
    uint32_t id = intern(&program->symbol_names, name);
    struct program_symbol fresh = { .hint = STR(""), .srepr = STR("") };
    if (id == program->symbols.n)
        fresh.name = program_copy(program, name);
    if (id > program->symbols.n ||
        (id == program->symbols.n && !vec_push(&program->symbols, fresh))) {
        program->failed = true; /* id is INTERN_NONE, or an earlier push failed */
        return;
    }
    struct program_symbol *symbol = &program->symbols.v[id];
    if (symbol->hint.n == 0 && hint.n > 0)
        symbol->hint = program_copy(program, hint);
    if (symbol->srepr.n == 0 && srepr.n > 0)
        symbol->srepr = program_copy(program, srepr);
}

static bool is_number_name(struct str name)
{
    static const char *const names[] = { "int_oo", "-int_oo", "oo",   "-oo",
                                         "zoo",    "nan",     "true", "false" };
    return STR_IS_ANY(name, names);
}

/* Checks that an expression consists of numbers, symbols and functions of them, as sizes do. */
static bool check_expression(struct program_reader *program, const struct expr_pool *pool)
{
    for (expr_id i = 0; i < pool->exprs.n; i++) {
        const struct expr *e = expr_at(pool, i);
        bool good = e->kind != EXPR_STRING;
        if (e->kind == EXPR_SYMBOL)
            good = is_number_name(e->text) || python_is_name(e->text);
        else if (e->kind == EXPR_CALL)
            good = python_is_dotted(e->text);
        if (good)
            continue;
        program_refuse(program, "not a name in Python");
        program_refused_at(program, e->kind == EXPR_CALL ? "function" : "symbol", e->text);
        return false;
    }
    return true;
}

static void note_symbols(struct program_reader *program, const struct expr_pool *pool, expr_id root,
                         struct str text, struct str hint)
{
    for (expr_id i = 0; i < pool->exprs.n; i++) {
        const struct expr *e = expr_at(pool, i);
        if (e->kind != EXPR_SYMBOL || is_number_name(e->text))
            continue;
        bool alone = i == root;
        note_symbol(program, e->text, alone && is_srepr(text) ? text : STR(""),
                    alone ? hint : STR(""));
    }
}

/* Returns `text` as Python prints it, in the pool; refuses a text that is no expression. */
static struct str print_expression(struct program_reader *program, struct str text, struct str hint)
{
    struct expr_pool pool = { 0 };
    struct err why = { 0 };
    struct buf out = BUF_INIT;
    expr_id root =
        is_srepr(text) ? expr_parse_srepr(&pool, text, &why) : expr_parse(&pool, text, &why);
    if (root == EXPR_NONE) {
        program->failed |= why.kind == ERR_ENV;
        if (why.kind == ERR_INPUT) {
            program_refuse(program, "not an expression: %s", why.text);
            program_refused_at(program, "expr_str", text);
        }
    } else if (check_expression(program, &pool)) {
        note_symbols(program, &pool, root, text, hint);
        expr_print(&pool, root, &out);
    }
    struct str printed = program_copy(program, buf_str(&out));
    program->failed |= out.failed;
    buf_release(&out);
    expr_pool_release(&pool);
    return printed;
}

/* Checks a SymExprHint, which is a number or a boolean. */
static bool want_hint(struct program_reader *program, json_id hint)
{
    enum json_kind kind = json_kind_of(program->doc, hint);
    return kind == JSON_NULL || kind == JSON_TRUE || kind == JSON_FALSE ||
           program_want_number(program, hint);
}

/* Returns the text of a SymExpr {expr_str, hint}, which is printed once for equal texts. The
 * first hint of a text counts, which is how the exporter writes them. */
static struct str expression_text(struct program_reader *program, json_id sym_expr)
{
    struct str unused;
    struct str text = program_keep(program, json_get(program->doc, sym_expr, STR("expr_str")));
    json_id hint =
        program_union(program->doc, json_get(program->doc, sym_expr, STR("hint")), &unused);
    if (!program_want_object(program, sym_expr) ||
        !program_want_string(program, json_get(program->doc, sym_expr, STR("expr_str"))) ||
        !want_hint(program, hint))
        return STR("");
    uint32_t id = intern(&program->exprs, text);
    if (id < program->printed.n)
        return program->printed.v[id];
    struct str printed = print_expression(program, text, json_text(program->doc, hint));
    if (id == INTERN_NONE || !vec_push(&program->printed, printed))
        program->failed = true;
    return printed;
}

/* Prints a SymInt, SymFloat or SymBool. */
static void put_sym(struct program_reader *program, json_id sym, struct buf *out)
{
    struct str key;
    json_id value = program_union(program->doc, sym, &key);
    if (str_is(key, "as_expr"))
        buf_put(out, expression_text(program, value));
    else if (json_kind_of(program->doc, value) == JSON_TRUE)
        buf_puts(out, "True");
    else if (json_kind_of(program->doc, value) == JSON_FALSE)
        buf_puts(out, "False");
    else if (str_is(key, "as_float") && program_want_number(program, value))
        buf_put(out, json_text(program->doc, value));
    else if (value != JSON_NONE && program_want_integer(program, value))
        buf_put(out, json_text(program->doc, value));
    else if (program_want_integer(program, sym)) /* the oldest archives have plain integers */
        buf_put(out, json_text(program->doc, sym));
}

/* Checks that a size, a stride or an offset is at least 0 and fits 64 bits, if it is a number. */
static bool check_extent(struct program_reader *program, json_id sym)
{
    struct str key, text;
    uint64_t number;
    json_id value = program_union(program->doc, sym, &key);
    if (str_is(key, "as_expr"))
        return true;
    text = json_text(program->doc, value == JSON_NONE ? sym : value);
    if (!program_want_integer(program, value == JSON_NONE ? sym : value))
        return false;
    return (str_to_u64(text, &number) && number <= INT64_MAX) ||
           program_refuse(program, "%.*s is not a size, stride or offset",
                          STR_ARG(str_first(text, 40)));
}

/* Checks that the number of elements of a tensor of these sizes fits 64 bits (PyTorch:
 * safe_multiplies_u64). */
static bool check_numel(struct program_reader *program, json_id sizes)
{
    const struct json *doc = program->doc;
    uint64_t numel = 1, size;
    bool fits = true;
    for (json_id s = json_first(doc, sizes); s != JSON_NONE; s = json_next(doc, s)) {
        struct str key;
        json_id value = program_union(doc, s, &key);
        if (!json_u64(doc, value == JSON_NONE ? s : value, &size))
            continue;
        if (size == 0)
            return true;
        fits = fits && !__builtin_mul_overflow(numel, size, &numel) && numel <= INT64_MAX;
    }
    return fits || program_refuse(program, "more than 2^63 elements");
}

static void put_sym_list(struct program_reader *program, json_id list, const char *what,
                         struct buf *out)
{
    enum { RANK_MOST = 64 }; /* MAX_DIMS of TensorIterator; PyTorch has no more dimensions */
    buf_putc(out, '[');
    json_id first = json_first(program->doc, list);
    bool good = program_want_list(program, list) &&
                (json_count(program->doc, list) <= RANK_MOST ||
                 program_refuse(program, "%zu dimensions, and at most %d are supported",
                                json_count(program->doc, list), RANK_MOST));
    for (json_id s = first; good && s != JSON_NONE; s = json_next(program->doc, s)) {
        if (s != first)
            buf_puts(out, ", ");
        good = check_extent(program, s);
        if (good)
            put_sym(program, s, out);
    }
    good = good && !program->failed;
    if (!good)
        program_refused_at(program, what, STR(""));
    buf_putc(out, ']');
}

/* ---- metas --------------------------------------------------------------------------------- */

void program_put_device(struct program_reader *program, json_id device, struct buf *out)
{
    const struct json *doc = program->doc;
    json_id index = json_get(doc, device, STR("index")), type = json_get(doc, device, STR("type"));
    size_t from = out->n;
    if (!program_want_object(program, device) || !program_want_string(program, type))
        return;
    json_decode(doc, type, out);
    if (json_kind_of(doc, index) != JSON_NULL && program_want_integer(program, index)) {
        buf_putc(out, ':');
        buf_put(out, json_text(doc, index));
    }
    struct str spelled = str_from(buf_str(out), from);
    if (out->failed || device_is_spelled(spelled))
        return;
    program_refuse(program, "not a device of PyTorch with an index of 0 to 127");
    program_refused_at(program, "device", spelled);
}

static void put_tensor_meta(struct program_reader *program, json_id meta, struct buf *out)
{
    enum { LAYOUT_STRIDED = 7 };
    const struct json *doc = program->doc;
    int64_t number = 0, layout = LAYOUT_STRIDED;
    if (program->failed || !program_want_object(program, meta) ||
        !program_want_integer(program, json_get(doc, meta, STR("dtype"))))
        return;
    json_i64(doc, json_get(doc, meta, STR("dtype")), &number);
    json_i64(doc, json_get(doc, meta, STR("layout")), &layout);
    enum dtype dtype = dtype_by_scalar_type(number);
    buf_puts(out, dtype == DTYPE_NONE ? "unknown" : dtype_short_name(dtype));
    put_sym_list(program, json_get(doc, meta, STR("sizes")), "sizes", out);
    if (layout == LAYOUT_STRIDED && !program->failed)
        put_sym_list(program, json_get(doc, meta, STR("strides")), "strides", out);
    json_id device = json_get(doc, meta, STR("device"));
    if (!program->failed && check_numel(program, json_get(doc, meta, STR("sizes"))) &&
        device != JSON_NONE)
        program_put_device(program, device, out);
}

static expr_id storage_offset(struct program_graph *g, json_id meta)
{
    struct program_reader *program = g->program;
    struct err ignored = { 0 };
    json_id offset = json_get(program->doc, meta, STR("storage_offset"));
    if (offset == JSON_NONE || program->failed)
        return EXPR_NONE;
    buf_clear(&program->scratch);
    if (check_extent(program, offset))
        put_sym(program, offset, &program->scratch);
    if (program->failed)
        program_refused_at(program, "storage_offset", STR(""));
    if (program->scratch.n == 0 || str_is(buf_str(&program->scratch), "0"))
        return EXPR_NONE;
    struct str text = program_copy(program, buf_str(&program->scratch));
    expr_id id = expr_parse(&program->tree.pool->exprs, text, &ignored);
    program->failed |= ignored.kind == ERR_ENV;
    return id;
}

static bool find_value(const struct program_graph *g, json_id name, struct program_value *ret)
{
    uint32_t id = intern_find(&g->value_names, json_text(g->program->doc, name));
    if (name == JSON_NONE || id == INTERN_NONE)
        return false;
    *ret = g->values.v[id];
    return true;
}

/* Prints a class: "__torch__.torch.classes.queues.Queue", "demo.make.<locals>.Queue". */
static void put_class(struct program_reader *program, json_id class_, struct buf *out)
{
    size_t from = out->n;
    if (!program_want_string(program, class_))
        return;
    json_decode(program->doc, class_, out);
    struct str rest = str_from(buf_str(out), from), whole = rest;
    for (size_t dot; rest.n; rest = str_from(rest, dot + 1)) {
        struct str part = str_first(rest, dot = str_find_char(rest, '.'));
        if (python_is_word(part) || str_is(part, "<locals>"))
            continue;
        program_refuse(program, "not the name of a class");
        program_refused_at(program, "class_fqn", whole);
        return;
    }
}

uint32_t program_meta(struct program_graph *g, json_id name, struct node_origin *origin)
{
    struct program_reader *program = g->program;
    const struct json *doc = program->doc;
    struct program_value value;
    if (!find_value(g, name, &value))
        return META_NONE;
    bool was_good = !program->failed;
    if (value.kind == VALUE_TENSOR) {
        json_id grad = json_get(doc, value.meta, STR("requires_grad"));
        origin->requires_grad = json_kind_of(doc, grad) == JSON_TRUE;
        origin->storage_offset = storage_offset(g, value.meta);
    }
    struct buf out = BUF_INIT;
    if (value.kind == VALUE_TENSOR) {
        put_tensor_meta(program, value.meta, &out);
    } else if (value.kind == VALUE_CUSTOM_OBJ) {
        put_class(program, json_get(doc, value.meta, STR("class_fqn")), &out);
    } else {
        buf_puts(&out, "Sym(");
        put_sym(program, value.meta, &out);
        buf_putc(&out, ')');
    }
    if (was_good && program->failed)
        program_refused_at(program, "value", json_text(doc, name));
    uint32_t meta = program->failed ? META_NONE : build_meta(&g->builder, buf_str(&out));
    program->failed |= out.failed;
    buf_release(&out);
    return meta;
}

bool program_read_values(struct program_graph *g, json_id graph)
{
    static const struct {
        const char *key;
        enum value_kind kind;
    } TABLES[] = {
        { "tensor_values", VALUE_TENSOR },         { "sym_int_values", VALUE_SYM_INT },
        { "sym_float_values", VALUE_SYM_FLOAT },   { "sym_bool_values", VALUE_SYM_BOOL },
        { "custom_obj_values", VALUE_CUSTOM_OBJ },
    };
    const struct json *doc = g->program->doc;
    for (size_t i = 0; i < sizeof TABLES / sizeof *TABLES; i++) {
        json_id table = json_get(doc, graph, str_of(TABLES[i].key));
        if (json_kind_of(doc, table) != JSON_OBJECT)
            continue;
        for (json_id key = json_first(doc, table); key != JSON_NONE;) {
            json_id meta = json_next(doc, key);
            uint32_t id = intern(&g->value_names, json_text(doc, key));
            struct program_value value = { TABLES[i].kind, meta };
            if (id == INTERN_NONE || (id == g->values.n && !vec_push(&g->values, value)))
                return err_nomem(g->program->err);
            key = json_next(doc, meta);
        }
    }
    return true;
}
