/* PyTorch's operator cache while a graph is walked: the calls that were made before, and what
 * PyTorch does when they are made again. That is nothing for a call that hits its cache. A call
 * that bypasses the cache (replay/ops/dispatch/op_bypass.def), and a composite operator, which
 * never reaches it, is run again: such a call has a log of what its first run counted.
 *
 * Calls are identified by the numbers of the memo (replay/ops/memo/memo.h). */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_KNOWN_CALLS_H
#define SYMTAPE_REPLAY_OPS_MODEL_KNOWN_CALLS_H

#include "replay/ops/dispatch/context.h"

struct known_call {
    uint32_t events_at, n_events; /* its part of the log */
    uint32_t depth;               /* the depth of the logged run */
    uint8_t bypass;               /* NONE: the cache has it, unless it is composite */
    bool seen; /* false: made only while nothing counted, so that PyTorch has not seen it */
};

enum {
    EVENT_DISPATCH = OP_COUNTERS, /* values below are counters of the fast path */
    EVENT_WITHIN                  /* dispatches that a rule reports without making the calls */
};

/* An item of the log; depth is that of the operator. */
struct count_event {
    uint32_t op;
    uint16_t depth;
    uint8_t kind;
    bool cached; /* PyTorch's cache has it from now on: deeper events do not happen again */
    uint32_t n;
};

struct known_calls {
    vec_of(struct known_call)
    calls; /* by number */
    vec_of(struct count_event)
    log;
    uint32_t logging; /* number of running calls that are logged */
};

void known_calls_clear(struct known_calls *known);
void known_calls_release(struct known_calls *known);

/* Returns NULL when PyTorch's cache does not have the call. */
const struct known_call *known_call_at(const struct known_calls *known, uint32_t number);
bool known_call_set(struct known_calls *known, uint32_t number, const struct known_call *call);

/* Adds an event while logging; nothing is logged while nothing counts. */
void log_event(struct ops *ops, uint32_t op, uint32_t depth, uint32_t kind, uint32_t n,
               bool cached);
/* Counts what PyTorch does again, without events inside calls that its cache has by now. */
void count_again(struct ops *ops, const struct known_call *call);

#endif
