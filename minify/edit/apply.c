#include "minify/edit/apply.h"

#include <stdlib.h>

#include "minify/edit/inline.h"

static const bool reshaping[] = {
#define EDIT(id, name, reshapes) reshapes,
    EDITS(EDIT)
#undef EDIT
};

bool edit_is_structural(enum edit_kind kind)
{
    return !reshaping[kind] && kind != EDIT_WIDEN && kind != EDIT_DEVICE && kind != EDIT_INLINE;
}

bool edit_chooses_nodes(enum edit_kind kind)
{
    return edit_is_structural(kind) || kind == EDIT_SUBSTITUTE;
}

static bool all_choose_nodes(const struct edit *edits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!edit_chooses_nodes(edits[i].kind))
            return false;
    return true;
}

static struct candidate *apply_structure(const struct candidate *whole, const struct edit *edits,
                                         uint32_t n_edits, struct err *why);

/* Returns the candidate with the metas behind substitutes computed anew, without inputs that only
 * the old metas needed. */
static struct candidate *settle_metas(const struct edit_plan *plan, const struct candidate *closed,
                                      struct err *why)
{
    size_t n = closed->graph->n_nodes;
    bool *affected = calloc(n + 1, sizeof *affected);
    struct candidate *ret = NULL, *propagated = NULL;
    if (!affected)
        return err_nomem(why), NULL;
    for (node_id id = 0; id + 1 < plan->graph->n_nodes; id++)
        if (plan->status[id] == STATUS_STAY && plan->graph->nodes[id].op != NODE_PLACEHOLDER)
            affected[plan->new_id[id]] = plan->affected[id];
    propagated = propagate_affected(closed, affected, why);
    if (propagated)
        ret = apply_structure(propagated, NULL, 0, why);
    candidate_free(propagated);
    free(affected);
    return ret;
}

/* Makes the edits that choose among nodes. */
static struct candidate *apply_structure(const struct candidate *whole, const struct edit *edits,
                                         uint32_t n_edits, struct err *why)
{
    struct edit_plan plan;
    struct candidate *ret = NULL, *settled;
    if (plan_make(&plan, whole, edits, n_edits, why))
        ret = plan_close(&plan, why);
    if (ret && plan.substitutes) {
        settled = settle_metas(&plan, ret, why);
        candidate_free(ret);
        ret = settled;
    }
    plan_release(&plan);
    return ret;
}

struct candidate *candidate_apply(const struct candidate *whole, const struct edit *edits,
                                  uint32_t n_edits, struct err *why)
{
    struct candidate *reshaped = NULL, *ret = NULL;
    if (n_edits == 1 && edits[0].kind == EDIT_INLINE) {
        reshaped = inline_call(whole, edits[0].a, why);
        n_edits = 0;
        if (!reshaped)
            return NULL;
    } else if (!all_choose_nodes(edits, n_edits)) {
        reshaped = reshape_candidate(whole, edits, n_edits, why);
        if (!reshaped)
            return NULL;
    }
    ret = apply_structure(reshaped ? reshaped : whole, edits, n_edits, why);
    candidate_free(reshaped);
    return ret;
}
