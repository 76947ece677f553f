#include "profile/model/dispatch_times.h"

#include <stdlib.h>

#include "profile/model/cost_model/cost_model.h"

/* --- Measured --- */

enum dispatch_path dispatch_path_of(const struct deep_dispatch *d)
{
    if (d->mode == DEEP_PROXY_MODE)
        return PATH_PROXY;
    if (d->mode == DEEP_FAKE_TENSOR)
        return PATH_FAKE_TENSOR;
    if (d->cache == DEEP_CACHE_HIT)
        return PATH_HIT;
    if (d->fast.n || d->slow.n)
        return d->fast.n ? PATH_FAST : PATH_SLOW;
    if (d->cache == DEEP_CACHE_BYPASS)
        return PATH_BYPASS;
    return d->cache == DEEP_CACHE_MISS ? PATH_COMPUTED : PATH_RETURNED;
}

static void add_time(struct path_time *to, uint64_t count, uint64_t ns)
{
    to->count += count;
    to->ns += (double)ns;
}

/* Returns the row of an operator, or NULL when memory ran out. */
static struct operator_times *times_row(struct dispatch_times *t, struct str op)
{
    uint32_t id = intern(&t->names, op);
    if (id == INTERN_NONE)
        return NULL;
    if (id == t->operators.n &&
        !vec_push(&t->operators, (struct operator_times){ .path = { { 0 } } }))
        return NULL;
    return &t->operators.v[id];
}

static bool add_dispatch(struct dispatch_times *t, const struct deep_dispatch *d)
{
    struct operator_times *row = times_row(t, d->op);
    enum dispatch_path path = dispatch_path_of(d);
    if (!row)
        return false;
    add_time(&row->path[path], d->count, d->self_ns);
    add_time(&t->all.path[path], d->count, d->self_ns);
    if (d->mode == DEEP_FAKE_TENSOR_MODE && d->depth) {
        add_time(&t->nested, d->count, d->self_ns);
        if (path == PATH_HIT)
            add_time(&t->nested_hits, d->count, d->self_ns);
        if (path == PATH_COMPUTED)
            add_time(&t->nested_computed, d->count, d->self_ns);
    }
    t->measured_ns += (double)d->self_ns;
    return true;
}

/* Adds a key or an entry of the cache, to all and to its operator, which older recordings do not
 * have. Returns false when memory ran out. */
static bool add_look_up(struct dispatch_times *t, const struct deep_cost *cost, bool key)
{
    struct operator_times *row = cost->op.n ? times_row(t, cost->op) : NULL;
    add_time(key ? &t->key : &t->entry, cost->count, cost->ns);
    if (row) {
        add_time(key ? &row->key : &row->entry, cost->count, cost->ns);
        t->by_operator = true;
    }
    return row || !cost->op.n;
}

static bool add_costs(struct dispatch_times *t, const struct deep *deep, const bool *replayed)
{
    bool exclusive = deep->n_processes > 0;
    for (uint32_t i = 0; i < deep->n_processes; i++)
        exclusive &= deep->processes[i].exclusive_costs;
    for (uint32_t i = 0; i < deep->n_costs && exclusive; i++) {
        const struct deep_cost *cost = &deep->costs[i];
        bool key = str_is(cost->cost, "_cache_key");
        if (cost->attempt == TRACE_NONE || !replayed[cost->attempt])
            continue;
        t->no_dispatch_ns += str_is(cost->cost, "no_dispatch") ? (double)cost->self_ns : 0;
        t->device_ns += str_is(cost->cost, "device") ? (double)cost->self_ns : 0;
        if ((key || str_is(cost->cost, "_make_cache_entry")) && !add_look_up(t, cost, key))
            return false;
    }
    return true;
}

/* --- The spread --- */

static double mean(const struct path_time *time)
{
    return time->count ? time->ns / (double)time->count : 0;
}

