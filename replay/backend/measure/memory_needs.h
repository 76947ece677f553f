/* The memory that a run needs, computed before the run: the peak of a run on the null backend. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_MEMORY_NEEDS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_MEMORY_NEEDS_H

#include "replay/backend/run/run.h"

/* Returns whether the memory suffices, or whether either figure is unknown. False: ERR_ENV; the
 * text contains the need, the node and the available memory. */
bool run_fits(const struct graph *graph, const struct run_options *options, struct err *err);

#endif
