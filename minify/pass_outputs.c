#include "minify/pass_edits.h"

void propose_outputs(const struct candidate *best, struct edits *edits)
{
    uint32_t n = n_outputs(best->graph);
    for (uint32_t i = 0; i < n && n > 1; i++) {
        edits_propose(edits);
        edits_add(edits, EDIT_REMOVE_OUTPUT, i, 0, 0);
    }
}

bool pass_outputs(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_outputs(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
