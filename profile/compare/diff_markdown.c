/* Markdown for a comment on a pull request: GitHub's tables, long ones in <details>. */
#include "profile/compare/diff_tables.h"
#include "trace/base/text/markdown.h"

struct writing {
    const struct report_options *how;
    struct buf *out;
};

enum { OPEN_ROWS = 5 }; /* tables of more rows are folded away */

static void put_table(void *user, const struct diff_table *t)
{
    const struct writing *w = user;
    bool folded = t->n_rows > OPEN_ROWS;
    if (folded)
        buf_printf(w->out, "\n<details><summary><b>%s</b> (%u)</summary>\n\n", t->title, t->n_all);
    else
        buf_printf(w->out, "\n**%s**\n\n", t->title);
    for (size_t c = 0; c < t->n_columns; c++)
        buf_printf(w->out, "| %s ", t->columns[c].header);
    buf_puts(w->out, "|\n");
    for (size_t c = 0; c < t->n_columns; c++)
        buf_puts(w->out, t->columns[c].kind == COLUMN_RIGHT ? "| ---: " : "| --- ");
    buf_puts(w->out, "|\n");
    for (uint32_t r = 0; r < t->n_rows; r++) {
        for (size_t c = 0; c < t->n_columns; c++) {
            enum column_kind kind = t->columns[c].kind;
            buf_puts(w->out, "| ");
            if (kind == COLUMN_WIDE || kind == COLUMN_PATH)
                markdown_cell_code(w->out, diff_cell(t, r, c));
            else
                markdown_text(w->out, diff_cell(t, r, c));
            buf_putc(w->out, ' ');
        }
        buf_puts(w->out, "|\n");
    }
    if (t->n_rows < t->n_all)
        buf_printf(w->out, "\n... and %u more\n", t->n_all - t->n_rows);
    if (folded)
        buf_puts(w->out, "\n</details>\n");
}

void diff_markdown(const struct compare *compare, const struct report_options *how, struct buf *out)
{
    struct writing w = { how, out };
    struct buf text = BUF_INIT;
    buf_puts(out, compare->differs ? "### symtape: differs\n\n" : "### symtape: no difference\n\n");
    markdown_code(out, compare->before.label);
    buf_puts(out, " and ");
    markdown_code(out, compare->after.label);
    diff_put_summary(compare, &text);
    buf_puts(out, text.n ? ": " : "");
    buf_put(out, buf_str(&text));
    buf_putc(out, '\n');
    for (uint32_t i = 0; i < compare->n_notes; i++) {
        buf_puts(out, "\n> ");
        markdown_text(out, compare->notes[i]);
        buf_putc(out, '\n');
    }
    out->failed |= text.failed;
    buf_release(&text);
    diff_tables(compare, how, out, put_table, &w);
}
