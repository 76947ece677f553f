#include "trace/events/guards.h"

#include "cmd/show/show.h"
#include "cmd/show/show_symbols.h"

struct guard_items {
    const struct guard_list *list;
    struct symbol_index symbols;
};

static void release(void *items)
{
    struct guard_items *guards = items;
    symbol_index_release(&guards->symbols);
    free(guards);
}

static bool load(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    struct guard_items *guards = calloc(1, sizeof *guards);
    if (!guards)
        return err_nomem(err);
    guards->list = trace_guards(show->trace, err);
    if (!guards->list || !symbol_index_init(&guards->symbols, show->trace, err)) {
        release(guards);
        return false;
    }
    *ret = guards;
    *ret_n = guards->list->n;
    return true;
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct guard *guard = &((const struct guard_items *)items)->list->guards[i];
    return (
        struct show_place){ guard->record, guard->attempt, guard->user_stack, guard->stack, { 0 } };
}

/* Handed to guard_symbols(): the guard at hand, and where its symbols go. */
struct each_symbol {
    struct show *show;
    const struct guard_items *guards;
    const struct guard *guard;
    struct buf *values; /* for the table; NULL when writing JSON */
};

/* "s97=2", "s97=2!" once it was specialized. */
static void symbol_value(void *user, struct str name)
{
    struct each_symbol *each = user;
    const struct symbol *symbol =
        symbol_index_find(&each->guards->symbols, each->guard->attempt, name);
    struct str status =
        symbol ? symbol_status(each->guards->symbols.table, symbol) : (struct str){ 0 };
    struct str value = symbol && symbol->value.n ? symbol->value : STR("?");
    buf_printf(each->values, "%s%.*s=%.*s%s", each->values->n ? " " : "", STR_ARG(name),
               STR_ARG(value), status.n ? "!" : "");
}

static void symbol_object(void *user, struct str name)
{
    struct each_symbol *each = user;
    struct json_writer *w = &each->show->w;
    const struct symbol *symbol =
        symbol_index_find(&each->guards->symbols, each->guard->attempt, name);
    json_open_object(w, NULL);
    json_put_str(w, "symbol", name);
    json_put_str(w, "value", symbol ? symbol->value : (struct str){ 0 });
    json_put_str(w, "source", symbol ? symbol->source : (struct str){ 0 });
    if (symbol && symbol->specialization != TRACE_NONE) {
        const struct specialization *made =
            &each->guards->symbols.table->specializations[symbol->specialization];
        json_open_object(w, "specialized");
        json_put_str(w, "value", made->value);
        json_put_str(w, "reason", made->reason);
        json_put_u64(w, "log_line", each->show->trace->records[made->record].line);
        json_close(w);
    } else {
        json_put_null(w, "specialized");
    }
    json_close(w);
}

static void row(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct guard_items *guards = items;
    const struct guard *guard = &guards->list->guards[i];
    struct buf values = BUF_INIT;
    struct each_symbol each = { show, guards, guard, &values };
    guard_symbols(guard->expr, symbol_value, &each);
    show_cell_compile(show, place(show, items, i), table);
    table_text(table, str_of(guard_kind_name(guard->kind)));
    table_text(table, str_of(guard_class_name(guard->asked_by)));
    table_text(table, guard->expr);
    if (values.failed)
        table->text.failed = true;
    table_text(table, buf_str(&values));
    buf_release(&values);
    show_cells_line(show, place(show, items, i), table);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    const struct guard_items *guards = items;
    const struct guard *guard = &guards->list->guards[i];
    struct each_symbol each = { show, guards, guard, NULL };
    struct json_writer *w = &show->w;
    json_put_str(w, "expr", guard->expr);
    json_put_cstr(w, "kind", guard_kind_name(guard->kind));
    json_put_cstr(w, "class", guard_class_name(guard->asked_by));
    json_open_array(w, "symbols");
    guard_symbols(guard->expr, symbol_object, &each);
    json_close(w);
    place_json(show->trace, show->trace->records[guard->record].recording, guard->asker, w,
               "asked_at");
}

static const struct column columns[] = {
    { "compile", COLUMN_LEFT }, { "kind", COLUMN_LEFT, 1 },   { "asked by", COLUMN_LEFT, 2 },
    { "guard", COLUMN_WIDE },   { "values", COLUMN_WIDE, 3 }, { "user line", COLUMN_PATH },
    { "code", COLUMN_WIDE, 4 },
};

const struct show_view show_guards = {
    .key = "guards",
    .none = "no guards",
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .load = load,
    .release = release,
    .place = place,
    .row = row,
    .json = json,
};
