#include "profile/advice/advice.h"

#include <string.h>

#include "profile/advice/advice_build.h"
#include "profile/advice/compile_counts.h"
#include "profile/advice/remedy_plan.h"

enum { MOST_FINDINGS = 64 /* whose remedies are replayed: each replays all calls */ };

static const char *const NO_CALLS = "the tape has no calls: symtape record --calls notes them";
static const char *const UNKNOWN_COMPILE = "a call would compile what the tape does not have";
static const char *const OTHER_CALLS = "the calls on the tape do not account for its compiles";
static const char *const OTHER_POLICY =
    "replayed with the settings as recorded, the calls have other compiles";

const char *advice_verdict_name(enum advice_verdict verdict)
{
    static const char *const NAMES[] = { "proved", "suggested", "no gain" };
    return NAMES[verdict];
}

/* ---- What a plan does ---- */

static void mark_compiles(const struct compile_index *index, const struct str *ids, size_t n,
                          bool mark, bool *marked)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t compile = compile_index_find(index, ids[i]);
        if (compile != PROFILE_NONE)
            marked[compile] = mark;
    }
}

/* Returns whether compiles and what is recorded of them suffice: no call is answered otherwise. */
static bool needs_no_calls(const struct call_plan *plan)
{
    return !plan->holds.n && !call_plan_makes_entries(plan) && !plan->limit && !plan->accumulated;
}

/* Without calls, what is dropped is taken from the compiles of the tape. */
static bool run_without_calls(struct advice_build *b, const struct call_plan *plan,
                              struct plan_outcome *outcome)
{
    const struct profile *p = b->advice->diagnosis->profile;
    bool *dropped = calloc((size_t)p->n_compiles + 1, sizeof *dropped), ok = dropped != NULL;
    int64_t ns = -plan->spared_ns;
    *outcome = (struct plan_outcome){ 0 };
    if (ok)
        mark_compiles(&b->advice->index, plan->dropped.v, plan->dropped.n, true, dropped);
    for (uint32_t i = 0; ok && i < p->n_compiles; i++) {
        if (dropped[i])
            continue;
        outcome->compiles++;
        ns += p->compiles[i].ns;
        ok = vec_push(&outcome->made, p->compiles[i].id);
    }
    outcome->seconds = ns > 0 ? (double)ns / 1e9 : 0;
    free(dropped);
    return ok || err_nomem(b->err);
}

/* What a process does once is done by another compile if the one that did it is not made. */
static bool add_once(struct advice_build *b, const struct call_plan *plan,
                     struct plan_outcome *outcome)
{
    const struct compile_index *index = &b->advice->index;
    const struct profile *p = index->profile;
    bool *gone = calloc((size_t)p->n_compiles + 1, sizeof *gone);
    if (!gone)
        return err_nomem(b->err);
    const struct plan_outcome *recorded = &b->advice->replay.recorded;
    mark_compiles(index, recorded->kept.v, recorded->kept.n, true, gone);
    mark_compiles(index, outcome->kept.v, outcome->kept.n, false, gone);
    mark_compiles(index, plan->dropped.v, plan->dropped.n, false, gone);
    for (uint32_t i = 0; i < p->n_compiles; i++)
        outcome->seconds += gone[i] ? (double)compile_index_once_ns(index, i) / 1e9 : 0;
    free(gone);
    return true;
}

bool advice_run_plan(struct advice_build *b, const struct call_plan *plan,
                     struct advice_counts *after, struct plan_run_time *run, const char **why)
{
    struct plan_outcome outcome = { 0 };
    bool calls = b->faithful && b->advice->has_calls;
    bool ok = calls ? plan_replay_run(&b->advice->replay, plan, &outcome, b->err)
                    : run_without_calls(b, plan, &outcome);
    ok = ok && (!calls || add_once(b, plan, &outcome));
    if (ok && outcome.unknown)
        *why = UNKNOWN_COMPILE;
    ok = ok && (compile_counts_sum(b->advice, plan, &outcome, after, b->err));
    if (ok && calls)
        *run = plan_replay_run_time(&b->advice->replay, &outcome);
    plan_outcome_release(&outcome);
    return ok;
}

/* ---- Whether that is a gain ---- */

