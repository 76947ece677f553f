/* Reads what was recorded about the symbols of a graph that is run. */
#ifndef SYMTAPE_CMD_RUN_RUN_RECORDED_H
#define SYMTAPE_CMD_RUN_RUN_RECORDED_H

#include "replay/backend/run/run.h"
#include "trace/open.h"

/* Sets the release, and the symbols of a graph's attempt, or of its program, as recorded, and the
 * guards that their values must satisfy. Texts are the trace's and the arena's. */
bool run_recorded(struct trace *trace, uint32_t record, uint32_t attempt, struct arena *arena,
                  struct run_options *options, struct err *err);

#endif