/* Returns quartiles as shares of a mean, which is between them. */
static struct path_spread spread_of(struct cost_unit unit, double mean_ns)
{
    if (mean_ns <= 0 || unit.n == 0)
        return (struct path_spread){ 1, 1 };
    double low = unit.low_ns / mean_ns, high = unit.high_ns / mean_ns;
    return (struct path_spread){ low < 1 ? low : 1, high > 1 ? high : 1 };
}

static bool is_on_path(const struct deep_dispatch *d, unsigned path)
{
    return path < DISPATCH_PATHS ? dispatch_path_of(d) == (enum dispatch_path)path
                                 : d->mode == DEEP_FAKE_TENSOR_MODE && d->depth > 0;
}

/* Finds the quartiles of the rows of each path: a row has the dispatches of one operator under one
 * stack. */
static bool find_spread(struct dispatch_times *t, const struct deep *deep, const bool *replayed)
{
    struct cost_sample *samples = calloc((size_t)deep->n_dispatches + 1, sizeof *samples);
    for (unsigned path = 0; path <= DISPATCH_PATHS && samples; path++) {
        const struct path_time *all = path < DISPATCH_PATHS ? &t->all.path[path] : &t->nested;
        size_t n = 0;
        for (uint32_t i = 0; i < deep->n_dispatches; i++) {
            const struct deep_dispatch *d = &deep->dispatches[i];
            if (d->attempt != TRACE_NONE && replayed[d->attempt] && is_on_path(d, path))
                samples[n++] =
                    (struct cost_sample){ .amount = { [COST_TERM_UNIT] = (double)d->count },
                                          .ns = (double)d->self_ns };
        }
        t->spread[path] = spread_of(cost_fit_ratio(samples, n), mean(all));
    }
    bool ok = samples != NULL;
    free(samples);
    return ok;
}

/* The path whose time stands for another one's where the recording has none of that. */
static const enum dispatch_path STAND_INS[DISPATCH_PATHS] = {
    [PATH_HIT] = PATH_COMPUTED,    [PATH_FAST] = PATH_COMPUTED,
    [PATH_SLOW] = PATH_COMPUTED,   [PATH_COMPUTED] = PATH_COMPUTED,
    [PATH_BYPASS] = PATH_COMPUTED, [PATH_RETURNED] = PATH_HIT,
    [PATH_PROXY] = PATH_PROXY,     [PATH_FAKE_TENSOR] = PATH_FAKE_TENSOR,
};

/* Returns the mean time of all operators' dispatches on a path. */
static double mean_of_all(const struct dispatch_times *times, enum dispatch_path path)
{
    const struct path_time *all = &times->all.path[path];
    return mean(all->count ? all : &times->all.path[STAND_INS[path]]);
}

/* --- Without the cache --- */

static double without(double ns, double part)
{
    return ns > part ? ns - part : 0;
}

/* What is expected of an operator counts as much as this many measured dispatches of it. Keys and
 * entries differ less between operators than what is computed. */
static const double PATH_WEIGHT = 0.25, LOOK_UP_WEIGHT = 8;

/* Returns the mean of an operator's times, or, if there are few, with what is expected of them. */
static double own_mean(const struct path_time *own, double expected, double weight)
{
    return (own->ns + weight * expected) / ((double)own->count + weight);
}

static const struct operator_times *find_operator(const struct dispatch_times *t, struct str op)
{
    uint32_t id = intern_find(&t->names, op);
    return id == INTERN_NONE ? NULL : &t->operators.v[id];
}

/* Returns what the keys, or the entries, of an operator take. */
static double key_mean(const struct dispatch_times *t, struct str op)
{
    const struct operator_times *row = find_operator(t, op);
    return row ? own_mean(&row->key, mean(&t->key), LOOK_UP_WEIGHT) : mean(&t->key);
}

