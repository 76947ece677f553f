/* What was recorded that sizes have to hold to, at the sizes of a run: guards, ranges,
 * specializations before it, deferred asserts as their symbols come to be. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_GUARDS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_GUARDS_H

#include "replay/backend/run/run.h"

/* Symbols that equations among the guards determine, once others are known: Eq(s27, 2*s77). */
bool run_solve_symbols(struct run *run, struct err *err);
/* False: a guard does not hold and nobody said to go on. */
bool run_check_guards(struct run *run, struct err *err);

bool run_find_unbacked(struct run *run, struct err *err); /* fills run->binds */
/* What the size of a result that depends on data is taken for by a backend that computes nothing:
 * what --sizes or an equation says of the symbol that was recorded; -1: nothing does. */
int64_t run_guess(struct run *run, const struct step *step);
/* Unbacked symbols that the step's result brought, and the asserts that can be told now. */
bool run_bind_result(struct run *run, const struct step *step, struct value value, struct err *err);

#endif
