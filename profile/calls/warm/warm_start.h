/* Two starts of the same program, with the caches of the first one at hand for the second: what the
 * warm one compiled again though the cold one had compiled it, and which part of a key is the
 * cause.
 *
 * A graph of the warm start is that of the cold one with the same key. One without is compared with
 * the graph of the same code object and direction whose key differs in the fewest components, of
 * those that no other graph of the warm start has taken; if all are taken, or there are none, it is
 * new. Code objects are one if their function and the name of their file are. */
#ifndef SYMTAPE_PROFILE_CALLS_WARM_WARM_START_H
#define SYMTAPE_PROFILE_CALLS_WARM_WARM_START_H

#include "profile/calls/warm/start_graphs.h"

#define WARM_NONE UINT32_MAX

enum warm_outcome {
    WARM_AGAIN,  /* Inductor compiled it, as it did in the cold start */
    WARM_NEW,    /* Inductor compiled it, and the cold start has no such graph */
    WARM_TRACED, /* Inductor's part was in the cache; AOTAutograd's was not, and was done again */
    WARM_TAKEN,  /* the caches had all of it */
    WARM_OUTCOMES
};
const char *warm_outcome_name(enum warm_outcome outcome); /* "compiled again", "new", ... */

enum warm_cause {
    CAUSE_NONE,
    CAUSE_KEY,    /* components of the key differ */
    CAUSE_ABSENT, /* the key is that of the cold start, and the cache did not have it */
    CAUSE_GUARD,  /* the cache had the key, and no entry whose guard expression holds */
    CAUSE_BYPASS, /* the cache cannot keep the graph: `reason` */
    CAUSE_OFF,    /* the cache was off, or was not asked */
    CAUSE_FIRST,  /* the cold start has no graph of the function in this direction */
    CAUSE_UNKNOWN,
    CAUSES
};
const char *warm_cause_name(enum warm_cause cause); /* for JSON: "key", "absent", ... */

/* A component of a key that differs, and the first part of its values that does. */
struct key_change {
    struct str name, before, after; /* "" where a key has no such component */
};

enum { CHANGES_LISTED = 4 }; /* of one graph */

struct warm_row {
    uint32_t graph; /* in warm.graphs */
    uint32_t cold;  /* in cold.graphs: that graph, or the nearest one; WARM_NONE */
    enum warm_outcome outcome;
    enum warm_cause cause;
    uint32_t n_differ;                /* components of the key that differ */
    uint32_t first_change, n_changes; /* those that are listed, in warm_start.changes */
    int64_t ns;                       /* that of the graph */
};

/* Graphs of one outcome and one cause. */
struct warm_group {
    enum warm_outcome outcome;
    enum warm_cause cause;
    struct str what;  /* PyTorch's message of a bypass; the component that differs; "" */
    uint32_t row;     /* the first */
    uint32_t change;  /* of CAUSE_KEY: the component, in warm_start.changes; else WARM_NONE */
    bool same_change; /* its values are those of the first in all graphs */
    uint32_t n;
    int64_t ns;
};

struct warm_start {
    struct start_texts texts;
    struct arena arena;
    struct start cold, warm;
    vec_of(struct warm_row)
    rows; /* by outcome, then time */
    vec_of(struct key_change)
    changes;
    vec_of(struct warm_group)
    groups;             /* by outcome, then time */
    uint32_t n_unasked; /* graphs of the cold start that the warm one did not ask for */
    bool partial;       /* some keys were not compared, since there were too many components */
    uint32_t counts[WARM_OUTCOMES];
    int64_t ns[WARM_OUTCOMES]; /* of Inductor: taken by what it compiled, saved by the caches */
};

/* Compares two recordings, which may be of one trace; TRACE_NONE stands for all recordings of a
 * trace, those of the ranks of a job. The result is freed with warm_start_release(), before the
 * traces, also after a failure. Returns false with err set when memory ran out or a tape could not
 * be read. */
bool warm_start_make(struct warm_start *ret, struct trace *cold, uint32_t cold_recording,
                     struct trace *warm, uint32_t warm_recording, struct err *err);
void warm_start_release(struct warm_start *warm);

/* Returns what the caches saved of Inductor's time; at most INT64_MAX. */
int64_t warm_start_saved_ns(const struct warm_start *warm);

#endif