static double entry_mean(const struct dispatch_times *t, struct str op)
{
    const struct operator_times *row = find_operator(t, op);
    return row ? own_mean(&row->entry, mean(&t->entry), LOOK_UP_WEIGHT) : mean(&t->entry);
}

/* Returns what is left of a dispatch that was computed without its key and its entry: some of it
 * in any case. */
static double bare_time(const struct dispatch_times *t, struct str op, double computed)
{
    static const double LEAST = 0.1; /* of `computed` */
    double bare = without(computed, key_mean(t, op) + entry_mean(t, op));
    return bare > LEAST * computed ? bare : LEAST * computed;
}

/* Returns what a dispatch takes without the cache whose result was computed before, in `bare`: as
 * long, but for what the first computation asks of ShapeEnv and sympy, which keep what they found:
 * that was most of a long one, hence the limit. A dispatch within another one took less, on the
 * average. That share and the limit are fitted to eleven models with PyTorch 2.13
 * (tests/ablations_torch.py --all). */
static double known_time(const struct dispatch_times *t, double bare, bool nested)
{
    static const double NESTED_SHARE = 0.6, MOST = 6; /* dispatches of ProxyTorchDispatchMode */
    double known = nested ? NESTED_SHARE * bare : bare, most = MOST * mean_of_all(t, PATH_PROXY);
    return known < most || most <= 0 ? known : most;
}

static void add_nested(struct dispatch_times *t, const struct deep_dispatch *d)
{
    struct operator_times *row = &t->operators.v[intern_find(&t->names, d->op)];
    enum dispatch_path path = dispatch_path_of(d);
    double bare = (double)d->self_ns / (double)d->count;
    if (path == PATH_BYPASS) /* it has no entry */
        bare = without(bare, key_mean(t, d->op));
    else
        bare = bare_time(t, d->op,
                         path == PATH_HIT ? dispatch_time_mean(t, d->op, PATH_COMPUTED) : bare);
    row->nested_bare.count += d->count;
    row->nested_bare.ns += (double)d->count * bare;
    row->nested_known.count += d->count;
    row->nested_known.ns += (double)d->count * known_time(t, bare, true);
}

static void find_nested(struct dispatch_times *t, const struct deep *deep, const bool *replayed)
{
    for (uint32_t i = 0; i < deep->n_dispatches; i++) {
        const struct deep_dispatch *d = &deep->dispatches[i];
        if (d->attempt != TRACE_NONE && replayed[d->attempt] && d->count && d->depth &&
            d->mode == DEEP_FAKE_TENSOR_MODE && dispatch_path_of(d) != PATH_RETURNED)
            add_nested(t, d);
    }
}

/* Returns, by attempt, whether a graph of it was replayed; NULL: out of memory. */
static bool *replayed_attempts(const struct deep *deep, const struct replay *replay,
                               const struct graph_list *list)
{
    uint32_t n = 0;
    for (size_t i = 0; i < deep->n_dispatches; i++)
        if (deep->dispatches[i].attempt != TRACE_NONE && deep->dispatches[i].attempt >= n)
            n = deep->dispatches[i].attempt + 1;
    for (size_t i = 0; i < deep->n_costs; i++)
        if (deep->costs[i].attempt != TRACE_NONE && deep->costs[i].attempt >= n)
            n = deep->costs[i].attempt + 1;
    bool *ret = calloc((size_t)n + 1, sizeof *ret);
    for (size_t i = 0; ret && i < replay->n_graphs; i++) {
        uint32_t attempt = list->refs[replay->graphs[i].ref].attempt;
        if (attempt < n)
            ret[attempt] = true;
    }
    return ret;
}

