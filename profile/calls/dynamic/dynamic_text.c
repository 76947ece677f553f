#include "profile/calls/cache/cache_report.h"
#include "profile/calls/dynamic/dynamic_report.h"
#include "profile/model/format.h"

static void put_seconds(double seconds, struct buf *out)
{
    format_ns(out, (int64_t)(seconds * 1e9));
}

static void put_time(struct table *table, double seconds)
{
    table_ns(table, seconds > 0 ? (int64_t)(seconds * 1e9) : -1);
}

void put_atom(struct atom atom, struct buf *out)
{
    switch (atom.kind) {
    case ATOM_INT: buf_i64(out, atom.integer); break;
    case ATOM_FLOAT: buf_printf(out, "%g", atom.real); break;
    case ATOM_INFER: buf_printf(out, "S(%lld)", (long long)atom.integer); break;
    default: buf_puts(out, "?");
    }
}

void put_input_name(const struct dynamic_run *run, const struct input_row *row, struct buf *out)
{
    const struct code_calls *code = &run->table.codes.v[row->code];
    struct str source = intern_text(&run->table.log->sources, code->inputs.v[row->input].source);
    struct buf name = BUF_INIT;
    put_without_scope(source, &name);
    format_text(out, buf_str(&name), 0);
    out->failed |= name.failed;
    buf_release(&name);
    if (!row->number)
        buf_printf(out, ".size()[%u]", row->dim);
}

/* ---- The answer ---- */

/* "4 compiles (2.21 s), 2 calls run eagerly"; `recorded`: NULL, or counts that these, estimates,
 * are compared with. */
static void put_compiles(const struct policy_counts *counts, const struct policy_counts *recorded,
                         struct buf *out)
{
    format_plural(out, counts->compiles, "compile");
    if (counts->seconds > 0) {
        buf_puts(out, recorded ? " (about " : " (");
        put_seconds(counts->seconds, out);
        buf_puts(out, ")");
    }
    if (counts->eager || (recorded && recorded->eager)) {
        buf_puts(out, ", ");
        format_plural(out, counts->eager, "call");
        buf_puts(out, " run eagerly");
    }
    if (recorded && recorded->eager != counts->eager) {
        buf_puts(out, " instead of ");
        format_count(out, recorded->eager);
    }
}

void put_estimate(const struct dynamic_run *run, const struct policy_counts *counts,
                  struct buf *out)
{
    buf_puts(out, dynamic_run_is_bound(run) && counts->compiles ? "at most " : "");
    put_compiles(counts, &run->recorded, out);
}

/* Calls of which the tape has nothing. */
static void put_foreign(const struct dynamic_run *run, const struct report_options *options,
                        struct buf *out)
{
    struct buf line = BUF_INIT;
    format_plural(&line, run->recorded.lookups, run->cache.inside.lookups ? "look-up" : "call");
    buf_puts(&line, ": no compile on the tape is for them; do the calls belong to this tape?");
    format_wrapped(out, buf_str(&line), options->width, 0, 0);
    out->failed |= line.failed;
    buf_release(&line);
}

/* What the best of the alternatives spares. */
static void put_proposal(const struct dynamic_run *run, struct buf *out)
{
    const struct paste_way *best = paste_best(&run->paste);
    if (run->given) {
        buf_puts(out, "with the ");
        format_plural(out, run->n_marks, "mark");
        buf_puts(out, " given: ");
        put_estimate(run, &run->policies[CALLS_MARKED], out);
    } else if (best) {
        buf_puts(out, best->kind == PASTE_MARK      ? "with the marks below: "
                      : best->kind == PASTE_SOURCES ? "with dynamic_sources as below: "
                                                    : "with dynamic=True: ");
        put_estimate(run, &best->counts, out);
    } else if (run->profile) {
        buf_puts(out, "the profile already spares what marks would: nothing to paste");
    } else {
        buf_puts(out, "no mark spares a compile or an eager call");
    }
}

