/* Runs the passes in their order: those that run once at the beginning, the others until none finds
 * anything, those that run once at the end; and all again as long as the last ones find
 * something.
 *
 * The schedule is a value: a copy of it continues from the beginning of the current turn, which is
 * how the forecast (minify/search/forecast.h) finds out what will be asked. */
#ifndef SYMTAPE_MINIFY_SEARCH_SCHEDULE_H
#define SYMTAPE_MINIFY_SEARCH_SCHEDULE_H

#include "minify/minify.h"
#include "trace/base/vec.h"

struct search;

struct needed_call {
    uint64_t name; /* a hash of the name; a collision only adds or removes a question */
    int needed;    /* a set of enum needed */
};
struct needed_calls {
    vec_of(struct needed_call)
    list;
};

/* What a turn, the run of one pass, began with. */
struct turn_start {
    struct candidate *best; /* held */
    struct cand_hash hash;
    struct cand_size size;
    struct needed_calls needed;
    uint64_t accepted, spent, hits;
};

/* The state of a pass while passes repeat until none finds anything. */
struct turn {
    struct pass_stats stats;
    bool clean; /* its last run, on clean_at, found nothing */
    struct cand_hash clean_at;
    double worth; /* the reduction per oracle call of its last run, which determines the order */
};

enum schedule_stage { SCHEDULE_FIRST, SCHEDULE_LOOP, SCHEDULE_LAST, SCHEDULE_DONE };

struct schedule {
    struct turn *turns;               /* n of them, in the order in which they run */
    uint32_t n, first_loop, end_loop; /* [first_loop, end_loop) run until none finds anything */
    enum schedule_stage stage;
    uint32_t at;              /* the turn that runs, or the next */
    bool in_turn;             /* it runs: `start` is what it began with */
    uint64_t accepted;        /* at the beginning of the stage */
    uint64_t not_told;        /* at the beginning of the last stage */
    double usual[PASS_KINDS]; /* the share of the last trials that were accepted, by kind of pass */
    bool minimal; /* when it is done: no last pass found anything, and each answer was told */
    struct turn_start start;
};

/* Prepares the passes that the options choose. Returns false when memory ran out. */
bool schedule_init(struct schedule *schedule, const struct minify_options *options);
/* Returns false when memory ran out; the copy is to be released, too. */
bool schedule_copy(struct schedule *copy, const struct schedule *schedule);
void schedule_release(struct schedule *schedule);

/* Runs search->schedule to its end. Returns false if the search has ended early. */
bool schedule_run(struct search *search);
/* Stores the statistics, in the order of minify/passes/passes.def. Returns false when memory ran
 * out. */
bool schedule_stats(const struct schedule *schedule, struct minify_result *result);

#endif
