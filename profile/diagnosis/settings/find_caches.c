/* Findings: compiler caches that are off or were bypassed, and graphs that were compiled twice.
 *
 * That a cache is off costs nothing in the run that was recorded, unless the run compiled a graph
 * twice; so the time is that of graphs that were compiled twice, and what the next run compiles
 * again is evidence. */
#include "profile/diagnosis/finder.h"
#include "profile/diagnosis/settings/cache_reasons.h"

enum { LONGEST_QUOTE = 160, LEAST_SHARE = 100 /* one hundredth of the compile time */ };

/* Events of one cause. */
struct cache_group {
    const struct cache_reason *reason; /* NULL: the cache is off */
    struct str quote;                  /* of the reason */
    uint32_t recording;                /* of the first */
    uint32_t attempt, compile;         /* of the latest, which is counted once */
    uint32_t n;                        /* compiles */
    bool aotautograd, fx;              /* the caches */
    int64_t ns;                        /* of their backends */
};

struct cache_groups {
    struct intern keys;
    vec_of(struct cache_group)
    groups;
};

/* Returns whether an event says that a graph was not looked up, and why: "" if the cache is off. */
static bool was_skipped(const struct cache_event *is, struct str *key)
{
    bool compiled = is->kind == CACHE_FX_GRAPH || is->kind == CACHE_AOTAUTOGRAD;
    *key = STR("");
    if (compiled && is->state == CACHE_BYPASS && !cache_reason_is_off(cache_reason_of(is->reason)))
        *key = str_first(str_first(is->reason, str_find_char(is->reason, '\n')), LONGEST_QUOTE);
    /* A bypass without its text is an instant event: its artifact says why. */
    return compiled &&
           (is->state == CACHE_DISABLED || (is->state == CACHE_BYPASS && is->reason.n > 0));
}

/* Returns the time that the backend took in an attempt; 0 if it was not recorded. */
static int64_t backend_ns(const struct build_input *in, uint32_t attempt, bool whole)
{
    const struct metrics *m = attempt == TRACE_NONE ? NULL : in->metrics_of[attempt];
    int64_t ns = m ? m->values[whole ? METRIC_BACKEND_COMPILE : METRIC_INDUCTOR_COMPILE] : 0;
    return ns > 0 ? ns : 0;
}

static struct cache_group *cache_group(struct finder *d, struct cache_groups *all,
                                       const struct profile_cache *c, struct str key)
{
    uint32_t id = intern(&all->keys, key);
    struct cache_group group = {
        .reason = key.n > 0 ? cache_reason_of(key) : NULL,
        .recording = c->where.recording,
        .attempt = TRACE_NONE,
    };
    if (id == INTERN_NONE || (id == all->groups.n && !vec_push(&all->groups, group))) {
        err_nomem(&d->err);
        return NULL;
    }
    all->groups.v[id].quote = intern_text(&all->keys, id);
    return &all->groups.v[id];
}

static void count_skipped(struct finder *d, struct cache_groups *all, const struct profile_cache *c)
{
    const struct build_input *in = find_input(d, c->where.recording);
    struct str key;
    if (c->where.compile == PROFILE_NONE || !build_kept(in, c->where.attempt) ||
        !was_skipped(c->is, &key))
        return;
    struct cache_group *group = cache_group(d, all, c, key);
    if (!group)
        return;
    group->aotautograd |= c->is->kind == CACHE_AOTAUTOGRAD;
    group->fx |= c->is->kind == CACHE_FX_GRAPH;
    if (group->attempt == c->where.attempt && group->compile == c->where.compile)
        return;
    group->attempt = c->where.attempt;
    group->compile = c->where.compile;
    group->n++;
    build_add_ns(&group->ns, backend_ns(in, c->where.attempt, true));
}

static const char *skipped_caches(const struct cache_group *g)
{
    return g->aotautograd && g->fx ? "the FX graph cache and the AOTAutograd cache"
           : g->fx                 ? "the FX graph cache"
                                   : "the AOTAutograd cache";
}

/* Names the setting that switched the caches off. The environment wins over what a program sets
 * (env_name_force in torch/compiler/config.py and torch/_inductor/config.py). */
static void explain_off(struct finder *d, struct finding_build *f, uint32_t recording)
{
    static const char *const FORCED[] = { "torch._inductor.config", "torch.compiler.config" };
    for (size_t i = 0; i < sizeof FORCED / sizeof *FORCED; i++)
        if (find_has_setting(d, recording, FORCED[i], "force_disable_caches", "True")) {
            find_cause(d, f, "caching is off: %s.force_disable_caches is True", FORCED[i]);
            find_remedy(d, f, REMEDY_ENABLE_CACHE,
                        "unset TORCHINDUCTOR_FORCE_DISABLE_CACHES and "
                        "TORCH_COMPILE_FORCE_DISABLE_CACHES, which override the setting, or remove "
                        "what sets %s.force_disable_caches to True",
                        FORCED[i]);
            return;
        }
    bool known =
        find_has_setting(d, recording, "torch._inductor.config", "fx_graph_cache", "False");
    find_cause(d, f,
               known ? "Inductor's cache is off: torch._inductor.config.fx_graph_cache is False"
                     : "Inductor's cache of compiled graphs is off");
    find_remedy(d, f, REMEDY_ENABLE_CACHE,
                "unset TORCHINDUCTOR_FX_GRAPH_CACHE, which overrides the setting, or remove what "
                "sets torch._inductor.config.fx_graph_cache to False");
}

