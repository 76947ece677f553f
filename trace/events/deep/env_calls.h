/* Reads the calls into ShapeEnv that `symtape record --deep` added to a trace: symtape-deep(5)
 * describes their records. There may be a hundred thousand of them, so each is given to a function
 * instead of being listed. */
#ifndef SYMTAPE_TRACE_EVENTS_ENV_CALLS_H
#define SYMTAPE_TRACE_EVENTS_ENV_CALLS_H

#include "trace/open.h"

struct env_call {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    struct str method;        /* "evaluate_expr"; valid during the call of take() */
    uint32_t characters;      /* of the expression that evaluate_expr got; 0: a constant */
    uint64_t ns;              /* with all that it called */
};

/* Calls take() for each call into ShapeEnv, in the order of the records. Rows that are no JSON, or
 * that have no time, are skipped. Returns false with err set when memory ran out or the tape is
 * damaged there. */
bool env_calls_read(struct trace *trace, void (*take)(void *user, const struct env_call *call),
                    void *user, struct err *err);

#endif
