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
    const struct cached_answer *known = cache_find(&search->cache, search->best_hash);
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
    for (size_t i = 0; i < search->needed.n; i++)
        if (search->needed.v[i].name == name)
            return &search->needed.v[i];
    return NULL;
}

void search_note_needed(struct search *search, struct str name, enum needed needed)
{
    struct needed_call call = { .name = hash_str(name), .needed = (int)needed };
    struct needed_call *old = find_needed(search, call.name);
    if (old)
        old->needed |= (int)needed;
    else
        (void)vec_push(&search->needed, call);
}

bool search_is_needed(const struct search *search, struct str name, enum needed needed)
{
    const struct needed_call *call = search->needed.n ? find_needed(search, hash_str(name)) : NULL;
    return call && (call->needed & (int)needed);
}

void search_show(struct search *search, bool now)
{
    const struct minify_options *options = search->options;
    double time = clock_seconds();
    if (!options->progress || (!now && time - search->shown < SHOW_EVERY))
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

uint64_t trial_hash(const struct search_trial *trial)
{
    uint64_t hash = trial->edits.n;
    for (size_t i = 0; i < trial->edits.n; i++) {
        const struct edit *e = &trial->edits.v[i];
        hash = hash_mix(hash_mix(hash, (uint64_t)e->kind << 32 | e->a),
                        hash_mix(e->b, (uint64_t)e->value));
    }
    return hash;
}

bool search_build(struct search *search, const struct search_trial *trial, struct built *built)
{
    struct err why = { 0 };
    *built = (struct built){ 0 };
    if (trial->failed || trial->edits.n > UINT32_MAX)
        return fail_nomem(search);
    built->candidate =
        candidate_apply(search->base, trial->edits.v, (uint32_t)trial->edits.n, &why);
    if (!built->candidate)
        return why.kind != ERR_ENV || fail_nomem(search);
    built->valid = true;
    built->hash = candidate_hash(built->candidate);
    built->size = candidate_size(built->candidate);
    return true;
}

/* Takes the candidate that looking ahead built, or builds it now. */
static bool take_built(struct search *search, const struct search_trial *trial, struct built *built)
{
    uint64_t hash = search->built.n ? trial_hash(trial) : 0;
    for (size_t i = 0; i < search->built.n; i++) {
        struct build_memory *memory = &search->built.v[i];
        if (memory->trial != hash || (memory->built.valid && !memory->built.candidate))
            continue;
        *built = memory->built;
        *memory = search->built.v[--search->built.n];
        return true;
    }
    return search_build(search, trial, built);
}

static bool is_smaller(const struct built *built, const struct cand_size *best)
{
    return cand_size_compare(&built->size, best) < 0;
}

enum judged search_judge(const struct search *search, const struct built *built, bool any_size,
                         const struct cand_size *best)
{
    if (!built->valid || (!any_size && !is_smaller(built, best)))
        return JUDGED_NO;
    const struct cached_answer *known = cache_find(&search->cache, built->hash);
    if (!known)
        return JUDGED_UNKNOWN;
    return known->verdict == VERDICT_INTERESTING ? JUDGED_YES : JUDGED_NO;
}

/* ---- Accepting ---- */

bool search_save(struct search *search)
{
    const struct minify_options *options = search->options;
    if (!search->unsaved)
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
    if (search->best != search->base)
        candidate_free(search->best);
    search->best = built->candidate;
    search->best_hash = built->hash;
    search->best_size = built->size;
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
    struct cached_answer *known = cache_find(&search->cache, hash);
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
                             const struct search_trial *trial, struct look *look, bool *yes)
{
    const struct cached_answer *known = cache_find(&search->cache, built->hash);
    if (!may_need(search, known))
        return false;
    if (!known) {
        look->asked = built->hash;
        look->size_if_no = search->best_size;
        look->size_if_yes = is_smaller(built, &search->best_size) ? built->size : search->best_size;
        if (!search_ask(search, built, trial, search_look, look))
            return false;
    }
    *yes = cache_find(&search->cache, built->hash)->verdict == VERDICT_INTERESTING;
    return note_needed(search, built->hash);
}

/* Decides one trial of the schedule: *yes says whether it is interesting. */
static bool settle_trial(struct search *search, struct look *look, const struct search_trial *trial,
                         bool *yes)
{
    struct built built;
    *yes = false;
    if (!take_built(search, trial, &built))
        return false;
    bool good = true;
    if (built.valid && (trial->any_size || is_smaller(&built, &search->best_size)))
        good = decide_candidate(search, &built, trial, look, yes);
    if (good && *yes)
        good = accept_candidate(search, &built);
    built_release(&built);
    return good;
}

bool search_run_plan(struct search *search, const struct search_plan *plan, void *state)
{
    struct search_trial trial = { 0 };
    struct look look = { .plan = plan, .state = state };
    bool good = true;
    search->base = search->best;
    while (good && !search_stops(search)) {
        bool yes;
        trial.edits.n = 0;
        trial.any_size = false;
        if (!plan->next(plan, state, &trial))
            break;
        search->left = plan->left(plan, state);
        search_show(search, false);
        good = settle_trial(search, &look, &trial, &yes);
        if (good)
            plan->tell(plan, state, yes);
    }
    for (size_t i = 0; i < search->built.n; i++)
        built_release(&search->built.v[i].built);
    search->built.n = 0;
    vec_release(&trial.edits);
    if (search->base != search->best)
        candidate_free(search->base);
    search->base = NULL;
    search->left = 0;
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

bool search_calibrate(struct search *search, const struct candidate *whole, bool *interesting)
{
    const struct search_trial nothing = { 0 };
    struct look look = { 0 };
    struct err why = { 0 };
    struct built built = { .valid = true, .candidate = candidate_apply(whole, NULL, 0, &why) };
    if (!built.candidate) {
        search->err = why;
        return search_fail(search);
    }
    built.hash = candidate_hash(built.candidate);
    built.size = candidate_size(built.candidate);
    search->first_size = search->best_size = built.size;
    bool good = decide_candidate(search, &built, &nothing, &look, interesting);
    const struct cached_answer *known = cache_find(&search->cache, built.hash);
    if (good && !search->has_first)
        good = recall_first(search, known);
    search->has_first = true;
    replace_best(search, &built);
    search->unsaved = good && *interesting;
    return good;
}
