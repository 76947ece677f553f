#include "profile/advice/plan_replay.h"

#include <string.h>

#include "profile/advice/held_calls.h"
#include "profile/calls/dynamic/given_marks.h"
#include "profile/calls/dynamic/peers.h"
#include "profile/calls/dynamic/pgo_profile.h"
#include "profile/calls/dynamic/policy_run.h"

/* One replay. */
struct plan_run {
    struct plan_replay *replay;
    const struct call_plan *plan;
    struct plan_outcome *outcome;
    struct cache_run cache;
    bool *dropped; /* by code object of cache.codes */
};

void plan_outcome_release(struct plan_outcome *outcome)
{
    vec_release(&outcome->made);
    vec_release(&outcome->kept);
    vec_release(&outcome->answered);
}

/* ---- What is counted ---- */

/* The frame of a compile: "1" of "1/0". */
static struct str frame_of(struct str compile)
{
    return str_first(compile, str_find_char(compile, '/'));
}

static bool find_dropped(struct plan_run *run)
{
    struct intern frames = { 0 };
    bool ok = (run->dropped = calloc(run->cache.codes.n + 1, sizeof *run->dropped)) != NULL;
    for (size_t i = 0; ok && i < run->plan->dropped.n; i++)
        ok = intern(&frames, frame_of(run->plan->dropped.v[i])) != INTERN_NONE;
    for (size_t i = 0; ok && i < run->cache.entries.n; i++) {
        const struct cache_entry *entry = &run->cache.entries.v[i];
        run->dropped[entry->code] |= intern_find(&frames, frame_of(entry->compile)) != INTERN_NONE;
    }
    for (size_t i = 0; ok && i < run->cache.lookups.n; i++) {
        const struct lookup_row *row = &run->cache.lookups.v[i];
        if (row->code != CALL_NONE && row->compile.n)
            run->dropped[row->code] |= intern_find(&frames, frame_of(row->compile)) != INTERN_NONE;
    }
    intern_release(&frames);
    return ok;
}

static bool is_counted(const struct plan_run *run, const struct lookup_row *row)
{
    return row->code == CALL_NONE || !run->dropped[row->code];
}

/* Ids live as long as the replay: those of a cache run do not. */
static bool keep_id(struct plan_replay *replay, struct str compile, uint32_t *ret)
{
    *ret = INTERN_NONE;
    if (!compile.n)
        return true;
    *ret = intern(&replay->compiles, compile);
    while (*ret != INTERN_NONE && replay->run_seconds.n <= *ret)
        if (!vec_push(&replay->run_seconds, 0))
            return false;
    return *ret != INTERN_NONE;
}

/* Notes that a call compiles for which the tape has a compile, too. */
static bool note_kept(struct plan_run *run, struct str recorded)
{
    uint32_t id;
    return keep_id(run->replay, recorded, &id) &&
           (id == INTERN_NONE ||
            vec_push(&run->outcome->kept, intern_text(&run->replay->compiles, id)));
}

static bool note_made(struct plan_run *run, struct str compile, double seconds)
{
    uint32_t id;
    run->outcome->compiles++;
    run->outcome->seconds += seconds;
    if (!keep_id(run->replay, compile, &id))
        return false;
    return vec_push(&run->outcome->made,
                    id == INTERN_NONE ? STR("") : intern_text(&run->replay->compiles, id));
}

/* Only the code object that the program called answers a call as a whole. */
static bool note_answered(struct plan_run *run, const struct lookup_row *row, struct str compile)
{
    uint32_t id;
    if (run->replay->log->calls.v[row->call].inside)
        return true;
    if (!keep_id(run->replay, compile, &id))
        return false;
    run->outcome->answered.v[row->call] = id;
    return true;
}

static bool begin_answers(struct plan_run *run)
{
    size_t n = run->replay->log->calls.n;
    if (!vec_reserve(&run->outcome->answered, n + 1))
        return false;
    memset(run->outcome->answered.v, 0xff, n * sizeof *run->outcome->answered.v);
    run->outcome->answered.n = n;
    return true;
}

/* ---- Over the entries of the tape ---- */

static bool count_lookup(struct plan_run *run, const struct lookup_row *row)
{
    struct str compile =
        row->answered != CALL_NONE ? run->cache.entries.v[row->answered].compile : row->compile;
    if (!is_counted(run, row))
        return true;
    run->outcome->eager += row->outcome == LOOKUP_EAGER;
    run->outcome->unknown += row->outcome == LOOKUP_UNKNOWN;
    if (row->outcome == LOOKUP_HIT)
        return note_answered(run, row, compile);
    return (row->outcome != LOOKUP_COMPILED && row->outcome != LOOKUP_NO_ENTRY) ||
           (note_made(run, row->compile, row->seconds) && note_kept(run, row->compile) &&
            note_answered(run, row, row->compile));
}

