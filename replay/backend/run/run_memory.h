/* Memory of a run: a storage is freed as soon as no value uses it, in the graph's order, so that a
 * run on the null backend needs as much as a real one. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_MEMORY_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_MEMORY_H

#include "replay/backend/run/run.h"

bool run_find_lifetimes(struct run *run, struct err *err);
/* Called after a step: counts its results as users of their storages, and frees the step's other
 * new storages and those of values without later users. first: the number of the step's first new
 * storage. */
bool run_count_values(struct run *run, node_id at, uint32_t first, struct err *err);
/* Returns the storage of the step's only argument if no other step uses it, or else
 * EXEC_NO_STORAGE. */
uint32_t run_last_used(const struct run *run, const struct step *step);

/* Forgets all values, without freeing memory. */
void run_forget_values(struct run *run);

#endif
