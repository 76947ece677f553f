#include "profile/model/dispatch_times.h"

#include <stdlib.h>

/* --- Measured --- */

static enum dispatch_path path_of(const struct deep_dispatch *d)
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
    enum dispatch_path path = path_of(d);
    if (!row)
        return false;
    add_time(&row->path[path], d->count, d->self_ns);
    add_time(&t->all.path[path], d->count, d->self_ns);
    if (d->mode == DEEP_FAKE_TENSOR_MODE && d->depth)
        add_time(&t->nested, d->count, d->self_ns);
    t->measured_ns += (double)d->self_ns;
    return true;
}

static void add_costs(struct dispatch_times *t, const struct deep *deep, const bool *replayed)
{
    bool exclusive = deep->n_processes > 0;
    for (uint32_t i = 0; i < deep->n_processes; i++)
        exclusive &= deep->processes[i].exclusive_costs;
    for (uint32_t i = 0; i < deep->n_costs && exclusive; i++) {
        const struct deep_cost *cost = &deep->costs[i];
        if (cost->attempt == TRACE_NONE || !replayed[cost->attempt])
            continue;
        t->no_dispatch_ns += str_is(cost->cost, "no_dispatch") ? (double)cost->self_ns : 0;
        t->device_ns += str_is(cost->cost, "device") ? (double)cost->self_ns : 0;
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

struct dispatch_times *dispatch_times_new(const struct deep *deep, const struct replay *replay,
                                          const struct graph_list *list, struct err *err)
{
    struct dispatch_times *t = calloc(1, sizeof *t);
    bool *replayed = replayed_attempts(deep, replay, list);
    bool ok = t && replayed;
    if (t)
        t->names = INTERN_INIT;
    for (uint32_t i = 0; i < deep->n_dispatches && ok; i++) {
        const struct deep_dispatch *d = &deep->dispatches[i];
        if (d->attempt != TRACE_NONE && replayed[d->attempt])
            ok = add_dispatch(t, d);
    }
    if (ok)
        add_costs(t, deep, replayed);
    free(replayed);
    if (ok)
        return t;
    dispatch_times_free(t);
    err_nomem(err);
    return NULL;
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

static double mean(const struct path_time *time)
{
    return time->count ? time->ns / (double)time->count : 0;
}

/* The path whose time stands for another one's where the recording has none of that. */
static const enum dispatch_path STAND_INS[DISPATCH_PATHS] = {
    [PATH_HIT] = PATH_COMPUTED,    [PATH_FAST] = PATH_COMPUTED,
    [PATH_SLOW] = PATH_COMPUTED,   [PATH_COMPUTED] = PATH_COMPUTED,
    [PATH_BYPASS] = PATH_COMPUTED, [PATH_RETURNED] = PATH_HIT,
    [PATH_PROXY] = PATH_PROXY,     [PATH_FAKE_TENSOR] = PATH_FAKE_TENSOR,
};

double dispatch_time_mean(const struct dispatch_times *times, struct str op,
                          enum dispatch_path path)
{
    uint32_t id = intern_find(&times->names, op);
    const struct path_time *own =
        id != INTERN_NONE ? &times->operators.v[id].path[path] : &times->all.path[path];
    if (own->count)
        return mean(own);
    if (times->all.path[path].count)
        return mean(&times->all.path[path]);
    return mean(&times->all.path[STAND_INS[path]]);
}

/* Takes up to n of what is left. */
static uint64_t take(uint64_t *left, uint64_t n)
{
    uint64_t ret = n < *left ? n : *left;
    *left -= ret;
    return ret;
}

static double time_of_operator(const struct dispatch_times *t, const struct pass_operator *row)
{
    const struct pass_paths *p = &row->paths;
    uint64_t computed = p->misses, bypasses = p->bypasses, uncached = p->uncached;
    uint64_t rest = p->dispatches, fast = p->answers, slow = p->attempts - p->answers;
    uint64_t of_paths[DISPATCH_PATHS] = { 0 };
    /* An attempt belongs to a dispatch that was computed, by whatever reason. */
    of_paths[PATH_FAST] = take(&computed, fast);
    of_paths[PATH_FAST] += take(&uncached, fast - of_paths[PATH_FAST]);
    of_paths[PATH_FAST] += take(&bypasses, fast - of_paths[PATH_FAST]);
    of_paths[PATH_SLOW] = take(&computed, slow);
    of_paths[PATH_SLOW] += take(&uncached, slow - of_paths[PATH_SLOW]);
    of_paths[PATH_SLOW] += take(&bypasses, slow - of_paths[PATH_SLOW]);
    of_paths[PATH_HIT] = p->hits;
    of_paths[PATH_COMPUTED] = computed + uncached;
    of_paths[PATH_BYPASS] = bypasses;
    of_paths[PATH_RETURNED] = p->returned;
    double ret = 0;
    for (unsigned i = 0; i < PATH_PROXY; i++) {
        take(&rest, of_paths[i]);
        ret += (double)of_paths[i] * dispatch_time_mean(t, row->op, (enum dispatch_path)i);
    }
    return ret + (double)rest * mean(&t->nested) +
           (double)p->proxy * dispatch_time_mean(t, row->op, PATH_PROXY);
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

double dispatch_times_of(const struct dispatch_times *times, const struct replay *replay)
{
    struct pass_counts all = { 0 };
    uint64_t dispatches = 0, proxy = 0;
    double ns = 0;
    for (unsigned i = 0; i < PASSES; i++) {
        all.fake_mode += replay->passes[i].fake_mode;
        all.fake_tensor += replay->passes[i].fake_tensor;
        all.proxy += replay->passes[i].proxy;
        all.devices += replay->passes[i].devices;
        all.detaches += replay->passes[i].detaches;
    }
    for (size_t i = 0; i < replay->n_pass_operators; i++) {
        ns += time_of_operator(times, &replay->pass_operators[i]);
        dispatches += replay->pass_operators[i].paths.dispatches;
        proxy += replay->pass_operators[i].paths.proxy;
    }
    uint64_t others = less(all.fake_mode, dispatches + all.devices + all.detaches);
    ns +=
        (double)all.devices * dispatch_time_mean(times, STR("prim.device.default"), PATH_RETURNED);
    ns += (double)all.detaches * dispatch_time_mean(times, STR("aten.detach.default"), PATH_HIT);
    ns += (double)others * mean(&times->nested);
    ns += (double)less(all.proxy, proxy) *
          dispatch_time_mean(times, STR("prim.device.default"), PATH_PROXY);
    return ns + (double)all.fake_tensor * mean(&times->all.path[PATH_FAKE_TENSOR]);
}
