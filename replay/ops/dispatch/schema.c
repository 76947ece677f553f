#include "replay/ops/dispatch/schema.h"
#include "replay/ops/layout/layout.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/buf.h"

/* The state of the parser: the text that is not parsed yet. */
struct schema_reader {
    struct str in;
    struct arena *arena;
    struct sym_pool *pool;
    struct err *err;
};

static void skip_spaces(struct schema_reader *r)
{
    while (r->in.n && *r->in.p == ' ')
        r->in = str_from(r->in, 1);
}

static bool accept_text(struct schema_reader *r, const char *what)
{
    skip_spaces(r);
    struct str text = str_of(what);
    if (!str_starts(r->in, text))
        return false;
    r->in = str_from(r->in, text.n);
    return true;
}

static struct str read_schema_word(struct schema_reader *r)
{
    skip_spaces(r);
    size_t n = 0;
    while (n < r->in.n && (is_word_char(r->in.p[n]) || r->in.p[n] == '.'))
        n++;
    struct str word = str_first(r->in, n);
    r->in = str_from(r->in, n);
    return word;
}

static bool bad(struct schema_reader *r, const char *what)
{
    return err_set(r->err, ERR_INPUT, "schema: %s expected at '%.*s'", what, STR_ARG(r->in));
}

static const struct type_name {
    const char *name;
    enum schema_type type;
} type_names[] = {
    { "Tensor", SCHEMA_TENSOR },   { "Scalar", SCHEMA_SCALAR },
    { "int", SCHEMA_INT },         { "SymInt", SCHEMA_SYMINT },
    { "float", SCHEMA_FLOAT },     { "SymFloat", SCHEMA_FLOAT },
    { "bool", SCHEMA_BOOL },       { "SymBool", SCHEMA_BOOL },
    { "str", SCHEMA_STRING },      { "ScalarType", SCHEMA_DTYPE },
    { "Layout", SCHEMA_LAYOUT },   { "Device", SCHEMA_DEVICE },
    { "complex", SCHEMA_COMPLEX }, { "MemoryFormat", SCHEMA_MEMORY_FORMAT },
};

static enum schema_type schema_type_named(struct str name)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (str_is(name, type_names[i].name))
            return type_names[i].type;
    return SCHEMA_ANY;
}

/* Parses "(a!)", "(a -> *)", "(b|a)", or nothing. */
static void read_alias(struct schema_reader *r, struct schema_slot *slot)
{
    if (!r->in.n || *r->in.p != '(')
        return;
    size_t end = str_find_char(r->in, ')');
    struct str inside = str_first(str_from(r->in, 1), end - 1);
    r->in = str_from(r->in, end + 1);
    slot->alias = inside.n ? inside.p[0] : 0;
    slot->written = str_find_char(inside, '!') < inside.n;
}

static bool take_type(struct schema_reader *r, struct schema_slot *slot);

/* Skips "Dict(str, Tensor)", "Future(t)", "(Tensor, t)", which are treated as Any. */
static bool skip_group(struct schema_reader *r)
{
    size_t depth = 0, i = 0;
    for (; i < r->in.n; i++) {
        depth += r->in.p[i] == '(';
        if (r->in.p[i] == ')' && --depth == 0)
            break;
    }
    if (i == r->in.n)
        return bad(r, "')'");
    r->in = str_from(r->in, i + 1);
    return true;
}

static bool is_generic_type(struct str name)
{
    return str_is(name, "Dict") || str_is(name, "Future") || str_is(name, "Await") ||
           str_is(name, "RRef");
}

static bool take_suffixes(struct schema_reader *r, struct schema_slot *slot)
{
    for (;;) {
        if (r->in.n && *r->in.p == '(') {
            read_alias(r, slot);
        } else if (r->in.n && *r->in.p == '?') {
            r->in = str_from(r->in, 1);
            slot->optional = true;
        } else if (r->in.n && *r->in.p == '[') {
            size_t end = str_find_char(r->in, ']');
            uint64_t length = 0;
            str_to_u64(str_first(str_from(r->in, 1), end ? end - 1 : 0), &length);
            if (end == r->in.n || length > 64)
                return bad(r, "a length");
            slot->optional_items |= slot->optional;
            slot->optional = false;
            slot->list = true;
            slot->length = (uint16_t)length;
            r->in = str_from(r->in, end + 1);
        } else {
            return true;
        }
    }
}

