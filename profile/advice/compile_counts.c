#include "profile/advice/compile_counts.h"

#include "replay/replay.h"

enum { MOST_REPLAYED = 128 /* compiles whose dispatches are counted */ };

struct counter {
    struct advice *advice;
    struct advice_counts *ret;
    uint64_t *times; /* by compile of the profile: how often the outcome has it */
    struct err *err;
};

/* Counts the dispatches of a compile, all attempts of it, by a replay of its graphs. */
static bool count_dispatches(struct counter *c, uint32_t compile)
{
    const struct profile *p = c->advice->diagnosis->profile;
    struct compile_facts *facts = &c->advice->index.facts[compile];
    if (!c->ret->dispatches_known)
        return true;
    if (facts->dispatches == DISPATCHES_UNKNOWN) {
        struct replay_options how = REPLAY_OPTIONS_DEFAULT;
        how.selector.recording = p->recordings[p->compiles[compile].recording].name;
        how.selector.compile = p->compiles[compile].id;
        how.passes = true;
        struct replay *replay = replay_trace(p->traces[0], &how, c->err);
        if (!replay)
            return false;
        facts->dispatches = replay->costs.dispatches;
        replay_free(replay);
    }
    c->ret->dispatches += facts->dispatches;
    return true;
}

static bool add_compile(struct counter *c, uint32_t compile)
{
    const struct profile_compile *is = &c->advice->diagnosis->profile->compiles[compile];
    c->times[compile]++;
    c->ret->attempts += is->n_attempts;
    c->ret->guards += is->n_guards;
    c->ret->failures += is->status == ATTEMPT_FAILED;
    c->ret->breaks += c->advice->index.facts[compile].breaks;
    return count_dispatches(c, compile);
}

static bool add_made(struct counter *c, const struct plan_outcome *outcome)
{
    for (size_t i = 0; i < outcome->made.n; i++) {
        uint32_t compile = compile_index_find(&c->advice->index, outcome->made.v[i]);
        if (compile == PROFILE_NONE) {
            c->ret->attempts++;
            c->ret->dispatches_known = false;
        } else if (!add_compile(c, compile)) {
            return false;
        }
    }
    return true;
}

/* Takes away what a plan spares of compiles that are still made. */
static void take_spared(struct counter *c, const struct call_plan *plan)
{
    const struct compile_index *index = &c->advice->index;
    for (size_t i = 0; i < plan->restarts.n; i++) {
        uint32_t compile = compile_index_of_attempt(index, plan->restarts.v[i]);
        c->ret->attempts -= compile == PROFILE_NONE ? 0 : c->times[compile];
    }
    for (size_t i = 0; i < plan->breaks.n; i++) {
        uint32_t compile = compile_index_of_attempt(index, plan->breaks.v[i]->attempt);
        c->ret->breaks -= compile == PROFILE_NONE ? 0 : c->times[compile];
    }
    c->ret->failures -= c->ret->failures < plan->failures ? c->ret->failures : plan->failures;
}

/* Guards and dispatches of dropped frames are those of the whole function then. */
static bool add_dropped(struct counter *c, const struct call_plan *plan)
{
    for (size_t i = 0; i < plan->dropped.n; i++) {
        uint32_t compile = compile_index_find(&c->advice->index, plan->dropped.v[i]);
        if (compile == PROFILE_NONE)
            continue;
        c->ret->guards += c->advice->diagnosis->profile->compiles[compile].n_guards;
        if (!count_dispatches(c, compile))
            return false;
    }
    return true;
}

/* Each size that violates its Dim is a failure of an export, which is no compile. */
static uint64_t count_violations(const struct diagnosis *d)
{
    uint64_t ret = 0;
    for (uint32_t i = 0; i < d->n_findings; i++) {
        bool of_dim = false;
        for (uint32_t k = 0; k < d->findings[i].n_remedies; k++)
            of_dim |= d->findings[i].remedies[k].dim != NULL;
        ret += of_dim;
    }
    return ret;
}

bool compile_counts_sum(struct advice *advice, const struct call_plan *plan,
                        const struct plan_outcome *outcome, struct advice_counts *ret,
                        struct err *err)
{
    const struct profile *p = advice->diagnosis->profile;
    struct counter c = { .advice = advice, .ret = ret, .err = err };
    *ret = (struct advice_counts){ .compiles = outcome->compiles,
                                   .failures = count_violations(advice->diagnosis),
                                   .eager = outcome->eager,
                                   .seconds = outcome->seconds,
                                   .dispatches_known =
                                       p->n_compiles <= MOST_REPLAYED && !plan->restarts.n };
    c.times = calloc((size_t)p->n_compiles + 1, sizeof *c.times);
    bool ok = (c.times || err_nomem(err)) && add_made(&c, outcome) && add_dropped(&c, plan);
    if (ok)
        take_spared(&c, plan);
    free(c.times);
    return ok;
}
