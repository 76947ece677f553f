/* Private to the search, which has these parts:
 *
 *   course.c        calibration, passes, confirmation
 *   schedule.c      the order of the passes
 *   search.c        trials: which candidate is asked about, and what follows from the answer
 *   search_ask.c    asks the oracle: cache, journal, workers, limits
 *   forecast.c      what will be asked after this question, so that it can be asked now
 *   belief.c        how likely the answers to it are, by the answers so far
 *   search_plans.c, search_sweep.c  the ways to search that minify/search/search.h offers passes
 *
 * A plan is one such way: it chooses the next trial from the answers so far. All trials of a plan
 * are edits of one candidate, its base: the best one when the plan began. */
#ifndef SYMTAPE_MINIFY_SEARCH_SEARCH_INSIDE_H
#define SYMTAPE_MINIFY_SEARCH_SEARCH_INSIDE_H

#include "minify/minify.h"
#include "minify/search/answer_cache.h"
#include "minify/search/belief.h"
#include "minify/search/forecast.h"
#include "minify/search/journal.h"
#include "minify/search/schedule.h"
#include "minify/search/trial_memory.h"
#include "minify/search/workers.h"
#include "trace/base/clock.h"

/* A trial: edits of the base that are made together. */
struct search_trial {
    vec_of(struct edit)
    edits;
    bool any_size; /* asked even if it is not smaller than the best; accepted only if it is */
    bool failed;   /* memory ran out while it was filled in */
};

struct search_plan {
    /* Fills in the next trial and may note in the state what it is; returns false if there is
     * none. */
    bool (*next)(const struct search_plan *plan, void *state, struct search_trial *trial);
    /* Takes the answer to the trial. */
    void (*tell)(const struct search_plan *plan, void *state, bool yes);
    /* Returns the probability of a yes, for the forecast. */
    double (*chance)(const struct search_plan *plan, const void *state);
    /* Returns the greatest number of remaining trials. */
    uint64_t (*left)(const struct search_plan *plan, const void *state);
    const void *user;
    double usual; /* the share of trials that were accepted lately */
};

/* The candidate of a trial. */
struct built {
    uint64_t key; /* of the trial */
    struct trial_result result;
    struct candidate *candidate; /* held; NULL if not valid, not built yet, or passed on */
};

struct search {
    const struct minify_options *options;
    struct oracle *oracle;
    const struct candidate *whole;
    struct workers *workers; /* NULL: this thread asks */
    struct journal *journal;
    struct cache *cache;
    struct schedule *schedule;
    struct forecast *forecast; /* NULL, or this search is a forecast, which asks nothing */
    struct trial_memory *memory;
    struct belief *belief; /* NULL: nothing is asked in advance */
    struct ask_how how;
    bool calibrated;

    struct candidate *best; /* held, as base is */
    struct candidate *base; /* of the current plan; NULL without one */
    struct cand_hash best_hash, base_hash;
    struct cand_size best_size, first_size;

    enum minify_end end; /* MINIFY_DONE while the search continues */
    struct err err;
    struct answer first; /* to the original */

    uint64_t calls;      /* attempts in this run */
    uint64_t spent;      /* attempts that the schedule needed, including earlier runs */
    uint64_t spent_now;  /* of those, in this run */
    uint64_t confirming; /* of `calls`, those for answers that were known */
    uint64_t asked;      /* the number of the last question */
    uint64_t hits, resumed, accepted, boring, other, unresolved, timed_out;
    uint64_t not_told; /* uses of an unresolved answer */
    uint32_t unresolved_in_a_row;
    uint32_t rate_hits, rate_asked;
    double usual;    /* the share of trials that were accepted lately */
    double learning; /* how much one trial changes it */
    double expected; /* if `expects`: the probability that the next is, by the pass */
    bool expects;
    double began, deadline, saved, shown; /* by now() */
    double answered;                      /* by now(): when the last answer came */
    bool unsaved;                         /* the best is not on disk yet */
    bool has_first;
    bool changed;     /* a question or an answer came since the last forecast */
    const char *pass; /* for the progress */
    uint64_t left;
    vec_of(struct minify_step)
    steps;
    struct needed_calls needed;
};

enum {
    UNRESOLVED_MAX = 100, /* unresolved answers in a row */
    TIMEOUTS_MAX = 10,    /* of questions, if no other was answered after the first */
};

bool search_stops(
    struct search *search);              /* it has ended, or ends now by a signal or the deadline */
bool search_fail(struct search *search); /* search->err is set; returns false */
bool search_save(struct search *search); /* writes the best to disk unless it is saved */
void search_show(struct search *search, bool now);

/* search_ask.c */
/* Gets the answer to a candidate that is not known yet: asks now, or waits for a question that was
 * asked in advance, and stores it in cache and journal. Returns false if the search has ended. */
bool search_ask(struct search *search, const struct built *built, const struct search_trial *trial);
/* A question that may be needed: about a candidate, or (again) once more about one. */
struct question_ahead {
    struct candidate *candidate; /* owned, until it is asked */
    struct cand_hash hash;
    bool again;
    struct buf edits; /* for the journal */
};
bool search_is_asking(struct search *search, const struct question_ahead *question);
/* Begins a question and takes its candidate; returns false if no worker is free. */
bool search_ask_ahead(struct search *search, struct question_ahead *question);
/* Cancels at most so many questions that are not wanted, those that are being cancelled included.
 */
void search_cancel_others(struct search *search, const struct question_ahead *wanted, size_t n,
                          size_t most);
/* Asks several times more, at once if there are workers, about the best one, whose answer is known.
 * Returns false if the search has ended. */
bool search_confirm(struct search *search, uint32_t times);
/* Cancels all questions. */
void search_leave_off(struct search *search);
/* Prints edits for readers of the journal; nothing depends on it. */
void print_trial(const struct search_trial *trial, struct buf *out);

/* search.c */
void built_release(struct built *built);
/* Asks about the original, which becomes the best if it is interesting. */
bool search_calibrate(struct search *search, bool *interesting);
bool search_run_plan(struct search *search, struct search_plan *plan, void *state);

#endif