static bool take_type(struct schema_reader *r, struct schema_slot *slot)
{
    skip_spaces(r);
    if (r->in.n && *r->in.p == '(') {
        slot->type = SCHEMA_ANY;
        slot->type_text = STR("Any");
        return skip_group(r) && take_suffixes(r, slot);
    }
    slot->type_text = read_schema_word(r);
    slot->type = schema_type_named(slot->type_text);
    if (!slot->type_text.n)
        return bad(r, "a type");
    if (is_generic_type(slot->type_text) && r->in.n && *r->in.p == '(' && !skip_group(r))
        return false;
    return take_suffixes(r, slot);
}

/* --- Default values --- */

static bool read_number_value(struct schema_reader *r, struct str text, enum schema_type type,
                              struct value *ret)
{
    int64_t integer;
    char digits[64];
    if (!text.n || text.n >= sizeof digits)
        return bad(r, "a value");
    memcpy(digits, text.p, text.n);
    digits[text.n] = 0;
    bool whole = str_to_i64(text, &integer);
    char *end;
    double number = strtod(digits, &end);
    if (!whole && *end)
        return bad(r, "a value");
    if (whole && type == SCHEMA_DTYPE)
        *ret = (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype_of_c10(integer) };
    else if (whole && type == SCHEMA_LAYOUT)
        *ret = (struct value){ .kind = VALUE_LAYOUT, .u.layout = LAYOUT_STRIDED };
    else if (whole && type == SCHEMA_MEMORY_FORMAT)
        *ret = (struct value){ .kind = VALUE_MEMORY_FORMAT,
                               .u.memory_format = (enum memory_format)(integer & 3) };
    else if (whole && type != SCHEMA_FLOAT)
        *ret = value_int(sym_integer(r->pool, integer));
    else
        *ret = value_sym(VALUE_FLOAT, sym_float(r->pool, number));
    return !value_is_number(*ret) || ret->u.sym != SYM_NONE || sym_ok(r->pool, r->err);
}

static bool read_quoted_text(struct schema_reader *r, struct value *ret)
{
    size_t end = 1;
    while (end < r->in.n && r->in.p[end] != *r->in.p)
        end += r->in.p[end] == '\\' ? 2 : 1;
    if (end >= r->in.n)
        return bad(r, "'\"'");
    *ret = (struct value){ .kind = VALUE_STRING, .u.text = str_first(str_from(r->in, 1), end - 1) };
    r->in = str_from(r->in, end + 1);
    return true;
}

static struct str read_number_text(struct schema_reader *r)
{
    size_t n = 0;
    while (n < r->in.n && r->in.p[n] != ',' && r->in.p[n] != ']' && r->in.p[n] != ')')
        n++;
    struct str text = str_first(r->in, n);
    r->in = str_from(r->in, n);
    return str_trim(text);
}

static bool take_list(struct schema_reader *r, enum schema_type type, struct value *ret)
{
    struct value items[SCHEMA_MAX_SLOTS];
    uint32_t n = 0;
    while (!accept_text(r, "]")) {
        accept_text(r, ",");
        skip_spaces(r);
        if (n == SCHEMA_MAX_SLOTS || !read_number_value(r, read_number_text(r), type, &items[n]))
            return bad(r, "']'");
        n++;
    }
    struct value *copy = arena_array(r->arena, struct value, n ? n : 1);
    if (!copy)
        return err_nomem(r->err);
    memcpy(copy, items, n * sizeof *items);
    *ret = value_items(VALUE_LIST, copy, n);
    return true;
}

/* Repeats a default value: "int[2] padding=0" means [0, 0]. */
static bool repeat_default(struct schema_reader *r, struct schema_slot *slot)
{
    uint32_t n = slot->length ? slot->length : 1;
    struct value *items = arena_array(r->arena, struct value, n);
    if (!items)
        return err_nomem(r->err);
    for (uint32_t i = 0; i < n; i++)
        items[i] = slot->default_value;
    slot->default_value = value_items(VALUE_LIST, items, n);
    return true;
}