static void put_answer(const struct dynamic_run *run, const struct report_options *options,
                       struct buf *out)
{
    struct buf line = BUF_INIT;
    const char *noun = run->cache.inside.lookups ? "look-up" : "call";
    format_plural(&line, run->recorded.lookups, noun);
    buf_puts(&line, ": ");
    put_compiles(&run->recorded, NULL, &line);
    style_mark(options->styles, out, STYLE_BOLD);
    format_wrapped(out, buf_str(&line), options->width, 0, 0);
    style_mark(options->styles, out, STYLE_NONE);
    buf_clear(&line);
    if (run->recorded.unknown) {
        format_plural(&line, run->recorded.unknown, noun);
        buf_puts(&line, " whose compile the tape does not have, not counted as compiles");
        format_wrapped(out, buf_str(&line), options->width, 0, 0);
        buf_clear(&line);
    }
    if (run->cache.n_unused) {
        format_plural(&line, run->cache.n_unused, "compile");
        buf_puts(&line, " of the tape not asked for by these calls");
        format_wrapped(out, buf_str(&line), options->width, 0, 0);
        buf_clear(&line);
    }
    if (run->cache.n_contradictions) {
        cache_put_contradictions(run->cache.n_contradictions, &line);
        format_wrapped(out, buf_str(&line), options->width, 0, 0);
        buf_clear(&line);
    }
    for (size_t i = 0; i < run->cache.unlisted.texts.n; i++) {
        cache_put_unlisted(run->cache.unlisted.texts.v[i], &line);
        format_wrapped(out, buf_str(&line), options->width, 0, 0);
        buf_clear(&line);
    }
    for (size_t i = 0; i < run->cache.guessed.n; i++) {
        const struct cache_code *code = &run->cache.codes.v[run->cache.guessed.v[i].code];
        cache_put_guessed(run->cache.guessed.v[i].function, code->file, code->line, code->function,
                          &line);
        format_wrapped(out, buf_str(&line), options->width, 0, 0);
        buf_clear(&line);
    }
    put_proposal(run, &line);
    format_wrapped(out, buf_str(&line), options->width, 0, 0);
    out->failed |= line.failed;
    buf_release(&line);
}

/* ---- Policies ---- */

static void put_policy(const char *name, const struct policy_counts *counts, const char *meaning,
                       struct table *table)
{
    table_text(table, str_of(name));
    table_u64(table, counts->compiles);
    put_time(table, counts->seconds);
    table_u64(table, counts->entries);
    table_count(table, counts->refused);
    table_count(table, counts->eager);
    put_time(table, counts->guard_seconds);
    buf_puts(&table->text, meaning);
    if (counts->bail_outs)
        buf_printf(&table->text, "; %llu bail-outs, %llu compiles with breaks",
                   (unsigned long long)counts->bail_outs, (unsigned long long)counts->breaks);
    table_cell(table);
}

static void put_policies(const struct dynamic_run *run, const struct report_options *options,
                         struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "policy", COLUMN_MARKUP, 0 },      { "compiles", COLUMN_RIGHT, 0 },
        { "compile time", COLUMN_RIGHT, 0 }, { "entries", COLUMN_RIGHT, 2 },
        { "refused", COLUMN_RIGHT, 4 },      { "eager", COLUMN_RIGHT, 0 },
        { "guard time", COLUMN_RIGHT, 3 },   { "how", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    put_policy("recorded", &run->recorded, "as the tape has it", &table);
    for (int i = 0; i < CALLS_COUNT; i++)
        if (i != CALLS_MARKED || run->n_marks)
            put_policy(calls_policy_name((enum calls_policy)i), &run->policies[i],
                       dynamic_run_meaning(run, (enum calls_policy)i), &table);
    buf_putc(out, '\n');
    format_wrapped(
        out, STR("The same calls under other policies; only recorded's compile time was measured"),
        options->width, 0, 0);
    if (dynamic_run_is_bound(run))
        format_wrapped(out,
                       STR("frames go on after graph breaks: the others can compile less, since "
                           "outputs keep dynamic sizes"),
                       options->width, 0, 0);
    report_table(&table, options, 0, CALLS_COUNT + 1, out);
}

/* ---- Inputs ---- */

static bool is_shown(const struct input_row *row)
{
    return row->n_values > 1 || row->from_profile;
}

static void put_values(const struct input_row *row, struct table *table)
{
    for (uint32_t i = 0; i < row->n_values && i < MOST_SEEN; i++) {
        buf_puts(&table->text, i ? ", " : "");
        put_atom(row->seen[i], &table->text);
    }
    if (row->n_values > MOST_SEEN)
        buf_printf(&table->text, " and %u more", row->n_values - MOST_SEEN);
    table_cell(table);
}

