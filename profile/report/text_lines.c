/* Text report: user lines, guards and symbols. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

static void put_counts(struct table *table, const struct profile_line *line)
{
    table_ns(table, line->estimated_ns > 0 ? line->estimated_ns : -1);
    table_count(table, line->guards);
    table_count(table, line->symbols);
    table_count(table, line->specializations);
}

static void put_place(const struct text_report *r, struct table *table,
                      const struct profile_line *line)
{
    table_place(table, profile_name(r->p, line->file), line->line);
    table_text(table, line->code);
}

static uint64_t kept_aten_nodes(const struct profile_line *line)
{
    return line->kept_nodes[GRAPH_FORWARD] + line->kept_nodes[GRAPH_BACKWARD] +
           line->kept_nodes[GRAPH_INFERENCE] + line->kept_nodes[GRAPH_EXPORTED];
}

static void put_user_lines(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "est. time", COLUMN_RIGHT },
        { "guards", COLUMN_RIGHT },
        { "symbols", COLUMN_RIGHT, 3 },
        { "specialized", COLUMN_RIGHT, 4 },
        { "Dynamo nodes", COLUMN_RIGHT, 2 },
        { "ATen nodes", COLUMN_RIGHT, 1 },
        { "line", COLUMN_PATH },
        { "code", COLUMN_WIDE },
    };
    const struct profile_lines *lines = &r->p->lines;
    struct table table = TABLE(COLUMNS);
    text_title(r, lines->estimated_ns > 0
                      ? "User lines (time is estimated from gaps between records)"
                      : "User lines");
    for (uint32_t i = 0; i < text_shown(r, lines->n_lines); i++) {
        put_counts(&table, &lines->lines[i]);
        table_count(&table, lines->lines[i].kept_nodes[GRAPH_DYNAMO]);
        table_count(&table, kept_aten_nodes(&lines->lines[i]));
        put_place(r, &table, &lines->lines[i]);
    }
    text_finish(r, &table, lines->n_lines);
}

static void put_coverage(const struct text_report *r)
{
    const struct profile_lines *lines = &r->p->lines;
    struct buf text = BUF_INIT;
    if (lines->estimated_ns > 0) {
        buf_puts(&text, "The estimate covers ");
        format_ns(&text, lines->estimated_ns);
        buf_puts(&text, "; ");
        format_ns(&text, lines->unattributed_ns);
        buf_puts(&text, " belong to no line. ");
    }
    if (r->p->n_restarts > 0)
        buf_puts(&text, "Nodes are those of the graphs that were kept.");
    text_paragraph(r, &text);
}

static void put_library_lines(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "est. time", COLUMN_RIGHT },  { "guards", COLUMN_RIGHT },
        { "symbols", COLUMN_RIGHT, 1 }, { "specialized", COLUMN_RIGHT, 2 },
        { "line", COLUMN_PATH },        { "code", COLUMN_WIDE },
    };
    const struct profile_lines *lines = &r->p->lines;
    struct table table = TABLE(COLUMNS);
    text_title(r, "Inside PyTorch, below those lines");
    for (uint32_t i = 0; i < text_shown(r, lines->n_library_lines); i++) {
        put_counts(&table, &lines->library_lines[i]);
        put_place(r, &table, &lines->library_lines[i]);
    }
    text_finish(r, &table, lines->n_library_lines);
}

void text_lines(const struct text_report *r)
{
    if (r->p->lines.n_lines > 0) {
        put_user_lines(r);
        put_coverage(r);
    }
    if (r->p->lines.n_library_lines > 0)
        put_library_lines(r);
}

static void put_guard_counts(const struct text_report *r)
{
    const struct profile_guards *guards = &r->p->guards;
    struct buf text = BUF_INIT;
    const char *before = ": ";
    format_plural(&text, guards->by_kind[GUARD_EVAL], "guard");
    for (int i = 0; i < GUARD_CLASSES; i++) {
        if (guards->by_class[i] == 0)
            continue;
        buf_puts(&text, before);
        format_count(&text, guards->by_class[i]);
        buf_printf(&text, " asked by %s", guard_class_name((enum guard_class)i));
        before = ", ";
    }
    buf_puts(&text, "; ");
    format_count(&text, guards->duplicates);
    buf_puts(&text, " repeat one that their attempt had before. Besides, ");
    format_count(&text, guards->by_kind[GUARD_SUPPRESSED]);
    buf_puts(&text, " were suppressed and ");
    format_count(&text, guards->by_kind[GUARD_RUNTIME_ASSERT]);
    buf_puts(&text, " deferred to run time as asserts.");
    text_paragraph(r, &text);
}

static void put_guard_rows(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "count", COLUMN_RIGHT },    { "kept", COLUMN_RIGHT }, { "asked by", COLUMN_LEFT },
        { "user line", COLUMN_PATH }, { "guard", COLUMN_WIDE },
    };
    const struct profile_guards *guards = &r->p->guards;
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, guards->n_rows); i++) {
        const struct guard_row *row = &guards->rows[i];
        table_count(&table, row->count);
        table_count(&table, row->kept);
        if (row->kind != GUARD_EVAL)
            buf_printf(&table.text, "%s: ", guard_kind_name(row->kind));
        table_text(&table, str_of(guard_class_name(row->asked_by)));
        table_place(&table, profile_name(r->p, row->file), row->line);
        table_text(&table, row->expr);
    }
    text_finish(r, &table, guards->n_rows);
}

void text_guards(const struct text_report *r)
{
    if (r->p->guards.n_rows == 0)
        return;
    text_title(r, "Guards (asked by: whose code needed to know)");
    put_guard_counts(r);
    put_guard_rows(r);
}

void text_symbols(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "guards", COLUMN_RIGHT },
        { "symbol", COLUMN_WIDE },
    };
    const struct profile_guards *guards = &r->p->guards;
    if (guards->n_symbols == 0)
        return;
    text_title(r, "Symbols by guards that name them");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, guards->n_symbols); i++) {
        table_count(&table, guards->symbols[i].guards);
        table_text(&table, guards->symbols[i].symbol);
    }
    text_finish(r, &table, guards->n_symbols);
}