static bool take_default(struct schema_reader *r, struct schema_slot *slot)
{
    slot->has_default = true;
    skip_spaces(r);
    if (accept_text(r, "None"))
        return true;
    bool yes = accept_text(r, "True");
    if (yes || accept_text(r, "False")) {
        slot->default_value = value_sym(VALUE_BOOL, sym_boolean(yes));
        return true;
    }
    if (r->in.n && (*r->in.p == '"' || *r->in.p == '\''))
        return read_quoted_text(r, &slot->default_value);
    if (accept_text(r, "["))
        return take_list(r, slot->type, &slot->default_value);
    return read_number_value(r, read_number_text(r), slot->type, &slot->default_value) &&
           (!slot->list || repeat_default(r, slot));
}

/* --- Schemas --- */

static bool is_schema_identifier(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!is_word_char(name.p[i]))
            return false;
    return true;
}

bool schema_parse_name(struct str text, struct schema *ret)
{
    size_t paren = str_find_char(text, '('), colon = str_find(text, STR("::"));
    if (paren == text.n || colon > paren)
        return false;
    struct str name = str_first(str_from(text, colon + 2), paren - colon - 2);
    size_t dot = str_find_char(name, '.');
    ret->text = text;
    ret->space = str_first(text, colon);
    ret->base = str_first(name, dot);
    ret->overload = str_from(name, dot + 1);
    if (str_is(ret->overload, "default"))
        ret->overload.n = 0;
    return ret->space.n && ret->base.n && is_schema_identifier(ret->space) &&
           is_schema_identifier(ret->base) && is_schema_identifier(ret->overload);
}

/* --- Forms that write their results --- */

/* Counts the types in "Tensor", "Tensor[]" or "(Tensor values, Tensor indices)". */
static uint32_t count_results(struct str results)
{
    uint32_t n = 1;
    for (size_t i = 0; i < results.n; i++)
        n += results.p[i] == ',';
    return n;
}

/* Prints "out", "out0", or the I-th of "(a,b)". */
static void put_out_name(struct buf *out, struct str names, uint32_t i, uint32_t n)
{
    if (!names.n) {
        buf_puts(out, "out");
        if (n > 1)
            buf_printf(out, "%u", i);
        return;
    }
    names = str_first(str_from(names, 1), names.n - 2);
    for (; i; i--)
        names = str_from(names, str_find_char(names, ',') + 1);
    buf_put(out, str_first(names, str_find_char(names, ',')));
}

/* Prints each type of the results as one that is written: "Tensor(a!) values". */
static void put_written_results(struct buf *out, struct str results)
{
    char alias = 'a';
    for (size_t i = 0; i < results.n; i++) {
        buf_putc(out, results.p[i]);
        if (str_starts(str_from(results, i), STR("Tensor"))) {
            buf_printf(out, "ensor(%c!)", alias++);
            i += strlen("Tensor") - 1;
        }
    }
}

/* Prints "aten::add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)"; a list of tensors returns
 * "()". */
static void put_out_form(struct buf *out, struct str args, struct str results, struct str form)
{
    size_t bracket = str_find_char(form, '(');
    struct str names = str_from(form, bracket);
    bool list = str_is(results, "Tensor[]");
    uint32_t n = count_results(results);
    buf_put(out, str_first(form, bracket));
    buf_put(out, args);
    if (str_find(args, STR("*, ")) == args.n)
        buf_puts(out, ", *");
    for (uint32_t i = 0; i < n; i++) {
        buf_printf(out, ", Tensor(%c!)%s ", (char)('a' + i), list ? "[]" : "");
        put_out_name(out, names, i, n);
    }
    buf_puts(out, ") -> ");
    if (list)
        buf_puts(out, "()");
    else
        put_written_results(out, results);
}

/* Prints "aten::add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)". */
static void put_inplace_form(struct buf *out, struct str overload, struct str args,
                             struct str results)
{
    size_t alias = strlen("(Tensor");
    buf_putc(out, '_');
    buf_put(out, overload);
    buf_put(out, str_first(args, alias));
    buf_puts(out, "(a!)");
    args = str_from(args, alias);
    buf_put(out, str_starts(args, STR("(a)")) ? str_from(args, strlen("(a)")) : args);
    buf_puts(out, str_is(results, "Tensor[]") ? ") -> ()" : ") -> Tensor(a!)");
}

