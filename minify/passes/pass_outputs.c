#include <stdlib.h>

#include "minify/passes/pass_edits.h"

void propose_outputs(const struct candidate *best, struct edits *edits)
{
    uint32_t n = graph_n_outputs(best->graph);
    for (uint32_t i = 0; i < n && n > 1; i++) {
        edits_propose(edits);
        edits_add(edits, EDIT_REMOVE_OUTPUT, i, 0, 0);
    }
}

/* Returns whether removing an output would remove a call that is needed. */
static bool holds_needed(const struct search *search, const struct graph *graph, uint32_t i,
                         const uint32_t *uses)
{
    const struct arg *arg = &graph->args[graph->nodes[graph->n_nodes - 1].first_arg + i];
    return arg->kind == ARG_NODE && uses[arg->u.node] == 1 &&
           (search_is_needed(search, graph->nodes[arg->u.node].name, NEEDED_CALL) ||
            search_is_needed(search, graph->nodes[arg->u.node].name, NEEDED_PLACE));
}

bool pass_outputs(struct search *search)
{
    const struct graph *graph = search_best(search)->graph;
    uint32_t *uses = count_node_uses(graph), n = graph_n_outputs(graph);
    struct edits edits = { .failed = !uses };
    for (uint32_t i = 0; uses && i < n && n > 1; i++)
        if (!holds_needed(search, graph, i, uses))
            edits_add(&edits, EDIT_REMOVE_OUTPUT, i, 0, 0);
    free(uses);
    return edits_sweep(search, &edits);
}
