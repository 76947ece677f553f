/* Tries every single remaining edit once: if none is accepted, the result is minimal. Most of the
 * answers are in the cache. */
#include "minify/passes/pass_edits.h"

bool pass_certificate(struct search *search)
{
    uint32_t which = 0;
    while (which != UINT32_MAX) {
        const struct candidate *best = search_best(search);
        struct edits edits = { .failed = false };
        propose_dead(best, &edits);
        propose_cuts(best, &edits);
        propose_bypasses(best, &edits);
        propose_substitutes(best, &edits);
        propose_outputs(best, &edits);
        propose_guards(best, &edits);
        propose_statics(best, &edits);
        propose_merges(best, &edits);
        propose_fresh(best, &edits);
        propose_ranges(best, &edits);
        propose_hints(best, &edits);
        propose_constants(best, &edits);
        propose_ranks(best, &edits);
        propose_dtypes(best, &edits);
        propose_gradients(best, &edits);
        propose_strides(best, &edits);
        propose_device(best, &edits);
        propose_arguments(best, &edits);
        propose_inlining(best, &edits);
        if (!edits_try_each(search, &edits, &which))
            return false;
    }
    return true;
}
