/* A check for people, and the list of measures. */
#include <math.h>

#include "profile/compare/check.h"
#include "profile/model/format.h"
#include "profile/report/table.h"

enum { INDENT = 2 };

void check_format_change(enum measure measure, double change, struct buf *out)
{
    buf_putc(out, change < 0 ? '-' : '+');
    measure_format(measure, fabs(change), out);
}

static void cell_value(struct table *table, enum measure measure, double value)
{
    measure_format(measure, value, &table->text);
    table_cell(table);
}

/* "10.7 s", and of several tapes "10.7 s (9.9 s to 11.2 s)". */
static void cell_summary(struct table *table, const struct check_side *side, enum measure measure)
{
    const struct measure_summary *s = side ? &side->measures[measure] : NULL;
    if (!s || s->n == 0) {
        table_text(table, STR(""));
        return;
    }
    measure_format(measure, s->median, &table->text);
    if (s->n > 1 && s->least != s->greatest) {
        buf_puts(&table->text, " (");
        measure_format(measure, s->least, &table->text);
        buf_puts(&table->text, " to ");
        measure_format(measure, s->greatest, &table->text);
        buf_putc(&table->text, ')');
    }
    table_cell(table);
}

static void cell_change(struct table *table, const struct check *c, enum measure measure)
{
    const struct measure_summary *now = &c->now->measures[measure];
    const struct measure_summary *before = c->before ? &c->before->measures[measure] : NULL;
    if (!before || before->n == 0 || now->n == 0) {
        table_text(table, STR(""));
        return;
    }
    double change = now->median - before->median;
    if (change == 0) {
        table_text(table, STR("0"));
        return;
    }
    check_format_change(measure, change, &table->text);
    if (before->median != 0)
        buf_printf(&table->text, " (%+.1f %%)", 100 * change / fabs(before->median));
    table_cell(table);
}

static void put_headline(const struct check *c, struct buf *out)
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
    buf_putc(out, '\n');
}

static void print(struct table *table, const struct report_options *how, struct buf *out)
{
    const struct table_layout layout = { how->width, INDENT, how->styles };
    table_print(table, &layout, out);
    table_release(table);
}

static void put_rows(const struct check *c, const struct report_options *how, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "verdict", COLUMN_LEFT },    { "limit", COLUMN_LEFT },   { "baseline", COLUMN_RIGHT },
        { "here", COLUMN_RIGHT },      { "change", COLUMN_RIGHT }, { "allowed", COLUMN_RIGHT },
        { "meaning", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct check_row *row = &c->rows[i];
        enum measure measure = row->rule.measure;
        table_text(&table, str_of(check_verdict_name(row->verdict)));
        check_format_rule(&row->rule, &table.text);
        table_cell(&table);
        cell_summary(&table, c->before, measure);
        cell_summary(&table, c->now, measure);
        cell_change(&table, c, measure);
        if (row->compared)
            cell_value(&table, measure, row->allowed);
        else
            table_text(&table, STR(""));
        table_text(&table, str_of(row->why ? row->why : measure_row(measure)->meaning));
    }
    print(&table, how, out);
}

static void put_changed(const struct check *c, const struct report_options *how, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "measure", COLUMN_LEFT }, { "baseline", COLUMN_RIGHT },  { "here", COLUMN_RIGHT },
        { "change", COLUMN_RIGHT }, { "meaning", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    if (c->n_changed == 0)
        return;
    buf_puts(out, "\nChanged without a limit\n");
    for (uint32_t i = 0; i < c->n_changed; i++) {
        enum measure measure = c->changed[i];
        table_text(&table, str_of(measure_row(measure)->name));
        cell_summary(&table, c->before, measure);
        cell_summary(&table, c->now, measure);
        cell_change(&table, c, measure);
        table_text(&table, str_of(measure_row(measure)->meaning));
    }
    print(&table, how, out);
}

void check_text(const struct check *check, const struct report_options *how, struct buf *out)
{
    put_headline(check, out);
    for (uint32_t i = 0; i < check->n_notes; i++) {
        buf_puts(out, "  * ");
        format_wrapped(out, check->notes[i], how->width, 4, 4);
    }
    put_rows(check, how, out);
    put_changed(check, how, out);
    if (check->regressed && check->before)
        buf_puts(out, "\nsymtape diff of a tape from before and this one tells the user lines.\n");
}

void check_list_text(const struct check_side *side, const struct report_options *how,
                     struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "measure", COLUMN_LEFT },
        { "value", COLUMN_RIGHT },
        { "measured", COLUMN_LEFT, 2 },
        { "meaning", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    for (int i = 0; i < MEASURES; i++) {
        const struct measure_row *row = measure_row((enum measure)i);
        if (side && side->measures[i].n == 0)
            continue;
        table_text(&table, str_of(row->name));
        cell_summary(&table, side, (enum measure)i);
        table_text(&table, str_of(measure_source_name(row->source)));
        table_text(&table, str_of(row->meaning));
    }
    const struct table_layout layout = { how->width, 0, how->styles };
    table_print(&table, &layout, out);
    table_release(&table);
}
