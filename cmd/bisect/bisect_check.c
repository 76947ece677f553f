/* bisect --check: finds the first call after which a command reports the failure. State i is the
 * graph that ends after its i-th call. A probe of a state runs the command on that graph, as
 * `symtape minify --check` runs it on a candidate: its exit code says whether the state is bad. */
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
    const struct bisect_events *calls; /* call i - 1 is the last one of state i */
    const atomic_bool *stop;
    double timeout;
    atomic_ullong questions;
    pthread_mutex_t lock;
    struct str allow;
    struct buf *said; /* the first undecided output; protected by the lock */
};

/* Stores the output of the first probe that could not decide. */
static void store_undecided(struct command_search *c, struct str text)
{
    pthread_mutex_lock(&c->lock);
    if (c->said->n == 0)
        buf_put(c->said, text);
    pthread_mutex_unlock(&c->lock);
}

static bool print_py(void *user, const struct candidate *candidate, struct buf *out)
{
    const struct command_search *c = user;
    const struct repro_what what = { .check = REPRO_RUNS, .setup = { .allow = c->allow } };
    struct repro_notes notes;
    return repro_print(candidate, &what, &notes, out);
}

/* Returns the graph of a state: it ends after call `state`, and the values that no call uses become
 * its outputs. */
static struct candidate *cut_after_call(const struct command_search *c, uint32_t state,
                                        struct err *err)
{
    const struct edit edit = { .kind = EDIT_KEEP_PREFIX, .a = c->calls->list.v[state - 1].at };
    return candidate_apply(c->whole, &edit, 1, err);
}

/* Probes a state (bisect_probe). Each probe runs the command, so `fresh` makes no difference. A
 * graph that cannot be cut at the call is skipped; the last state is the whole graph. */
static enum bisect_answer probe_with_command(void *user, uint32_t state, bool fresh,
                                             struct err *err)
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
    struct candidate *candidate = whole ? NULL : cut_after_call(c, state, &why);
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
        store_undecided(c, answer.text);
    answer_release(&answer);
    switch (verdict) {
    case VERDICT_INTERESTING: return BISECT_BAD;
    case VERDICT_BORING: return BISECT_GOOD;
    case VERDICT_BROKEN: return BISECT_BROKEN;
    default: return BISECT_SKIP;
    }
}

/* Removes the events that are not calls; returns whether there are calls. */
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
        .probe = probe_with_command,
        .user = &c,
        .stop = stop,
    };
    bool ok = bisect_run(&how, result, err);
    c.oracle->free(c.oracle);
    return ok;
}
