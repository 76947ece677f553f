/* Private to the search, which has four parts:
 *
 *   search.c        the schedule: which answer is needed next, and what follows from it
 *   search_ask.c    asks the oracle: cache, journal, workers, limits
 *   search_look.c   looks ahead: asks what the schedule would ask next, whatever the answer is
 *   search_plans.c, search_sweep.c  the ways to search that minify/search/search.h offers passes
 *
 * A plan is one such way: it chooses the next trial from the answers so far. Its state has no
 * pointers, so that it can be copied to find out what follows from either answer. All trials of a
 * plan are edits of one candidate, its base: the best one when the plan began. */
#ifndef SYMTAPE_MINIFY_SEARCH_SEARCH_INSIDE_H
#define SYMTAPE_MINIFY_SEARCH_SEARCH_INSIDE_H

#include "minify/minify.h"
#include "minify/search/answer_cache.h"
#include "minify/search/journal.h"
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
    /* Returns the probability of a yes, for looking ahead. */
    double (*chance)(const struct search_plan *plan, const void *state);
    /* Returns the greatest number of remaining trials. */
    uint64_t (*left)(const struct search_plan *plan, const void *state);
    size_t state_size;
    const void *user;
};

/* The candidate of a trial. */
struct built {
    bool valid;
    struct candidate *candidate; /* NULL if not valid, or passed on */
    struct cand_hash hash;
    struct cand_size size;
};

struct search {
    const struct minify_options *options;
    struct oracle *oracle;
    struct workers *workers; /* NULL: this thread asks */
    struct journal *journal;
    struct cache cache;
    struct ask_how how;

    struct candidate *best;
    struct candidate *base; /* of the current plan; NULL without one */
    struct cand_hash best_hash;
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
    double began, deadline, saved, shown; /* by now() */
    bool unsaved;                         /* the best is not on disk yet */
    bool has_first;
    const char *pass; /* for the progress */
    uint64_t left;
    vec_of(struct minify_step)
    steps;
    vec_of(struct needed_call)
    needed;
    vec_of(struct build_memory)
    built; /* of the current plan, by trial; only with several jobs */
};

struct needed_call {
    uint64_t name; /* a hash of the name; a collision only adds or removes a question */
    int needed;    /* a set of enum needed */
};

/* The candidates that looking ahead built, so that the schedule does not build them again. */
struct build_memory {
    uint64_t trial; /* a hash of its edits */
    struct built built;
};

enum {
    UNRESOLVED_MAX = 100, /* unresolved answers in a row */
    TIMEOUTS_MAX = 10,    /* of questions, if no other was answered after the first */
    BUILT_MAX = 256,
};

bool search_stops(
    struct search *search);              /* it has ended, or ends now by a signal or the deadline */
bool search_fail(struct search *search); /* search->err is set; returns false */
bool search_save(struct search *search); /* writes the best to disk unless it is saved */
void search_show(struct search *search, bool now);

/* search_ask.c */
/* Gets the answer to a candidate that is not known yet: asks now, or waits for a question that was
 * asked in advance, and stores it in cache and journal. `ahead` is called whenever a worker may be
 * free. Returns false if the search has ended. */
typedef bool look_ahead(struct search *search, void *user);
bool search_ask(struct search *search, const struct built *built, const struct search_trial *trial,
                look_ahead *ahead, void *user);
bool search_is_asking(struct search *search, struct cand_hash hash);
/* Begins to ask if a worker is free, and takes the candidate. If none is free, cancels a question
 * that is not wanted. */
bool search_ask_ahead(struct search *search, struct built *built, const struct search_trial *trial,
                      const struct cand_hash *wanted, uint32_t n_wanted);
/* Asks about a candidate once more whose answer is known. Returns false if the search has ended. */
bool search_confirm(struct search *search, const struct candidate *candidate, struct cand_hash hash,
                    enum verdict *verdict);
/* Cancels all questions. */
void search_leave_off(struct search *search);

/* search.c */
/* Builds the candidate of a trial. Returns false when memory ran out; the search has failed
 * then. */
bool search_build(struct search *search, const struct search_trial *trial, struct built *built);
void built_release(struct built *built);
uint64_t trial_hash(const struct search_trial *trial);
enum judged { JUDGED_NO, JUDGED_YES, JUDGED_UNKNOWN };
/* Decides without asking the oracle if the candidate is invalid, too large, or already answered. */
enum judged search_judge(const struct search *search, const struct built *built, bool any_size,
                         const struct cand_size *best);
/* Asks about the original, which becomes the best if it is interesting. */
bool search_calibrate(struct search *search, const struct candidate *whole, bool *interesting);
bool search_run_plan(struct search *search, const struct search_plan *plan, void *state);

/* search_look.c: a look_ahead of a struct look */
struct look {
    const struct search_plan *plan;
    const void *state; /* whose trial is being asked */
    struct cand_hash asked;
    struct cand_size size_if_yes, size_if_no;
};
bool search_look(struct search *search, void *look);

#endif
