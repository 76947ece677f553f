/* What the finders of failures share. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_FIND_FAILURES_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_FIND_FAILURES_H

#include "profile/diagnosis/failures/symbol_names.h"

/* Adds the finding of a failure, with the time of its compile if asked, its message and its line;
 * failures of one cause at one line are one finding. NULL as find_add(). */
struct finding_build *failure_add(struct finder *d, enum finding_kind kind,
                                  const struct profile_failure *failure, struct str cause,
                                  bool with_cost);
/* Returns whether the exception left the program, as far as the tape tells: it is no graph break,
 * errors are not suppressed, and nothing was compiled after it. */
bool failure_ended_program(const struct finder *d, const struct profile_failure *failure);
/* Returns whether a failure says that the recompile limit was reached (compile_frame in
 * torch/_dynamo/convert_frame.py), and its number in *limit ("" if it is not named). */
bool recompile_limit_reached(const struct failure *failure, struct str *limit);
/* Returns where the symbols of a failure's message are looked for. */
struct symbol_scope failure_scope(const struct finder *d, const struct profile_failure *failure);

/* ConstraintViolationError: find_constraints.c. */
void find_violations(struct finder *d, const struct profile_failure *failure);
/* GuardOnDataDependentSymNode: find_data_dependent.c. */
void find_data_dependent(struct finder *d, const struct profile_failure *failure);

#endif
