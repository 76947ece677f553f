/* The manual of advice: what each remedy of a diagnosis would save, where a replay shows it, and
 * which of them help together.
 *
 *     struct advice *advice = advice_build(&sources, &err);
 *     for (uint32_t i = 0; i < advice->n_items; i++) ...
 *     advice_free(advice);
 *
 * A remedy is *proved* when a replay of the recorded calls, with what it changes, shows how many
 * compiles, attempts, graph breaks and failures there are then: marks and settings by the policies,
 * values that stay the same and limits by Dynamo's caches, graph breaks and restarts by the
 * attempts that follow from them. It is *suggested* where no replay shows that, with the reason;
 * and it is *no gain* where the replay shows that it saves nothing, or costs more than it saves.
 * Replays are only believed where the calls, replayed as recorded, have the compiles that were
 * recorded.
 *
 * Of the remedies of a finding the one that saves most is the finding's. Those of all findings are
 * then taken together, the one that saves most first, as long as each saves more; and if fewer
 * remedies save as much, these are taken instead: advice.together.
 *
 * Ownership: the advice borrows the diagnosis, its profile, the trace and the calls. */
#ifndef SYMTAPE_PROFILE_ADVICE_ADVICE_H
#define SYMTAPE_PROFILE_ADVICE_ADVICE_H

#include "profile/advice/compile_index.h"
#include "profile/advice/plan_replay.h"

enum advice_verdict { ADVICE_PROVED, ADVICE_SUGGESTED, ADVICE_NO_GAIN };
const char *advice_verdict_name(enum advice_verdict verdict); /* "proved" */

/* What a program has, as recorded or with a plan. */
struct advice_counts {
    uint64_t compiles, attempts, breaks;
    uint64_t failures;     /* compiles that ended in an error, sizes that violate their Dims */
    uint64_t eager;        /* look-ups that run without compiled code */
    uint64_t guards;       /* on sizes, those of all attempts */
    uint64_t dispatches;   /* of FakeTensorMode, as a replay of the graphs counts them */
    bool dispatches_known; /* of every compile */
    double seconds;        /* of compiling; estimated, but for what was recorded */
};

struct advice_item {
    uint32_t finding, remedy; /* in diagnosis->findings, in its remedies */
    enum advice_verdict verdict;
    const char *why; /* of what is not proved */
    bool has_counts; /* `after` is set: what it would be, even if the remedy is suggested */
    struct advice_counts after;
    struct plan_run_time run;
    struct call_plan plan;
    bool chosen; /* the best of its finding */
};

/* One more remedy of those that help together, and what there is with all up to it. */
struct advice_step {
    uint32_t item;
    struct advice_counts after;
    struct plan_run_time run;
};

struct advice {
    const struct diagnosis *diagnosis;
    struct plan_replay replay;
    bool has_calls;
    struct advice_counts recorded;
    struct advice_item *items; /* by finding */
    uint32_t n_items;
    struct advice_step *together; /* the fewest that save most, the one that saves most first */
    uint32_t n_together;
    struct call_plan plan; /* of these */
    struct arena arena;
    struct compile_index index;
};

struct advice_sources {
    const struct diagnosis *diagnosis; /* of one recording of one trace */
    uint32_t recording;                /* in the trace */
    struct call_log *log;              /* its calls; it may have none */
};

/* Returns what there is less, without text. */
struct remedy_proof advice_saves(const struct advice_counts *before,
                                 const struct advice_counts *after);

/* Returns NULL with err set when memory ran out or the tape could not be read. */
struct advice *advice_build(const struct advice_sources *sources, struct err *err);
void advice_free(struct advice *advice); /* NULL is allowed */

#endif
