#include "minify/passes/pass_edits.h"

void propose_facts(const struct candidate *best, struct edits *edits)
{
    for (uint32_t i = 0; i < best->n_facts; i++) {
        edits_propose(edits);
        edits_add(edits, EDIT_REMOVE_FACT, i, 0, 0);
    }
}

bool pass_facts(struct search *search)
{
    struct edits edits = { .failed = false };
    propose_facts(search_best(search), &edits);
    return edits_sweep(search, &edits);
}
