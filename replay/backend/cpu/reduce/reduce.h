/* Functions that reductions share. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_BACKEND_CPU_REDUCE_REDUCE_H

#include "replay/backend/cpu/kernel.h"

/* Moves the dimensions that argument `name` lists (all if it lists none) last, so that x has rows
 * of *n values. */
struct dense reduced_last(struct kernel *k, struct dense x, const char *name, int64_t *n);

#endif
