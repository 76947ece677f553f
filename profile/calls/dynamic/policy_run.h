/* The calls of a program under another way to compile: which entries there would be.
 *
 * A compile that the tape does not have is put together from those that it has. The guards that are
 * not about sizes and numbers are those of the entry that answered the call. A size or number that
 * is a constant is compared with its value. Of one that is a symbol, the conditions are those of
 * the entry of the tape that has it as a symbol and whose conditions the call meets; where it meets
 * none, the conditions that it fails are turned round, since the compile would have taken the other
 * branch. A symbol of which no compile is on the tape is not 0 or 1, and under dynamic=True equal
 * sizes share it. A size that the tape's compiles made a constant although it was to be a symbol
 * stays a constant. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_POLICY_RUN_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_POLICY_RUN_H

#include "profile/calls/dynamic/code_calls.h"

enum calls_policy {
#define POLICY(id, name, automatic, assume_static, meaning) CALLS_##id,
#include "profile/calls/dynamic/policies.def"
#undef POLICY
    CALLS_COUNT
};
const char *calls_policy_name(enum calls_policy policy);
const char *calls_policy_meaning(enum calls_policy policy);

struct policy_options {
    enum calls_policy policy;
    const uint8_t *marks;            /* of CALLS_MARKED, by slot; NULL: none */
    const struct frame_state *state; /* what is remembered at the start; NULL: nothing */
    bool unbacked; /* of CALLS_MARKED: what is marked is unbacked, all else static */
    const struct dynamic_settings *settings; /* NULL: those of the policy */
    bool no_duck; /* equal sizes do not share a symbol: use_duck_shape=False */
    uint32_t
        bail_outs; /* of CALLS_PARTIAL: after so many, sizes that Python reads break the graph */
    /* NULL, or what returns the marks of the compile that a look-up starts, in place of `marks`. */
    const uint8_t *(*marks_of)(void *data, uint32_t lookup);
    void *data;
    const uint8_t *before; /* NULL, or the answers, by look-up, to code objects that ran before */
    struct policy_answered *answered; /* NULL, or an element for each look-up of cache_run, of which
                                         those of the code object are set */
};

/* What answered a look-up under a policy. */
struct policy_answered {
    uint32_t entry;  /* the number of an entry of the code object, from 0; NO_ENTRY: none */
    bool compiled;   /* for this look-up */
    double seconds;  /* of that compile, estimated; 0 */
    struct str like; /* the compile of the tape that it is most like: "0/1"; "" */
};

/* Counts over the calls of one code object, or of all. */
struct policy_counts {
    uint64_t lookups, hits, compiles, eager, refused;
    uint64_t unknown; /* recorded look-ups whose compile the tape does not have */
    uint64_t checks;  /* entries whose guards were evaluated */
    uint64_t entries; /* at the end */
    uint64_t
        bail_outs;   /* of CALLS_PARTIAL: compiles again since a size that Python reads differs */
    uint64_t breaks; /* of CALLS_PARTIAL: compiles with a graph break in place of a guard */
    double seconds;  /* of the compiles, estimated from those of the tape */
    double guard_seconds; /* of the look-ups, estimated from the guards of the tape */
};

/* Runs the calls of one code object. `answers`, unless it is NULL, has an element for each look-up
 * of cache_run and is set to ANSWER_COMPILE where a call compiles, to ANSWER_REFUSED where a limit
 * refuses that, to ANSWER_EAGER where one did before, and to ANSWER_UNREACHED where the frame runs
 * as a part of one that is eager. Returns false when memory ran out. */
enum policy_answer {
    ANSWER_NONE,
    ANSWER_COMPILE,
    ANSWER_REFUSED,
    ANSWER_EAGER,
    ANSWER_UNREACHED,
};
bool policy_run(struct calls_table *table, struct code_calls *code,
                const struct policy_options *options, struct policy_counts *counts,
                uint8_t *answers);

/* Returns whether counts are better than others: fewer eager calls, or as many and fewer compiles.
 */
bool policy_counts_fewer(const struct policy_counts *a, const struct policy_counts *b);
void policy_counts_add(struct policy_counts *sum, const struct policy_counts *counts);
/* Takes away what was added. */
void policy_counts_subtract(struct policy_counts *sum, const struct policy_counts *counts);

#endif