struct dispatch_times *dispatch_times_new(const struct deep *deep, int release,
                                          const struct replay *replay,
                                          const struct graph_list *list, struct err *err)
{
    struct dispatch_times *t = calloc(1, sizeof *t);
    bool *replayed = replayed_attempts(deep, replay, list);
    bool ok = t && replayed;
    if (t) {
        t->names = INTERN_INIT;
        t->release = release;
    }
    for (uint32_t i = 0; i < deep->n_dispatches && ok; i++) {
        const struct deep_dispatch *d = &deep->dispatches[i];
        if (d->attempt != TRACE_NONE && replayed[d->attempt])
            ok = add_dispatch(t, d);
    }
    ok = ok && add_costs(t, deep, replayed) && find_spread(t, deep, replayed);
    if (ok)
        find_nested(t, deep, replayed);
    free(replayed);
    if (ok)
        return t;
    dispatch_times_free(t);
    err_nomem(err);
    return NULL;
}

/* --- Shipped --- */

/* The kind of work whose time is that of a path; the last one is that of nested dispatches. */
static const enum cost_kind KINDS[DISPATCH_PATHS + 1] = {
    [PATH_HIT] = COST_CACHE_HIT,    [PATH_FAST] = COST_FAST_HIT,
    [PATH_SLOW] = COST_SLOW,        [PATH_COMPUTED] = COST_META,
    [PATH_BYPASS] = COST_BYPASS,    [PATH_RETURNED] = COST_RETURNED,
    [PATH_PROXY] = COST_PROXY,      [PATH_FAKE_TENSOR] = COST_FAKE_TENSOR,
    [DISPATCH_PATHS] = COST_NESTED,
};

static struct path_time shipped_time(int release, enum cost_kind kind)
{
    int measured = 0;
    struct cost_unit unit = cost_unit_shipped(release, kind, &measured);
    return (struct path_time){ .count = unit.n > 0, .ns = unit.ns };
}

static void set_shipped_look_ups(struct dispatch_times *t, int release)
{
    t->key = shipped_time(release, COST_CACHE_KEY);
    t->entry = shipped_time(release, COST_CACHE_ENTRY);
}

struct dispatch_times *dispatch_times_shipped(int release, int *measured, struct err *err)
{
    struct dispatch_times *t = calloc(1, sizeof *t);
    if (!t)
        return err_nomem(err), NULL;
    t->names = INTERN_INIT;
    t->release = release;
    for (unsigned path = 0; path <= DISPATCH_PATHS; path++) {
        struct path_time *to = path < DISPATCH_PATHS ? &t->all.path[path] : &t->nested;
        struct cost_unit unit = cost_unit_shipped(release, KINDS[path], measured);
        *to = (struct path_time){ .count = unit.n > 0, .ns = unit.ns };
        t->spread[path] = spread_of(unit, unit.ns);
    }
    t->nested_hits = t->all.path[PATH_HIT];
    t->nested_computed = t->all.path[PATH_COMPUTED];
    set_shipped_look_ups(t, release);
    return t;
}

/* Sets keys and entries for a deep recording without them: the shipped ones, as fast as its machine
 * is by its hits. */
static void take_look_ups(struct dispatch_times *t, int release)
{
    double shipped = shipped_time(release, COST_CACHE_HIT).ns, hit = mean(&t->all.path[PATH_HIT]);
    set_shipped_look_ups(t, release);
    if (shipped > 0 && hit > 0) {
        t->key.ns *= hit / shipped;
        t->entry.ns *= hit / shipped;
    }
}

struct dispatch_times *dispatch_times_find(const struct trace *trace, const struct deep *deep,
                                           const struct replay *replay,
                                           const struct graph_list *list, int *release,
                                           struct err *err)
{
    int recorded = trace->n_recordings ? torch_release(trace->recordings[0].torch_version) : 0;
    struct dispatch_times *times = dispatch_times_new(deep, recorded, replay, list, err);
    if (times && times->measured_ns > 0 && !times->key.count)
        take_look_ups(times, recorded);
    if (!times || times->measured_ns > 0)
        return times;
    dispatch_times_free(times);
    return dispatch_times_shipped(recorded, release, err);
}

