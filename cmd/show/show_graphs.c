#include "cmd/show/show.h"
#include "trace/graphs.h"

/* --graphs: a list of what there is, spelt as --graph takes it. */

static bool load(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct graph_list *list = trace_graphs(show->trace, err);
    if (!list)
        return false;
    *ret = (void *)(uintptr_t)list;
    *ret_n = list->n;
    return true;
}

static struct show_place place(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct graph_ref *ref = &((const struct graph_list *)items)->refs[i];
    return (struct show_place){ .record = ref->record, .attempt = ref->attempt };
}

static bool wanted(const struct show *show, const void *items, uint32_t i)
{
    const struct graph_ref *ref = &((const struct graph_list *)items)->refs[i];
    struct str kind = show->selector.kind;
    return kind.n == 0 || str_eq(kind, ref->name) || str_is(kind, graph_kind_name(ref->kind));
}

static bool count(void *user, const struct graph *graph)
{
    *(struct graph_counts *)user = graph_counts(graph);
    return true;
}

/* A graph is gone once it is counted: a list of many takes no more than the largest. */
static bool counts_of(struct show *show, uint32_t i, struct graph_counts *ret, struct err *err)
{
    *ret = (struct graph_counts){ 0 };
    return trace_visit_graph(show->trace, i, count, ret, err);
}

/* A damaged graph is told, and the exit code stays; where memory is out, the list is not whole. */
static void tell(struct show *show, const struct err *err)
{
    int code = show->args->json && err->kind != ERR_ENV ? EXIT_DONE : out_error(show->out, err);
    if (err->kind == ERR_ENV)
        show->out->unprinted = code;
}

static void row(struct show *show, const void *items, uint32_t i, struct table *table)
{
    const struct graph_list *list = items;
    struct err err = { 0 };
    struct buf name = BUF_INIT;
    struct graph_counts counts;
    bool read = counts_of(show, i, &counts, &err);
    selector_print_graph(show->trace, list, i, &name);
    table_text(table, buf_str(&name));
    if (name.failed)
        table->text.failed = true;
    table_text(table, str_of(graph_kind_name(list->refs[i].kind)));
    table_u64(table, counts.inputs);
    table_u64(table, counts.nodes);
    table_u64(table, counts.calls);
    table_u64(table, counts.outputs);
    table_u64(table, counts.graphs ? counts.graphs - 1 : 0);
    table_u64(table, counts.opaque);
    buf_release(&name);
    if (!read)
        tell(show, &err);
}

static void json(struct show *show, const void *items, uint32_t i)
{
    const struct graph_ref *ref = &((const struct graph_list *)items)->refs[i];
    struct json_writer *w = &show->w;
    struct err err = { 0 };
    struct graph_counts counts;
    bool read = counts_of(show, i, &counts, &err);
    json_put_str(w, "kind", ref->name);
    json_put_cstr(w, "group", graph_kind_name(ref->kind));
    json_put_u64(w, "index", ref->index);
    if (!read) {
        json_put_cstr(w, "error", err.text);
        tell(show, &err);
        return;
    }
    json_put_u64(w, "inputs", counts.inputs);
    json_put_u64(w, "nodes", counts.nodes);
    json_put_u64(w, "calls", counts.calls);
    json_put_u64(w, "outputs", counts.outputs);
    json_put_u64(w, "subgraphs", counts.graphs ? counts.graphs - 1 : 0);
    json_put_u64(w, "opaque", counts.opaque);
}

static const struct column columns[] = {
    { "graph", COLUMN_LEFT },         { "kind", COLUMN_LEFT, 4 },    { "inputs", COLUMN_RIGHT },
    { "nodes", COLUMN_RIGHT },        { "calls", COLUMN_RIGHT },     { "outputs", COLUMN_RIGHT, 1 },
    { "subgraphs", COLUMN_RIGHT, 2 }, { "opaque", COLUMN_RIGHT, 3 },
};

const struct show_view show_graphs = {
    .key = "graphs",
    .none = "no graphs",
    .columns = columns,
    .n_columns = sizeof columns / sizeof columns[0],
    .load = load,
    .place = place,
    .wanted = wanted,
    .row = row,
    .json = json,
};
