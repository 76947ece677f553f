/* The reader of graph texts: whatever it accepts is consistent, and prints to a text that is
 * accepted again and, where nothing was opaque, is the same graph. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shared/names.h"

#include "trace/base/buf.h"
#include "trace/graph/graph.h"

static void check_args(const struct graph *graph, uint32_t first, uint32_t n)
{
    FUZZ_CHECK(first <= graph->n_args && n <= graph->n_args - first);
    for (uint32_t i = 0; i < n; i++) {
        const struct arg *arg = &graph->args[first + i];
        if (arg->kind == ARG_NODE)
            FUZZ_CHECK(arg->u.node < graph->n_nodes);
        else if (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                 arg->kind == ARG_SLICE || arg->kind == ARG_CALL)
            check_args(graph, arg->u.items.first, arg->u.items.n);
    }
}

static void check_meta(const struct graph_pool *pool, const struct meta *meta)
{
    FUZZ_CHECK(meta->kind != META_SYM || meta->n_sizes == 1);
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        FUZZ_CHECK(meta->sizes[i] < pool->exprs.exprs.n);
        FUZZ_CHECK(!meta->strides || meta->strides[i] < pool->exprs.exprs.n);
    }
}

static void check_graph(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        check_args(graph, node->first_arg, node->n_args);
        FUZZ_CHECK(node->meta == META_NONE || node->meta < graph->pool->n_metas);
        FUZZ_CHECK(node->location == LOCATION_NONE || node->location < graph->n_locations);
        for (uint32_t k = 0; k < node->n_deleted; k++)
            FUZZ_CHECK(graph->deleted[node->first_deleted + k] <= i);
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        check_graph(graph->children[i]);
}

static void check_again(const struct graph *graph)
{
    struct buf text = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    graph_print(graph, &text);
    struct graph *again = graph_parse(buf_str(&text), &err);
    FUZZ_CHECK(again);
    if (graph_counts(graph).opaque == 0)
        FUZZ_CHECK(graph_equal(graph, again, NULL));
    graph_free(again);
    buf_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    bool likely = graph_looks_like(text);
    struct graph *graph = graph_parse(text, &err);
    FUZZ_CHECK(!graph == err_is_set(&err));
    FUZZ_CHECK(!graph || likely);
    if (!graph)
        return 0;
    check_graph(graph);
    check_names(graph);
    for (uint32_t i = 0; i < graph->pool->n_metas; i++)
        check_meta(graph->pool, &graph->pool->metas[i]);
    check_again(graph);
    graph_free(graph);
    return 0;
}
