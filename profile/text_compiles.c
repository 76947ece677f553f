/* Text report: recordings and compiles. */
#include "profile/format.h"
#include "profile/text_report.h"

void text_recordings(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "time", true },     { "thrown away", true }, { "compiles", true }, { "attempts", true },
        { "graphs", true },   { "guards", true },      { "breaks", true },   { "recompiles", true },
        { "failures", true }, { "recording", false },
    };
    if (r->p->n_recordings < 2)
        return;
    text_title(r, "Recordings");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < r->p->n_recordings; i++) {
        const struct profile_recording *row = &r->p->recordings[i];
        text_ns(&table, row->compile_ns);
        text_ns(&table, row->restarted_ns > 0 ? row->restarted_ns : -1);
        text_count(&table, row->n_compiles);
        text_count(&table, row->n_attempts);
        text_count(&table, row->n_graphs);
        text_count(&table, row->n_guards);
        text_count(&table, row->n_breaks);
        text_count(&table, row->n_recompiles);
        text_count(&table, row->n_failures);
        format_text(&table.text, row->name, 0);
        buf_puts(&table.text, i == r->p->slowest ? " (slowest)" : "");
        text_table_cell(&table);
    }
    text_finish(r, &table, 0);
}

static void put_values(const struct text_report *r, struct buf *out,
                       const struct profile_difference *d)
{
    for (uint32_t i = 0; i < r->p->n_recordings; i++) {
        buf_puts(out, i > 0 ? ", " : "");
        format_text(out, str_basename(r->p->recordings[i].name), 0);
        buf_putc(out, ' ');
        if (d->values[i] == PROFILE_ABSENT)
            buf_putc(out, '-');
        else if (strcmp(d->what, "ns") == 0)
            format_ns(out, d->values[i]);
        else if (strcmp(d->what, "status") == 0)
            buf_puts(out, text_status((enum attempt_status)d->values[i]));
        else if (strcmp(d->what, "present") == 0)
            buf_puts(out, d->values[i] ? "yes" : "no");
        else
            format_count(out, (uint64_t)d->values[i]);
    }
}

void text_differences(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "compile", false },
        { "differs in", false },
        { "recordings", false },
    };
    if (r->p->n_differences == 0)
        return;
    text_title(r, "Where the recordings differ");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_differences); i++) {
        const struct profile_difference *d = &r->p->differences[i];
        text_text(&table, d->compile);
        text_text(&table, strcmp(d->what, "ns") == 0 ? STR("time") : str_of(d->what));
        put_values(r, &table.text, d);
        text_table_cell(&table);
    }
    text_finish(r, &table, r->p->n_differences);
}

void text_compiles(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "time", true },    { "thrown away", true }, { "attempts", true },
        { "graphs", true },  { "guards", true },      { "symbols", true },
        { "status", false }, { "compile", false },    { "function", false },
    };
    text_title(r, "Compiles");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, r->p->n_compiles); i++) {
        const struct profile_compile *c = &r->p->compiles[i];
        text_ns(&table, c->ns);
        text_ns(&table, c->restarted_ns > 0 ? c->restarted_ns : -1);
        text_count(&table, c->n_attempts);
        text_count(&table, c->n_graphs);
        text_count(&table, c->n_guards);
        text_count(&table, c->n_symbols);
        text_text(&table, str_of(text_status(c->status)));
        text_compile(r, &table, c->recording, i);
        format_text(&table.text, c->function, 0);
        buf_putc(&table.text, ' ');
        text_place(&table, c->file, c->line);
    }
    text_finish(r, &table, r->p->n_compiles);
}
