#include "profile/model/format.h"
#include "profile/model/headlines.h"
#include "profile/report/text_report.h"

enum { INDENT = 2 }; /* of what stands below a title */

struct timed {
    int64_t ns;
    uint32_t index;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t *text_slowest_first(const struct text_report *r, uint32_t n,
                             int64_t (*ns)(const struct profile *profile, uint32_t i))
{
    struct timed *rows = calloc((size_t)n + 1, sizeof *rows);
    uint32_t *order = calloc((size_t)n + 1, sizeof *order);
    if (!rows || !order) {
        r->out->failed = true;
        free(rows);
        free(order);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct timed){ ns(r->p, i), i };
    qsort(rows, n, sizeof *rows, by_time);
    for (uint32_t i = 0; i < n; i++)
        order[i] = rows[i].index;
    free(rows);
    return order;
}

void text_title(const struct text_report *r, const char *text)
{
    if (r->out->n > 0)
        buf_putc(r->out, '\n');
    style_mark(r->options->styles, r->out, STYLE_BOLD);
    buf_puts(r->out, text);
    style_mark(r->options->styles, r->out, STYLE_NONE);
    buf_putc(r->out, '\n');
}

void text_finish(const struct text_report *r, struct table *table, uint32_t n)
{
    uint32_t rows = (uint32_t)table_rows(table);
    const struct table_layout layout = { r->options->width, INDENT, r->options->styles };
    table_print(table, &layout, r->out);
    if (rows < n)
        buf_printf(r->out, "  ... and %u more\n", n - rows);
    table_release(table);
}

void text_compile(const struct text_report *r, struct table *table, uint32_t recording,
                  uint32_t compile)
{
    format_text(&table->text, compile == PROFILE_NONE ? STR("-") : r->p->compiles[compile].id, 0);
    if (r->p->n_recordings > 1) {
        buf_putc(&table->text, ' ');
        format_text(&table->text, r->p->recordings[recording].short_name, 0);
    }
    table_cell(table);
}

/* Releases the text. */
static void put_wrapped(const struct text_report *r, struct buf *text, size_t indent)
{
    r->out->failed |= text->failed;
    if (text->n > 0) {
        format_spaces(r->out, indent);
        format_wrapped(r->out, buf_str(text), r->options->width, indent, indent);
    }
    buf_release(text);
}

void text_paragraph(const struct text_report *r, struct buf *text)
{
    put_wrapped(r, text, INDENT);
}

static void put_headline(void *user, struct str text)
{
    const struct text_report *r = user;
    buf_puts(r->out, "  * ");
    format_wrapped(r->out, text, r->options->width, 4, 4);
}

static void put_summary(const struct text_report *r)
{
    const struct profile *p = r->p;
    uint64_t records = 0, graphs = 0, attempts = 0;
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        records += p->recordings[i].n_records;
        graphs += p->recordings[i].n_graphs;
        attempts += p->recordings[i].n_attempts;
    }
    if (p->n_compiles > 0) {
        format_ns(&text, p->compile_ns);
        buf_puts(&text, " of compiling: ");
        format_plural(&text, p->n_compiles, "compile");
        buf_puts(&text, ", ");
        format_plural(&text, attempts, "attempt");
        buf_puts(&text, ", ");
        format_plural(&text, graphs, "graph");
        buf_puts(&text, ", ");
        format_plural(&text, p->guards.by_kind[GUARD_EVAL], "guard");
        buf_puts(&text, "; ");
    }
    format_plural(&text, records, "record");
    put_wrapped(r, &text, 0);
    if (!headlines(p, put_headline, (void *)(uintptr_t)r))
        r->out->failed = true;
}

void report_text(const struct profile *profile, const struct report_options *options,
                 struct buf *out)
{
    static void (*const SECTIONS[])(const struct text_report *) = {
        put_summary,     text_unfinished, text_recordings,   text_differences,  text_compiles,
        text_restarts,   text_phases,     text_phase_totals, text_failures,     text_breaks,
        text_recompiles, text_lines,      text_guards,       text_symbols,      text_levels,
        text_expansion,  text_costs,      text_allocations,  text_counters,     text_spots,
        text_size_uses,  text_operators,  text_phase_memory, text_graph_memory, text_caches,
    };
    struct text_report r = { profile, options, out };
    if (text_groups(&r))
        return;
    for (size_t i = 0; i < sizeof SECTIONS / sizeof *SECTIONS; i++)
        SECTIONS[i](&r);
}
