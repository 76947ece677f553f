/* Tables: graphs, nodes, operators, dispatches. */
#include "profile/model/lines/line_table.h"
#include "profile/tables/rows.h"

struct graph_visit {
    struct rows *rows;
    uint32_t ref;
    bool (*visit)(struct rows *rows, uint32_t ref, const struct graph *graph);
    bool done, ok;
};

static bool visit_graph(void *user, const struct graph *graph)
{
    struct graph_visit *v = user;
    v->done = true;
    v->ok = v->visit(v->rows, v->ref, graph);
    return v->ok;
}

/* Calls `visit` for each graph of the selected compiles; with NULL for one that cannot be read. */
static bool each_graph(struct rows *rows,
                       bool (*visit)(struct rows *rows, uint32_t ref, const struct graph *graph))
{
    const struct graph_list *graphs = rows->in->graphs;
    const struct profile_build *b = (const struct profile_build *)rows->profile;
    bool ok = true;
    for (uint32_t i = 0; ok && i < graphs->n; i++) {
        struct graph_visit v = { .rows = rows, .ref = i, .visit = visit };
        struct err err = { 0 };
        if (!build_takes(b, rows->in, graphs->refs[i].record))
            continue;
        if (!trace_visit_graph(rows->trace, i, visit_graph, &v, &err) && !v.done) {
            ok = !err.no_memory && err.kind != ERR_ENV ? visit(rows, i, NULL)
                                                       : err_copy(rows->err, &err);
            continue;
        }
        ok = v.ok;
    }
    return ok;
}

/* ---- Graphs ---- */

static bool put_graph(struct rows *rows, uint32_t i, const struct graph *graph)
{
    const struct graph_ref *ref = &rows->in->graphs->refs[i];
    row_id(rows, COLUMN_graphs_id, i);
    row_where(rows, COLUMN_graphs_recording_id, ref->record, ref->attempt);
    row_text(rows, COLUMN_graphs_kind, str_of(graph_kind_name(ref->kind)));
    row_text(rows, COLUMN_graphs_name, ref->name);
    row_count(rows, COLUMN_graphs_ordinal, ref->index);
    row_bool(rows, COLUMN_graphs_kept, build_kept(rows->in, ref->attempt));
    row_count(rows, COLUMN_graphs_log_line, rows->trace->records[ref->record].line);
    row_bool(rows, COLUMN_graphs_readable, graph != NULL);
    if (graph) {
        struct graph_counts counts = graph_counts(graph);
        row_count(rows, COLUMN_graphs_inputs, counts.inputs);
        row_count(rows, COLUMN_graphs_nodes, counts.nodes);
        row_count(rows, COLUMN_graphs_calls, counts.calls);
        row_count(rows, COLUMN_graphs_outputs, counts.outputs);
        row_count(rows, COLUMN_graphs_opaque, counts.opaque);
    }
    return row_put(rows);
}

bool rows_of_graphs(struct rows *rows)
{
    return each_graph(rows, put_graph);
}

/* ---- Nodes ---- */

static const char *const node_ops[] = {
    [NODE_PLACEHOLDER] = "placeholder", [NODE_CALL_FUNCTION] = "call_function",
    [NODE_CALL_METHOD] = "call_method", [NODE_CALL_MODULE] = "call_module",
    [NODE_GET_ATTR] = "get_attr",       [NODE_ALIAS] = "alias",
    [NODE_OUTPUT] = "output",           [NODE_OPAQUE] = "opaque",
};

/* Texts of a node that are made for its row. The buffer moves as it grows, so that the texts are
 * made before the first is pointed to. */
struct node_texts {
    struct buf buf;
    size_t operator_end, arguments_end;
};

static void row_meta(struct rows *rows, const struct graph *graph, const struct meta *meta,
                     struct str sizes)
{
    row_text(rows, COLUMN_nodes_meta, meta->text);
    row_text(rows, COLUMN_nodes_device, meta->device);
    if (meta->kind == META_OTHER)
        return;
    row_bool(rows, COLUMN_nodes_symbolic, meta_symbolic_sizes(graph, meta) > 0);
    row_text(rows, COLUMN_nodes_sizes, sizes);
    if (meta->kind != META_TENSOR)
        return;
    row_count(rows, COLUMN_nodes_dims, meta->n_sizes);
    if (meta->dtype != DTYPE_NONE)
        row_text(rows, COLUMN_nodes_dtype, str_of(dtype_short_name(meta->dtype)));
}

static void put_sizes(const struct graph *graph, const struct meta *meta, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        buf_puts(out, i > 0 ? ", " : "");
        expr_print(&graph->pool->exprs, meta->sizes[i], out);
    }
    buf_putc(out, ']');
}

