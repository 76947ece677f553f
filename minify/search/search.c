#include "minify/search/search.h"

#include "minify/search/search_inside.h"
#include "trace/base/hash.h"

/* The least time in seconds between saves if answers cost nothing: lost steps are soon found
 * again. */
#define SAVE_EVERY 0.5
#define SHOW_EVERY 0.1

bool search_fail(struct search *search)
{
    search->end = MINIFY_FAILED;
    return false;
}

static bool fail_nomem(struct search *search)
{
    err_nomem(&search->err);
    return search_fail(search);
}

bool search_stops(struct search *search)
{
    const struct minify_options *options = search->options;
    if (search->end != MINIFY_DONE)
        return true;
    if (options->stop && atomic_load(options->stop))
        search->end = MINIFY_STOPPED;
    else if (options->deadline > 0 && clock_seconds() >= search->deadline)
        search->end = MINIFY_DEADLINE;
    return search->end != MINIFY_DONE;
}

const struct candidate *search_best(const struct search *search)
{
    return search->best;
}

struct str search_failure(const struct search *search)
{
    return search->first.text;
}

bool search_cheap(const struct search *search)
{
    return search->oracle->cheap;
}

node_id search_location(const struct search *search)
{
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    const struct graph *graph = search->best->graph;
    if (!known || !known->node.n || !graph)
        return NODE_NONE;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (str_eq(graph->nodes[i].name, known->node))
            return i;
    return NODE_NONE;
}

static struct needed_call *find_needed(const struct search *search, uint64_t name)
{
    for (size_t i = 0; i < search->needed.list.n; i++)
        if (search->needed.list.v[i].name == name)
            return &search->needed.list.v[i];
    return NULL;
}

void search_note_needed(struct search *search, struct str name, enum needed needed)
{
    struct needed_call call = { .name = hash_str(name), .needed = (int)needed };
    struct needed_call *old = find_needed(search, call.name);
    if (old)
        old->needed |= (int)needed;
    else
        (void)vec_push(&search->needed.list, call);
}

bool search_is_needed(const struct search *search, struct str name, enum needed needed)
{
    const struct needed_call *call =
        search->needed.list.n ? find_needed(search, hash_str(name)) : NULL;
    return call && (call->needed & (int)needed);
}

void search_show(struct search *search, bool now)
{
    const struct minify_options *options = search->options;
    double time = clock_seconds();
    if (search->forecast || !options->progress || (!now && time - search->shown < SHOW_EVERY))
        return;
    search->shown = time;
    const struct minify_progress progress = { .pass = search->pass,
                                              .calls = search->calls,
                                              .hits = search->hits,
                                              .left = search->left,
                                              .before = search->first_size,
                                              .now = search->best_size,
                                              .seconds = time - search->began };
    options->progress(options->user, &progress);
}

/* ---- Trials ---- */

void built_release(struct built *built)
{
    candidate_free(built->candidate);
    *built = (struct built){ 0 };
}

/* Applies the edits of a trial to the base. */
static bool apply_trial(struct search *search, const struct search_trial *trial,
                        struct built *built)
{
    struct err why = { 0 };
    if (trial->failed || trial->edits.n > UINT32_MAX)
        return fail_nomem(search);
    built->candidate =
        candidate_apply(search->base, trial->edits.v, (uint32_t)trial->edits.n, &why);
    if (!built->candidate)
        return why.kind != ERR_ENV || fail_nomem(search);
    built->result = (struct trial_result){ .valid = true,
                                           .hash = candidate_hash(built->candidate),
                                           .size = candidate_size(built->candidate) };
    return true;
}

/* Finds out what a trial gives, from the memory or by applying it. From the memory it may come
 * without its candidate. */
static bool build_trial(struct search *search, const struct search_trial *trial,
                        struct built *built)
{
    *built = (struct built){ .key = trial_key(search->base_hash, trial->edits.v, trial->edits.n) };
    const struct trial_record *known = trial_memory_find(search->memory, built->key);
    if (known) {
        built->result = known->result;
        built->candidate = candidate_hold(known->candidate);
        return true;
    }
    if (!apply_trial(search, trial, built))
        return false;
    trial_memory_add(search->memory, built->key, &built->result, built->candidate);
    return true;
}

/* Builds the candidate of a valid trial, unless it is there. */
static bool need_candidate(struct search *search, const struct search_trial *trial,
                           struct built *built)
{
    if (built->candidate)
        return true;
    if (!apply_trial(search, trial, built))
        return false;
    trial_memory_add(search->memory, built->key, &built->result, built->candidate);
    return true;
}

