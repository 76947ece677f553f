#include "minify/minify.h"

#include "minify/search/course.h"
#include "minify/search/search_inside.h"

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
    if (!schedule_init(search->schedule, options)) {
        err_nomem(&search->err);
        return search_fail(search);
    }
    if (options->journal) {
        search->journal = journal_open(options->journal, &head, options->journal_mode,
                                       search->cache, &found, &search->err);
        if (!search->journal)
            return search_fail(search);
        result->found = found.records;
        result->found_damaged = found.damaged + found.torn;
    }
    if (!options->oracle->cheap) {
        search->workers = workers_start(options->oracle, jobs, &search->err);
        return search->workers || search_fail(search);
    }
    return true;
}

/* With several workers, questions are asked in advance. */
static bool begin_belief(struct search *search, struct belief *belief)
{
    if (!search->workers || workers_n(search->workers) < 2 || !search->whole->graph)
        return true;
    search->belief = belief;
    if (belief_init(belief, search->whole))
        return true;
    err_nomem(&search->err);
    return search_fail(search);
}

static void fill_result(struct minify_result *result, struct search *search)
{
    result->end = search->end;
    result->best = search->best;
    result->first = search->first;
    result->before = search->first_size;
    result->after = search->best_size;
    result->calls = search->calls;
    result->spent = search->spent;
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
    result->rate_hits = search->rate_hits;
    result->rate_asked = search->rate_asked;
    result->minimal = search->schedule->minimal;
    if (!schedule_stats(search->schedule, result) && search->end != MINIFY_FAILED) {
        err_nomem(&search->err);
        result->end = MINIFY_FAILED;
    }
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
    schedule_release(search->schedule);
    cache_release(search->cache);
    trial_memory_release(search->memory);
    if (search->belief)
        belief_release(search->belief);
    vec_release(&search->needed.list);
    if (result->end != MINIFY_FAILED)
        return true;
    *err = search->err;
    return false;
}

bool minify_run(const struct candidate *whole, const struct minify_options *options,
                struct minify_result *result, struct err *err)
{
    struct cache cache = CACHE_INIT;
    struct schedule schedule = { 0 };
    struct trial_memory memory = { 0 };
    struct belief belief;
    struct search search = {
        .whole = whole, .cache = &cache, .schedule = &schedule, .memory = &memory
    };
    *result = (struct minify_result){ 0 };
    (void)(begin_search(&search, options, result) && begin_belief(&search, &belief) &&
           course_run(&search)); /* search.end says why */
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
