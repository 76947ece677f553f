/* What the files that make advice share. */
#ifndef SYMTAPE_PROFILE_ADVICE_ADVICE_BUILD_H
#define SYMTAPE_PROFILE_ADVICE_ADVICE_BUILD_H

#include "profile/advice/advice.h"

struct advice_build {
    struct advice *advice;
    const struct advice_sources *sources;
    bool faithful;        /* the calls have the compiles of the tape */
    bool policy_faithful; /* and so have entries that are put together */
    struct err *err;
};

/* Sets what there is with a plan; *why if that is not known. Returns false with b->err set when
 * memory ran out or the tape could not be read. */
bool advice_run_plan(struct advice_build *b, const struct call_plan *plan,
                     struct advice_counts *after, struct plan_run_time *run, const char **why);

/* Returns whether a change is worth it: something is less and nothing is more. What the calls take
 * more, by the run times of both sides (NULL: unknown), must be less than what the compiles save.
 */
bool advice_is_gain(const struct advice_counts *before, const struct plan_run_time *run_before,
                    const struct advice_counts *after, const struct plan_run_time *run);

/* Returns whether the first is better: fewer failures; as many and fewer eager look-ups, compiles;
 * or as many and less time. */
bool advice_is_better(const struct advice_counts *a, const struct advice_counts *b);

/* Sets advice->together and advice->plan: of the remedies that are proved the fewest that save all
 * that they can save together. Returns false with b->err set as above. */
bool remedy_sets_choose(struct advice_build *b);

#endif
