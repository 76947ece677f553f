#include "profile/format.h"
#include "profile/headlines.h"
#include "profile/text_report.h"

uint32_t text_shown(const struct text_report *r, uint32_t n)
{
    return r->options->limit > 0 && n > r->options->limit ? r->options->limit : n;
}

void text_title(const struct text_report *r, const char *text)
{
    buf_printf(r->out, "\n%s%s%s\n", r->options->color ? "\033[1m" : "", text,
               r->options->color ? "\033[0m" : "");
}

void text_finish(const struct text_report *r, struct text_table *table, uint32_t n)
{
    uint32_t rows = (uint32_t)text_table_rows(table);
    text_table_print(table, r->options->width, 2, r->options->color, r->out);
    if (rows < n)
        buf_printf(r->out, "  ... and %u more\n", n - rows);
    text_table_release(table);
}

void text_ns(struct text_table *table, int64_t ns)
{
    if (ns < 0)
        buf_putc(&table->text, '-');
    else
        format_ns(&table->text, ns);
    text_table_cell(table);
}

void text_count(struct text_table *table, uint64_t count)
{
    if (count == 0)
        buf_putc(&table->text, '-');
    else
        format_count(&table->text, count);
    text_table_cell(table);
}

void text_text(struct text_table *table, struct str text)
{
    if (text.n == 0)
        buf_putc(&table->text, '-');
    else
        format_text(&table->text, text, 0);
    text_table_cell(table);
}

void text_place(struct text_table *table, struct str file, uint32_t line)
{
    format_place(&table->text, file, line);
    text_table_cell(table);
}

void text_compile(const struct text_report *r, struct text_table *table, uint32_t recording,
                  uint32_t compile)
{
    format_text(&table->text, compile == PROFILE_NONE ? STR("-") : r->p->compiles[compile].id, 0);
    if (r->p->n_recordings > 1) {
        buf_putc(&table->text, ' ');
        format_text(&table->text, str_basename(r->p->recordings[recording].name), 0);
    }
    text_table_cell(table);
}

const char *text_status(enum attempt_status status)
{
    static const char *const NAMES[] = {
        [ATTEMPT_OK] = "ok",
        [ATTEMPT_FAILED] = "failed",
        [ATTEMPT_RESTARTED] = "restarted",
        [ATTEMPT_UNFINISHED] = "unfinished",
    };
    return NAMES[status];
}

/* One paragraph, wrapped, with a bullet. */
static void put_headline(void *user, struct str text)
{
    const struct text_report *r = user;
    size_t width = r->options->width, column = 3;
    buf_puts(r->out, "  *");
    while (text.n > 0) {
        struct str word = str_first(text, str_find_char(text, ' '));
        text = str_from(text, word.n + 1);
        size_t columns = format_columns(word);
        if (width > 0 && column > 4 && column + 1 + columns > width) {
            buf_puts(r->out, "\n   ");
            column = 3;
        }
        buf_putc(r->out, ' ');
        buf_put(r->out, word);
        column += 1 + columns;
    }
    buf_putc(r->out, '\n');
}

static void put_summary(const struct text_report *r)
{
    const struct profile *p = r->p;
    uint64_t records = 0, graphs = 0, attempts = 0;
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        records += p->recordings[i].n_records;
        graphs += p->recordings[i].n_graphs;
        attempts += p->recordings[i].n_attempts;
    }
    format_ns(r->out, p->compile_ns);
    buf_puts(r->out, " of compiling: ");
    format_plural(r->out, p->n_compiles, "compile");
    buf_puts(r->out, ", ");
    format_plural(r->out, attempts, "attempt");
    buf_puts(r->out, ", ");
    format_plural(r->out, graphs, "graph");
    buf_puts(r->out, ", ");
    format_plural(r->out, p->guards.by_kind[GUARD_EVAL], "guard");
    buf_puts(r->out, "; ");
    format_plural(r->out, records, "record");
    buf_putc(r->out, '\n');
    if (!headlines(p, put_headline, (void *)(uintptr_t)r))
        r->out->failed = true;
}

void report_text(const struct profile *profile, const struct report_options *options,
                 struct buf *out)
{
    static void (*const SECTIONS[])(const struct text_report *) = {
        put_summary,   text_unfinished, text_recordings, text_differences,
        text_compiles, text_restarts,   text_phases,     text_failures,
        text_breaks,   text_recompiles, text_lines,      text_guards,
        text_symbols,  text_expansion,  text_operators,  text_caches,
    };
    struct text_report r = { profile, options, out };
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        SECTIONS[i](&r);
}
