#include "profile/calls/cache/cache_report.h"
#include "profile/model/format.h"

static void put_seconds(struct buf *out, double seconds)
{
    format_ns(out, (int64_t)(seconds * 1e9));
}

static void put_count(uint32_t count, const char *what, struct buf *out)
{
    if (!count)
        return;
    buf_puts(out, ", ");
    format_count(out, count);
    buf_puts(out, what);
}

/* " (2.21 s for 4 of them; the tape does not have the other 2)" */
static void put_times(const struct lookup_totals *totals, struct buf *out)
{
    bool timed = totals->compile_seconds > 0;
    if (!timed && !totals->assumed)
        return;
    buf_puts(out, " (");
    if (timed)
        put_seconds(out, totals->compile_seconds);
    if (timed && totals->assumed) {
        buf_puts(out, " for ");
        format_count(out, totals->compiles - totals->assumed);
        buf_puts(out, " of them; ");
    }
    if (totals->assumed) {
        buf_puts(out, "the tape does not have ");
        buf_puts(out, timed ? "the other " : "");
        format_count(out, totals->assumed);
        buf_puts(out, timed ? "" : " of them");
    }
    buf_puts(out, ")");
}

static void put_outcomes(const struct lookup_totals *totals, const char *unknown, struct buf *out)
{
    buf_puts(out, ": ");
    format_plural(out, totals->hits, "hit");
    buf_puts(out, ", ");
    format_plural(out, totals->compiles, "compile");
    put_times(totals, out);
    put_count(totals->eager, " run without compiled code", out);
    put_count(totals->unknown, unknown, out);
    buf_puts(out, "\n");
}

/* Returns the place in the log of the call from which on all calls hit; CALL_NONE if none follows
 * the last one that did not. */
static uint32_t find_all_hits(const struct cache_run *run, const struct call_log *log)
{
    uint32_t from = 0, ret = CALL_NONE;
    for (size_t i = 0; i < run->lookups.n; i++)
        if (run->lookups.v[i].outcome != LOOKUP_HIT && run->lookups.v[i].call >= from)
            from = run->lookups.v[i].call + 1;
    for (size_t i = 0; i < run->backwards.n; i++)
        if (run->backwards.v[i].outcome != LOOKUP_HIT && run->backwards.v[i].call >= from)
            from = run->backwards.v[i].call + 1;
    for (size_t i = 0; i < run->lookups.n && ret == CALL_NONE; i++)
        if (run->lookups.v[i].call >= from && !log->calls.v[run->lookups.v[i].call].inside)
            ret = run->lookups.v[i].call;
    return ret;
}

/* "8 calls and 6 backwards: 12 compiles (26.6 s) and 3 of backwards (4.42 s); from call 12 on all
 * hit". Backwards have numbers of calls, too. */
static void put_sum(const struct cache_run *run, const struct call_log *log, struct buf *out)
{
    struct lookup_totals sum = { .compiles = run->calls.compiles + run->inside.compiles,
                                 .assumed = run->calls.assumed + run->inside.assumed,
                                 .compile_seconds =
                                     run->calls.compile_seconds + run->inside.compile_seconds };
    uint32_t hits = find_all_hits(run, log);
    format_plural(out, run->calls.lookups, "call");
    if (run->backward.lookups) {
        buf_puts(out, " and ");
        format_plural(out, run->backward.lookups, "backward");
    }
    buf_puts(out, ": ");
    format_plural(out, sum.compiles, "compile");
    put_times(&sum, out);
    if (run->backward.compiles) {
        buf_puts(out, " and ");
        format_count(out, run->backward.compiles);
        buf_puts(out, run->backward.compiles == 1 ? " of a backward" : " of backwards");
        put_times(&run->backward, out);
    }
    if (hits != CALL_NONE)
        buf_printf(out, "; from call %llu on all hit",
                   (unsigned long long)log->calls.v[hits].number);
    buf_puts(out, "\n");
}

/* One line says all of calls that run nothing but their own compiled code; with others, a sum comes
 * first. */
static void put_headline(const struct cache_run *run, const struct call_log *log,
                         const struct report_options *options, struct buf *out)
{
    static const char NO_COMPILE[] = " whose compile the tape does not have";
    bool parts = run->inside.lookups || run->backward.lookups;
    style_mark(options->styles, out, STYLE_BOLD);
    if (parts)
        put_sum(run, log, out);
    else
        format_plural(out, run->calls.lookups, "call");
    if (!parts)
        put_outcomes(&run->calls, NO_COMPILE, out);
    style_mark(options->styles, out, STYLE_NONE);
    if (!parts)
        return;
    buf_puts(out, "their own ");
    format_plural(out, run->calls.lookups, "look-up");
    put_outcomes(&run->calls, NO_COMPILE, out);
    if (run->inside.lookups) {
        buf_puts(out, "inside them ");
        format_plural(out, run->inside.lookups, "look-up");
        put_outcomes(&run->inside, NO_COMPILE, out);
    }
    if (run->backward.lookups) {
        buf_puts(out, "their ");
        format_plural(out, run->backward.lookups, "backward");
        put_outcomes(&run->backward, " of an entry that is not known", out);
    }
}

