/* Automatic dynamic shapes over the calls of a program: what Dynamo remembered of each size and
 * number, when it went dynamic, which recompiles that caused and spared; what other ways to compile
 * would have cost for the same calls; and the marks that spare the most.
 *
 *     struct dynamic_run run = { 0 };
 *     if (dynamic_run_make(&run, trace, recording, &log, &options, &err))
 *         dynamic_text(&run, &shown, &out);
 *     dynamic_run_release(&run);
 *
 * A call that compiles under a policy and compiled as recorded takes the time that was measured.
 * Other compiles are estimated: each takes as long as the one of the tape that is most like it. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_RUN_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_RUN_H

#include "profile/calls/dynamic/given_marks.h"
#include "profile/calls/dynamic/paste.h"

enum { MOST_SEEN = 4 };

/* One dimension of an input, or a number, of a code object. */
struct input_row {
    uint32_t code;  /* in calls_table.codes */
    uint32_t input; /* in code_calls.inputs */
    uint32_t dim;
    bool number, is_float;
    bool zero_one;               /* it is a size, and was 0 or 1 */
    uint32_t n_values;           /* distinct ones */
    struct atom seen[MOST_SEEN]; /* the first */
    bool dynamic;                /* at the end, as recorded */
    bool from_profile;           /* it was dynamic in the profile that the process read */
    bool constant;               /* the code makes a constant of it, though it was to be a symbol */
    uint32_t change;             /* in code_calls.changes: how it went dynamic; NO_ENTRY */
    uint32_t compile;            /* in code_calls.compiles: when it did; NO_ENTRY */
    uint32_t caused;             /* recompiles whose first guard that failed is about it */
    uint64_t served; /* hits of entries that have it as a symbol, at other values than theirs */
    bool proposed;   /* symtape proposes a mark */
    bool reached;    /* dynamic_sources of all proposals make it dynamic */
};

struct dynamic_run {
    struct cache_run cache;
    struct calls_table table;
    vec_of(struct input_row)
    rows;
    struct policy_counts recorded, policies[CALLS_COUNT];
    uint8_t *answers[CALLS_COUNT]; /* by look-up, in cache.lookups: see policy_run() */
    struct proposal *proposals;    /* by code of the table */
    uint32_t n_marks;
    struct paste paste;
    bool given; /* the marks are those of the options */
    struct given_marks given_marks;
    bool minimal;       /* of the marks, by each code object */
    bool profile;       /* the process read a profile */
    struct str release; /* of PyTorch; "" */
};

struct dynamic_options {
    const char *marks;  /* "L['x']:0,L['n']": marks in place of those that symtape proposes; NULL */
    uint32_t bail_outs; /* of CALLS_PARTIAL */
};

/* The result is freed with dynamic_run_release(), before the trace and the log. Returns false with
 * err set when memory ran out, the tape could not be read, or a mark of the options is about no
 * input. */
bool dynamic_run_make(struct dynamic_run *run, struct trace *trace, uint32_t recording,
                      struct call_log *log, const struct dynamic_options *options, struct err *err);
void dynamic_run_release(struct dynamic_run *run);

/* Returns what a policy is, as Python has it. */
const char *dynamic_run_meaning(const struct dynamic_run *run, enum calls_policy policy);
/* Returns whether the compiles of policies are upper bounds: frames go on after a graph break. The
 * sizes of a graph's outputs that are symbols are dynamic in the frames that take them
 * (mark_dynamo_propagated_dynamic_indices() in torch/_functorch/_aot_autograd/runtime_wrappers.py),
 * and no guard says which they are. */
bool dynamic_run_is_bound(const struct dynamic_run *run);
/* Returns whether a release is at least MAJOR.MINOR; an unknown one is not. */
bool release_is(struct str release, unsigned major, unsigned minor);

#endif
