/* What PyTorch's operator cache knows while a graph is walked: the calls that were made before, and
 * what PyTorch does when they are made again. That is nothing for a call that its cache answers.
 * A call that the cache passes by (replay/ops/dispatch/op_bypass.def), and a composite operator,
 * which the cache never sees, is run again: such a call holds a log of what its first run counted.
 *
 * Calls are known by the numbers of the memo (replay/ops/memo/memo.h). */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_KNOWN_CALLS_H
#define SYMTAPE_REPLAY_OPS_MODEL_KNOWN_CALLS_H

#include "replay/ops/dispatch/context.h"

struct known_call {
    uint32_t events_at, n_events; /* of the log */
    uint32_t depth;               /* of the run that was logged */
    uint8_t bypass;               /* NONE: the cache answers it, unless it is composite */
    bool seen; /* false: made only while nothing counted, so that PyTorch has not seen it */
};

enum {
    EVENT_DISPATCH = OP_COUNTERS, /* below it: a counter of the fast path */
    EVENT_WITHIN                  /* dispatches of what a rule does not call by itself */
};

/* What a run counted; depth is that of the operator. */
struct count_event {
    uint32_t op;
    uint16_t depth;
    uint8_t kind;
    bool cached; /* PyTorch's cache answers it from now on: what is deeper happens no more */
    uint32_t n;
};

struct known_calls {
    vec_of(struct known_call)
    calls; /* by number */
    vec_of(struct count_event)
    log;
    uint32_t logging; /* calls at work whose events are wanted */
};

void known_calls_clear(struct known_calls *known);
void known_calls_release(struct known_calls *known);

/* NULL: not known to PyTorch's cache. */
const struct known_call *known_call_at(const struct known_calls *known, uint32_t number);
bool known_call_set(struct known_calls *known, uint32_t number, const struct known_call *call);

/* While logging; nothing is logged while nothing counts. */
void log_event(struct ops *ops, uint32_t op, uint32_t depth, uint32_t kind, uint32_t n,
               bool cached);
/* Counts what PyTorch does again, less what is within calls that its cache answers by now. */
void count_again(struct ops *ops, const struct known_call *call);

#endif
