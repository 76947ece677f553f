#include "profile/compare/diff_tables.h"
#include "profile/model/format.h"

struct diff_text_writer {
    const struct compare *c;
    const struct report_options *how;
    struct buf *out;
};

enum { INDENT = 2 };

static void put_diff_text_table(void *user, const char *title, const struct table *table,
                                uint32_t n)
{
    const struct diff_text_writer *w = user;
    const struct table_layout layout = { w->how->width, INDENT, w->how->styles };
    buf_putc(w->out, '\n');
    style_mark(w->how->styles, w->out, STYLE_BOLD);
    buf_puts(w->out, title);
    style_mark(w->how->styles, w->out, STYLE_NONE);
    buf_putc(w->out, '\n');
    table_print(table, &layout, w->out);
    if (table_rows(table) < n)
        buf_printf(w->out, "  ... and %u more\n", n - (uint32_t)table_rows(table));
}

static void put_text_side(const struct diff_text_writer *w, const char *name,
                          const struct compare_side *side, uint32_t stands)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: ", name);
    format_text(&text, side->label, 0);
    if (side->n_runs > 1) {
        buf_puts(&text, ", ");
        format_plural(&text, side->n_runs, "run");
        buf_puts(&text, "; guards, graphs and lines are those of ");
        format_text(&text, side->runs[stands]->name, 0);
    }
    format_wrapped(w->out, buf_str(&text), w->how->width, 0, INDENT);
    w->out->failed |= text.failed;
    buf_release(&text);
}

static bool times_differ(const struct compare *c)
{
    for (uint32_t i = 0; i < c->n_measures; i++)
        if (c->measures[i].verdict != COMPARE_SAME)
            return true;
    return false;
}

void diff_text(const struct compare *compare, const struct report_options *how, struct buf *out)
{
    struct diff_text_writer w = { compare, how, out };
    struct buf text = BUF_INIT;
    if (!compare->differs && compare->n_rows == 0 && !times_differ(compare))
        return;
    put_text_side(&w, "before", &compare->before, compare->before_run);
    put_text_side(&w, "after", &compare->after, compare->after_run);
    diff_put_summary(compare, &text);
    if (text.n == 0)
        buf_puts(&text, "only times differ");
    format_spaces(out, INDENT);
    buf_puts(out, "* ");
    format_wrapped(out, buf_str(&text), how->width, 4, 4);
    out->failed |= text.failed;
    buf_release(&text);
    diff_tables(compare, how, out, put_diff_text_table, &w);
}
