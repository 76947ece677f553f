/* What reductions share. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_REDUCE_REDUCE_H

#include "replay/backend/cpu/kernel.h"

/* The dimensions that argument `name` lists (all where it lists none) last: rows of *n values. */
struct dense reduced_last(struct kernel *k, struct dense x, const char *name, int64_t *n);

#endif
