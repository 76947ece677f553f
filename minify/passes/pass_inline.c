#include "minify/passes/pass_edits.h"

static bool calls_subgraph(const struct graph *graph, const struct node *node)
{
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &graph->args[node->first_arg + i];
        if (arg->kind == ARG_GRAPH ||
            (arg->kind == ARG_NODE && graph->nodes[arg->u.node].op == NODE_GET_ATTR &&
             graph->nodes[arg->u.node].meta == META_NONE))
            return true;
    }
    return false;
}

void propose_inlining(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id < best->graph->n_nodes && best->graph->n_children; id++)
        if (node_is_call(&best->graph->nodes[id]) &&
            calls_subgraph(best->graph, &best->graph->nodes[id])) {
            edits_propose(edits);
            edits_add(edits, EDIT_INLINE, id, 0, 0);
        }
}

bool pass_inline(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX) {
        struct edits edits = { .failed = false };
        propose_inlining(search_best(search), &edits);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}
