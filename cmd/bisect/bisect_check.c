/* bisect --check: a state is the graph cut after a call, and the command answers for it as it does
 * for a candidate of `symtape minify --check`. */
#include <pthread.h>

#include "cmd/bisect/bisect.h"
#include "cmd/minify/minify.h"
#include "minify/edit/edit.h"
#include "minify/oracle/oracle_check.h"
#include "minify/program/program_names.h"
#include "minify/repro/repro.h"

struct command_search {
    struct oracle *oracle;
    const struct candidate *whole;
    const struct bisect_events *calls;
    const atomic_bool *stop;
    double timeout;
    atomic_ullong questions;
    pthread_mutex_t lock;
    struct str allow;
    struct buf *said; /* under the lock */
};

static void keep_said(struct command_search *c, struct str text)
{
    pthread_mutex_lock(&c->lock);
    if (c->said->n == 0)
        buf_put(c->said, text);
    pthread_mutex_unlock(&c->lock);
}

static bool print_py(void *user, const struct candidate *candidate, struct buf *out)
{
    const struct command_search *c = user;
    const struct repro_what what = { .check = REPRO_RUNS, .allow = c->allow };
    struct repro_notes notes;
    return repro_print(candidate, &what, &notes, out);
}

/* After all calls the graph is complete. Before that, the values that nothing uses become its
 * outputs. */
static struct candidate *cut_after(const struct command_search *c, uint32_t state, struct err *err)
{
    const struct edit edit = { .kind = EDIT_KEEP_PREFIX, .a = c->calls->list.v[state - 1].at };
    return candidate_apply(c->whole, &edit, 1, err);
}

static enum bisect_answer ask_about_state(void *user, uint32_t state, bool fresh, struct err *err)
{
    struct command_search *c = user;
    struct err why = { 0 };
    struct answer answer = { .verdict = VERDICT_UNRESOLVED };
    struct oracle_question asking = { .call = atomic_fetch_add(&c->questions, 1),
                                      .cancel = c->stop,
                                      .timeout = c->timeout };
    (void)fresh;
    if (state == 0)
        return BISECT_GOOD; /* nothing was called yet */
    bool whole = state == c->calls->list.n;
    struct candidate *candidate = whole ? NULL : cut_after(c, state, &why);
    if (!whole && !candidate && why.kind == ERR_ENV)
        return *err = why, BISECT_BROKEN;
    if (!whole && !candidate)
        return BISECT_SKIP;
    c->oracle->ask(c->oracle, whole ? c->whole : candidate, &asking, &answer);
    candidate_free(candidate);
    enum verdict verdict = answer.verdict;
    if (verdict == VERDICT_BROKEN)
        *err = answer.err;
    if (verdict == VERDICT_UNRESOLVED && !(c->stop && atomic_load(c->stop)))
        keep_said(c, answer.text);
    answer_release(&answer);
    switch (verdict) {
    case VERDICT_INTERESTING: return BISECT_BAD;
    case VERDICT_BORING: return BISECT_GOOD;
    case VERDICT_BROKEN: return BISECT_BROKEN;
    default: return BISECT_SKIP;
    }
}

/* Removes the events that are not calls. */
static bool keep_calls(struct bisect_events *events)
{
    size_t n = 0;
    for (size_t i = 0; i < events->list.n; i++)
        if (events->list.v[i].kind == BISECT_EVENT_NODE)
            events->list.v[n++] = events->list.v[i];
    events->list.n = n;
    return n > 0;
}

bool bisect_by_command(const struct bisect_args *args, const struct candidate *whole,
                       const atomic_bool *stop, struct bisect_events *events,
                       struct bisect_result *result, struct buf *said, struct err *err)
{
    const struct bisect_question nothing = { .kind = BISECT_FAILURE, .what = STR("") };
    struct command_search c = { .whole = whole,
                                .calls = events,
                                .stop = stop,
                                .timeout = 300,
                                .lock = PTHREAD_MUTEX_INITIALIZER,
                                .said = said,
                                .allow = str_of(args->allow) };
    const struct check_options options = {
        .command = str_of(args->check), .invert = args->invert, .print_py = print_py, .user = &c
    };
    *result = (struct bisect_result){ .monotone = true };
    if (!program_check_allow(c.allow, err))
        return false;
    if (args->timeout && !minify_read_seconds("--timeout", args->timeout, &c.timeout, err))
        return false;
    if (!bisect_events_walk(whole, &nothing, UINT32_MAX, events, err))
        return false;
    if (!keep_calls(events))
        return err_set(err, ERR_USAGE, "the graph has no calls");
    c.oracle = oracle_check(&options, err);
    if (!c.oracle)
        return false;
    const struct bisect_options how = {
        .n = (uint32_t)events->list.n,
        .jobs = args->jobs.given ? (uint32_t)args->jobs.value : 1,
        .from_end = args->from_end,
        .looks = args->extra_checks.given ? (uint32_t)args->extra_checks.value : 3,
        .probe = ask_about_state,
        .user = &c,
        .stop = stop,
    };
    bool ok = bisect_run(&how, result, err);
    c.oracle->free(c.oracle);
    return ok;
}