static bool is_smaller(const struct built *built, const struct cand_size *best)
{
    return cand_size_compare(&built->result.size, best) < 0;
}

/* ---- Accepting ---- */

bool search_save(struct search *search)
{
    const struct minify_options *options = search->options;
    if (!search->unsaved || search->forecast)
        return true;
    if (!journal_sync(search->journal, &search->err))
        return search_fail(search);
    if (options->save && !options->save(options->user, search->best, &search->err))
        return search_fail(search);
    search->unsaved = false;
    search->saved = clock_seconds();
    return true;
}

static void replace_best(struct search *search, struct built *built)
{
    candidate_free(search->best);
    search->best = built->candidate;
    search->best_hash = built->result.hash;
    search->best_size = built->result.size;
    search->unsaved = true;
    built->candidate = NULL;
}

/* A candidate that fails becomes the best. It is written to disk at once, or at most SAVE_EVERY
 * later if the oracle is cheap. */
static bool accept_candidate(struct search *search, struct built *built)
{
    if (!is_smaller(built, &search->best_size))
        return true;
    replace_best(search, built);
    search->accepted++;
    const struct minify_step step = { .calls = search->spent,
                                      .seconds = clock_seconds() - search->began,
                                      .size = search->best_size.part[SIZE_CALLS] };
    if (!vec_push(&search->steps, step))
        return fail_nomem(search);
    if (search->oracle->cheap && clock_seconds() - search->saved < SAVE_EVERY)
        return true;
    return search_save(search);
}

/* ---- The schedule ---- */

/* Counts an answer that the schedule needs for the first time, whether it was asked in advance or
 * not. Returns false if a limit is reached. */
static bool may_need(struct search *search, const struct cached_answer *known)
{
    uint64_t most = search->options->max_calls;
    if ((known && known->needed) || most == 0 || search->spent < most)
        return true;
    search->end = MINIFY_MAX_CALLS;
    return false;
}

static void count_needed(struct search *search, struct cached_answer *known)
{
    known->needed = true;
    search->spent += known->attempts;
    search->spent_now += known->resumed ? 0 : known->attempts;
    search->resumed += known->resumed;
    search->boring += known->verdict == VERDICT_BORING;
    search->other += known->verdict == VERDICT_OTHER;
    search->unresolved += known->verdict == VERDICT_UNRESOLVED;
    search->timed_out +=
        known->verdict == VERDICT_UNRESOLVED && str_starts(known->text, STR(NO_END_WITHIN));
    search->unresolved_in_a_row =
        known->verdict == VERDICT_UNRESOLVED ? search->unresolved_in_a_row + 1 : 0;
}

static bool note_needed(struct search *search, struct cand_hash hash)
{
    struct cached_answer *known = cache_find(search->cache, hash);
    search->hits += known->needed || known->resumed;
    search->not_told += known->verdict == VERDICT_UNRESOLVED;
    if (!known->needed)
        count_needed(search, known);
    bool only_timeouts = search->timed_out >= TIMEOUTS_MAX && search->boring == 0 &&
                         search->other == 0 && search->accepted == 0 &&
                         search->timed_out == search->unresolved;
    if (search->unresolved_in_a_row < UNRESOLVED_MAX && !only_timeouts)
        return true;
    search->end = MINIFY_UNRESOLVED;
    return false;
}

/* Returns the verdict on a candidate, from the cache or from the oracle. */
static bool decide_candidate(struct search *search, const struct built *built,
                             const struct search_trial *trial, bool *yes)
{
    struct cand_hash hash = built->result.hash;
    const struct cached_answer *known = cache_find(search->cache, hash);
    if (!may_need(search, known))
        return false;
    if (!known && !search_ask(search, built, trial))
        return false;
    *yes = cache_find(search->cache, hash)->verdict == VERDICT_INTERESTING;
    return note_needed(search, hash);
}

/* Decides one trial of the schedule: *yes says whether it is interesting. */
static bool settle_trial(struct search *search, const struct search_trial *trial, double chance,
                         bool *asked, bool *yes)
{
    struct built built;
    *asked = *yes = false;
    if (!build_trial(search, trial, &built))
        return false;
    bool good = true, smaller = is_smaller(&built, &search->best_size);
    *asked = built.result.valid && (trial->any_size || smaller);
    if (*asked) {
        if (!cache_find(search->cache, built.result.hash))
            good = need_candidate(search, trial, &built);
        if (good)
            good = search->forecast ? forecast_decide(search, &built, trial, chance, yes)
                                    : decide_candidate(search, &built, trial, yes);
    }
    if (good && *yes && smaller)
        good = need_candidate(search, trial, &built) && accept_candidate(search, &built);
    built_release(&built);
    return good;
}

