/* Replaces a call whose values are not needed, because it only shares symbols or guards with the
 * rest, by an input; its arguments become outputs. */
#include <stdlib.h>

#include "minify/passes/pass_edits.h"

void propose_cuts(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id + 1 < best->graph->n_nodes; id++)
        if (is_whole_call(best->graph, id)) {
            edits_propose(edits);
            edits_add(edits, EDIT_CUT, id, 1, 0);
        }
}

/* Of few calls that the passes before have left, most are needed. */
enum { FEW = 8 };
static const float of_few = 0.7F;

static bool may_go(const struct search *search, const struct graph *graph, node_id id)
{
    return is_whole_call(graph, id) &&
           !search_is_needed(search, graph->nodes[id].name, NEEDED_CALL) &&
           !search_is_needed(search, graph->nodes[id].name, NEEDED_PLACE);
}

bool pass_cut(struct search *search)
{
    const struct graph *graph = search_best(search)->graph;
    struct edits edits = { .failed = false };
    uint32_t n = 0;
    struct str *names = calloc((size_t)graph->n_nodes + 1, sizeof *names);
    bool *made = calloc((size_t)graph->n_nodes + 1, sizeof *made);
    float *likely = calloc((size_t)graph->n_nodes + 1, sizeof *likely);
    edits.failed = !names || !made || !likely;
    for (node_id id = 0; id + 1 < graph->n_nodes && !edits.failed; id++)
        if (may_go(search, graph, id)) {
            edits_add(&edits, EDIT_CUT, id, 1, 0);
            names[n++] = graph->nodes[id].name;
        }
    for (uint32_t i = 0; i < n; i++)
        likely[i] = of_few;
    bool good = edits_sweep_made(search, &edits, n <= FEW ? likely : NULL, made);
    for (uint32_t i = 0; i < n && good; i++)
        if (!made[i])
            search_note_needed(search, names[i], NEEDED_PLACE);
    free(names);
    free(made);
    free(likely);
    return good;
}
