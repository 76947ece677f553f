/* What a remedy of the diagnosis changes, as a plan that calls can be replayed with. */
#ifndef SYMTAPE_PROFILE_ADVICE_REMEDY_PLAN_H
#define SYMTAPE_PROFILE_ADVICE_REMEDY_PLAN_H

#include "profile/advice/call_plan.h"
#include "profile/advice/compile_index.h"
#include "profile/calls/values/call_log.h"

/* Returns the statement with which a remedy begins, such as "torch._dynamo.config.recompile_limit =
 * 16" or "torch._dynamo.config.reorderable_logging_functions.add(print)"; "" if it has none. */
struct str remedy_statement(struct str text);

/* What a remedy is judged from. */
struct remedy_context {
    const struct diagnosis *diagnosis;
    const struct finding *finding;
    const struct call_log *log; /* of the finding's recording; without calls it is empty */
    const struct compile_index *index;
};

/* Makes the plan of a remedy. *why is set to the reason if no replay can tell what the remedy does,
 * and the plan is then empty, or what it saves if the program allows it. Returns false when memory
 * ran out. */
bool remedy_plan_make(const struct remedy_context *context, const struct remedy *remedy,
                      struct call_plan *plan, const char **why);

#endif