static bool count_lookups(struct plan_run *run)
{
    for (size_t i = 0; i < run->cache.lookups.n; i++)
        if (!count_lookup(run, &run->cache.lookups.v[i]))
            return false;
    return true;
}

/* ---- Over entries that are put together ---- */

/* Sets *ret to the marks of a code object, by slot. */
static bool take_marks(const struct call_plan *plan, const struct code_calls *code,
                       const struct intern *sources, uint8_t **ret, struct err *err)
{
    struct given_marks given = { 0 };
    struct buf list = BUF_INIT;
    buf_put(&list, buf_str(&plan->marks));
    buf_putc(&list, 0);
    *ret = calloc(code->n_slots + 1, 1);
    bool ok = (*ret && !list.failed) || err_nomem(err);
    ok = ok && given_marks_read(&given, list.p, sources, err);
    if (ok)
        given_marks_take(&given, code, *ret);
    given_marks_release(&given);
    buf_release(&list);
    return ok;
}

/* Notes the compiles of a code object, and which of them answers each call. */
static bool note_answers(struct plan_run *run, const struct code_calls *code,
                         const struct policy_answered *answered)
{
    vec_of(struct str)
    like = { 0 }; /* by entry */
    bool ok = true;
    for (size_t i = 0; ok && i < code->calls.n; i++) {
        const struct lookup_row *row = &run->cache.lookups.v[code->calls.v[i].lookup];
        const struct policy_answered *a = &answered[code->calls.v[i].lookup];
        struct str compile = a->like;
        if (a->compiled)
            ok = note_made(run, a->like, a->seconds) && note_kept(run, row->compile) &&
                 (a->entry == NO_ENTRY || vec_push(&like, a->like));
        else if (a->entry != NO_ENTRY && a->entry < like.n)
            compile = like.v[a->entry];
        ok = ok && note_answered(run, row, compile);
    }
    vec_release(&like);
    return ok;
}

static bool run_code(struct plan_run *run, struct calls_table *table, struct code_calls *code,
                     struct err *err)
{
    struct dynamic_settings settings = code->settings;
    uint8_t *marks = NULL;
    struct policy_counts counts = { 0 };
    struct policy_answered *answered = calloc(run->cache.lookups.n + 1, sizeof *answered);
    for (size_t i = 0; answered && i < run->cache.lookups.n; i++)
        answered[i].entry = NO_ENTRY;
    settings.automatic |= run->plan->automatic;
    bool ok = (answered || err_nomem(err)) &&
              take_marks(run->plan, code, &run->replay->log->sources, &marks, err);
    const struct policy_options how = { .policy = CALLS_MARKED,
                                        .marks = marks,
                                        .state = &code->initial,
                                        .unbacked = run->plan->unbacked,
                                        .settings = &settings,
                                        .no_duck = run->plan->no_duck,
                                        .answered = answered };
    ok = ok &&
         ((policy_run(table, code, &how, &counts, NULL) && note_answers(run, code, answered)) ||
          err_nomem(err));
    run->outcome->eager += counts.eager;
    run->outcome->unknown += counts.unknown;
    free(marks);
    free(answered);
    return ok;
}

static bool run_codes(struct plan_run *run, struct err *err)
{
    struct calls_table table = { 0 };
    struct plan_replay *replay = run->replay;
    bool profile;
    bool ok =
        calls_table_make(&table, replay->trace, replay->recording, replay->log, &run->cache, err) &&
        pgo_profile_read(&table, replay->recording, &profile, err);
    for (size_t i = 0; ok && i < table.codes.n; i++) {
        struct code_calls *code = &table.codes.v[i];
        if (run->dropped[code->code])
            continue;
        ok = (!is_first_peer(&table, code) || code_states_make(&table, code) || err_nomem(err)) &&
             run_code(run, &table, code, err);
    }
    calls_table_release(&table);
    return ok;
}

/* ---- Both ---- */