static void end_plan(struct search *search, struct search_trial *trial)
{
    candidate_free(search->base);
    search->base = NULL;
    search->left = 0;
    vec_release(&trial->edits);
}

bool search_fits(struct search *search, const struct edit *edits, uint32_t n, bool *fits,
                 uint64_t *calls)
{
    struct search_trial trial = { 0 };
    struct built built = { 0 };
    for (uint32_t i = 0; i < n; i++)
        trial.failed |= !vec_push(&trial.edits, edits[i]);
    search->base = candidate_hold(search->best);
    search->base_hash = search->best_hash;
    bool good = build_trial(search, &trial, &built);
    *fits = built.result.valid && is_smaller(&built, &search->best_size);
    if (calls && *fits)
        *calls = built.result.size.part[SIZE_CALLS];
    built_release(&built);
    end_plan(search, &trial);
    return good;
}

void search_expect(struct search *search, double chance)
{
    search->expected = chance;
    search->expects = true;
}

/* Learns what share of trials is accepted; the last few count most. */
static void learn_usual(struct search *search, bool yes)
{
    search->usual += ((yes ? 0.98 : 0.02) - search->usual) * search->learning;
}

bool search_run_plan(struct search *search, struct search_plan *plan, void *state)
{
    struct search_trial trial = { 0 };
    bool good = true;
    search->base = candidate_hold(search->best);
    search->base_hash = search->best_hash;
    while (good && !search_stops(search)) {
        bool asked, yes;
        trial.edits.n = 0;
        trial.any_size = false;
        if (!plan->next(plan, state, &trial))
            break;
        search->left = plan->left(plan, state);
        plan->usual = search->usual * (search->expects ? search->expected : 1);
        search->expects = false;
        search_show(search, false);
        good = settle_trial(search, &trial, plan->chance(plan, state), &asked, &yes);
        if (good) {
            plan->tell(plan, state, yes);
            if (asked)
                learn_usual(search, yes);
        }
    }
    end_plan(search, &trial);
    return good && !search_stops(search);
}

static bool recall(struct answer *answer, struct str *to, struct str from)
{
    *to = arena_copy(&answer->arena, from);
    return to->p != NULL;
}

/* Takes the answers of an earlier run for the original. */
static bool recall_first(struct search *search, const struct cached_answer *known)
{
    struct answer *first = &search->first;
    first->verdict = known->verdict;
    first->seconds = known->seconds;
    return (recall(first, &first->signature.kind, known->signature.kind) &&
            recall(first, &first->signature.message, known->signature.message) &&
            recall(first, &first->signature.op, known->signature.op) &&
            recall(first, &first->signature.frame, known->signature.frame) &&
            recall(first, &first->text, known->text) && recall(first, &first->node, known->node)) ||
           fail_nomem(search);
}

/* The original fails, most probably. */
static bool forecast_calibrate(struct search *search, struct built *built, bool *interesting)
{
    const struct search_trial nothing = { 0 };
    const double likely = 0.95;
    struct built copy = *built;
    copy.candidate = candidate_hold(built->candidate);
    replace_best(search, built);
    bool good = forecast_decide(search, &copy, &nothing, likely, interesting);
    built_release(&copy);
    return good;
}

bool search_calibrate(struct search *search, bool *interesting)
{
    const struct search_trial nothing = { 0 };
    struct err why = { 0 };
    struct built built = { .candidate = candidate_apply(search->whole, NULL, 0, &why) };
    if (!built.candidate) {
        search->err = why;
        return search_fail(search);
    }
    built.result = (struct trial_result){ .valid = true,
                                          .hash = candidate_hash(built.candidate),
                                          .size = candidate_size(built.candidate) };
    search->first_size = search->best_size = built.result.size;
    if (search->forecast)
        return forecast_calibrate(search, &built, interesting);
    bool good = decide_candidate(search, &built, &nothing, interesting);
    const struct cached_answer *known = cache_find(search->cache, built.result.hash);
    if (good && !search->has_first)
        good = recall_first(search, known);
    search->has_first = true;
    replace_best(search, &built);
    search->unsaved = good && *interesting;
    return good;
}
