/* Text report: operators, and how calls multiply from level to level. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

static void put_level(const struct text_report *r, enum graph_kind level)
{
    static const struct column COLUMNS[] = {
        { "calls", COLUMN_RIGHT },
        { "kept", COLUMN_RIGHT },
        { "operator", COLUMN_WIDE },
    };
    const struct profile_operators *all = &r->p->operators;
    if (all->graphs[level] == 0)
        return;
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n_rows; i++) {
        if (all->rows[i].level != level || (r->options->limit > 0 && n++ >= r->options->limit))
            continue;
        table_count(&table, all->rows[i].calls);
        table_count(&table, all->rows[i].kept);
        table_text(&table, profile_name(r->p, all->rows[i].op));
    }
    buf_printf(r->out, "  %s: ", graph_kind_name(level));
    format_plural(r->out, all->graphs[level], "graph");
    buf_puts(r->out, ", ");
    format_plural(r->out, all->calls[level], "call");
    if (all->kept_graphs[level] < all->graphs[level]) {
        buf_puts(r->out, "; kept: ");
        format_plural(r->out, all->kept_graphs[level], "graph");
        buf_puts(r->out, ", ");
        format_plural(r->out, all->kept[level], "call");
    }
    buf_putc(r->out, '\n');
    text_finish(r, &table, 0);
}

void text_operators(const struct text_report *r)
{
    if (r->p->operators.n_rows == 0)
        return;
    text_title(r, "Operators by level (kept: in attempts that were not thrown away)");
    for (int i = 0; i < GRAPH_KINDS; i++)
        put_level(r, (enum graph_kind)i);
}

static void cell_ratio(struct table *table, uint64_t calls, uint64_t base)
{
    if (base > 0 && calls > 0)
        buf_printf(&table->text, "%.2f", (double)calls / (double)base);
    else
        buf_putc(&table->text, '-');
    table_cell(table);
}

void text_expansion(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "Dynamo", COLUMN_RIGHT },   { "joint", COLUMN_RIGHT },
        { "x", COLUMN_RIGHT, 1 },     { "forward", COLUMN_RIGHT },
        { "backward", COLUMN_RIGHT }, { "inference", COLUMN_RIGHT },
        { "x", COLUMN_RIGHT },        { "post-grad", COLUMN_RIGHT, 2 },
        { "compile", COLUMN_LEFT },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->p->n_compiles; i++) {
        const struct profile_compile *c = &r->p->compiles[i];
        if (c->calls[GRAPH_DYNAMO] == 0 || (r->options->limit > 0 && n++ >= r->options->limit))
            continue;
        table_count(&table, c->calls[GRAPH_DYNAMO]);
        table_count(&table, c->calls[GRAPH_JOINT]);
        cell_ratio(&table, c->calls[GRAPH_JOINT], c->calls[GRAPH_DYNAMO]);
        table_count(&table, c->calls[GRAPH_FORWARD]);
        table_count(&table, c->calls[GRAPH_BACKWARD]);
        table_count(&table, c->calls[GRAPH_INFERENCE]);
        cell_ratio(&table,
                   c->calls[GRAPH_FORWARD] + c->calls[GRAPH_BACKWARD] + c->calls[GRAPH_INFERENCE],
                   c->calls[GRAPH_DYNAMO]);
        table_count(&table, c->calls[GRAPH_POST_GRAD]);
        text_compile(r, &table, c->recording, i);
    }
    if (table_rows(&table) > 0)
        text_title(r, "Expansion: calls by level in each compile's last attempt (x: of Dynamo's)");
    text_finish(r, &table, n);
}
