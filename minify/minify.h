/* The manual of the minify room: reduces a candidate that fails to the smallest one that the passes
 * find.
 *
 *     struct minify_options options = MINIFY_OPTIONS_DEFAULT;
 *     options.oracle = oracle;
 *     struct minify_result result;
 *     bool good = minify_run(whole, &options, &result, &err);
 *     ... result.best, also after a failure: the best so far ...
 *     minify_result_release(&result);
 *
 * A run asks about the original (calibration), runs the passes of minify/passes/passes.def until
 * none finds anything, then the last passes of the table once (the certificate), and asks about the
 * result again. Passes ask the oracle through the search (minify/search/search.h).
 *
 * Any number of jobs gives the same result: the schedule is that of one job, and other workers ask
 * in advance what it may ask next. A limit (max_calls) counts the schedule's questions.
 *
 * Answers are written to a journal, if one is named. The next run with the same oracle reads them,
 * so that a killed run continues where it was and a finished one asks nothing. */
#ifndef SYMTAPE_MINIFY_MINIFY_H
#define SYMTAPE_MINIFY_MINIFY_H

#include "minify/oracle/oracle.h"
#include "minify/passes/pass.h"

/* Why a run ended. */
enum minify_end {
    MINIFY_DONE,           /* no pass finds a reduction */
    MINIFY_NOT_REPRODUCED, /* the original graph does not fail: result.first has the answer */
    MINIFY_STOPPED,        /* *options.stop */
    MINIFY_DEADLINE,
    MINIFY_MAX_CALLS,
    MINIFY_UNRESOLVED, /* too many unresolved answers in a row */
    MINIFY_FAILED      /* an error, described by err: a broken oracle, a full disk, no memory */
};
const char *minify_end_name(enum minify_end end); /* "done", "deadline", ... */

struct minify_progress {
    const char *pass; /* its name, or "calibration", "confirmation" */
    uint64_t calls;   /* of the oracle in this run */
    uint64_t hits;    /* questions answered by the journal or by an earlier answer */
    uint64_t left;    /* at most, of this step of this pass; 0: not known */
    struct cand_size before, now;
    double seconds;   /* since the start */
    uint32_t running; /* questions being asked at the moment */
};

enum journal_mode {
    JOURNAL_USE,    /* continue an existing one, or begin it */
    JOURNAL_REPLACE /* replace one of another oracle or version instead of refusing it */
};

struct minify_options {
    struct oracle *oracle;
    uint32_t jobs;       /* questions asked at once */
    uint32_t repeat;     /* how often the original is asked; more than 1 measures its rate */
    double timeout;      /* seconds a call; 0: ten times the first, at most 300 and at least 5, or
                            what the oracle says, which holds above 300, too */
    double deadline;     /* seconds for the whole run; 0: none */
    uint64_t max_calls;  /* 0: none; calls of earlier runs in the journal count */
    const char *journal; /* path; NULL: no journal */
    enum journal_mode journal_mode;
    const struct str *passes; /* names of the passes to run; none: all */
    uint32_t n_passes;
    const atomic_bool *stop; /* NULL, or becomes true (by a signal) to end early */

    /* Each may be NULL. All are called by the thread that called minify_run(). */
    bool (*save)(void *user, const struct candidate *best, struct err *err); /* writes it to disk */
    void (*aside)(void *user, const struct candidate *candidate, const struct answer *answer);
    void (*progress)(void *user,
                     const struct minify_progress *progress); /* several times a second */
    void *user;
};

#define MINIFY_OPTIONS_DEFAULT ((struct minify_options){ .jobs = 1, .repeat = 1 })

/* Statistics of a pass, over all its runs. */
struct pass_stats {
    const struct pass *pass;
    uint32_t runs;
    uint64_t calls, hits, accepted;
    double seconds;
};

/* One accepted step: the resulting size, and the number of oracle calls until then. */
struct minify_step {
    uint64_t calls;
    double seconds;
    uint64_t size; /* SIZE_CALLS */
};

struct minify_result {
    enum minify_end end;
    struct candidate *best; /* NULL if not even the original could be asked about */
    struct answer first;    /* to the original */
    struct cand_size before, after;
    uint64_t calls;         /* of the oracle in this run, repeats and unneeded ones included */
    uint64_t spent;         /* of those that the schedule needed, earlier runs included */
    uint64_t unneeded;      /* questions asked in advance that the schedule did not need */
    uint64_t hits, resumed; /* answers from the cache; of those, from an earlier run */
    uint64_t boring, other, unresolved;
    uint64_t timed_out;             /* of the unresolved ones */
    double timeout;                 /* seconds that each question was given */
    uint32_t rate_hits, rate_asked; /* the result failed `rate_hits` of `rate_asked` times */
    uint32_t clean;                 /* a "no" needed this many runs without a failure */
    uint64_t found, found_damaged;  /* records of an existing journal, and damaged ones */
    bool minimal; /* the certificate holds: no single remaining edit keeps the failure */
    double seconds;
    struct pass_stats *passes; /* n_passes of them, in the order of minify/passes/passes.def */
    uint32_t n_passes;
    struct minify_step *steps;
    uint32_t n_steps;
};

/* Minifies `whole`, which remains the caller's. Returns false when err is set (result->end is
 * MINIFY_FAILED). The caller releases the result in either case. */
bool minify_run(const struct candidate *whole, const struct minify_options *options,
                struct minify_result *result, struct err *err);
void minify_result_release(struct minify_result *result);

#endif
