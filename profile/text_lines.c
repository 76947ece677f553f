/* Text report: user lines, guards and symbols. */
#include "profile/format.h"
#include "profile/text_report.h"

static void put_lines(const struct text_report *r, const char *heading,
                      const struct profile_line *lines, uint32_t n, bool nodes)
{
    static const struct text_column COLUMNS[] = {
        { "time (est.)", true }, { "guards", true },       { "symbols", true },
        { "specialised", true }, { "Dynamo nodes", true }, { "ATen nodes", true },
        { "line", false },       { "code", false },
    };
    if (n == 0)
        return;
    text_title(r, heading);
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, n); i++) {
        const struct profile_line *line = &lines[i];
        text_ns(&table, line->estimated_ns);
        text_count(&table, line->guards);
        text_count(&table, line->symbols);
        text_count(&table, line->specializations);
        text_count(&table, nodes ? line->kept_nodes[GRAPH_DYNAMO] : 0);
        text_count(&table, nodes ? line->kept_nodes[GRAPH_FORWARD] +
                                       line->kept_nodes[GRAPH_BACKWARD] +
                                       line->kept_nodes[GRAPH_INFERENCE]
                                 : 0);
        text_place(&table, profile_name(r->p, line->file), line->line);
        text_text(&table, line->code);
    }
    text_finish(r, &table, n);
}

void text_lines(const struct text_report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    put_lines(r, "User lines (time is estimated from gaps between records)", lines->lines,
              lines->n_lines, true);
    if (lines->n_lines > 0) {
        buf_puts(r->out, "  the estimate covers ");
        format_ns(r->out, lines->estimated_ns);
        buf_puts(r->out, "; ");
        format_ns(r->out, lines->unattributed_ns);
        buf_puts(r->out, " belong to no line; nodes are those of the graphs that were kept\n");
    }
    put_lines(r, "Inside PyTorch, below those lines", lines->library_lines, lines->n_library_lines,
              false);
}

void text_guards(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = {
        { "count", true },      { "kept", true },   { "asked by", false },
        { "user line", false }, { "guard", false },
    };
    const struct profile_guards *guards = &r->p->guards;
    if (guards->n_rows == 0)
        return;
    text_title(r, "Guards");
    buf_puts(r->out, "  ");
    for (int i = 0; i < GUARD_CLASSES; i++)
        if (guards->by_class[i] > 0) {
            format_count(r->out, guards->by_class[i]);
            buf_printf(r->out, " asked by %s, ", guard_class_name((enum guard_class)i));
        }
    format_count(r->out, guards->duplicates);
    buf_puts(r->out, " repeat one of their attempt; besides, ");
    format_count(r->out, guards->by_kind[GUARD_SUPPRESSED]);
    buf_puts(r->out, " suppressed and ");
    format_count(r->out, guards->by_kind[GUARD_RUNTIME_ASSERT]);
    buf_puts(r->out, " deferred asserts\n");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, guards->n_rows); i++) {
        const struct guard_row *row = &guards->rows[i];
        text_count(&table, row->count);
        text_count(&table, row->kept);
        if (row->kind != GUARD_EVAL)
            buf_printf(&table.text, "%s: ", guard_kind_name(row->kind));
        text_text(&table, str_of(guard_class_name(row->asked_by)));
        text_place(&table, profile_name(r->p, row->file), row->line);
        text_text(&table, row->expr);
    }
    text_finish(r, &table, guards->n_rows);
}

void text_symbols(const struct text_report *r)
{
    static const struct text_column COLUMNS[] = { { "guards", true }, { "symbol", false } };
    const struct profile_guards *guards = &r->p->guards;
    if (guards->n_symbols == 0)
        return;
    text_title(r, "Symbols by guards that name them");
    struct text_table table = TEXT_TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, guards->n_symbols); i++) {
        text_count(&table, guards->symbols[i].guards);
        text_text(&table, guards->symbols[i].symbol);
    }
    text_finish(r, &table, guards->n_symbols);
}
