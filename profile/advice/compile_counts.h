/* What the compiles of an outcome have together, as the tape has it of each. */
#ifndef SYMTAPE_PROFILE_ADVICE_COMPILE_COUNTS_H
#define SYMTAPE_PROFILE_ADVICE_COMPILE_COUNTS_H

#include "profile/advice/advice.h"

/* Adds up what the compiles of an outcome have: of a plan's graph breaks, restarts and failures
 * nothing. Returns false with err set when memory ran out or the tape could not be read. */
bool compile_counts_sum(struct advice *advice, const struct call_plan *plan,
                        const struct plan_outcome *outcome, struct advice_counts *ret,
                        struct err *err);

#endif
