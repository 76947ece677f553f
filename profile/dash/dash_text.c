/* Writes a dashboard as text and as Markdown. */
#include "profile/dash/dash_tables.h"
#include "profile/model/format.h"
#include "trace/base/text/markdown.h"

struct writing {
    const struct report_options *how;
    struct buf *out;
};

static void put_text_table(void *user, const char *title, const struct table *table,
                           const char *remark)
{
    const struct writing *w = user;
    const struct table_layout layout = { w->how->width, 2, w->how->styles };
    buf_puts(w->out, w->out->n ? "\n" : "");
    style_mark(w->how->styles, w->out, STYLE_BOLD);
    buf_puts(w->out, title);
    style_mark(w->how->styles, w->out, STYLE_NONE);
    buf_putc(w->out, '\n');
    table_print(table, &layout, w->out);
    if (*remark) {
        buf_puts(w->out, "  ");
        format_wrapped(w->out, str_of(remark), w->how->width, 2, 2);
    }
}

void dash_text_write(const struct dash_view *view, const struct verdicts *verdicts,
                     const struct report_options *how, struct buf *out)
{
    struct writing w = { how, out };
    if (verdicts) {
        dash_put_verdicts(verdicts, out);
        buf_putc(out, '\n');
    }
    dash_tables(view, verdicts, put_text_table, &w);
}

static void put_markdown_table(void *user, const char *title, const struct table *table,
                               const char *remark)
{
    const struct writing *w = user;
    buf_printf(w->out, "\n**%s**\n\n", title);
    table_markdown(table, w->out);
    if (*remark)
        buf_printf(w->out, "\n%s\n", remark);
}

void dash_markdown(const struct dash_view *view, const struct verdicts *verdicts,
                   const struct report_options *how, struct buf *out)
{
    struct writing w = { how, out };
    buf_puts(out, "### symtape dash");
    if (verdicts) {
        buf_puts(out, ": ");
        dash_put_verdicts(verdicts, out);
    }
    buf_putc(out, '\n');
    dash_tables(view, verdicts, put_markdown_table, &w);
}
