/* Memory of a run: what no value holds any more goes back at once, in the order of the graph, so
 * that a run of sizes only knows what a real one takes. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_MEMORY_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_MEMORY_H

#include "replay/backend/run/run.h"

bool run_find_lifetimes(struct run *run, struct err *err);
/* The step is done: its results are held, what it made besides is not, nor what it was the last to
 * need. first: the number that the step's first new storage had. */
bool run_hold(struct run *run, node_id at, uint32_t first, struct err *err);

/* Nothing is held any more; no memory is given back by this. */
void run_forget_values(struct run *run);

#endif