/* Sets the columns that are texts made here. */
static bool row_texts(struct rows *rows, const struct graph *graph, const struct node *node,
                      struct node_texts *texts)
{
    const struct meta *meta = node->meta == META_NONE ? NULL : &graph->pool->metas[node->meta];
    struct buf *buf = &texts->buf;
    buf_clear(buf);
    if (node_is_call(node))
        node_op_name(node, buf);
    texts->operator_end = buf->n;
    graph_print_args(graph, node, buf);
    texts->arguments_end = buf->n;
    if (meta && meta->kind != META_OTHER)
        put_sizes(graph, meta, buf);
    if (buf->failed)
        return err_nomem(rows->err);
    struct str all = buf_str(buf);
    row_text(rows, COLUMN_nodes_operator, str_first(all, texts->operator_end));
    row_text(rows, COLUMN_nodes_arguments,
             str_from(str_first(all, texts->arguments_end), texts->operator_end));
    if (meta)
        row_meta(rows, graph, meta, str_from(all, texts->arguments_end));
    return true;
}

static bool put_node(struct rows *rows, uint32_t ref, struct str subgraph,
                     const struct graph *graph, uint32_t i, struct node_texts *texts)
{
    const struct node *node = &graph->nodes[i];
    row_integer(rows, COLUMN_nodes_id, rows->n_nodes++);
    row_id(rows, COLUMN_nodes_graph_id, ref);
    row_text(rows, COLUMN_nodes_subgraph, subgraph);
    row_count(rows, COLUMN_nodes_position, i);
    row_text(rows, COLUMN_nodes_name, node->name);
    row_text(rows, COLUMN_nodes_op, str_of(node_ops[node->op]));
    row_text(rows, COLUMN_nodes_target, node->target);
    if (!row_texts(rows, graph, node, texts))
        return false;
    if (node->location != LOCATION_NONE) {
        const struct location *at = line_table_location(graph, node->location);
        row_id(rows, COLUMN_nodes_line_id, rows_line(rows, at->file, at->line));
    }
    return row_put(rows);
}

/* Graphs are nested no deeper than their parser allows (graph_counts() recurses as well). */
static bool put_nodes_of(struct rows *rows, uint32_t ref, struct str subgraph,
                         const struct graph *graph, struct node_texts *texts)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++)
        ok = put_node(rows, ref, subgraph, graph, i, texts);
    for (uint32_t i = 0; ok && i < graph->n_children; i++)
        ok = put_nodes_of(rows, ref, graph->children[i]->name, graph->children[i], texts);
    return ok;
}

static bool put_nodes(struct rows *rows, uint32_t ref, const struct graph *graph)
{
    struct node_texts texts = { .buf = BUF_INIT };
    bool ok = !graph || put_nodes_of(rows, ref, STR(""), graph, &texts);
    buf_release(&texts.buf);
    return ok;
}

bool rows_of_nodes(struct rows *rows)
{
    return each_graph(rows, put_nodes);
}

/* ---- Operators ---- */

bool rows_of_operators(struct rows *rows)
{
    const struct profile_operators *operators = &rows->profile->operators;
    bool ok = true;
    for (uint32_t i = 0; ok && i < operators->n_rows; i++) {
        const struct profile_operator_row *row = &operators->rows[i];
        row_text(rows, COLUMN_operators_level, str_of(graph_kind_name(row->level)));
        row_text(rows, COLUMN_operators_operator, profile_name(rows->profile, row->op));
        row_count(rows, COLUMN_operators_calls, row->calls);
        row_count(rows, COLUMN_operators_kept_calls, row->kept);
        ok = row_put(rows);
    }
    return ok;
}

bool rows_of_dispatches(struct rows *rows)
{
    const struct profile_costs *costs = &rows->profile->costs;
    bool ok = true;
    for (uint32_t i = 0; ok && costs->deep && i < costs->n_operators; i++) {
        const struct operator_cost *cost = &costs->operators[i];
        if (operator_cost_real(cost) == 0)
            continue;
        row_text(rows, COLUMN_dispatches_operator, profile_name(rows->profile, cost->op));
        row_count(rows, COLUMN_dispatches_count, operator_cost_real(cost));
        row_integer(rows, COLUMN_dispatches_ns, cost->ns);
        row_integer(rows, COLUMN_dispatches_self_ns, cost->self_ns);
        row_count(rows, COLUMN_dispatches_hits, cost->hits);
        row_count(rows, COLUMN_dispatches_misses, cost->misses);
        row_count(rows, COLUMN_dispatches_bypasses, cost->bypasses);
        row_count(rows, COLUMN_dispatches_fast, cost->fast);
        row_count(rows, COLUMN_dispatches_slow, cost->slow);
        row_count(rows, COLUMN_dispatches_raised, cost->raised);
        ok = row_put(rows);
    }
    return ok;
}
