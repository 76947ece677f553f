/* Writes a check as text, and the list of measures. */
#include <math.h>

#include "profile/compare/check_fields.h"
#include "profile/model/format.h"

enum { INDENT = 2 };

void check_format_change(enum measure measure, double change, struct buf *out)
{
    buf_putc(out, change < 0 ? '-' : '+');
    measure_format(measure, fabs(change), out);
}

void check_print_failed(const struct check *check, struct buf *out)
{
    if (check->now->failed == 0)
        return;
    buf_puts(out, "; ");
    format_plural(out, check->now->failed, "compile");
    buf_puts(out, " failed in PyTorch");
}

static void put_check_text_headline(const struct check *c, struct buf *out)
{
    const char *limits = c->n_rows == 1 ? "limit" : "limits";
    if (c->n_rows == 0)
        buf_puts(out, "nothing was checked");
    else if (c->regressed)
        buf_printf(out, "%u of %u %s %s exceeded", c->regressed, c->n_rows, limits,
                   c->regressed == 1 ? "is" : "are");
    else if (c->cannot_tell)
        buf_printf(out, "%u of %u %s cannot be judged", c->cannot_tell, c->n_rows, limits);
    else
        buf_printf(out, "%u %s", c->n_rows, c->n_rows == 1 ? "limit holds" : "limits hold");
    if (c->regressed && c->cannot_tell)
        buf_printf(out, ", %u cannot be judged", c->cannot_tell);
    check_print_failed(c, out);
    buf_putc(out, '\n');
}

static void put_check_text_table(const struct fields *fields, unsigned table, const struct check *c,
                                 struct rows rows, const struct report_options *how,
                                 struct buf *out)
{
    const struct table_layout layout = { how->width, INDENT, how->styles };
    struct text_table t;
    text_table_init(&t, fields, table);
    text_table_rows(&t, c, &rows, 0);
    table_print(&t.table, &layout, out);
    table_release(&t.table);
}

void check_text(const struct check *check, const struct report_options *how, struct buf *out)
{
    put_check_text_headline(check, out);
    for (uint32_t i = 0; i < check->n_notes; i++) {
        buf_puts(out, "  * ");
        format_wrapped(out, check->notes[i], how->width, 4, 4);
    }
    put_check_text_table(&check_limit_fields, CHECK_LIMITS, check, ROWS(check->rows, check->n_rows),
                         how, out);
    if (check->n_changed > 0)
        buf_puts(out, "\nChanged without a limit\n");
    put_check_text_table(&check_changed_fields, CHECK_CHANGED, check,
                         ROWS(check->changed, check->n_changed), how, out);
    if (check->regressed && check->before)
        buf_puts(out, "\nsymtape diff OLD NEW shows the user lines of these changes.\n");
}

void check_list_text(const struct check_side *side, const struct report_options *how,
                     struct buf *out)
{
    const struct table_layout layout = { how->width, 0, how->styles };
    const struct check here = { .now = side };
    struct text_table t;
    text_table_init(&t, &check_list_fields, CHECK_LIST);
    for (int i = 0; i < MEASURES; i++) {
        const enum measure measure = (enum measure)i;
        if (!side || side->measures[i].n > 0)
            text_table_row(&t, &here, &measure);
    }
    table_print(&t.table, &layout, out);
    table_release(&t.table);
}
