#include "minify/search/forecast.h"

#include "minify/search/course.h"
#include "minify/search/search_inside.h"

enum { RUNS_A_WORKER = 8 };
/* Questions that are less likely needed are not asked. */
static const double least_chance = 0.02;

/* An answer that is not known. */
struct assumption {
    struct cand_hash hash;
    bool yes;
};
struct assumptions {
    vec_of(struct assumption)
    list;
    vec_of(struct flow_answer)
    flows;         /* of the same, for the belief */
    double chance; /* that all are right */
};

/* A run of the search under assumptions. */
struct forecast {
    const struct assumptions *assumed;
    vec_of(struct cand_hash)
    counted;   /* known or assumed, and needed for the first time */
    bool asks; /* it ended with a question: */
    struct question_ahead question;
    double chance;              /* of a yes */
    struct operator_flow *flow; /* of the candidate; owned */
};

struct forecasts {
    struct search *search;
    vec_of(struct assumptions)
    open;
    vec_of(struct question_ahead)
    wanted; /* the most likely first */
    vec_of(struct operator_flow *)
    flows; /* of candidates about which an answer is assumed; owned */
};

/* ---- Within a run ---- */

static bool run_out_of_memory(struct search *search)
{
    err_nomem(&search->err);
    return search_fail(search);
}

static bool end_with(struct search *search, struct question_ahead question, double chance)
{
    struct forecast *forecast = search->forecast;
    forecast->question = question;
    forecast->chance = chance;
    forecast->asks = true;
    search->end = MINIFY_STOPPED;
    return false;
}

/* Counts an answer as the search would: the order of passes depends on the number. */
static bool count_once(struct search *search, struct cand_hash hash, uint32_t attempts)
{
    struct forecast *forecast = search->forecast;
    for (size_t i = 0; i < forecast->counted.n; i++)
        if (cand_hash_eq(forecast->counted.v[i], hash))
            return true;
    search->spent += attempts;
    return vec_push(&forecast->counted, hash) || run_out_of_memory(search);
}

static const struct assumption *find_assumption(const struct forecast *forecast,
                                                struct cand_hash hash)
{
    for (size_t i = 0; i < forecast->assumed->list.n; i++)
        if (cand_hash_eq(forecast->assumed->list.v[i].hash, hash))
            return &forecast->assumed->list.v[i];
    return NULL;
}

static void release_question(struct question_ahead *question)
{
    candidate_free(question->candidate);
    buf_release(&question->edits);
}

/* Weighs the pass's expectation by what the answers say about operators. They know nothing about
 * sizes, and the certificate asks what was refused in other candidates. */
static bool believe(struct search *search, const struct candidate *candidate, double *chance)
{
    struct forecast *forecast = search->forecast;
    enum pass_kind kind = search->schedule->turns[search->schedule->at].stats.pass->kind;
    forecast->flow = belief_flow(search->belief, candidate);
    if (!forecast->flow)
        return false;
    double believed = belief_chance(search->belief, forecast->assumed->flows.v,
                                    forecast->assumed->flows.n, forecast->flow, *chance);
    bool only_less =
        kind == PASS_KIND_SIZES || kind == PASS_KIND_DEAD || kind == PASS_KIND_CERTIFICATE;
    if (search->calibrated && (!only_less || believed < *chance))
        *chance = believed;
    return true;
}

bool forecast_decide(struct search *search, struct built *built, const struct search_trial *trial,
                     double chance, bool *yes)
{
    struct cand_hash hash = built->result.hash;
    const struct cached_answer *known = cache_find(search->cache, hash);
    const struct assumption *assumed = find_assumption(search->forecast, hash);
    if (known || assumed) {
        *yes = known ? known->verdict == VERDICT_INTERESTING : assumed->yes;
        return (known && known->needed) || count_once(search, hash, known ? known->attempts : 1);
    }
    struct question_ahead question = { .candidate = candidate_hold(built->candidate),
                                       .hash = hash };
    print_trial(trial, &question.edits);
    if (search->belief && !believe(search, built->candidate, &chance)) {
        release_question(&question);
        return run_out_of_memory(search);
    }
    return end_with(search, question, chance);
}

/* The confirmation is the last question. Several answers to a candidate that is not known to fail
 * would have to be told apart if a "no" takes more than one. */
bool forecast_confirm(struct search *search)
{
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    if (known ? known->resumed || known->confirmed + known->doubted > 0 : search->how.clean > 1)
        return true;
    return end_with(search,
                    (struct question_ahead){ .candidate = candidate_hold(search->best),
                                             .hash = search->best_hash,
                                             .again = true },
                    1);
}

/* ---- A run ---- */

/* Prepares a search that continues from the turn that `real` runs, or before the first one. */
static bool init_run(struct search *run, const struct search *real, struct schedule *schedule,
                     struct forecast *forecast)
{
    const struct turn_start *start = &schedule->start;
    bool in_turn = schedule->in_turn;
    *run = (struct search){ .options = real->options,
                            .oracle = real->oracle,
                            .whole = real->whole,
                            .cache = real->cache,
                            .schedule = schedule,
                            .forecast = forecast,
                            .memory = real->memory,
                            .belief = real->belief,
                            .how = real->how,
                            .calibrated = real->calibrated,
                            .best = candidate_hold(in_turn ? start->best : real->best),
                            .best_hash = in_turn ? start->hash : real->best_hash,
                            .best_size = in_turn ? start->size : real->best_size,
                            .first_size = real->first_size,
                            .first = real->first,
                            .spent = real->spent,
                            .accepted = in_turn ? start->accepted : real->accepted,
                            .hits = start->hits,
                            .began = real->began,
                            .deadline = real->deadline };
    const struct needed_calls *needed = in_turn ? &start->needed : &real->needed;
    for (size_t i = 0; i < needed->list.n; i++)
        if (!vec_push(&run->needed.list, needed->list.v[i]))
            return false;
    return true;
}

