#include "trace/events/symbols.h"

#include "trace/base/hash.h"
#include "trace/base/hash_index.h"
#include "trace/events/symbols_exported.h"
#include "trace/tables.h"

struct symbol_builder {
    struct trace *trace;
    struct json doc;
    struct symbol *symbols;
    struct specialization *specializations;
    uint32_t n_symbols, n_specializations, n_unreadable;
    const struct graph_list *graphs; /* NULL when no recording is an archive */
};

/* Returns a decoded string member; "" when absent or null. Numbers are copied as they are
 * written. */
static bool take_member_text(struct symbol_builder *b, const char *key, struct str *ret)
{
    json_id id = json_get(&b->doc, JSON_ROOT, str_of(key));
    enum json_kind kind = json_kind_of(&b->doc, id);
    *ret = kind == JSON_STRING   ? json_decoded(&b->doc, id, &b->trace->tables->arena)
           : kind == JSON_NUMBER ? json_text(&b->doc, id)
                                 : STR("");
    return ret->p != NULL;
}

static bool add_logged_symbol(struct symbol_builder *b, uint32_t record)
{
    struct symbol *s = &b->symbols[b->n_symbols++];
    *s = (struct symbol){ .record = record,
                          .attempt = b->trace->records[record].attempt,
                          .specialization = TRACE_NONE };
    s->unbacked = b->trace->records[record].event == EVENT_CREATE_UNBACKED_SYMBOL;
    s->user_stack = record_stack(b->trace, &b->doc, STR("user_stack"));
    s->stack = record_stack(b->trace, &b->doc, STR("stack"));
    return take_member_text(b, "symbol", &s->name) && take_member_text(b, "val", &s->value) &&
           take_member_text(b, "vr", &s->range) && take_member_text(b, "source", &s->source);
}

static bool add_specialization_row(struct symbol_builder *b, uint32_t record)
{
    struct specialization *s = &b->specializations[b->n_specializations++];
    json_id sources = json_get(&b->doc, JSON_ROOT, STR("sources"));
    *s = (struct specialization){ .record = record, .attempt = b->trace->records[record].attempt };
    s->user_stack = record_stack(b->trace, &b->doc, STR("user_stack"));
    s->stack = record_stack(b->trace, &b->doc, STR("stack"));
    s->source = json_decoded(&b->doc, json_first(&b->doc, sources), &b->trace->tables->arena);
    return s->source.p && take_member_text(b, "symbol", &s->symbol) &&
           take_member_text(b, "value", &s->value) && take_member_text(b, "reason", &s->reason);
}

static bool is_symbol_event(enum event event)
{
    return event == EVENT_CREATE_SYMBOL || event == EVENT_CREATE_UNBACKED_SYMBOL;
}

static bool read_logged_symbols(struct symbol_builder *b, struct err *err)
{
    for (uint32_t i = 0; i < b->trace->n_records; i++) {
        enum event event = b->trace->records[i].event;
        bool readable;
        if (!is_symbol_event(event) && event != EVENT_SYMBOLIC_SHAPE_SPECIALIZATION)
            continue;
        if (!record_try_json(b->trace, i, &b->doc, &readable, err))
            return false;
        if (!readable)
            continue;
        if (!(is_symbol_event(event) ? add_logged_symbol(b, i) : add_specialization_row(b, i)))
            return err_nomem(err);
    }
    return true;
}

/* ---- programs ------------------------------------------------------------------------------ */

/* Lists the programs of archives. The graphs of logs are not listed, because that would read the
 * name of every artifact. */
static bool list_programs(struct symbol_builder *b, struct err *err)
{
    for (uint32_t i = 0; i < b->trace->n_recordings && !b->graphs; i++)
        if (b->trace->recordings[i].kind == RECORDING_PT2) {
            b->graphs = trace_graphs(b->trace, err);
            return b->graphs != NULL;
        }
    return true;
}

/* Sets *ret to the graph of a .pt2, and to NULL for others and for unreadable ones. */
static bool read_archive_program(struct symbol_builder *b, uint32_t ref, const struct graph **ret,
                                 struct err *err)
{
    struct err why = { 0 };
    *ret = NULL;
    if (b->trace->records[b->graphs->refs[ref].record].event != EVENT_PT2_MEMBER)
        return true;
    *ret = trace_graph(b->trace, ref, &why);
    return why.kind != ERR_ENV || (*err = why, false);
}

static bool bound_programs(struct symbol_builder *b, size_t *n, struct err *err)
{
    const struct graph *program;
    for (uint32_t i = 0; b->graphs && i < b->graphs->n; i++) {
        if (!read_archive_program(b, i, &program, err))
            return false;
        *n += program ? exported_symbols_bound(program) : 0;
    }
    return true;
}