void dispatch_times_free(struct dispatch_times *times)
{
    if (!times)
        return;
    intern_release(&times->names);
    vec_release(&times->operators);
    free(times);
}

/* --- Estimated --- */

double dispatch_time_mean(const struct dispatch_times *times, struct str op,
                          enum dispatch_path path)
{
    double expected = mean_of_all(times, path) * cost_operator_factor(times->release, op, path);
    const struct operator_times *row = find_operator(times, op);
    /* The fast path takes no longer than what it stands for. */
    if (path == PATH_FAST && row && row->path[PATH_COMPUTED].count) {
        double computed = mean(&row->path[PATH_COMPUTED]);
        expected = expected < computed ? expected : computed;
    }
    return row ? own_mean(&row->path[path], expected, PATH_WEIGHT) : expected;
}

/* Takes up to n of what is left. */
static uint64_t take(uint64_t *left, uint64_t n)
{
    uint64_t ret = n < *left ? n : *left;
    *left -= ret;
    return ret;
}

void dispatch_path_counts(const struct pass_operator *row, uint64_t counts[DISPATCH_PATHS + 1])
{
    const struct pass_paths *p = &row->paths;
    uint64_t computed = p->misses, bypasses = p->bypasses, uncached = p->uncached;
    uint64_t rest = p->dispatches, fast = p->answers, slow = p->attempts - p->answers;
    /* An attempt belongs to a dispatch that was computed, by whatever reason. */
    counts[PATH_FAST] = take(&computed, fast);
    counts[PATH_FAST] += take(&uncached, fast - counts[PATH_FAST]);
    counts[PATH_FAST] += take(&bypasses, fast - counts[PATH_FAST]);
    counts[PATH_SLOW] = take(&computed, slow);
    counts[PATH_SLOW] += take(&uncached, slow - counts[PATH_SLOW]);
    counts[PATH_SLOW] += take(&bypasses, slow - counts[PATH_SLOW]);
    counts[PATH_HIT] = p->hits;
    counts[PATH_COMPUTED] = computed + uncached;
    counts[PATH_BYPASS] = bypasses;
    counts[PATH_RETURNED] = p->returned;
    for (unsigned i = 0; i < PATH_PROXY; i++)
        take(&rest, counts[i]);
    counts[PATH_PROXY] = p->proxy;
    counts[PATH_FAKE_TENSOR] = 0;
    counts[DISPATCH_PATHS] = rest;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* The counts of the same operator in the same pass of another replay; NULL: it has none, or there
 * is no other replay. */
static const struct pass_operator *same_row(const struct replay *replay,
                                            const struct pass_operator *row)
{
    for (size_t i = 0; replay && i < replay->n_pass_operators; i++)
        if (replay->pass_operators[i].pass == row->pass &&
            str_eq(replay->pass_operators[i].op, row->op))
            return &replay->pass_operators[i];
    return NULL;
}

/* Returns what a dispatch takes without the cache that the cache had before. Where operators have
 * no keys and entries of their own `bare` is too rough, and it takes as long as a hit without its
 * key. */
static double had_time(const struct dispatch_times *t, struct str op, double bare)
{
    return t->by_operator ? known_time(t, bare, false)
                          : without(dispatch_time_mean(t, op, PATH_HIT), mean(&t->key));
}

/* Dispatches that are computed without the cache on one path. */
struct uncached {
    uint64_t first;    /* the baseline computed them, too */
    uint64_t bypassed; /* it did so, and not for the cache */
    uint64_t known;    /* the cache had them */
};

static const enum dispatch_path COMPUTING[] = { PATH_FAST, PATH_SLOW, PATH_COMPUTED };
enum { COMPUTING_PATHS = sizeof COMPUTING / sizeof *COMPUTING };

/* Takes as many from both as the smaller one has, and returns how many. */
static uint64_t take_both(uint64_t *from, uint64_t *left)
{
    uint64_t ret = take(left, *from);
    *from -= ret;
    return ret;
}

/* Splits a row's dispatches that are computed without the cache, by path of COMPUTING. left: how
 * many dispatches of the operator the baseline computed by path, of which these are taken: those of
 * the same path first, then those of the other paths, for another ablation may change the path. */
static void split_uncached(const struct pass_operator *row, uint64_t left[DISPATCH_PATHS + 1],
                           struct uncached ret[COMPUTING_PATHS])
{
    uint64_t counts[DISPATCH_PATHS + 1], uncached = row->paths.uncached;
    dispatch_path_counts(row, counts);
    for (size_t i = 0; i < COMPUTING_PATHS; i++) {
        uint64_t n = take(&uncached, counts[COMPUTING[i]]);
        ret[i].first = take(&left[COMPUTING[i]], n);
        ret[i].known = n - ret[i].first;
    }
    for (size_t i = 0; i < COMPUTING_PATHS; i++) {
        for (size_t k = 0; k < COMPUTING_PATHS; k++)
            ret[i].first += take_both(&ret[i].known, &left[COMPUTING[k]]);
        ret[i].bypassed =
            COMPUTING[i] == PATH_COMPUTED ? take_both(&ret[i].known, &left[PATH_BYPASS]) : 0;
    }
}

/* Returns the time that dispatches on a path spare which are computed without the cache: their
 * keys and entries, and what is known. */
static double spared_on_path(const struct dispatch_times *t, struct str op, enum dispatch_path path,
                             const struct uncached *n)
{
    double each = dispatch_time_mean(t, op, path), bare = bare_time(t, op, each);
    double bypass = without(dispatch_time_mean(t, op, PATH_BYPASS), key_mean(t, op));
    return (double)n->first * (each - bare) + (double)n->bypassed * (each - bypass) +
           (double)n->known * without(each, had_time(t, op, bare));
}

/* Adds what a baseline computed of an operator, in all passes. Returns whether it has the operator.
 */
static bool add_baseline(const struct replay *baseline, struct str op,
                         uint64_t sums[DISPATCH_PATHS + 1])
{
    bool ret = false;
    for (size_t i = 0; baseline && i < baseline->n_pass_operators; i++) {
        uint64_t counts[DISPATCH_PATHS + 1];
        if (!str_eq(baseline->pass_operators[i].op, op))
            continue;
        dispatch_path_counts(&baseline->pass_operators[i], counts);
        for (unsigned path = 0; path <= DISPATCH_PATHS; path++)
            sums[path] += counts[path];
        ret = true;
    }
    return ret;
}

/* Returns the time that the calls of a replay's row spare which are computed without the cache.
 * What the baseline computed comes first, in whichever pass; of an operator that it does not have,
 * all are the first of their kind. */
static double spared_look_ups(const struct dispatch_times *t, const struct replay *replay,
                              size_t row, const struct replay *baseline)
{
    struct str op = replay->pass_operators[row].op;
    struct uncached uncached[COMPUTING_PATHS];
    uint64_t left[DISPATCH_PATHS + 1] = { 0 };
    double ret = 0;
    if (!replay->pass_operators[row].paths.uncached)
        return 0;
    if (!add_baseline(baseline, op, left))
        dispatch_path_counts(&replay->pass_operators[row], left);
    else
        for (size_t i = 0; i < row; i++)
            if (str_eq(replay->pass_operators[i].op, op))
                split_uncached(&replay->pass_operators[i], left, uncached);
    split_uncached(&replay->pass_operators[row], left, uncached);
    for (size_t i = 0; i < COMPUTING_PATHS; i++)
        ret += spared_on_path(t, op, COMPUTING[i], &uncached[i]);
    return ret;
}

/* Returns whether a replay has the operator in a pass; NULL has none. */
static bool has_row(const struct replay *replay, struct str op)
{
    size_t i = 0;
    while (replay && i < replay->n_pass_operators && !str_eq(replay->pass_operators[i].op, op))
        i++;
    return replay && i < replay->n_pass_operators;
}

/* What dispatches take without the cache of those operators that are called within others and have
 * no row in a replay. */
struct nested_rest {
    struct path_time bare, known;
};

static struct nested_rest rest_of(const struct dispatch_times *t, const struct replay *replay)
{
    struct nested_rest ret = { 0 };
    for (uint32_t i = 0; i < t->operators.n; i++) {
        const struct operator_times *row = &t->operators.v[i];
        if (!row->nested_bare.count || has_row(replay, intern_text(&t->names, i)))
            continue;
        ret.bare.count += row->nested_bare.count;
        ret.bare.ns += row->nested_bare.ns;
        ret.known.count += row->nested_known.count;
        ret.known.ns += row->nested_known.ns;
    }
    return ret;
}

/* Returns the time of n dispatches within calls of the row. Where the cache is off for the row it
 * is off for them, too. */
static double nested_time(const struct dispatch_times *t, const struct pass_operator *row,
                          const struct replay *baseline, const struct nested_rest *rest, uint64_t n)
{
    const struct pass_operator *before = same_row(baseline, row);
    const struct pass_paths *p = &row->paths;
    bool off = p->uncached && !p->hits && !p->misses && !p->step_hits && !p->step_misses;
    double all = mean(&t->nested);
    double hit = t->nested_hits.count ? mean(&t->nested_hits) : all;
    double computed = t->nested_computed.count ? mean(&t->nested_computed) : all;
    uint64_t misses = p->step_misses, hits = take(&n, p->step_hits);
    if (off) {
        const bool own = t->by_operator && rest->bare.count;
        computed = own ? mean(&rest->bare) : without(computed, mean(&t->key) + mean(&t->entry));
        misses = before ? before->paths.step_misses : has_row(baseline, row->op) ? 0 : n;
        all = own ? mean(&rest->known) : without(hit, mean(&t->key));
    }
    misses = take(&n, misses);
    return (double)hits * hit + (double)misses * computed + (double)n * all;
}

/* Adds the time of a row of a replay by path; that of DISPATCH_PATHS is of nested dispatches. */
static void add_operator(const struct dispatch_times *t, const struct replay *replay, size_t i,
                         const struct replay *baseline, const struct nested_rest *rest,
                         double ns[DISPATCH_PATHS + 1])
{
    const struct pass_operator *row = &replay->pass_operators[i];
    uint64_t counts[DISPATCH_PATHS + 1];
    dispatch_path_counts(row, counts);
    for (unsigned path = 0; path <= PATH_PROXY; path++)
        ns[path] += (double)counts[path] * dispatch_time_mean(t, row->op, (enum dispatch_path)path);
    ns[PATH_COMPUTED] -= spared_look_ups(t, replay, i, baseline);
    ns[DISPATCH_PATHS] += nested_time(t, row, baseline, rest, counts[DISPATCH_PATHS]);
}

/* Estimates the time of the dispatches that the replay counted in its passes, by path. before: the
 * replay without an ablation, or NULL. */
static void times_by_path(const struct dispatch_times *times, const struct replay *replay,
                          const struct replay *before, double ns[DISPATCH_PATHS + 1])
{
    const struct str device = STR("prim.device.default"), detach = STR("aten.detach.default");
    const struct nested_rest rest = rest_of(times, replay);
    struct pass_counts all = { 0 };
    uint64_t dispatches = 0, proxy = 0;
    for (unsigned i = 0; i <= DISPATCH_PATHS; i++)
        ns[i] = 0;
    for (unsigned i = 0; i < PASSES; i++) {
        all.fake_mode += replay->passes[i].fake_mode;
        all.fake_tensor += replay->passes[i].fake_tensor;
        all.proxy += replay->passes[i].proxy;
        all.devices += replay->passes[i].devices;
        all.detaches += replay->passes[i].detaches;
    }
    for (size_t i = 0; i < replay->n_pass_operators; i++) {
        add_operator(times, replay, i, before, &rest, ns);
        dispatches += replay->pass_operators[i].paths.dispatches;
        proxy += replay->pass_operators[i].paths.proxy;
    }
    uint64_t others = less(all.fake_mode, dispatches + all.devices + all.detaches);
    ns[PATH_RETURNED] += (double)all.devices * dispatch_time_mean(times, device, PATH_RETURNED);
    ns[PATH_HIT] += (double)all.detaches * dispatch_time_mean(times, detach, PATH_HIT);
    ns[DISPATCH_PATHS] += (double)others * mean(&times->nested);
    ns[PATH_PROXY] +=
        (double)less(all.proxy, proxy) * dispatch_time_mean(times, device, PATH_PROXY);
    ns[PATH_FAKE_TENSOR] += (double)all.fake_tensor * mean(&times->all.path[PATH_FAKE_TENSOR]);
}

double dispatch_times_of(const struct dispatch_times *times, const struct replay *replay)
{
    double ns[DISPATCH_PATHS + 1], ret = 0;
    times_by_path(times, replay, NULL, ns);
    for (unsigned i = 0; i <= DISPATCH_PATHS; i++)
        ret += ns[i];
    return ret;
}

/* Returns what a call that the fast path answered takes if it does not: most of what the fast path
 * asks first is asked all the same. Calls that were never answered tell little about it: they need
 * not have symbolic sizes, or they are broadcast. The share is fitted as those of known_time(). */
static double unanswered_time(const struct dispatch_times *t, struct str op)
{
    static const double SHARE = 0.8;
    double asked = SHARE * dispatch_time_mean(t, op, PATH_FAST);
    double computed = dispatch_time_mean(t, op, PATH_COMPUTED);
    return computed > asked ? computed : asked;
}

/* Returns the time that calls take longer which the fast path does not answer: because they do not
 * attempt it, or in vain. */
static double without_fast_path(const struct dispatch_times *t, const struct replay *from,
                                const struct replay *to)
{
    double ret = 0;
    for (size_t i = 0; i < to->n_pass_operators; i++) {
        const struct pass_operator *row = &to->pass_operators[i], *old = same_row(from, row);
        uint64_t computed = row->paths.misses + row->paths.uncached;
        uint64_t answers = old ? less(old->paths.answers, row->paths.answers) : 0;
        uint64_t attempts = old ? less(old->paths.attempts, row->paths.attempts) : 0;
        uint64_t skipped = take(&computed, attempts);
        computed += row->paths.bypasses; /* they are on the slow path only if they attempt it */
        uint64_t slow = take(&computed, less(answers, attempts));
        if (!skipped && !slow)
            continue;
        double time = unanswered_time(t, row->op);
        ret += (double)skipped * (time - dispatch_time_mean(t, row->op, PATH_COMPUTED));
        ret += (double)slow * (time - dispatch_time_mean(t, row->op, PATH_SLOW));
    }
    return ret;
}

struct saved_time dispatch_times_saved(const struct dispatch_times *times,
                                       const struct replay *from, const struct replay *to)
{
    double before[DISPATCH_PATHS + 1], after[DISPATCH_PATHS + 1];
    struct saved_time ret = { 0 };
    times_by_path(times, from, NULL, before);
    times_by_path(times, to, from, after);
    after[PATH_COMPUTED] += without_fast_path(times, from, to);
    for (unsigned i = 0; i <= DISPATCH_PATHS; i++) {
        double ns = before[i] - after[i];
        ret.ns += ns;
        ret.low_ns += ns * (ns > 0 ? times->spread[i].low : times->spread[i].high);
        ret.high_ns += ns * (ns > 0 ? times->spread[i].high : times->spread[i].low);
    }
    return ret;
}