/* Seconds that the calls take more than as recorded; what compiles spare has to be more. */
static double run_cost(const struct plan_run_time *run)
{
    return run && run->calls ? (run->after - run->before) * (double)run->calls : 0;
}

bool advice_is_gain(const struct advice_counts *before, const struct plan_run_time *run_before,
                    const struct advice_counts *after, const struct plan_run_time *run)
{
    if (after->failures != before->failures)
        return after->failures < before->failures;
    if (after->eager > before->eager || after->compiles > before->compiles ||
        after->attempts > before->attempts || after->breaks > before->breaks)
        return false;
    bool fewer = after->compiles < before->compiles || after->attempts < before->attempts ||
                 after->breaks < before->breaks || after->eager < before->eager;
    double saved = before->seconds - after->seconds + run_cost(run_before) - run_cost(run);
    return fewer && (saved > 0 || after->eager < before->eager);
}

bool advice_is_better(const struct advice_counts *a, const struct advice_counts *b)
{
    if (a->failures != b->failures)
        return a->failures < b->failures;
    if (a->eager != b->eager)
        return a->eager < b->eager;
    if (a->compiles != b->compiles)
        return a->compiles < b->compiles;
    return a->seconds < b->seconds;
}

struct remedy_proof advice_saves(const struct advice_counts *before,
                                 const struct advice_counts *after)
{
    return (struct remedy_proof){
        .compiles = (int64_t)(before->compiles - after->compiles),
        .attempts = (int64_t)(before->attempts - after->attempts),
        .breaks = (int64_t)(before->breaks - after->breaks),
        .failures = (int64_t)(before->failures - after->failures),
        .eager = (int64_t)(before->eager - after->eager),
        .guards = (int64_t)(before->guards - after->guards),
        .dispatches = (int64_t)(before->dispatches - after->dispatches),
        .dispatches_known = before->dispatches_known && after->dispatches_known,
        .seconds = before->seconds - after->seconds,
    };
}

/* ---- Items ---- */

static const char *why_not_replayed(const struct advice_build *b, const struct call_plan *plan)
{
    if (needs_no_calls(plan))
        return NULL;
    return !b->advice->has_calls                                  ? NO_CALLS
           : !b->faithful                                         ? OTHER_CALLS
           : call_plan_makes_entries(plan) && !b->policy_faithful ? OTHER_POLICY
                                                                  : NULL;
}

static bool judge(struct advice_build *b, struct advice_item *item)
{
    const struct advice_counts *recorded = &b->advice->recorded;
    const char *blocked = why_not_replayed(b, &item->plan);
    item->verdict = ADVICE_SUGGESTED;
    if (blocked || call_plan_is_empty(&item->plan)) {
        item->why = item->why ? item->why : blocked ? blocked : "no replay shows what it does";
        return true;
    }
    if (!advice_run_plan(b, &item->plan, &item->after, &item->run, &item->why))
        return false;
    if (item->why) {
        item->has_counts =
            item->why != UNKNOWN_COMPILE && advice_is_gain(recorded, NULL, &item->after, NULL);
        return true;
    }
    item->has_counts = true;
    item->verdict =
        advice_is_gain(recorded, NULL, &item->after, &item->run) ? ADVICE_PROVED : ADVICE_NO_GAIN;
    if (item->verdict == ADVICE_NO_GAIN)
        item->why = advice_is_gain(recorded, NULL, &item->after, NULL)
                        ? "the calls take longer by more than the compiles do"
                    : item->after.compiles > recorded->compiles
                        ? "it compiles more; what the calls gain is not on the tape"
                    : item->after.compiles < recorded->compiles
                        ? "by the estimate, the compiles that remain take as long"
                        : "it saves nothing";
    return true;
}

static bool add_item(struct advice_build *b, uint32_t finding, uint32_t remedy)
{
    const struct diagnosis *d = b->advice->diagnosis;
    struct advice_item *item = &b->advice->items[b->advice->n_items++];
    *item = (struct advice_item){ .finding = finding, .remedy = remedy };
    const struct remedy_context context = { d, &d->findings[finding], b->sources->log,
                                            &b->advice->index };
    if (finding >= MOST_FINDINGS) {
        item->verdict = ADVICE_SUGGESTED;
        item->why = "only the remedies of the first findings are replayed";
        return true;
    }
    return (remedy_plan_make(&context, &context.finding->remedies[remedy], &item->plan,
                             &item->why) ||
            err_nomem(b->err)) &&
           judge(b, item);
}

