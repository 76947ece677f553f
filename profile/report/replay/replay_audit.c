#include "profile/report/replay/replay_audit.h"

#include "profile/model/format.h"
#include "profile/report/fields.h"
#include "profile/report/replay/replay_estimate.h"

static double elided(const struct audited_operator *row)
{
    return row->replayed && row->hits ? (double)row->saved / (double)row->hits : 0;
}

static const char *note_of(const struct audited_operator *row)
{
    if (row->changes_meta)
        return row->registered ? "" : "not registered; would change a result";
    return row->registered ? "" : "not registered";
}

GETTER(get_misses, struct audited_operator, datum_count(row->attempts - row->hits))
GETTER(get_elided, struct audited_operator,
       row->replayed && row->hits ? datum_number(elided(row)) : datum_null())
GETTER(get_saved, struct audited_operator, row->replayed ? datum_integer(row->saved) : datum_null())
GETTER(get_saved_ns, struct audited_operator,
       row->timed ? datum_integer(row->saved_ns) : datum_null())
GETTER(get_wasted_ns, struct audited_operator,
       row->timed ? datum_integer(row->wasted_ns) : datum_null())
GETTER(get_valid, struct audited_operator, datum_bool(!row->changes_meta))
GETTER(get_note, struct audited_operator, datum_name(note_of(row)))

static void cell_saved(const void *context, const void *at, struct buf *out)
{
    const struct audited_operator *row = at;
    (void)context;
    if (!row->replayed)
        return;
    buf_puts(out, row->saved < 0 ? "-" : "");
    format_count(out, row->saved < 0 ? (uint64_t)-row->saved : (uint64_t)row->saved);
}

static void cell_elided(const void *context, const void *at, struct buf *out)
{
    const struct audited_operator *row = at;
    (void)context;
    if (row->replayed && row->hits)
        buf_printf(out, "%.1f", elided(row));
}

static void cell_saved_ns(const void *context, const void *at, struct buf *out)
{
    const struct audited_operator *row = at;
    (void)context;
    if (!row->timed)
        return;
    buf_puts(out, row->saved_ns < 0 ? "-" : "");
    format_ns(out, row->saved_ns < 0 ? -row->saved_ns : row->saved_ns);
}

static const struct field AUDIT[] = {
    { "op", MEMBER(struct audited_operator, op), TEXT(1, "operator", WORD, 0) },
    { "calls", MEMBER(struct audited_operator, calls), TEXT(2, "calls", NUMBER, 3) },
    { "could_be_fast", MEMBER(struct audited_operator, could_be_fast),
      TEXT(3, "could be fast", COUNT, 2) },
    { "attempts", MEMBER(struct audited_operator, attempts), TEXT(4, "attempts", COUNT, 0) },
    { "hits", MEMBER(struct audited_operator, hits), TEXT(5, "hits", COUNT, 0) },
    { "misses", .get = get_misses, TEXT(6, "misses", COUNT, 0) },
    { "elided_per_hit", .get = get_elided, .cell = cell_elided,
      TEXT(7, "elided a hit", NUMBER, 0) },
    { "saved", .get = get_saved, .cell = cell_saved, TEXT(8, "dispatches saved", NUMBER, 0) },
    { "saved_ns", .get = get_saved_ns, .cell = cell_saved_ns, TEXT(9, "time saved", NS, 0) },
    { "missed_ns", .get = get_wasted_ns, TEXT(10, "in misses", NS, 1) },
    { "registered", MEMBER(struct audited_operator, registered) },
    { "valid", .get = get_valid },
    { NULL, .get = get_note, TEXT(11, "", WORD, 0) },
};
static const struct fields AUDIT_FIELDS = FIELDS_OF(AUDIT);

static bool is_timed(const struct audited_operator *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].timed)
            return true;
    return false;
}

void replay_audit_text(const struct audited_operator *rows, size_t n, int release,
                       const struct report_options *how, struct buf *out)
{
    static const unsigned char UNTIMED[TEXT_COLUMNS] = { 1, 2, 3, 4, 5, 6, 7, 8, 11 };
    const struct rows all = ROWS(rows, (uint32_t)n);
    struct text_table t;
    text_table_init(&t, &AUDIT_FIELDS, 0);
    if (!is_timed(rows, n))
        text_table_arrange(&t, UNTIMED);
    text_table_rows(&t, NULL, &all, how->limit);
    report_table(&t.table, how, 0, 0, out);
    if (how->limit && n > how->limit)
        buf_printf(out, "%zu more operators\n", n - how->limit);
    if (is_timed(rows, n) && release)
        replay_estimate_text(release, out);
}

void replay_audit_json(const struct audited_operator *rows, size_t n, int release, struct buf *out)
{
    const struct rows all = ROWS(rows, (uint32_t)n);
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "schema", STR("symtape.replay/1"));
    if (is_timed(rows, n))
        json_put_cstr(&w, "basis", release ? "estimated" : "measured");
    fields_json_rows(&w, "fastpath", &AUDIT_FIELDS, NULL, &all, 0);
    json_close(&w);
    buf_putc(out, '\n');
}
