/* The stages of a compile, and which of them a recorded stack belongs to.
 *
 * One ShapeEnv serves a whole attempt: Dynamo traces with it, then AOTAutograd and Inductor. What a
 * stage asks is known by the functions of PyTorch on the recorded stack (env_stages.def): that of
 * torch/_functorch/_aot_autograd/graph_capture.py which traces the joint graph, for example. */
#ifndef SYMTAPE_TRACE_EVENTS_ENV_STAGES_H
#define SYMTAPE_TRACE_EVENTS_ENV_STAGES_H

#include "trace/open.h"

enum env_stage {
#define ENV_STAGE(id, level, name) ENV_STAGE_##id,
#include "trace/events/env_stages.def"
#undef ENV_STAGE
    ENV_STAGES
};

const char *env_stage_name(enum env_stage stage); /* "Dynamo", "AOT joint" ... */
uint32_t env_stage_level(enum env_stage stage);   /* from 1; 0: of no stage */

/* Remembers what was found out about stacks, so that the stacks of many records, which begin with
 * the same frames, cost no more than their frames. */
struct env_stages;
struct env_stages *env_stages_new(const struct trace *trace, struct err *err);
void env_stages_free(struct env_stages *stages); /* accepts NULL */
/* Returns ENV_STAGES where no frame decides, as for the empty stack. */
enum env_stage env_stage_of(struct env_stages *stages, uint32_t recording, stack_id stack);

#endif
