/* Writes a check as Markdown for the summary of a CI job. */
#include "profile/compare/check_fields.h"
#include "trace/base/text/markdown.h"

static void put_check_markdown_headline(const struct check *c, struct buf *out)
{
    static const char *const SAY[] = { "holds", "**regressed**", "cannot be judged" };
    buf_puts(out, "### symtape check: ");
    buf_puts(out, c->n_rows ? SAY[c->verdict] : "nothing was checked");
    check_print_failed(c, out);
    buf_puts(out, "\n\n");
    for (uint32_t i = 0; i < c->n_notes; i++) {
        buf_puts(out, "- ");
        markdown_text(out, c->notes[i]);
        buf_putc(out, '\n');
    }
    if (c->n_notes)
        buf_putc(out, '\n');
}

static void put_check_markdown_table(const struct fields *fields, unsigned table,
                                     const struct check *c, struct rows rows, struct buf *out)
{
    struct text_table t;
    text_table_init(&t, fields, table);
    text_table_rows(&t, c, &rows, 0);
    table_markdown(&t.table, out);
    table_release(&t.table);
}

void check_markdown(const struct check *check, struct buf *out)
{
    put_check_markdown_headline(check, out);
    put_check_markdown_table(&check_limit_fields, CHECK_LIMITS_MARKDOWN, check,
                             ROWS(check->rows, check->n_rows), out);
    if (check->n_changed == 0)
        return;
    buf_printf(out, "\n<details><summary>%u more %s changed</summary>\n\n", check->n_changed,
               check->n_changed == 1 ? "measure" : "measures");
    put_check_markdown_table(&check_changed_fields, CHECK_CHANGED_MARKDOWN, check,
                             ROWS(check->changed, check->n_changed), out);
    buf_puts(out, "\n</details>\n");
}