static bool add_programs(struct symbol_builder *b, struct err *err)
{
    const struct graph *program;
    for (uint32_t i = 0; b->graphs && i < b->graphs->n; i++) {
        uint32_t n, record = b->graphs->refs[i].record;
        if (!read_archive_program(b, i, &program, err))
            return false;
        if (!program) {
            b->n_unreadable += b->trace->records[record].event == EVENT_PT2_MEMBER;
            continue;
        }
        if (!exported_symbols(program, record, &b->trace->tables->arena, &b->symbols[b->n_symbols],
                              &n, err))
            return false;
        b->n_symbols += n;
    }
    return true;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static bool allocate_symbols(struct symbol_builder *b, struct err *err)
{
    size_t symbols = 1, specializations = 1;
    if (!list_programs(b, err) || !bound_programs(b, &symbols, err))
        return false;
    for (uint32_t i = 0; i < b->trace->n_records; i++) {
        symbols += is_symbol_event(b->trace->records[i].event);
        specializations += b->trace->records[i].event == EVENT_SYMBOLIC_SHAPE_SPECIALIZATION;
    }
    struct arena *arena = &b->trace->tables->arena;
    b->symbols = arena_array(arena, struct symbol, symbols);
    b->specializations = arena_array(arena, struct specialization, specializations);
    return (b->symbols && b->specializations) || err_nomem(err);
}

static uint32_t specialization_hash(struct str name, uint32_t attempt)
{
    return (uint32_t)hash_mix(hash_str(name), attempt);
}

/* Returns the first specialization of `name` in `attempt`, or UINT32_MAX. */
static uint32_t find_specialization(const struct symbol_builder *b, const struct hash_index *index,
                                    struct str name, uint32_t attempt)
{
    uint32_t hash = specialization_hash(name, attempt), i;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, &i);)
        if (b->specializations[i].attempt == attempt && str_eq(b->specializations[i].symbol, name))
            return i;
    return UINT32_MAX;
}

/* Links symbols to the first specialization of their name in their attempt. */
static bool link_specializations(struct symbol_builder *b, struct err *err)
{
    struct hash_index index = HASH_INDEX_INIT;
    if (!hash_index_reserve(&index, b->n_specializations))
        return err_nomem(err);
    for (uint32_t i = 0; i < b->n_specializations; i++) {
        const struct specialization *s = &b->specializations[i];
        if (find_specialization(b, &index, s->symbol, s->attempt) == UINT32_MAX)
            hash_index_add(&index, specialization_hash(s->symbol, s->attempt), i);
    }
    for (uint32_t i = 0; i < b->n_symbols; i++) {
        struct symbol *symbol = &b->symbols[i];
        symbol->specialization = find_specialization(b, &index, symbol->name, symbol->attempt);
    }
    hash_index_release(&index);
    return true;
}

/* Orders by attempt, name, recording and record. */
static int compare_symbols(const struct symbol *x, const struct symbol *y)
{
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    int names = str_cmp(x->name, y->name);
    if (names != 0)
        return names;
    if (x->recording != y->recording)
        return x->recording < y->recording ? -1 : 1;
    return (x->record > y->record) - (x->record < y->record);
}

static int by_symbol_name(const void *a, const void *b, void *symbols)
{
    const struct symbol *all = symbols;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int ret = compare_symbols(&all[x], &all[y]);
    return ret != 0 ? ret : (x > y) - (x < y);
}

static uint32_t *sort_symbols(struct symbol_builder *b, struct err *err)
{
    uint32_t *order = arena_array(&b->trace->tables->arena, uint32_t, (size_t)b->n_symbols + 1);
    if (!order) {
        err_nomem(err);
        return NULL;
    }
    for (uint32_t i = 0; i < b->n_symbols; i++) {
        b->symbols[i].recording = b->trace->records[b->symbols[i].record].recording;
        order[i] = i;
    }
    qsort_r(order, b->n_symbols, sizeof *order, by_symbol_name, b->symbols);
    return order;
}

const struct symbol *symbol_table_find(const struct symbol_table *table, uint32_t recording,
                                       uint32_t attempt, struct str name, uint32_t record)
{
    const struct symbol wanted = {
        .recording = recording, .attempt = attempt, .name = name, .record = record
    };
    uint32_t first = 0, end = table->n_symbols; /* of those that are not before the wanted one */
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (compare_symbols(&table->symbols[table->by_name[middle]], &wanted) <= 0)
            first = middle + 1;
        else
            end = middle;
    }
    const struct symbol *found = first ? &table->symbols[table->by_name[first - 1]] : NULL;
    return found && found->attempt == attempt && found->recording == recording &&
                   str_eq(found->name, name)
               ? found
               : NULL;
}

const struct symbol_table *trace_symbols(struct trace *trace, struct err *err)
{
    struct trace_tables *tables = trace->tables;
    struct symbol_builder b = { .trace = trace };
    if (tables->symbols)
        return tables->symbols;
    struct symbol_table *table = arena_new(&tables->arena, struct symbol_table);
    bool ok = (table || err_nomem(err)) && allocate_symbols(&b, err) &&
              read_logged_symbols(&b, err) && link_specializations(&b, err) &&
              add_programs(&b, err);
    json_release(&b.doc);
    const uint32_t *by_name = ok ? sort_symbols(&b, err) : NULL;
    if (!by_name)
        return NULL;
    *table = (struct symbol_table){ b.symbols,           b.n_symbols,    b.specializations,
                                    b.n_specializations, b.n_unreadable, by_name };
    return tables->symbols = table;
}
