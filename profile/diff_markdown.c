/* Markdown for a comment on a pull request: GitHub's tables, long ones in <details>. */
#include "profile/diff_tables.h"
#include "profile/format.h"

struct writing {
    const struct report_options *how;
    struct buf *out;
};

enum { OPEN_ROWS = 5 }; /* tables of more rows are folded away */

/* Text of a log may hold anything: nothing of it is markup, a link or the end of a cell. */
static void put_escaped(struct buf *out, struct str text)
{
    static const char MARKUP[] = "\\`*_{}[]()#+!|<>~&@";
    for (size_t i = 0; i < text.n; i++) {
        if (memchr(MARKUP, text.p[i], sizeof MARKUP - 1))
            buf_putc(out, '\\');
        buf_putc(out, text.p[i]);
    }
}

/* Code between backquotes, more of them than it has in a row. A bar ends a cell even there. */
static void put_code(struct buf *out, struct str text)
{
    size_t most = 0, run = 0;
    if (text.n == 0)
        return;
    for (size_t i = 0; i < text.n; i++) {
        run = text.p[i] == '`' ? run + 1 : 0;
        most = run > most ? run : most;
    }
    for (size_t i = 0; i <= most; i++)
        buf_putc(out, '`');
    buf_puts(out, most ? " " : "");
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '|')
            buf_putc(out, '\\');
        buf_putc(out, text.p[i]);
    }
    buf_puts(out, most ? " " : "");
    for (size_t i = 0; i <= most; i++)
        buf_putc(out, '`');
}

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
                put_code(w->out, diff_cell(t, r, c));
            else
                put_escaped(w->out, diff_cell(t, r, c));
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
    put_code(out, compare->before.label);
    buf_puts(out, " and ");
    put_code(out, compare->after.label);
    diff_put_summary(compare, &text);
    buf_puts(out, text.n ? ": " : "");
    buf_put(out, buf_str(&text));
    buf_putc(out, '\n');
    for (uint32_t i = 0; i < compare->n_notes; i++) {
        buf_puts(out, "\n> ");
        put_escaped(out, compare->notes[i]);
        buf_putc(out, '\n');
    }
    out->failed |= text.failed;
    buf_release(&text);
    diff_tables(compare, how, out, put_table, &w);
}
