/* Text report: what graphs' tensors take, as estimated from their metas. */
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/text_report.h"

static void cell_bytes(struct table *table, uint64_t bytes)
{
    char text[HUMAN_SIZE];
    table_text(table, str_of(bytes ? human_bytes(text, bytes) : ""));
}

static int64_t clamped(uint64_t bytes)
{
    return bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
}

static int64_t peak(const struct profile *p, uint32_t i)
{
    return clamped(p->graph_memory[i].peak_bytes);
}

static void put_graphs(const struct text_report *r, const uint32_t *order)
{
    static const struct column COLUMNS[] = {
        { "peak", COLUMN_RIGHT },
        { "inputs", COLUMN_RIGHT },
        { "outputs", COLUMN_RIGHT, 2 },
        { "saved", COLUMN_RIGHT },
        { "saved inputs", COLUMN_RIGHT, 3 },
        { "unknown", COLUMN_RIGHT, 1 },
        { "compile", COLUMN_LEFT },
        { "graph", COLUMN_LEFT },
        { "peak at", COLUMN_WIDE },
    };
    const struct profile *p = r->p;
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, p->n_graph_memory); i++) {
        const struct graph_memory *m = &p->graph_memory[order[i]];
        cell_bytes(&table, m->peak_bytes);
        cell_bytes(&table, m->input_bytes);
        cell_bytes(&table, m->output_bytes);
        cell_bytes(&table, m->saved_bytes);
        cell_bytes(&table, m->saved_input_bytes);
        table_count(&table, m->unknown);
        text_compile(r, &table, m->recording, m->compile);
        table_text(&table, str_of(graph_kind_name(m->level)));
        table_text(&table, m->peak_node);
    }
    text_title(r, "Memory of graphs (estimated at the hints, as if each call ran by itself)");
    text_finish(r, &table, p->n_graph_memory);
}

/* Of the graph with the highest peak. */
static void put_nodes(const struct text_report *r, uint32_t graph)
{
    static const struct column COLUMNS[] = {
        { "bytes", COLUMN_RIGHT }, { "node", COLUMN_LEFT }, { "operator", COLUMN_WIDE, 1 },
        { "line", COLUMN_PATH },   { "code", COLUMN_WIDE },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->p->n_memory_nodes; i++) {
        const struct memory_node *node = &r->p->memory_nodes[i];
        if (node->graph != graph || (r->options->limit > 0 && n++ >= r->options->limit))
            continue;
        cell_bytes(&table, node->bytes);
        table_text(&table, node->name);
        table_text(&table, node->op);
        table_place(&table, node->file, node->line);
        table_text(&table, node->code);
    }
    if (table_rows(&table) > 0)
        text_title(r, "Alive at the highest of these peaks");
    text_finish(r, &table, 0);
}

static int64_t saved(const struct profile *p, uint32_t i)
{
    return clamped(p->lines.lines[i].cost.saved_bytes);
}

static void put_saved(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "saved", COLUMN_RIGHT },
        { "line", COLUMN_PATH },
        { "code", COLUMN_WIDE },
    };
    const struct profile_lines *lines = &r->p->lines;
    struct table table = TABLE(COLUMNS);
    uint32_t *order = text_slowest_first(r, lines->n_lines, saved), n = 0;
    for (uint32_t i = 0; order && i < lines->n_lines; i++) {
        const struct profile_line *line = &lines->lines[order[i]];
        if (line->cost.saved_bytes == 0)
            break;
        if (n++ >= r->options->limit && r->options->limit > 0)
            continue;
        cell_bytes(&table, line->cost.saved_bytes);
        table_place(&table, profile_name(r->p, line->file), line->line);
        table_text(&table, line->code);
    }
    if (n > 0)
        text_title(r, "Saved for backward by user line (estimated)");
    text_finish(r, &table, n);
    free(order);
}

void text_graph_memory(const struct text_report *r)
{
    if (r->p->n_graph_memory == 0)
        return;
    uint32_t *order = text_slowest_first(r, r->p->n_graph_memory, peak);
    if (!order)
        return;
    put_graphs(r, order);
    put_nodes(r, order[0]);
    put_saved(r);
    free(order);
}
