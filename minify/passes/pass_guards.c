#include "minify/passes/pass_edits.h"

void propose_guards(const struct candidate *best, struct edits *edits)
{
    for (uint32_t i = 0; i < best->n_guards; i++) {
        edits_propose(edits);
        edits_add(edits, EDIT_REMOVE_GUARD, i, 0, 0);
    }
}

bool pass_guards(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_guards(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
