/* The recorded conditions that sizes of a run must fulfil: guards, ranges and specializations are
 * checked before it, deferred asserts as soon as their symbols have values. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_GUARDS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_GUARDS_H

#include "replay/backend/run/run.h"

/* Computes symbols that equations among the guards determine from others: Eq(s27, 2*s77). */
bool run_solve_symbols(struct run *run, struct err *err);
/* False: a guard is violated, and the caller did not set `violated`. */
bool run_check_guards(struct run *run, struct err *err);

/* Returns the greatest value that the recorded range allows for the unbacked size that this node
 * makes (`user`: the run); -1: any. */
int64_t run_recorded_most(void *user, uint32_t node);
bool run_find_unbacked(struct run *run, struct err *err); /* fills run->binds */
/* Returns the size of a result that depends on data, for a backend that computes nothing: the value
 * that --sizes or an equation determines for the recorded symbol; -1: there is none. */
int64_t run_guess(struct run *run, const struct step *step);
/* Sets the unbacked symbols of the step's result, and checks the asserts that have values now. */
bool run_bind_result(struct run *run, const struct step *step, struct value value, struct err *err);

#endif
