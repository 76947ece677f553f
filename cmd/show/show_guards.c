#include "trace/events/guards.h"

#include "cmd/show/show.h"
#include "cmd/show/show_symbols.h"
#include "profile/model/format.h"

struct guard_items {
    const struct guard_list *list;
    struct symbol_index symbols;
};

static void release_guards(void *items)
{
    struct guard_items *guards = items;
    symbol_index_release(&guards->symbols);
    free(guards);
}

static bool load_guard_rows(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct guard_items *guards = calloc(1, sizeof *guards);
    if (!guards)
        return err_nomem(err);
    guards->list = trace_guards(show->trace, err);
    if (!guards->list || !symbol_index_init(&guards->symbols, show->trace, err)) {
        release_guards(guards);
        return false;
    }
    *ret = guards;
    *ret_n = guards->list->n;
    return true;
}

static struct show_place place_guard(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct guard *guard = &((const struct guard_items *)items)->list->guards[i];
    return (
        struct show_place){ guard->record, guard->attempt, guard->user_stack, guard->stack, { 0 } };
}

static const void *guard_item(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct guard_items *)items)->list->guards[i];
}

/* The argument of guard_symbols()'s callback: the current guard, and the buffer for its symbols. */
struct each_symbol {
    const struct show_row *row;
    const struct guard *guard;
    struct buf *values; /* of text */
    struct json_writer *w;
};

static const struct guard_items *guard_items_of(const struct each_symbol *each)
{
    return each->row->items;
}

static const struct symbol *symbol_in_guard(const struct each_symbol *each, struct str name)
{
    return symbol_index_find(&guard_items_of(each)->symbols, each->guard->attempt, name);
}

/* Prints "s97=2", or "s97=2!" if the symbol was specialized. */
static void put_symbol_value(void *user, struct str name)
{
    struct each_symbol *each = user;
    const struct symbol *symbol = symbol_in_guard(each, name);
    struct str status =
        symbol ? symbol_status(guard_items_of(each)->symbols.table, symbol) : (struct str){ 0 };
    struct str value = symbol && symbol->value.n ? symbol->value : STR("?");
    buf_printf(each->values, "%s%.*s=%.*s%s", each->values->n ? " " : "", STR_ARG(name),
               STR_ARG(value), status.n ? "!" : "");
}

static void cell_symbol_values(const void *context, const void *at, struct buf *out)
{
    struct buf values = BUF_INIT;
    struct each_symbol each = { .row = context, .guard = at, .values = &values };
    guard_symbols(each.guard->expr, put_symbol_value, &each);
    format_text(out, buf_str(&values), 0);
    out->failed |= values.failed;
    buf_release(&values);
}

static void symbol_object(void *user, struct str name)
{
    struct each_symbol *each = user;
    struct json_writer *w = each->w;
    const struct symbol *symbol = symbol_in_guard(each, name);
    json_open_object(w, NULL);
    json_put_str(w, "symbol", name);
    json_put_str(w, "value", symbol ? symbol->value : (struct str){ 0 });
    json_put_str(w, "source", symbol ? symbol->source : (struct str){ 0 });
    if (symbol && symbol->specialization != TRACE_NONE) {
        const struct specialization *made =
            &guard_items_of(each)->symbols.table->specializations[symbol->specialization];
        json_open_object(w, "specialized");
        json_put_str(w, "value", made->value);
        json_put_str(w, "reason", made->reason);
        json_put_u64(w, "log_line", each->row->show->trace->records[made->record].line);
        json_close(w);
    } else {
        json_put_null(w, "specialized");
    }
    json_close(w);
}

static void json_symbols(const void *context, const void *at, struct json_writer *w,
                         const char *key)
{
    struct each_symbol each = { .row = context, .guard = at, .w = w };
    json_open_array(w, key);
    guard_symbols(each.guard->expr, symbol_object, &each);
    json_close(w);
}

static void json_guard_asker(const void *context, const void *at, struct json_writer *w,
                             const char *key)
{
    const struct trace *trace = ((const struct show_row *)context)->show->trace;
    const struct guard *guard = at;
    place_json(trace, trace->records[guard->record].recording, guard->asker, w, key);
}

GETTER(get_kind, enum guard_kind, datum_name(guard_kind_name(*row)))
GETTER(get_class, enum guard_class, datum_name(guard_class_name(*row)))

static const struct field GUARD[] = {
    SHOW_COMPILE(1),
    { "expr", MEMBER(struct guard, expr), TEXT(4, "guard", TEXT, 0) },
    { "kind", GET(get_kind, struct guard, kind), TEXT(2, "kind", WORD, 1) },
    { "class", GET(get_class, struct guard, asked_by), TEXT(3, "asked by", WORD, 2) },
    { "symbols", .json = json_symbols, .cell = cell_symbol_values, TEXT(5, "values", TEXT, 3) },
    { "asked_at", .json = json_guard_asker },
    SHOW_LINE(6),
    SHOW_CODE(7, 4),
};
static const struct fields GUARD_FIELDS = FIELDS_OF(GUARD);

const struct show_view show_guards = {
    .key = "guards",
    .none = "no guards",
    .fields = &GUARD_FIELDS,
    .load = load_guard_rows,
    .release = release_guards,
    .place = place_guard,
    .item = guard_item,
};
