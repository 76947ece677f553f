/* Findings: exceptions that ended a compile. */
#include "profile/diagnosis/find.h"

void find_failures(struct find *d)
{
    for (uint32_t i = 0; i < d->p->n_failures; i++) {
        const struct profile_failure *failure = &d->p->failures[i];
        if (failure->is->is_break)
            continue;
        struct finding_build *f = find_add(d, FINDING_FAILURE, &failure->where, STR(""));
        find_cause(d, f, "%.*s: %.*s", STR_ARG(failure->is->type), STR_ARG(failure->is->reason));
        find_place(f, failure->is->file, failure->is->line, failure->is->code);
        if (failure->where.compile != PROFILE_NONE)
            find_cost(f, d->p->compiles[failure->where.compile].ns, BASIS_MEASURED);
    }
}
