/* A check for the summary of a CI job. */
#include <math.h>

#include "profile/compare/check.h"
#include "trace/base/text/markdown.h"

static void put_value(struct buf *out, const struct check_side *side, enum measure measure)
{
    const struct measure_summary *s = side ? &side->measures[measure] : NULL;
    buf_puts(out, " | ");
    if (s && s->n)
        measure_format(measure, s->median, out);
}

static void put_change(struct buf *out, const struct check *c, enum measure measure)
{
    const struct measure_summary *now = &c->now->measures[measure];
    const struct measure_summary *before = c->before ? &c->before->measures[measure] : NULL;
    buf_puts(out, " | ");
    if (!before || !before->n || !now->n)
        return;
    double change = now->median - before->median;
    if (change == 0) {
        buf_puts(out, "0");
        return;
    }
    check_format_change(measure, change, out);
    if (before->median != 0)
        buf_printf(out, " (%+.1f %%)", 100 * change / fabs(before->median));
}

static void put_headline(const struct check *c, struct buf *out)
{
    static const char *const SAY[] = { "holds", "**regressed**", "cannot be judged" };
    buf_puts(out, "### symtape check: ");
    buf_puts(out, c->n_rows ? SAY[c->verdict] : "nothing was checked");
    buf_puts(out, "\n\n");
    for (uint32_t i = 0; i < c->n_notes; i++) {
        buf_puts(out, "- ");
        markdown_text(out, c->notes[i]);
        buf_putc(out, '\n');
    }
    if (c->n_notes)
        buf_putc(out, '\n');
}

static void put_rows(const struct check *c, struct buf *out)
{
    static const char *const MARKS[] = { "ok", "**regressed**", "cannot tell" };
    if (c->n_rows == 0)
        return;
    buf_puts(out, "| | limit | baseline | here | change | |\n|---|---|---:|---:|---:|---|\n");
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct check_row *row = &c->rows[i];
        struct buf rule = BUF_INIT;
        check_format_rule(&row->rule, &rule);
        out->failed |= rule.failed;
        buf_printf(out, "| %s | ", MARKS[row->verdict]);
        markdown_text(out, buf_str(&rule));
        put_value(out, c->before, row->rule.measure);
        put_value(out, c->now, row->rule.measure);
        put_change(out, c, row->rule.measure);
        buf_printf(out, " | %s |\n", row->why ? row->why : measure_row(row->rule.measure)->meaning);
        buf_release(&rule);
    }
}

static void put_changed(const struct check *c, struct buf *out)
{
    if (c->n_changed == 0)
        return;
    buf_printf(out, "\n<details><summary>%u more %s changed</summary>\n\n", c->n_changed,
               c->n_changed == 1 ? "measure" : "measures");
    buf_puts(out, "| measure | baseline | here | change | |\n|---|---:|---:|---:|---|\n");
    for (uint32_t i = 0; i < c->n_changed; i++) {
        const struct measure_row *row = measure_row(c->changed[i]);
        buf_puts(out, "| ");
        markdown_text(out, str_of(row->name));
        put_value(out, c->before, c->changed[i]);
        put_value(out, c->now, c->changed[i]);
        put_change(out, c, c->changed[i]);
        buf_printf(out, " | %s |\n", row->meaning);
    }
    buf_puts(out, "\n</details>\n");
}

void check_markdown(const struct check *check, struct buf *out)
{
    put_headline(check, out);
    put_rows(check, out);
    put_changed(check, out);
}
