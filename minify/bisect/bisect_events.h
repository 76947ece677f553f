/* The events of a replay of a graph in the shape engine, in order: symbols, guards, asserts,
 * replacements, specializations, and the calls that cause them.
 *
 *     struct bisect_question question = { .kind = BISECT_GUARD, .what = STR("Eq(s27, 16)") };
 *     struct bisect_events events;
 *     if (bisect_events_walk(candidate, &question, UINT32_MAX, &events, &err))
 *         bad = bisect_events_hit(&events, i);         after the first i events
 *     bisect_events_release(&events);
 *
 * One walk keeps what every prefix of it left (engines only add), so that a probe of a state costs
 * nothing. A fresh answer is a walk of its own that ends behind that event. */
#ifndef SYMTAPE_MINIFY_BISECT_BISECT_EVENTS_H
#define SYMTAPE_MINIFY_BISECT_BISECT_EVENTS_H

#include "minify/candidate/candidate.h"
#include "trace/base/vec.h"

/*  BISECT_EVENT(id, "name") */
#define BISECT_EVENTS(BISECT_EVENT)                \
    BISECT_EVENT(SYMBOL, "symbol")                 \
    BISECT_EVENT(GUARD, "guard")                   \
    BISECT_EVENT(ASSERT, "assert")                 \
    BISECT_EVENT(REPLACEMENT, "replacement")       \
    BISECT_EVENT(SPECIALIZATION, "specialization") \
    BISECT_EVENT(NODE, "node") /* a call has ended; after the events that it caused */

enum bisect_event_kind {
#define BISECT_EVENT(id, name) BISECT_EVENT_##id,
    BISECT_EVENTS(BISECT_EVENT)
#undef BISECT_EVENT
};
const char *bisect_event_name(enum bisect_event_kind kind);

/* An event. The list owns its texts. */
struct bisect_event {
    enum bisect_event_kind kind;
    struct str expr; /* "Eq(s27, 16)", "s27 = 16"; for a call its name and operator */
    struct str node; /* the call during which it occurred; "" before the first */
    node_id at;      /* that call in the root graph; NODE_NONE before the first */
    struct str op;
    struct str file, function, code; /* the user's line; "" */
    uint32_t line;
    struct str failure; /* for a call that was refused or had another result than recorded; "" */
    uint64_t id; /* a hash of the kind, the expression up to symbols' names, and the user's frame */
    bool hit;    /* from this event on the condition holds */
    bool asked;  /* for a guard or assert: a call caused it; false: a recorded one that no call can
                    cause (Dynamo's, the user's own), at its place in time */
    const char *recorded; /* the class of a recorded guard: "dynamo"; NULL */
};

enum bisect_kind {
    BISECT_FAILURE, /* a call is refused or mismatches; what: an extended regex that the error
                       matches, "" for any error */
    BISECT_GUARD, /* what: sympy's str(); a guard over symbols of other names counts if none is over
                     these symbols */
    BISECT_SPECIALIZES /* what: a symbol or its source becomes a number */
};
struct bisect_question {
    enum bisect_kind kind;
    struct str what;
    struct str inject; /* a fault put into the engine (replay/program/inject.h); "" */
    bool exactly; /* for BISECT_GUARD: these symbols only, since a walk over all events has found
                     them */
};

struct bisect_events {
    vec_of(struct bisect_event)
    list;
    bool whole; /* the walk reached the end of the graph */
    bool exact; /* a guard is over the question's own symbols */
    struct arena arena;
};

/* Walks the graph; it stops after `limit` events. ERR_USAGE: the question cannot be read. */
bool bisect_events_walk(const struct candidate *candidate, const struct bisect_question *question,
                        uint32_t limit, struct bisect_events *ret, struct err *err);
void bisect_events_release(struct bisect_events *events);

/* Returns whether the condition holds after the first n events. */
bool bisect_events_hit(const struct bisect_events *events, uint32_t n);

#endif
