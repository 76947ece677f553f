#include "cmd/show/show.h"
#include "profile/model/format.h"
#include "trace/graphs.h"

/* --graphs: lists the graphs, spelt as --graph takes them. */

struct graph_items {
    const struct graph_list *list;
    struct graph_item {
        const struct graph_ref *ref;
        struct graph_counts counts; /* all 0 where the graph cannot be read */
        struct err err;             /* why it cannot be read */
        bool read;
    } item; /* the current item */
};

static void release_graphs(void *items)
{
    free(items);
}

static bool load_graphs(struct show *show, void **ret, uint32_t *ret_n, struct err *err)
{
    const struct graph_list *list = trace_graphs(show->trace, err);
    struct graph_items *items = list ? calloc(1, sizeof *items) : NULL;
    if (!items)
        return list ? err_nomem(err) : false;
    items->list = list;
    *ret = items;
    *ret_n = list->n;
    return true;
}

static const struct graph_ref *ref_at(const void *items, uint32_t i)
{
    return &((const struct graph_items *)items)->list->refs[i];
}

static struct show_place place_graph(const struct show *show, const void *items, uint32_t i)
{
    (void)show;
    const struct graph_ref *ref = ref_at(items, i);
    return (struct show_place){ .record = ref->record, .attempt = ref->attempt };
}

static bool graph_wanted(const struct show *show, const void *items, uint32_t i)
{
    const struct graph_ref *ref = ref_at(items, i);
    struct str kind = show->selector.kind;
    return kind.n == 0 || str_eq(kind, ref->name) || str_is(kind, graph_kind_name(ref->kind));
}

static bool count_item(void *user, const struct graph *graph)
{
    *(struct graph_counts *)user = graph_counts(graph);
    return true;
}

/* Notes a damaged graph, which does not change the exit code. When memory ran out, the list is
 * incomplete. */
static void note_damaged_graph(struct show *show, const struct err *err)
{
    int code = show->args->json && err->kind != ERR_ENV ? EXIT_DONE : out_error(show->out, err);
    if (err->kind == ERR_ENV)
        show->out->unprinted = code;
}

/* A graph is freed once it is counted, so a long list needs no more memory than its largest
 * graph. */
static const void *graph_item_at(struct show *show, void *items, uint32_t i)
{
    struct graph_item *item = &((struct graph_items *)items)->item;
    *item = (struct graph_item){ .ref = ref_at(items, i) };
    item->read = trace_visit_graph(show->trace, i, count_item, &item->counts, &item->err);
    if (!item->read) {
        item->counts = (struct graph_counts){ 0 };
        note_damaged_graph(show, &item->err);
    }
    return item;
}

static void cell_graph_spelling(const void *context, const void *at, struct buf *out)
{
    const struct show_row *row = context;
    const struct graph_items *items = row->items;
    const struct graph_item *item = at;
    struct buf name = BUF_INIT;
    selector_print_graph(row->show->trace, items->list, (uint32_t)(item->ref - items->list->refs),
                         &name);
    format_text(out, buf_str(&name), 0);
    out->failed |= name.failed;
    buf_release(&name);
}

GETTER(get_group, struct graph_ref, datum_name(graph_kind_name(row->kind)))
GETTER(get_error, struct graph_item, row->read ? datum_absent() : datum_name(row->err.text))
GETTER(get_subgraphs, struct graph_counts, datum_count(row->graphs > 0 ? row->graphs - 1 : 0))

static const struct field COUNTS[] = {
    { "inputs", MEMBER(struct graph_counts, inputs), TEXT(3, "inputs", NUMBER, 0) },
    { "nodes", MEMBER(struct graph_counts, nodes), TEXT(4, "nodes", NUMBER, 0) },
    { "calls", MEMBER(struct graph_counts, calls), TEXT(5, "calls", NUMBER, 0) },
    { "outputs", MEMBER(struct graph_counts, outputs), TEXT(6, "outputs", NUMBER, 1) },
    { "subgraphs", .get = get_subgraphs, TEXT(7, "subgraphs", NUMBER, 2) },
    { "opaque", MEMBER(struct graph_counts, opaque), TEXT(8, "opaque", NUMBER, 3) },
};
static const struct fields COUNTS_FIELDS = FIELDS_OF(COUNTS);

/* A graph that cannot be read has none of these. */
REACH(reach_counts, struct graph_item, row->read ? &row->counts : NULL)

static const struct field REF[] = {
    { "kind", MEMBER(struct graph_ref, name) },
    { "group", .get = get_group, TEXT(2, "kind", WORD, 4) },
    { "index", MEMBER(struct graph_ref, index) },
};
static const struct fields REF_FIELDS = FIELDS_OF(REF);

static const struct field GRAPH[] = {
    { NULL, .cell = cell_graph_spelling, TEXT(1, "graph", WORD, 0) },
    { NULL, BEHIND(REF_FIELDS, struct graph_item, ref) },
    { "error", .get = get_error },
    { NULL, .group = &COUNTS_FIELDS, .reach = reach_counts },
};
static const struct fields GRAPH_FIELDS = FIELDS_OF(GRAPH);

const struct show_view show_graphs = {
    .key = "graphs",
    .none = "no graphs",
    .fields = &GRAPH_FIELDS,
    .load = load_graphs,
    .release = release_graphs,
    .place = place_graph,
    .wanted = graph_wanted,
    .item = graph_item_at,
};