bool schema_derive(struct str functional, struct str form, struct arena *arena, struct str *ret)
{
    *ret = functional;
    if (!form.n)
        return true;
    struct buf text = { 0 };
    size_t bracket = str_find_char(functional, '('), end = str_find(functional, STR(") -> "));
    struct str name = str_first(functional, bracket);
    struct str args = str_from(str_first(functional, end), bracket);
    struct str results = str_from(functional, end + strlen(") -> "));
    size_t dot = str_find_char(name, '.');
    buf_put(&text, str_first(name, dot));
    if (*form.p == '_')
        put_inplace_form(&text, str_from(name, dot), args, results);
    else
        put_out_form(&text, args, results, form);
    char *copy = text.failed ? NULL : arena_bytes(arena, text.n + 1);
    if (copy)
        memcpy(copy, text.p, text.n);
    *ret = (struct str){ copy, copy ? text.n : 0 };
    buf_release(&text);
    return copy != NULL;
}

bool schema_returns_alias(struct str functional, struct str form)
{
    struct str results = str_from(functional, str_find(functional, STR(") -> ")));
    bool list = str_find(results, STR("[]")) < results.n;
    return (form.n && !list) || str_find(results, STR("Tensor(")) < results.n;
}

static bool take_args(struct schema_reader *r, struct schema_slot *slots, struct schema *ret)
{
    bool keyword_only = false;
    uint32_t n = 0;
    while (!accept_text(r, ")")) {
        if (n && !accept_text(r, ","))
            return bad(r, "','");
        if (accept_text(r, "...")) {
            ret->any_arity = true;
            continue;
        }
        if (accept_text(r, "*")) {
            keyword_only = true;
            if (!accept_text(r, ","))
                return bad(r, "','");
        }
        if (n == SCHEMA_MAX_SLOTS)
            return bad(r, "fewer arguments");
        slots[n] = (struct schema_slot){ .keyword_only = keyword_only };
        if (!take_type(r, &slots[n]))
            return false;
        slots[n].name = read_schema_word(r);
        if (!slots[n].name.n)
            return bad(r, "a name");
        if (accept_text(r, "=") && !take_default(r, &slots[n]))
            return false;
        ret->n_positional += !keyword_only;
        n++;
    }
    ret->n_args = n;
    return true;
}

static bool read_results(struct schema_reader *r, struct schema_slot *slots, struct schema *ret)
{
    uint32_t n = 0;
    bool several = accept_text(r, "(");
    if (several && accept_text(r, ")"))
        return true;
    do {
        if (accept_text(r, "..."))
            continue;
        if (n == SCHEMA_MAX_SLOTS)
            return bad(r, "fewer results");
        slots[n] = (struct schema_slot){ 0 };
        if (!take_type(r, &slots[n]))
            return false;
        slots[n++].name = read_schema_word(r);
    } while (several && accept_text(r, ","));
    ret->n_results = n;
    return !several || accept_text(r, ")") || bad(r, "')'");
}

static const struct schema_slot *copy_slots(struct arena *arena, const struct schema_slot *slots,
                                            uint32_t n)
{
    struct schema_slot *copy = arena_array(arena, struct schema_slot, n ? n : 1);
    if (copy)
        memcpy(copy, slots, n * sizeof *slots);
    return copy;
}

bool schema_parse(struct str text, struct arena *arena, struct sym_pool *pool, struct schema *ret,
                  struct err *err)
{
    *ret = (struct schema){ 0 };
    struct schema_slot slots[SCHEMA_MAX_SLOTS];
    struct schema_reader r = { .arena = arena, .pool = pool, .err = err };
    if (!schema_parse_name(text, ret))
        return err_set(err, ERR_INPUT, "schema: not a name: '%.*s'", STR_ARG(text));
    r.in = str_from(text, str_find_char(text, '(') + 1);
    if (!take_args(&r, slots, ret))
        return false;
    ret->args = copy_slots(arena, slots, ret->n_args);
    if (!accept_text(&r, "->"))
        return bad(&r, "'->'");
    if (!ret->args || !read_results(&r, slots, ret))
        return ret->args ? false : err_nomem(err);
    ret->results = copy_slots(arena, slots, ret->n_results);
    return ret->results || err_nomem(err);
}