/* "0/1: 4, then 6", "profile; stale", "static" */
static void put_state(const struct dynamic_run *run, const struct input_row *row,
                      struct table *table)
{
    const struct code_calls *code = &run->table.codes.v[row->code];
    if (row->from_profile) {
        buf_puts(&table->text, row->n_values > 1 ? "the profile" : "the profile; stale");
    } else if (row->change != NO_ENTRY) {
        const struct state_change *change = &code->changes.v[row->change];
        const struct lookup_row *lookup =
            &run->cache.lookups.v[code->compiles.v[row->compile].lookup];
        buf_printf(&table->text, "%.*s: ", STR_ARG(lookup->compile));
        if (change->dim == CHANGE_ALL) {
            buf_puts(&table->text, "another rank");
        } else {
            put_atom(change->from, &table->text);
            buf_puts(&table->text, ", then ");
            put_atom(change->to, &table->text);
        }
    } else if (row->dynamic) {
        buf_puts(&table->text, "a mark");
    }
    if (row->constant)
        buf_printf(&table->text, "%sthe code makes it a constant", row->dynamic ? "; " : "");
    table_cell(table);
}

static void put_inputs(const struct dynamic_run *run, const struct report_options *options,
                       struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "input", COLUMN_LEFT, 0 },         { "values", COLUMN_WIDE, 0 },
        { "dynamic since", COLUMN_WIDE, 0 }, { "recompiles", COLUMN_RIGHT, 0 },
        { "served", COLUMN_RIGHT, 1 },       { "mark", COLUMN_MARKUP, 2 },
        { "code", COLUMN_PATH, 3 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0, shown = 0;
    for (size_t i = 0; i < run->rows.n; i++)
        n += is_shown(&run->rows.v[i]);
    for (size_t i = 0; i < run->rows.n && shown < report_shown(options, n); i++) {
        const struct input_row *row = &run->rows.v[i];
        if (!is_shown(row))
            continue;
        const struct cache_code *code = &run->cache.codes.v[run->table.codes.v[row->code].code];
        put_input_name(run, row, &table.text);
        table_cell(&table);
        put_values(row, &table);
        put_state(run, row, &table);
        table_count(&table, row->caused);
        table_count(&table, row->served);
        table_text(&table, row->proposed ? STR("yes") : STR(""));
        table_place(&table, code->file, code->line);
        shown++;
    }
    if (n)
        buf_puts(out, "\nSizes and numbers that changed; served: hits at another value\n");
    report_table(&table, options, 0, n, out);
}

static void put_profile(const struct dynamic_run *run, const struct report_options *options,
                        struct buf *out)
{
    uint32_t n = 0, stale = 0, first = NO_ENTRY;
    struct buf line = BUF_INIT;
    for (uint32_t i = 0; i < run->rows.n; i++) {
        const struct input_row *row = &run->rows.v[i];
        n += row->from_profile;
        stale += row->from_profile && row->n_values == 1;
        if (row->from_profile && row->n_values == 1 && first == NO_ENTRY)
            first = i;
    }
    if (!run->profile)
        return;
    buf_puts(&line, "The profile of an earlier run made ");
    format_plural(&line, n, "input");
    buf_puts(&line, " dynamic");
    if (stale) {
        buf_printf(&line, "; %u of them had one value here, such as ", stale);
        put_input_name(run, &run->rows.v[first], &line);
        buf_puts(&line, " = ");
        put_atom(run->rows.v[first].seen[0], &line);
    }
    buf_puts(out, "\n");
    format_wrapped(out, buf_str(&line), options->width, 0, 0);
    out->failed |= line.failed;
    buf_release(&line);
}

/* Returns whether the tape has a compile for one of the calls. */
static bool has_compile(const struct dynamic_run *run)
{
    return run->cache.calls.unknown + run->cache.inside.unknown < run->recorded.lookups;
}

void dynamic_text(const struct dynamic_run *run, const struct report_options *options,
                  struct buf *out)
{
    if (!has_compile(run)) {
        put_foreign(run, options, out);
        return;
    }
    put_answer(run, options, out);
    put_policies(run, options, out);
    put_inputs(run, options, out);
    put_profile(run, options, out);
}
