/* Graph texts, of which some inputs keep their address: whatever they hold, what can be recorded is
 * in at most as many parts as there are operators, and a node is to blame for what cannot. */
#include "tests/fuzz/fuzz.h"

#include "profile/calls/cudagraphs/wrap_graph.h"

static void check(const struct graph *graph, const bool *keeps, unsigned how)
{
    const struct wrap_settings settings = { .on_gpu = how & 1,
                                            .partitions = how & 2,
                                            .skip_dynamic = how & 4 };
    struct graph_limits limits;
    FUZZ_CHECK(graph_limits_find(graph, keeps, &settings, &limits));
    FUZZ_CHECK(limits.skip < SKIP_REASONS);
    FUZZ_CHECK(limits.node == NODE_NONE || limits.node < graph->n_nodes);
    FUZZ_CHECK(limits.n_partitions <= graph->n_nodes);
    FUZZ_CHECK(settings.partitions || limits.n_partitions <= 1);
    FUZZ_CHECK(limits.n_partitions || limits.skip != SKIP_NONE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    struct graph *graph = graph_parse((struct str){ (const char *)data, n }, &err);
    if (!graph)
        return 0;
    bool *keeps = calloc((size_t)graph->n_nodes + 1, sizeof *keeps);
    for (uint32_t i = 0; keeps && i < graph->n_nodes; i++)
        keeps[i] = (i + n) % 3 == 0;
    for (unsigned how = 0; keeps && how < 8; how++)
        check(graph, keeps, how);
    free(keeps);
    graph_free(graph);
    return 0;
}
