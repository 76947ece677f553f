/* What only shares symbols or guards with the rest needs no values of it: a call becomes an input,
 * and what fed it an output. */
#include "minify/pass_edits.h"

void propose_cuts(const struct candidate *best, struct edits *edits)
{
    for (node_id id = 0; id + 1 < best->graph->n_nodes; id++)
        if (is_whole_call(best->graph, id)) {
            edits_propose(edits);
            edits_add(edits, EDIT_CUT, id, 1, 0);
        }
}

bool pass_cut(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_cuts(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
