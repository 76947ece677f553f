#include "cmd/show/show_symbols.h"

#include <stdio.h>

#include "cmd/show/show.h"
#include "profile/model/format.h"

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

static const void *item_symbol(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct symbol_table *)items)->symbols[i];
}

static void specialization_json(struct show *show, const struct specialization *made,
                                struct json_writer *w, const char *key)
{
    const struct record *record = &show->trace->records[made->record];
    json_open_object(w, key);
    json_put_str(w, "value", made->value);
    json_put_str(w, "reason", made->reason);
    json_put_u64(w, "log_line", record->line);
    show_line_json(show, record->recording, made->user_stack);
    json_close(w);
}

static void json_specialized(const void *context, const void *at, struct json_writer *w,
                             const char *key)
{
    const struct show_row *row = context;
    const struct specialization *made = specialization_of(row->items, at);
    if (made)
        specialization_json(row->show, made, w, key);
    else
        json_put_null(w, key);
}

/* Prints "3 (reason)". */
static void cell_specialized(const void *context, const void *at, struct buf *out)
{
    const struct specialization *made =
        specialization_of(((const struct show_row *)context)->items, at);
    if (made) {
        format_text(out, made->value, 0);
        buf_puts(out, " (");
        format_text(out, made->reason, 0);
        buf_putc(out, ')');
    }
}

static const struct field SYMBOL[] = {
    SHOW_COMPILE(1),
    { "symbol", MEMBER(struct symbol, name), TEXT(2, "symbol", WORD, 0) },
    { "value", MEMBER(struct symbol, value), TEXT(3, "value", DIGITS, 0) },
    { "range", MEMBER(struct symbol, range), TEXT(4, "range", WORD, 2) },
    { "source", MEMBER(struct symbol, source), TEXT(6, "source", PATH, 1) },
    { "unbacked", MEMBER(struct symbol, unbacked) },
    { "specialized", .json = json_specialized, .cell = cell_specialized,
      TEXT(5, "specialized", TEXT, 0) },
    SHOW_LINE(7),
    SHOW_CODE(8, 3),
};
static const struct fields SYMBOL_FIELDS = FIELDS_OF(SYMBOL);

const struct show_view show_symbols = {
    .key = "symbols",
    .none = "no symbols",
    .fields = &SYMBOL_FIELDS,
    .load = load_symbols,
    .place = place_symbol,
    .item = item_symbol,
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

static const void *item_specialization(struct show *show, void *items, uint32_t i)
{
    (void)show;
    return &((const struct symbol_table *)items)->specializations[i];
}

static const struct field SPECIALIZATION[] = {
    SHOW_COMPILE(1),
    { "symbol", MEMBER(struct specialization, symbol), TEXT(2, "symbol", WORD, 0) },
    { "value", MEMBER(struct specialization, value), TEXT(3, "value", DIGITS, 0) },
    { "reason", MEMBER(struct specialization, reason), TEXT(4, "reason", TEXT, 2) },
    { "source", MEMBER(struct specialization, source), TEXT(5, "source", PATH, 1) },
    SHOW_LINE(6),
    SHOW_CODE(7, 3),
};
static const struct fields SPECIALIZATION_FIELDS = FIELDS_OF(SPECIALIZATION);

const struct show_view show_specializations = {
    .key = "specializations",
    .none = "no specializations",
    .fields = &SPECIALIZATION_FIELDS,
    .load = load_specializations,
    .place = place_specialization,
    .item = item_specialization,
};

/* Finds a symbol by name. No symbol's name is as long as a key may be. */

enum { KEY_MAX = 512 };

static void put_symbol_key(struct buf *key, uint32_t attempt, struct str name)
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
            continue; /* no guard of a log uses such a symbol */
        put_symbol_key(&key, s->attempt, s->name);
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

/* Finds a symbol without allocating: a failed allocation would look like a missing symbol. */
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