static struct str statement_of(const struct advice *advice, const struct advice_item *item)
{
    return remedy_statement(advice->diagnosis->findings[item->finding].remedies[item->remedy].text);
}

/* Of a finding's remedies the one that saves most: of equal ones one that is a line of Python, for
 * which the program need not be understood. */
static void choose(struct advice *advice, uint32_t first)
{
    struct advice_item *best = NULL;
    for (uint32_t i = first; i < advice->n_items; i++) {
        struct advice_item *item = &advice->items[i];
        bool statement = statement_of(advice, item).n > 0;
        if (item->verdict != ADVICE_PROVED)
            continue;
        bool statement_before = best && statement_of(advice, best).n > 0;
        if (!best || advice_is_better(&item->after, &best->after) ||
            (!advice_is_better(&best->after, &item->after) && statement && !statement_before))
            best = item;
    }
    if (best)
        best->chosen = true;
}

static bool add_items(struct advice_build *b)
{
    const struct diagnosis *d = b->advice->diagnosis;
    size_t n = 0;
    for (uint32_t i = 0; i < d->n_findings; i++)
        n += d->findings[i].n_remedies;
    b->advice->items = arena_array(&b->advice->arena, struct advice_item, n + 1);
    b->advice->together = arena_array(&b->advice->arena, struct advice_step, n + 1);
    if (!b->advice->items || !b->advice->together)
        return err_nomem(b->err);
    for (uint32_t i = 0; i < d->n_findings; i++) {
        uint32_t first = b->advice->n_items;
        for (uint32_t k = 0; k < d->findings[i].n_remedies; k++)
            if (!add_item(b, i, k))
                return false;
        choose(b->advice, first);
    }
    return true;
}

/* ---- The whole ---- */

/* Compiles that a limit refused are compiles of the profile, too, and none of a call. */
static bool is_faithful(const struct advice *advice, const struct plan_outcome *outcome)
{
    const struct profile *p = advice->diagnosis->profile;
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_compiles; i++)
        n += !advice->index.facts[i].refused;
    return outcome->compiles == n && outcome->unknown == 0;
}

static bool replay_recorded(struct advice_build *b)
{
    struct advice *advice = b->advice;
    const struct call_plan by_policy = { .by_policy = true }, none = { 0 };
    struct plan_outcome outcome = { 0 };
    struct plan_run_time run = { 0 };
    const char *why = NULL;
    advice->has_calls = b->sources->log->calls.n > 0;
    if (advice->has_calls) {
        if (!plan_replay_make(&advice->replay, advice->diagnosis->profile->traces[0],
                              b->sources->recording, b->sources->log, b->err))
            return false;
        b->faithful = is_faithful(advice, &advice->replay.recorded);
    }
    if (b->faithful) {
        bool ok = plan_replay_run(&advice->replay, &by_policy, &outcome, b->err);
        b->policy_faithful = ok && outcome.compiles == advice->replay.recorded.compiles;
        plan_outcome_release(&outcome);
        if (!ok)
            return false;
    }
    return advice_run_plan(b, &none, &advice->recorded, &run, &why);
}

struct advice *advice_build(const struct advice_sources *sources, struct err *err)
{
    struct advice *advice = calloc(1, sizeof *advice);
    struct advice_build b = { .advice = advice, .sources = sources, .err = err };
    if (!advice)
        return err_nomem(err), NULL;
    advice->diagnosis = sources->diagnosis;
    if (compile_index_make(&advice->index, sources->diagnosis->profile, err) &&
        replay_recorded(&b) && add_items(&b) && remedy_sets_choose(&b))
        return advice;
    advice_free(advice);
    return NULL;
}

void advice_free(struct advice *advice)
{
    if (!advice)
        return;
    for (uint32_t i = 0; i < advice->n_items; i++)
        call_plan_release(&advice->items[i].plan);
    call_plan_release(&advice->plan);
    plan_replay_release(&advice->replay);
    compile_index_release(&advice->index);
    arena_release(&advice->arena);
    free(advice);
}
