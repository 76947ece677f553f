#include "cmd/show/show_symbols.h"

#include <stdio.h>

#include "cmd/show/show.h"

/* --symbols */

static bool load_symbols(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct symbol_table *table = trace_symbols(show->trace, err);
    if (!table)
        return false;
    if (table->n_unreadable)
        out_note(show->out, "symbols: programs that cannot be read: %u",
                 (unsigned)table->n_unreadable);
    *ret = (void *)(uintptr_t)table;
    *ret_n = table->n_symbols;
    return true;
}

static struct show_place place_symbol(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct symbol *s = &((const struct symbol_table *)items)->symbols[i];
    return (struct show_place){ s->record, s->attempt, s->user_stack, s->stack, { 0 } };
}

static const struct specialization *specialization_of(const struct symbol_table *table,
                                                      const struct symbol *symbol)
{
    return symbol->specialization == TRACE_NONE ? NULL
                                                : &table->specializations[symbol->specialization];
}

struct str symbol_status(const struct symbol_table *table, const struct symbol *symbol)
{
    const struct specialization *made = specialization_of(table, symbol);
    return made ? made->value : (struct str){ 0 };
}

static void row_symbol(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct symbol_table *symbols = items;
    const struct symbol *s = &symbols->symbols[i];
    const struct specialization *made = specialization_of(symbols, s);
    struct show_place place = place_symbol(show, items, i);
    show_cell_compile(show, place, table);
    table_text(table, s->name);
    table_text(table, s->value);
    table_text(table, s->range);
    if (made)
        table_printf(table, "%.*s (%.*s)", STR_ARG(made->value), STR_ARG(made->reason));
    else
        table_text(table, STR("-"));
    table_text(table, s->source);
    show_cells_line(show, place, table);
}

static void specialization_json(struct show *show, const struct specialization *made,
                                struct json_writer *w)
{
    const struct record *record = &show->trace->records[made->record];
    json_open_object(w, "specialized");
    json_put_str(w, "value", made->value);
    json_put_str(w, "reason", made->reason);
    json_put_u64(w, "log_line", record->line);
    show_line_json(show, record->recording, made->user_stack);
    json_close(w);
}

static void json_symbol(struct show *show, const void *items, uint32_t i)
{
    const struct symbol_table *symbols = items;
    const struct symbol *s = &symbols->symbols[i];
    const struct specialization *made = specialization_of(symbols, s);
    struct json_writer *w = &show->w;
    json_put_str(w, "symbol", s->name);
    json_put_str(w, "value", s->value);
    json_put_str(w, "range", s->range);
    json_put_str(w, "source", s->source);
    json_put_bool(w, "unbacked", s->unbacked);
    if (made)
        specialization_json(show, made, w);
    else
        json_put_null(w, "specialized");
}

static const struct column symbol_columns[] = {
    { "compile", COLUMN_LEFT },   { "symbol", COLUMN_LEFT },      { "value", COLUMN_RIGHT },
    { "range", COLUMN_LEFT, 2 },  { "specialized", COLUMN_WIDE }, { "source", COLUMN_PATH, 1 },
    { "user line", COLUMN_PATH }, { "code", COLUMN_WIDE, 3 },
};

const struct show_view show_symbols = {
    .key = "symbols",
    .none = "no symbols",
    .columns = symbol_columns,
    .n_columns = sizeof symbol_columns / sizeof symbol_columns[0],
    .load = load_symbols,
    .place = place_symbol,
    .row = row_symbol,
    .json = json_symbol,
};

/* --specializations */

static bool load_specializations(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct symbol_table *table = trace_symbols(show->trace, err);
    if (!table)
        return false;
    *ret = (void *)(uintptr_t)table;
    *ret_n = table->n_specializations;
    return true;
}

static struct show_place place_specialization(const struct show *show, const void *items,
                                              uint32_t i)
{
    (void)show;
    const struct specialization *s = &((const struct symbol_table *)items)->specializations[i];
    return (struct show_place){ s->record, s->attempt, s->user_stack, s->stack, { 0 } };
}

static void row_specialization(struct show *show, const void *items, uint32_t i,
                               struct table *table)
{
    const struct specialization *s = &((const struct symbol_table *)items)->specializations[i];
    struct show_place place = place_specialization(show, items, i);
    show_cell_compile(show, place, table);
    table_text(table, s->symbol);
    table_text(table, s->value);
    table_text(table, s->reason);
    table_text(table, s->source);
    show_cells_line(show, place, table);
}

static void json_specialization(struct show *show, const void *items, uint32_t i)
{
    const struct specialization *s = &((const struct symbol_table *)items)->specializations[i];
    json_put_str(&show->w, "symbol", s->symbol);
    json_put_str(&show->w, "value", s->value);
    json_put_str(&show->w, "reason", s->reason);
    json_put_str(&show->w, "source", s->source);
}

static const struct column specialization_columns[] = {
    { "compile", COLUMN_LEFT },   { "symbol", COLUMN_LEFT },    { "value", COLUMN_RIGHT },
    { "reason", COLUMN_WIDE, 2 }, { "source", COLUMN_PATH, 1 }, { "user line", COLUMN_PATH },
    { "code", COLUMN_WIDE, 3 },
};

const struct show_view show_specializations = {
    .key = "specializations",
    .none = "no specializations",
    .columns = specialization_columns,
    .n_columns = sizeof specialization_columns / sizeof specialization_columns[0],
    .load = load_specializations,
    .place = place_specialization,
    .row = row_specialization,
    .json = json_specialization,
};

/* By name. No symbol's name is as long as a key may be. */

enum { KEY_MAX = 512 };

static void key_of(struct buf *key, uint32_t attempt, struct str name)
{
    buf_clear(key);
    buf_printf(key, "%u ", (unsigned)attempt);
    buf_put(key, name);
}

bool symbol_index_init(struct symbol_index *index, struct trace *trace, struct err *err)
{
    struct buf key = BUF_INIT;
    bool ok = true;
    *index = (struct symbol_index){ .table = trace_symbols(trace, err) };
    for (uint32_t i = 0; index->table && ok && i < index->table->n_symbols; i++) {
        const struct symbol *s = &index->table->symbols[i];
        if (trace->records[s->record].event == EVENT_PT2_MEMBER)
            continue; /* no log's guards are about it */
        key_of(&key, s->attempt, s->name);
        uint32_t id = key.failed ? INTERN_NONE : intern(&index->keys, buf_str(&key));
        ok = id != INTERN_NONE && (id < index->symbols.n || vec_push(&index->symbols, i));
    }
    buf_release(&key);
    if (!ok)
        err_nomem(err);
    return ok && index->table;
}

void symbol_index_release(struct symbol_index *index)
{
    intern_release(&index->keys);
    vec_release(&index->symbols);
}

/* Without an allocation, which could fail and look like a symbol that is not there. */
const struct symbol *symbol_index_find(const struct symbol_index *index, uint32_t attempt,
                                       struct str name)
{
    char key[KEY_MAX];
    int n = snprintf(key, sizeof key, "%u %.*s", (unsigned)attempt,
                     (int)(name.n < KEY_MAX ? name.n : KEY_MAX), name.p);
    uint32_t id = INTERN_NONE;
    if (n > 0 && n < KEY_MAX)
        id = intern_find(&index->keys, (struct str){ key, (size_t)n });
    return id == INTERN_NONE ? NULL : &index->table->symbols[index->symbols.v[id]];
}
