#include "minify/minify.h"

#include <math.h>

#include "minify/search/schedule.h"
#include "minify/search/search_inside.h"

#define TIMEOUT_LEAST 5.0
#define TIMEOUT_MOST  300.0
#define TIMEOUT_TIMES 10.0
#define ALPHA         0.01 /* the accepted probability that a "no" is wrong */
enum { CLEAN_MAX = 100, DOUBT_ASKED = 10 };

static const char *const end_names[] = {
    [MINIFY_DONE] = "done",           [MINIFY_NOT_REPRODUCED] = "not_reproduced",
    [MINIFY_STOPPED] = "signal",      [MINIFY_DEADLINE] = "deadline",
    [MINIFY_MAX_CALLS] = "max_calls", [MINIFY_UNRESOLVED] = "unresolved",
    [MINIFY_FAILED] = "failed",
};

const char *minify_end_name(enum minify_end end)
{
    return end_names[end];
}

/* Returns how many runs without a failure show that a graph does not fail. One failure proves that
 * it fails. */
static uint32_t clean_runs(double rate)
{
    double n = rate < 1 ? ceil(log(ALPHA) / log1p(-rate)) : 1;
    return n > CLEAN_MAX ? CLEAN_MAX : n < 1 ? 1 : (uint32_t)n;
}

static double timeout_of(const struct minify_options *options, double first)
{
    double least = options->oracle->least_timeout, seconds = TIMEOUT_TIMES * first;
    least = least > 0 ? least : TIMEOUT_LEAST;
    if (options->timeout > 0)
        return options->timeout;
    return seconds < least ? least : seconds > TIMEOUT_MOST ? TIMEOUT_MOST : seconds;
}

/* Asks about the original until `repeat` answers are known. */
static bool measure_rate(struct search *search, struct minify_result *result)
{
    const struct cached_answer *known = cache_find(&search->cache, search->best_hash);
    uint32_t asked = known->attempts + known->confirmed + known->doubted;
    enum verdict verdict;
    for (; asked < search->options->repeat; asked++)
        if (!search_confirm(search, search->best, search->best_hash, &verdict))
            return false;
    known = cache_find(&search->cache, search->best_hash);
    result->rate_asked = known->attempts + known->confirmed + known->doubted;
    result->rate_hits = 1 + known->confirmed;
    return true;
}

/* Asks about the original. Returns false if the search has ended. */
static bool calibrate(struct search *search, const struct candidate *whole,
                      struct minify_result *result)
{
    bool interesting = false;
    search->pass = "calibration";
    search->how = (struct ask_how){ .clean = search->options->repeat ? search->options->repeat : 1,
                                    .timeout = timeout_of(search->options, TIMEOUT_MOST) };
    if (!search_calibrate(search, whole, &interesting))
        return false;
    if (!interesting) {
        search->end = MINIFY_NOT_REPRODUCED;
        return false;
    }
    if (!measure_rate(search, result))
        return false;
    const struct cached_answer *known = cache_find(&search->cache, search->best_hash);
    search->how.timeout = timeout_of(search->options, known->seconds);
    search->how.clean = clean_runs((double)result->rate_hits / result->rate_asked);
    return search_save(search);
}

/* Asks about the result again, as often as about the original, and more often once the answers
 * vary. A result that was confirmed in an earlier run is not asked about again. */
static bool confirm(struct search *search, struct minify_result *result)
{
    const struct cached_answer *known = cache_find(&search->cache, search->best_hash);
    uint32_t most = search->how.clean > 1 ? search->options->repeat : 1;
    enum verdict verdict;
    search->pass = "confirmation";
    if (search->oracle->deterministic ||
        cand_size_compare(&search->best_size, &search->first_size) == 0)
        return true;
    while (!known->resumed && known->confirmed + known->doubted < most) {
        if (!search_confirm(search, search->best, search->best_hash, &verdict))
            return false;
        known = cache_find(&search->cache, search->best_hash);
        if (known->doubted && most < DOUBT_ASKED)
            most = DOUBT_ASKED;
    }
    if (known->confirmed + known->doubted == 0)
        return true;
    result->rate_asked = known->confirmed + known->doubted;
    result->rate_hits = known->confirmed;
    return true;
}

static bool begin_search(struct search *search, const struct minify_options *options,
                         struct minify_result *result)
{
    const struct journal_head head = { .program = STR(SYMTAPE_VERSION),
                                       .oracle = options->oracle->id };
    struct journal_found found;
    uint32_t jobs = options->jobs ? options->jobs : 1;
    search->options = options;
    search->oracle = options->oracle;
    search->began = clock_seconds();
    search->deadline = search->began + options->deadline;
    if (options->journal) {
        search->journal = journal_open(options->journal, &head, options->journal_mode,
                                       &search->cache, &found, &search->err);
        if (!search->journal)
            return search_fail(search);
        result->found = found.records;
        result->found_damaged = found.damaged + found.torn;
    }
    if (jobs > 1 || !options->oracle->cheap) {
        search->workers = workers_start(options->oracle, jobs, &search->err);
        return search->workers || search_fail(search);
    }
    return true;
}

static void fill_result(struct minify_result *result, struct search *search)
{
    result->end = search->end;
    result->best = search->best;
    result->first = search->first;
    result->before = search->first_size;
    result->after = search->best_size;
    result->calls = search->calls;
    result->unneeded = search->calls - search->spent_now - search->confirming;
    result->hits = search->hits;
    result->resumed = search->resumed;
    result->boring = search->boring;
    result->other = search->other;
    result->unresolved = search->unresolved;
    result->timed_out = search->timed_out;
    result->timeout = search->how.timeout;
    result->seconds = clock_seconds() - search->began;
    result->steps = search->steps.v;
    result->n_steps = (uint32_t)search->steps.n;
    result->clean = search->how.clean;
}

static bool finish_search(struct search *search, struct minify_result *result, struct err *err)
{
    struct err late = { 0 };
    if (search->workers)
        search_leave_off(search);
    if (search->best && search->unsaved)
        search_save(search);
    workers_stop(search->workers);
    fill_result(result, search);
    if (!journal_close(search->journal, &late) && search->end != MINIFY_FAILED) {
        search->err = late;
        result->end = MINIFY_FAILED;
    }
    cache_release(&search->cache);
    vec_release(&search->built);
    vec_release(&search->needed);
    if (result->end != MINIFY_FAILED)
        return true;
    *err = search->err;
    return false;
}

bool minify_run(const struct candidate *whole, const struct minify_options *options,
                struct minify_result *result, struct err *err)
{
    struct search search = { 0 };
    *result = (struct minify_result){ 0 };
    bool good = begin_search(&search, options, result) && calibrate(&search, whole, result) &&
                schedule_run(&search, result) && confirm(&search, result);
    (void)good; /* search.end has the reason */
    return finish_search(&search, result, err);
}

void minify_result_release(struct minify_result *result)
{
    candidate_free(result->best);
    answer_release(&result->first);
    free(result->passes);
    free(result->steps);
    *result = (struct minify_result){ 0 };
}
