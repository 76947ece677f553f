/* Why a size is a symbol, a constant, or shared with another one: its history on a tape, from its
 * creation to the last guard on it.
 *
 *     struct why_options how = { .selector = SELECTOR_ALL, .target = STR("L['x'].size()[1]") };
 *     struct why_answer *why = why_make(trace, &how, &err);
 *     if (why && why->kind == WHY_NOTHING) ... names that the tape has: why->known
 *     why_text(why, &layout, &out);
 *     why_free(why);
 *
 * A target is a source (L['x'].size()[1], also written x.size(1) or x.shape[1]; L['x'] means all
 * its sizes; numbers like L['n'] and self.eps), a symbol (s27, u0, zf3), a guard's expression, or a
 * number in a graph (mul_7, or mul_7.size(1)).
 *
 * What is recorded: symbols with hint, range and user line; guards; specializations; the guards
 * that the compiled function checks at each call; the settings of the compile. The rest is derived
 * from these, and `inferred` says so: ranges and replacements follow from applying the recorded
 * guards to the shape environment (replay/shape/env), and without a tree of guards (a compile that
 * failed or was restarted) sizes share a symbol if they had the same value.
 *
 * Texts belong to the result or to the trace. */
#ifndef SYMTAPE_PROFILE_WHY_WHY_MAKE_H
#define SYMTAPE_PROFILE_WHY_WHY_MAKE_H

#include "profile/report/report.h"
#include "trace/events/guards.h"
#include "trace/selector.h"

#define SCHEMA_WHY "symtape.why/1"

/* A symbol's value, chosen by the user. */
struct why_set {
    struct str name, value; /* "s77" or a source; "31" */
};

struct why_options {
    struct selector selector;
    struct str target;
    struct str between[2]; /* two values of the target to compare; "" if none are */
    const struct why_set *sets;
    size_t n_sets;
    uint32_t limit; /* of sizes that are examined beside the first; 0: all */
};

enum why_kind { WHY_NOTHING, WHY_SOURCE, WHY_SYMBOL, WHY_GUARD, WHY_NODE };

enum why_state {
    WHY_IS_SYMBOL,
    WHY_IS_SHARED,       /* uses the symbol of another size (duck shaping) */
    WHY_IS_CONSTANT,     /* never was a symbol */
    WHY_BECAME_CONSTANT, /* was a symbol, and a guard made it a constant */
    WHY_WAS_REPLACED,    /* was a symbol, and a guard replaced it by an expression */
    WHY_IS_DERIVED,      /* a stride or offset that follows from sizes */
};

enum why_reason {
#define WHY_REASON(id, name, text) WHY_##id,
#include "profile/why/reasons.def"
#undef WHY_REASON
    WHY_REASONS
};

struct why_line {
    struct str file, function, code; /* "" where nothing is recorded */
    uint32_t line;
};

/* A size or number in one attempt. */
struct why_size {
    uint32_t attempt;
    uint32_t record; /* that created or described it, or TRACE_NONE */
    struct str source, symbol, value, range;
    enum why_state state;
    enum why_reason reason;
    bool inferred;       /* state and reason follow from other records, as described above */
    struct str evidence; /* "it was 3 in 0/0; tensor 'x' size mismatch ..."; "" */
    struct str now;      /* what it is at the end of the attempt: "s27", "24", "2*s77" */
    struct str now_range;
    struct why_line line;     /* where it was created */
    const struct str *shared; /* the other inputs that share its symbol */
    uint32_t n_shared;
    uint32_t n_guards; /* recorded guards that mention its symbol */
};

enum why_event_kind {
    WHY_CREATED,
    WHY_GUARD_ADDED,
    WHY_SUPPRESSED,
    WHY_ASSERT,
    WHY_RANGE,       /* a guard changed the symbol's range */
    WHY_REPLACED,    /* a guard replaced the symbol by an expression */
    WHY_SPECIALIZED, /* a guard made the symbol a constant */
    WHY_FAILED,      /* an error of the compile names it */
    WHY_CHECKED,     /* a guard that the compiled function checks at each call */
    WHY_EVENTS
};

struct why_event {
    enum why_event_kind kind;
    uint32_t record; /* TRACE_NONE for what is derived from the event before it */
    struct str text;
    struct str detail; /* of WHY_CHECKED: "duck shaping", "0/1 specialization"; else "" */
    enum guard_class asked_by;
    bool asked; /* asked_by is known */
    struct why_line line;
};

/* A step of the way of a number through a graph, from the target back. */
struct why_step {
    struct str node, op; /* op: the operator, or "input" */
    struct str size;     /* "size()[1]", or "" for a number */
    struct str text;     /* what the graph prints there: "24", "4*s27" */
    /* "input", "attribute", "literal" (an argument of the call), "computed"; NULL where the way
     * goes on to the node's arguments. */
    const char *origin;
    struct why_line line;
};

/* A condition that is true for one of two values only. */
struct why_difference {
    uint32_t attempt, record; /* record: TRACE_NONE for a range */
    enum why_event_kind kind; /* WHY_GUARD_ADDED, WHY_ASSERT, WHY_RANGE, WHY_CHECKED */
    struct str expr;
    bool holds[2];
    enum guard_class asked_by;
    bool asked;
    struct why_line line;
};

struct why_answer {
    enum why_kind kind;
    struct trace *trace;
    struct str target, answer; /* the answer in one sentence */
    struct str graph;          /* of a node: "0/0_0:aot_forward_graph"; else "" */
    const struct why_size *sizes;
    uint32_t n_sizes;
    uint32_t n_omitted; /* attempts that have the target and were not examined (limit) */
    uint32_t main;      /* the size whose history this is, or TRACE_NONE */
    const struct why_event *events;
    uint32_t n_events;
    const struct why_step *steps;
    uint32_t n_steps;
    bool compared; /* two values were compared */
    struct str between[2];
    const struct why_difference *differences; /* in the order of their records */
    uint32_t n_differences;
    uint32_t n_undecided;    /* guards that have no value for one of the two */
    const struct str *notes; /* what else tells the values apart: duck shaping */
    uint32_t n_notes;
    const struct str *known; /* of WHY_NOTHING: sources and symbols that the selected part has */
    uint32_t n_known;
};

/* Returns NULL with err set when memory ran out, the tape could not be read, or the target or a
 * value makes no sense (ERR_USAGE). A target that the tape does not have is WHY_NOTHING. */
struct why_answer *why_make(struct trace *trace, const struct why_options *options,
                            struct err *err);
void why_free(struct why_answer *why); /* NULL is allowed */

const char *why_state_name(enum why_state state);     /* "symbol", "shared", ... */
const char *why_reason_name(enum why_reason reason);  /* "mark_dynamic", ... */
const char *why_reason_text(enum why_reason reason);  /* a sentence's part */
const char *why_event_name(enum why_event_kind kind); /* "created", "guard", ... */
const char *why_kind_name(enum why_kind kind);        /* "source", "symbol", ... */

void why_text(const struct why_answer *why, const struct report_options *how, struct buf *out);
void why_json(const struct why_answer *why, struct buf *out);

#endif
