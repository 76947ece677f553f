#include "minify/edit/apply.h"
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

static bool all_structural(const struct edit *edits, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!edit_is_structural(edits[i].kind))
            return false;
    return true;
}

struct candidate *candidate_apply(const struct candidate *whole, const struct edit *edits,
                                  uint32_t n_edits, struct err *why)
{
    struct candidate *reshaped = NULL, *ret = NULL;
    struct edit_plan plan;
    if (n_edits == 1 && edits[0].kind == EDIT_INLINE) {
        reshaped = inline_call(whole, edits[0].a, why);
        n_edits = 0;
        if (!reshaped)
            return NULL;
    } else if (!all_structural(edits, n_edits)) {
        reshaped = reshape_candidate(whole, edits, n_edits, why);
        if (!reshaped)
            return NULL;
    }
    if (plan_make(&plan, reshaped ? reshaped : whole, edits, n_edits, why))
        ret = plan_close(&plan, why);
    plan_release(&plan);
    candidate_free(reshaped);
    return ret;
}
