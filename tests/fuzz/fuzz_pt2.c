/* The .pt2 reader: of an archive, weights that are readable lie inside the file; of a program
 * (bytes that are no archive are taken for one), what was read is a graph whose parts refer to each
 * other, and which prints. */
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/shared/names.h"

#include "trace/pt2/pt2.h"

static void use_args(const struct graph *graph, uint32_t first, uint32_t n)
{
    FUZZ_CHECK(first <= graph->n_args && n <= graph->n_args - first);
    for (uint32_t i = first; i < first + n; i++) {
        const struct arg *arg = &graph->args[i];
        if (arg->kind == ARG_NODE)
            FUZZ_CHECK(arg->u.node < graph->n_nodes);
        if (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT)
            use_args(graph, arg->u.items.first, arg->u.items.n);
    }
}

static void use_graph(const struct graph *graph)
{
    FUZZ_CHECK(graph->n_nodes > 0 && graph->nodes[graph->n_nodes - 1].op == NODE_OUTPUT);
    FUZZ_CHECK(graph->signature && graph->signature->origins);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        FUZZ_CHECK(node->meta == META_NONE || node->meta < graph->pool->n_metas);
        FUZZ_CHECK(node->location == LOCATION_NONE || node->location < graph->n_locations);
        use_args(graph, node->first_arg, node->n_args);
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        use_graph(graph->children[i]);
}

static void use_program(struct str json)
{
    struct err err = { .kind = ERR_NONE };
    struct graph *graph = pt2_program_parse(json, &err);
    FUZZ_CHECK((graph != NULL) != err_is_set(&err));
    if (!graph)
        return;
    use_graph(graph);
    check_names(graph);
    struct buf text = BUF_INIT;
    graph_print(graph, &text);
    struct graph *again = graph_parse(buf_str(&text), &err);
    if (again)
        graph_free(again);
    buf_release(&text);
    graph_free(graph);
}

static void use_archive(const struct pt2 *pt2)
{
    struct buf scratch = BUF_INIT;
    for (uint32_t i = 0; i < pt2->n_models; i++) {
        const struct pt2_model *model = &pt2->models[i];
        struct err err = { .kind = ERR_NONE };
        struct str json;
        for (uint32_t k = 0; k < model->n_weights; k++) {
            const struct pt2_weight *w = &model->weights[k];
            FUZZ_CHECK(!w->readable ||
                       (w->offset <= pt2->zip.bytes.n && w->bytes <= pt2->zip.bytes.n - w->offset));
        }
        if (zip_read(&pt2->zip, model->program, &scratch, &json, &err))
            use_program(json);
    }
    buf_release(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct zip_limits limits = { .members = 1000, .ratio = 100, .member_bytes = 1 << 20 };
    struct str bytes = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    struct pt2 pt2;
    if (!zip_looks_like(bytes)) {
        use_program(bytes);
    } else if (pt2_open(&pt2, bytes, &limits, &err)) {
        use_archive(&pt2);
        pt2_close(&pt2);
    }
    return 0;
}
