/* What the files of `symtape replay --backend` share. */
#ifndef SYMTAPE_CMD_REPLAY_REPLAY_RUN_H
#define SYMTAPE_CMD_REPLAY_REPLAY_RUN_H

#include "cmd/replay/replay.h"
#include "replay/backend/run/run.h"

/* The symbols of a graph's attempt, or of its program, as recorded, and what their values have to
 * hold to. Texts are the trace's and the arena's. */
bool replay_recorded(struct trace *trace, uint32_t record, uint32_t attempt, struct arena *arena,
                     struct run_options *options, struct err *err);

#endif
