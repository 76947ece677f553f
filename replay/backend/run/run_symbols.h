/* The values of symbols in a run. Private to run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_RUN_SYMBOLS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_RUN_SYMBOLS_H

#include "replay/backend/run/run.h"

/* Fills run->symbols. False: an input's size contradicts another input's, or options.sizes. */
bool run_bind_symbols(struct run *run, struct err *err);
/* NULL: it has no value. */
struct run_size *run_size_of(const struct run *run, struct str name);
bool run_add_size(struct run *run, struct str name, int64_t value); /* false: out of memory */
bool run_names(struct str expr,
               struct str symbol); /* returns whether it is one of the expression's symbols */
/* For program_new(); user is the run. */
sym_id run_symbol(void *user, struct sym_pool *pool, struct str name);

#endif
