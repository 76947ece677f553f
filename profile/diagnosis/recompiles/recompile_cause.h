/* Private to the diagnosis: which of a recompile's reasons is its cause. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_RECOMPILE_CAUSE_H
#define SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_RECOMPILE_CAUSE_H

#include "profile/diagnosis/finder.h"
#include "trace/base/intern.h"
#include "trace/events/incidents/recompile_guard.h"

/* The recompiles of a profile by the compile that they made. */
struct recompile_index {
    struct intern compiles; /* "RECORDING COMPILE" */
    vec_of(uint32_t)
    recompiles; /* the first one of each, at its index in `compiles` */
};

/* Returns false when memory ran out. */
bool recompile_index_fill(struct recompile_index *index, const struct profile *p);
void recompile_index_release(struct recompile_index *index);

/* Returns whether two guards ask for the same thing, perhaps with other values. */
bool recompile_same_subject(const struct recompile_guard *a, const struct recompile_guard *b);
/* Returns the reason that is the cause; NULL for a recompile without reasons. Sets err when memory
 * ran out. */
const struct recompile_reason *recompile_cause(const struct recompile_index *index,
                                               const struct profile *p,
                                               const struct profile_recompile *recompile,
                                               struct err *err);

#endif
