/* Text report: recordings and compiles. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

void text_recordings(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "time", COLUMN_RIGHT },        { "thrown away", COLUMN_RIGHT, 1 },
        { "compiles", COLUMN_RIGHT },    { "attempts", COLUMN_RIGHT, 5 },
        { "graphs", COLUMN_RIGHT, 4 },   { "guards", COLUMN_RIGHT },
        { "breaks", COLUMN_RIGHT, 2 },   { "recompiles", COLUMN_RIGHT, 3 },
        { "failures", COLUMN_RIGHT, 1 }, { "recording", COLUMN_PATH },
    };
    if (r->p->n_recordings < 2)
        return;
    text_title(r, "Recordings");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < r->p->n_recordings; i++) {
        const struct profile_recording *row = &r->p->recordings[i];
        table_ns(&table, row->compile_ns);
        table_ns(&table, row->restarted_ns > 0 ? row->restarted_ns : -1);
        table_count(&table, row->n_compiles);
        table_count(&table, row->n_attempts);
        table_count(&table, row->n_graphs);
        table_count(&table, row->n_guards);
        table_count(&table, row->n_breaks);
        table_count(&table, row->n_recompiles);
        table_count(&table, row->n_failures);
        format_text(&table.text, row->name, 0);
        buf_puts(&table.text, i == r->p->slowest ? " (slowest)" : "");
        table_cell(&table);
    }
    text_finish(r, &table, 0);
}

static void put_values(const struct text_report *r, struct buf *out,
                       const struct profile_difference *d)
{
    for (uint32_t i = 0; i < r->p->n_recordings; i++) {
        buf_puts(out, i > 0 ? ", " : "");
        format_text(out, r->p->recordings[i].short_name, 0);
        buf_putc(out, ' ');
        if (d->values[i] == PROFILE_ABSENT)
            buf_putc(out, '-');
        else if (strcmp(d->what, "ns") == 0)
            format_ns(out, d->values[i]);
        else if (strcmp(d->what, "status") == 0)
            buf_puts(out, attempt_status_name((enum attempt_status)d->values[i]));
        else if (strcmp(d->what, "present") == 0)
            buf_puts(out, d->values[i] ? "yes" : "no");
        else
            format_count(out, (uint64_t)d->values[i]);
    }
}

void text_differences(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "compile", COLUMN_LEFT },
        { "differs in", COLUMN_LEFT },
        { "recordings", COLUMN_WIDE },
    };
    if (r->p->n_differences == 0)
        return;
    text_title(r, "Where the recordings differ");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_differences); i++) {
        const struct profile_difference *d = &r->p->differences[i];
        table_text(&table, d->compile);
        table_text(&table, strcmp(d->what, "ns") == 0 ? STR("time") : str_of(d->what));
        put_values(r, &table.text, d);
        table_cell(&table);
    }
    text_finish(r, &table, r->p->n_differences);
}

static int64_t compile_ns(const struct profile *profile, uint32_t i)
{
    return profile->compiles[i].ns;
}

void text_compiles(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "time", COLUMN_RIGHT },        { "thrown away", COLUMN_RIGHT },
        { "attempts", COLUMN_RIGHT, 1 }, { "graphs", COLUMN_RIGHT, 2 },
        { "guards", COLUMN_RIGHT },      { "symbols", COLUMN_RIGHT, 3 },
        { "status", COLUMN_LEFT },       { "compile", COLUMN_LEFT },
        { "function", COLUMN_WIDE },
    };
    if (r->p->n_compiles == 0)
        return;
    text_title(r, "Compiles, slowest first");
    struct table table = TABLE(COLUMNS);
    uint32_t *order = text_slowest_first(r, r->p->n_compiles, compile_ns);
    for (uint32_t i = 0; order && i < text_shown(r, r->p->n_compiles); i++) {
        const struct profile_compile *c = &r->p->compiles[order[i]];
        table_ns(&table, c->ns);
        table_ns(&table, c->restarted_ns > 0 ? c->restarted_ns : -1);
        table_count(&table, c->n_attempts);
        table_count(&table, c->n_graphs);
        table_count(&table, c->n_guards);
        table_count(&table, c->n_symbols);
        table_text(&table, str_of(attempt_status_name(c->status)));
        text_compile(r, &table, c->recording, order[i]);
        format_text(&table.text, c->function, 0);
        buf_puts(&table.text, c->function.n > 0 ? " " : "");
        table_place(&table, c->file, c->line);
    }
    free(order);
    text_finish(r, &table, r->p->n_compiles);
}