static bool run_plan(struct plan_run *run, struct err *err)
{
    const struct plan_replay *replay = run->replay;
    const struct cache_options how = { .limits = { run->plan->limit, run->plan->accumulated },
                                       .what_if = run->plan->holds.n > 0 };
    if (!cache_run_make(&run->cache, replay->trace, replay->recording, replay->log, &how, err))
        return false;
    if (!find_dropped(run) || !begin_answers(run))
        return err_nomem(err);
    if (call_plan_makes_entries(run->plan))
        return run_codes(run, err);
    return count_lookups(run) || err_nomem(err);
}

bool plan_replay_run(struct plan_replay *replay, const struct call_plan *plan,
                     struct plan_outcome *outcome, struct err *err)
{
    struct plan_run run = { .replay = replay, .plan = plan, .outcome = outcome };
    struct held_calls held = { 0 };
    *outcome = (struct plan_outcome){ 0 };
    if (!held_calls_begin(&held, replay->log, plan))
        return err_nomem(err);
    bool ok = run_plan(&run, err);
    held_calls_end(&held, replay->log);
    cache_run_release(&run.cache);
    free(run.dropped);
    double spared = (double)plan->spared_ns / 1e9;
    outcome->seconds = outcome->seconds > spared ? outcome->seconds - spared : 0;
    return ok;
}

/* ---- Run time ---- */

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Marks calls in which something was compiled, or runs eagerly. */
static bool *find_warm(const struct plan_replay *replay, const struct cache_run *cache)
{
    bool *warm = calloc(replay->log->calls.n + 1, sizeof *warm);
    for (size_t i = 0; warm && i < cache->lookups.n; i++)
        warm[cache->lookups.v[i].call] = cache->lookups.v[i].outcome == LOOKUP_HIT;
    uint32_t outer = CALL_NONE;
    for (uint32_t i = 0; warm && i < replay->log->calls.n; i++) {
        if (!replay->log->calls.v[i].inside)
            outer = i;
        else if (outer != CALL_NONE)
            warm[outer] &= warm[i];
    }
    return warm;
}

/* The first call after a compile takes longer: fewer calls tell nothing of the others. */
enum { FEWEST_CALLS = 3 };

/* Sets the median of the calls that each compile answered alone. */
static bool find_run_seconds(struct plan_replay *replay, const struct cache_run *cache)
{
    bool *warm = find_warm(replay, cache);
    vec_of(double)
    seconds = { 0 };
    bool ok = warm != NULL;
    for (uint32_t id = 0; ok && id < replay->run_seconds.n; id++) {
        seconds.n = 0;
        for (size_t i = 0; ok && i < replay->log->calls.n; i++)
            if (replay->recorded.answered.v[i] == id && warm[i] &&
                replay->log->calls.v[i].seconds > 0)
                ok = vec_push(&seconds, replay->log->calls.v[i].seconds);
        if (seconds.n < FEWEST_CALLS)
            continue;
        qsort(seconds.v, seconds.n, sizeof *seconds.v, by_value);
        replay->run_seconds.v[id] = seconds.v[seconds.n / 2];
    }
    vec_release(&seconds);
    free(warm);
    return ok;
}

struct plan_run_time plan_replay_run_time(const struct plan_replay *replay,
                                          const struct plan_outcome *after)
{
    struct plan_run_time ret = { 0 };
    for (size_t i = 0; i < replay->recorded.answered.n && i < after->answered.n; i++) {
        uint32_t a = replay->recorded.answered.v[i], b = after->answered.v[i];
        if (a == INTERN_NONE || b == INTERN_NONE || replay->run_seconds.v[a] <= 0 ||
            replay->run_seconds.v[b] <= 0)
            continue;
        ret.calls++;
        ret.before += replay->run_seconds.v[a];
        ret.after += replay->run_seconds.v[b];
    }
    if (ret.calls) {
        ret.before /= (double)ret.calls;
        ret.after /= (double)ret.calls;
    }
    return ret;
}

bool plan_replay_make(struct plan_replay *replay, struct trace *trace, uint32_t recording,
                      struct call_log *log, struct err *err)
{
    const struct call_plan none = { 0 };
    *replay = (struct plan_replay){ .trace = trace, .recording = recording, .log = log };
    struct plan_run run = { .replay = replay, .plan = &none, .outcome = &replay->recorded };
    bool ok = run_plan(&run, err) && (find_run_seconds(replay, &run.cache) || err_nomem(err));
    cache_run_release(&run.cache);
    free(run.dropped);
    return ok;
}

void plan_replay_release(struct plan_replay *replay)
{
    plan_outcome_release(&replay->recorded);
    intern_release(&replay->compiles);
    vec_release(&replay->run_seconds);
}
