#include <stdlib.h>

#include "minify/passes/pass_edits.h"

void propose_dead(const struct candidate *best, struct edits *edits)
{
    const struct graph *graph = best->graph;
    uint32_t *uses = count_node_uses(graph), position = 0;
    edits->failed |= !uses;
    for (node_id id = 0; uses && id + 1 < graph->n_nodes; id++) {
        bool input = graph->nodes[id].op == NODE_PLACEHOLDER;
        if (uses[id] == 0) {
            edits_propose(edits);
            edits_add(edits, input ? EDIT_REMOVE_INPUT : EDIT_REMOVE_NODE, input ? position : id, 0,
                      0);
        }
        position += input;
    }
    free(uses);
}

bool pass_dead(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_dead(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
