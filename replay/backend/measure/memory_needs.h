/* Memory that a run needs, before it is tried: the peak of one that computes nothing. */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_MEMORY_NEEDS_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_MEMORY_NEEDS_H

#include "replay/backend/run/run.h"

/* False: ERR_ENV, the text says how much is needed, by which node, and how much there is. Where
 * either is not known the run will tell. */
bool run_fits(const struct graph *graph, const struct run_options *options, struct err *err);

#endif