static void release_run(struct search *run)
{
    candidate_free(run->best);
    vec_release(&run->needed.list);
    vec_release(&run->steps);
}

/* Runs the search until it needs an answer that is not known. Returns false when memory ran out. */
static bool run_forecast(const struct search *real, struct forecast *forecast)
{
    struct schedule schedule;
    struct search run = { 0 };
    bool good =
        schedule_copy(&schedule, real->schedule) && init_run(&run, real, &schedule, forecast);
    if (good)
        (void)course_run(&run);
    good = good && run.end != MINIFY_FAILED;
    release_run(&run);
    schedule_release(&schedule);
    vec_release(&forecast->counted);
    return good;
}

/* ---- All runs ---- */

static bool is_listed(const struct forecasts *f, const struct question_ahead *question)
{
    for (size_t i = 0; i < f->wanted.n; i++)
        if (cand_hash_eq(f->wanted.v[i].hash, question->hash) &&
            f->wanted.v[i].again == question->again)
            return true;
    return false;
}

static bool add_wanted(struct forecasts *f, struct question_ahead *question)
{
    if (is_listed(f, question)) {
        release_question(question);
        return true;
    }
    if (vec_push(&f->wanted, *question))
        return true;
    release_question(question);
    return false;
}

static void release_assumptions(struct assumptions *assumed)
{
    vec_release(&assumed->list);
    vec_release(&assumed->flows);
}

/* Opens the assumptions with one more. */
static bool open_with(struct forecasts *f, const struct assumptions *assumed,
                      const struct forecast *question, struct cand_hash hash, bool yes,
                      double chance)
{
    struct assumptions more = { .chance = assumed->chance * chance };
    if (more.chance < least_chance)
        return true;
    bool good = vec_reserve(&more.list, assumed->list.n + 1);
    for (size_t i = 0; good && i < assumed->list.n; i++)
        more.list.v[more.list.n++] = assumed->list.v[i];
    if (good)
        more.list.v[more.list.n++] = (struct assumption){ hash, yes };
    good = good && vec_reserve(&more.flows, assumed->flows.n + 1);
    for (size_t i = 0; good && i < assumed->flows.n; i++)
        more.flows.v[more.flows.n++] = assumed->flows.v[i];
    if (good && question->flow)
        more.flows.v[more.flows.n++] = (struct flow_answer){ question->flow, yes };
    if (good && vec_push(&f->open, more))
        return true;
    release_assumptions(&more);
    return false;
}

/* Takes the most likely assumptions; of equally likely ones, the earliest. */
static struct assumptions take_likeliest(struct forecasts *f)
{
    size_t best = 0;
    for (size_t i = 1; i < f->open.n; i++)
        if (f->open.v[i].chance > f->open.v[best].chance)
            best = i;
    struct assumptions ret = f->open.v[best];
    memmove(f->open.v + best, f->open.v + best + 1, (f->open.n - best - 1) * sizeof ret);
    f->open.n--;
    return ret;
}

/* Follows the likeliest assumptions to their question. */
static bool follow(struct forecasts *f)
{
    struct assumptions assumed = take_likeliest(f);
    struct forecast forecast = { .assumed = &assumed };
    bool good = run_forecast(f->search, &forecast);
    if (good && forecast.asks) {
        struct cand_hash hash = forecast.question.hash;
        bool again = forecast.question.again;
        good = add_wanted(f, &forecast.question) &&
               (again || (open_with(f, &assumed, &forecast, hash, true, forecast.chance) &&
                          open_with(f, &assumed, &forecast, hash, false, 1 - forecast.chance)));
    }
    release_assumptions(&assumed);
    if (forecast.flow && (!good || !vec_push(&f->flows, forecast.flow))) {
        free(forecast.flow);
        good = false;
    }
    return good;
}

static bool find_wanted(struct forecasts *f, uint32_t n)
{
    const struct assumptions none = { .chance = 1 };
    if (!vec_push(&f->open, none))
        return false;
    for (uint32_t run = 0; run < n * RUNS_A_WORKER && f->open.n > 0 && f->wanted.n < n; run++) {
        if (!follow(f))
            return false;
        if (workers_any_done(f->search->workers))
            break;
    }
    return true;
}

static void ask_wanted(struct forecasts *f)
{
    size_t waiting = 0;
    for (size_t i = 0; i < f->wanted.n; i++)
        if (!search_is_asking(f->search, &f->wanted.v[i]))
            waiting += !search_ask_ahead(f->search, &f->wanted.v[i]);
    search_cancel_others(f->search, f->wanted.v, f->wanted.n, waiting);
    f->search->changed = waiting > 0;
}

bool forecast_ask(struct search *search)
{
    struct forecasts f = { .search = search };
    uint32_t n = workers_n(search->workers);
    search->changed = false;
    if (n < 2)
        return true;
    bool good = (!search->belief || belief_weigh(search->belief)) && find_wanted(&f, n);
    if (good)
        ask_wanted(&f);
    for (size_t i = 0; i < f.open.n; i++)
        release_assumptions(&f.open.v[i]);
    for (size_t i = 0; i < f.wanted.n; i++)
        release_question(&f.wanted.v[i]);
    for (size_t i = 0; i < f.flows.n; i++)
        free(f.flows.v[i]);
    vec_release(&f.flows);
    vec_release(&f.open);
    vec_release(&f.wanted);
    return good || run_out_of_memory(search);
}
