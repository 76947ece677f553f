/* The work of a call, computed from its sizes: the bytes that it reads and writes at least once,
 * and floating point operations by a formula (flops.def; 0 if there is none). */
#ifndef SYMTAPE_REPLAY_BACKEND_MEASURE_WORK_H
#define SYMTAPE_REPLAY_BACKEND_MEASURE_WORK_H

#include "replay/backend/call/backend.h"

struct call_work {
    uint64_t bytes, flops;
    enum dtype dtype; /* of the first result */
};

/* False: the call computes nothing, as views do. */
bool call_work(const struct backend_call *call, struct call_work *ret);

#endif