static void add_skipped(struct finder *d, const struct cache_group *g)
{
    const struct profile_where where = { g->recording, g->n == 1 ? g->compile : PROFILE_NONE,
                                         TRACE_NONE };
    if (g->ns < d->p->compile_ns / LEAST_SHARE) /* as small as it is, nobody misses a cache */
        return;
    struct finding_build *f = find_add(d, FINDING_CACHE, &where, STR(""));
    if (!f)
        return;
    find_weight_if_alone(d, f);
    if (g->reason) {
        find_cause(d, f, "%s cannot keep a graph, because %s", skipped_caches(g),
                   g->reason->because);
        find_evidence(d, f, "bypassed: %.*s", STR_ARG(g->quote));
        find_remedy(d, f, g->reason->remedy, "%s", g->reason->text);
    } else {
        explain_off(d, f, g->recording);
    }
    find_evidence(d, f, "%u %s, %.2f s in the backend, measured: the next run compiles them again",
                  (unsigned)g->n, g->n == 1 ? "compile" : "compiles", (double)g->ns / 1e9);
}

static void find_skipped(struct finder *d)
{
    struct cache_groups all = { 0 };
    for (uint32_t i = 0; i < d->p->n_caches && !err_is_set(&d->err); i++)
        count_skipped(d, &all, &d->p->caches[i]);
    for (size_t i = 0; i < all.groups.n && !err_is_set(&d->err); i++)
        add_skipped(d, &all.groups.v[i]);
    intern_release(&all.keys);
    vec_release(&all.groups);
}

/* ---- Compiled twice ---- */

/* A key that was missed more than once. */
struct cache_repeat {
    uint32_t n, recordings; /* misses; recordings that had one */
    uint32_t last;          /* the recording of the latest */
    int64_t ns;             /* of all misses but the first */
};

struct cache_repeats {
    struct intern keys;
    vec_of(struct cache_repeat)
    repeats;
};

static bool count_miss(const struct finder *d, struct cache_repeats *all,
                       const struct profile_cache *c)
{
    uint32_t id = intern(&all->keys, c->is->key);
    struct cache_repeat fresh = { .last = PROFILE_NONE };
    if (id == INTERN_NONE || (id == all->repeats.n && !vec_push(&all->repeats, fresh)))
        return false;
    struct cache_repeat *r = &all->repeats.v[id];
    if (r->n++ > 0) {
        int64_t ns = c->is->taken_ns >= 0
                         ? c->is->taken_ns
                         : backend_ns(find_input(d, c->where.recording), c->where.attempt, false);
        build_add_ns(&r->ns, ns);
    }
    r->recordings += r->last != c->where.recording;
    r->last = c->where.recording;
    return true;
}

static void add_repeat(struct finder *d, const struct cache_repeat *r, struct str key)
{
    bool ranks = r->recordings > 1;
    const struct profile_where where = { r->last, PROFILE_NONE, TRACE_NONE };
    if (r->n < 2)
        return;
    struct finding_build *f =
        find_add(d, FINDING_CACHE, &where, ranks ? STR("ranks") : STR("twice"));
    find_cost(f, r->ns, BASIS_MEASURED);
    find_evidence(d, f, "compiled %u times: FX graph cache, key %.*s", (unsigned)r->n,
                  STR_ARG(str_first(key, 64)));
    if (!find_is_new(f))
        return;
    find_cause(d, f,
               ranks ? "several recordings compiled the same graph, each for itself"
                     : "the same graph was compiled again although it was in the cache's reach");
    find_remedy(
        d, f, REMEDY_ENABLE_CACHE,
        ranks ? "compile in one process first, with TORCHINDUCTOR_CACHE_DIR on a disk that all "
                "share, or set TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE=1"
              : "set TORCHINDUCTOR_CACHE_DIR to a folder that can be written and is not "
                "removed");
}

static void find_repeated(struct finder *d)
{
    struct cache_repeats all = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < d->p->n_caches; i++) {
        const struct profile_cache *c = &d->p->caches[i];
        if (c->is->kind == CACHE_FX_GRAPH && c->is->state == CACHE_MISS && c->is->key.n > 0 &&
            c->where.compile != PROFILE_NONE)
            ok = count_miss(d, &all, c);
    }
    if (!ok)
        err_nomem(&d->err);
    for (size_t i = 0; i < all.repeats.n && !err_is_set(&d->err); i++)
        add_repeat(d, &all.repeats.v[i], intern_text(&all.keys, (uint32_t)i));
    intern_release(&all.keys);
    vec_release(&all.repeats);
}

void find_caches(struct finder *d)
{
    find_skipped(d);
    if (!err_is_set(&d->err))
        find_repeated(d);
}
