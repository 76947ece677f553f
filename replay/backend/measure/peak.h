/* The nodes that hold memory at the peak of a run, computed from the storages' events (struct
 * storages, `noting`). */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_PEAK_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_PEAK_H

#include "replay/backend/call/storages.h"
#include "trace/base/arena.h"

struct peak_holder {
    uint32_t node; /* the node that the memory was allocated for */
    uint64_t bytes;
};

struct peak {
    uint64_t bytes;
    uint32_t node;               /* the node that was run at the peak */
    struct peak_holder *holders; /* in descending order of bytes */
    uint32_t n_holders;
};

/* Computes the peak; its texts and arrays are in the arena. */
bool peak_of(const struct storages *s, struct arena *arena, struct peak *ret, struct err *err);

#endif