static void put_code(const struct cache_code *code, struct buf *out)
{
    format_place(out, code->file, code->line);
    buf_puts(out, " in ");
    format_text(out, code->function, 0);
}

/* Says when the limit refused a compile, and what that led to. */
static void put_refusals(const struct cache_run *run, const struct call_log *log, struct buf *out)
{
    for (size_t i = 0; i < run->lookups.n; i++) {
        const struct lookup_row *row = &run->lookups.v[i];
        if (!row->limit)
            continue;
        const struct cache_code *code = &run->codes.v[row->code];
        buf_printf(out, "%s was reached at call %llu, with %u entries: from then on ", row->limit,
                   (unsigned long long)log->calls.v[row->call].number, row->n_entries);
        put_code(code, out);
        buf_puts(out, " runs eagerly where no entry answers\n");
    }
}

void cache_put_contradictions(uint32_t n_compiles, struct buf *out)
{
    format_plural(out, n_compiles, "compile");
    buf_puts(out,
             ": PyTorch logged other reasons, so the calls are others, or a value changed that "
             "they do not list");
}

void cache_put_unlisted(struct str source, struct buf *out)
{
    format_text(out, source, 0);
    buf_puts(out, " turned calls away that do not list its value");
}

void cache_put_guessed(struct str function, struct str file, uint32_t line, struct str code,
                       struct buf *out)
{
    buf_puts(out, "calls of ");
    format_text(out, function, 0);
    buf_puts(out, " were taken for ");
    format_place(out, file, line);
    buf_puts(out, " in ");
    format_text(out, code, 0);
    buf_puts(out, ", as the tape has no function of this name");
}

static void put_misfits(const struct cache_run *run, struct buf *out)
{
    if (run->n_contradictions) {
        cache_put_contradictions(run->n_contradictions, out);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < run->unlisted.texts.n; i++) {
        cache_put_unlisted(run->unlisted.texts.v[i], out);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < run->guessed.n; i++) {
        const struct cache_code *code = &run->codes.v[run->guessed.v[i].code];
        cache_put_guessed(run->guessed.v[i].function, code->file, code->line, code->function, out);
        buf_putc(out, '\n');
    }
    uint32_t assumed = run->calls.assumed + run->inside.assumed;
    if (assumed) {
        format_plural(out, assumed, "compile");
        buf_puts(out, " not on the tape: the guards are those of another entry with other sizes\n");
    }
    if (run->n_unused) {
        format_plural(out, run->n_unused, "compile");
        buf_puts(out, " of the tape not asked for by these calls\n");
    }
}

/* "hit 0/1", "compiled 0/2", "eager: limit reached before" */
static void put_outcome(const struct cache_run *run, const struct lookup_row *row, struct buf *out)
{
    buf_puts(out, lookup_outcome_name(row->outcome));
    if (row->answered != CALL_NONE)
        buf_printf(out, " %.*s", STR_ARG(run->entries.v[row->answered].compile));
    else if (row->compile.n)
        buf_printf(out, " %.*s", STR_ARG(row->compile));
}

/* The guard that turned the call away from the entry that was checked first, and how many entries
 * turned it away beside that. */
static void put_why(const struct cache_run *run, const struct lookup_row *row, struct buf *out)
{
    uint32_t failed = 0;
    const struct entry_check_row *first = NULL;
    for (uint32_t i = 0; i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(run, row, i);
        if (check->verdict != GUARDS_FAIL)
            break;
        first = first ? first : check;
        failed++;
    }
    if (row->why)
        buf_printf(out, "%s%s", row->why, first ? "; " : "");
    if (!first)
        return;
    struct str reason = first->reason;
    size_t comment = str_find(reason, STR("  # "));
    buf_printf(out, "%.*s: ", STR_ARG(run->entries.v[first->entry].compile));
    format_text(out, str_trim(str_first(reason, comment)), 0);
    if (failed > 1)
        buf_printf(out, "; and %u more", failed - 1);
}

/* A time that is not recorded, or none, is an empty cell. */
static void put_time(struct table *table, double seconds)
{
    table_ns(table, seconds > 0 ? (int64_t)(seconds * 1e9) : -1);
}

static void put_parent(const struct program_call *call, struct table *table)
{
    if (call->parent >= 0)
        buf_printf(&table->text, " (inside call %lld)", (long long)call->parent);
}

