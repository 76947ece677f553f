/* Writes a comparison as Markdown for a comment on a pull request: GitHub's tables, long ones in
 * <details>. */
#include "profile/compare/diff_tables.h"
#include "trace/base/text/markdown.h"

enum { OPEN_ROWS = 5 }; /* longer tables go into <details> */

static void put_diff_markdown_table(void *user, const char *title, const struct table *table,
                                    uint32_t n)
{
    struct buf *out = user;
    uint32_t rows = (uint32_t)table_rows(table);
    bool folded = rows > OPEN_ROWS;
    if (folded)
        buf_printf(out, "\n<details><summary><b>%s</b> (%u)</summary>\n\n", title, n);
    else
        buf_printf(out, "\n**%s**\n\n", title);
    table_markdown(table, out);
    if (rows < n)
        buf_printf(out, "\n... and %u more\n", n - rows);
    if (folded)
        buf_puts(out, "\n</details>\n");
}

void diff_markdown(const struct compare *compare, const struct report_options *how, struct buf *out)
{
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
    diff_tables(compare, how, out, put_diff_markdown_table, out);
}
