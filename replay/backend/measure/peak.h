/* Which nodes hold the memory when a run has most of it: storages whose events were noted
 * (struct storages, `noting`). */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_PEAK_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_PEAK_H

#include "replay/backend/call/storages.h"
#include "trace/base/arena.h"

struct peak_holder {
    uint32_t node; /* that the memory was taken for */
    uint64_t bytes;
};

struct peak {
    uint64_t bytes;
    uint32_t node;               /* the one that was run then */
    struct peak_holder *holders; /* most bytes first */
    uint32_t n_holders;
};

/* Texts and arrays are the arena's. */
bool peak_of(const struct storages *s, struct arena *arena, struct peak *ret, struct err *err);

#endif