static void put_lookup(const struct cache_run *run, const struct call_log *log,
                       const struct lookup_row *row, struct table *table)
{
    const struct program_call *call = &log->calls.v[row->call];
    if (call->inside)
        table_text(table, STR(""));
    else
        table_u64(table, call->number);
    buf_puts(&table->text, call->inside ? "  " : "");
    format_text(&table->text, call->function, 0);
    put_parent(call, table);
    table_cell(table);
    put_outcome(run, row, &table->text);
    table_cell(table);
    put_time(table, row->seconds);
    put_why(run, row, &table->text);
    table_cell(table);
}

static void put_backward(const struct cache_run *run, const struct call_log *log,
                         const struct backward_row *row, struct table *table)
{
    const struct program_call *call = &log->calls.v[row->call];
    table_u64(table, call->number);
    buf_printf(&table->text, "backward of %lld", (long long)call->backward_of);
    put_parent(call, table);
    table_cell(table);
    buf_puts(&table->text, lookup_outcome_name(row->outcome));
    if (row->entry != CALL_NONE)
        buf_printf(&table->text, " %.*s", STR_ARG(run->entries.v[row->entry].compile));
    table_cell(table);
    put_time(table, row->seconds);
    table_cell(table);
}

static void put_calls(const struct cache_run *run, const struct call_log *log,
                      const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "call", COLUMN_RIGHT, 0 },          { "function", COLUMN_LEFT, 1 },
        { "outcome", COLUMN_MARKUP, 0 },      { "compile time", COLUMN_RIGHT, 2 },
        { "turned away by", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)(run->lookups.n + run->backwards.n), shown = report_shown(options, n);
    /* Both are in the order of the calls. */
    for (size_t look = 0, back = 0; look + back < shown;) {
        bool is_backward =
            look == run->lookups.n ||
            (back < run->backwards.n && run->backwards.v[back].call < run->lookups.v[look].call);
        if (is_backward)
            put_backward(run, log, &run->backwards.v[back++], &table);
        else
            put_lookup(run, log, &run->lookups.v[look++], &table);
    }
    buf_puts(out, "\n");
    report_table(&table, options, 0, n, out);
}

static void put_entries(const struct cache_run *run, const struct report_options *options,
                        struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "entry", COLUMN_MARKUP, 0 }, { "hits", COLUMN_RIGHT, 0 },
        { "guards", COLUMN_RIGHT, 2 }, { "compile time", COLUMN_RIGHT, 0 },
        { "saved", COLUMN_RIGHT, 0 },  { "code", COLUMN_PATH, 1 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->entries.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct cache_entry *entry = &run->entries.v[i];
        table_text(&table, entry->compile);
        table_u64(&table, entry->hits);
        table_u64(&table, entry->guards.leaves.n);
        put_time(&table, entry->seconds);
        put_time(&table, entry->seconds * entry->hits);
        put_code(&run->codes.v[entry->code], &table.text);
        table_cell(&table);
    }
    if (n)
        buf_puts(out, "\nEntries; a hit saves the time of its compile\n");
    report_table(&table, options, 0, n, out);
}

/* What PyTorch says of a look-up beside its outcome: "full_miss" says no more than "miss" does. */
static struct str said_of(const struct artifact_lookup *row)
{
    bool same = str_is(row->detail, "hit") || str_is(row->detail, "miss") ||
                str_is(row->detail, "full_miss");
    return row->differs.n ? row->differs : same ? STR("") : row->detail;
}

static void put_artifacts(const struct cache_run *run, const struct report_options *options,
                          struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "compile", COLUMN_MARKUP, 0 }, { "cache", COLUMN_LEFT, 0 },
        { "outcome", COLUMN_LEFT, 0 },   { "time", COLUMN_RIGHT, 1 },
        { "key", COLUMN_LEFT, 2 },       { "differs from the compile before", COLUMN_WIDE, 0 },
    };
    enum { KEY_SHOWN = 12 };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->artifacts.rows.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct artifact_lookup *row = &run->artifacts.rows.v[i];
        table_text(&table, row->compile);
        buf_printf(&table.text, "%s%s", cache_kind_name(row->kind),
                   row->backward ? ", backward" : "");
        table_cell(&table);
        table_text(&table, str_of(cache_state_name(row->state)));
        put_time(&table, row->seconds);
        table_text(&table, str_first(row->key, KEY_SHOWN));
        format_text(&table.text, said_of(row), 0);
        table_cell(&table);
    }
    if (n)
        buf_puts(out, "\nCaches of compiled artifacts; the time is saved by a hit, taken after a "
                      "miss\n");
    report_table(&table, options, 0, n, out);
}

void cache_text(const struct cache_run *run, const struct call_log *log,
                const struct report_options *options, struct buf *out)
{
    put_headline(run, log, options, out);
    put_refusals(run, log, out);
    put_misfits(run, out);
    put_calls(run, log, options, out);
    put_entries(run, options, out);
    put_artifacts(run, options, out);
}
