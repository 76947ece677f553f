#include "replay/backend/measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/measure/timing_groups.h"
#include "replay/backend/ranks/ranks.h"
#include "trace/base/clock.h"
#include "trace/base/hash.h"
#include "trace/base/number.h"

enum { DEFAULT_RUNS = 5, MOST_RUNS = 1000, MOST_REPEATS = 9 };
#define REPEAT_US 20000.0 /* calls are not repeated for longer */

bool timing_explains(const struct timing *t)
{
    return t->wall_us > 0 && fabs(t->sum_us - t->wall_us) <= 0.1 * t->wall_us;
}

bool timing_host_bound(const struct timing *t)
{
    return t->queues && !timing_explains(t) && t->host_us >= 0.9 * t->wall_us;
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_double);
    return n ? values[n / 2] : 0;
}

/* ---- One run ---- */

struct timer {
    struct timing *t;
    const struct graph *graph;
    struct run_options options;
    struct backend *backend;
    struct timed_node *nodes;
    struct run *run;     /* of the first run; later runs reuse it */
    uint64_t first_hash; /* of the outputs that were made call by call, if later ones may be
                            captured */
};

static void forget_log(struct backend *backend)
{
    backend->log.launches.n = 0;
    backend->log.nodes.n = 0;
}

typedef bool watch_fn(void *watcher, const struct backend_call *call, struct err *err);

static bool execute_once(struct timer *m, bool log, watch_fn *watch, struct err *err)
{
    m->run->exec.watch = watch;
    m->run->exec.watcher = m;
    forget_log(m->backend);
    m->backend->log.on = log;
    rank_repeat(m->backend->rank);
    bool ok = run_execute(m->run, err);
    m->backend->log.on = false;
    return ok;
}

static bool begin_timing(struct timer *m, struct err *err)
{
    run_free(m->run);
    m->run = run_new(m->graph, &m->options, err);
    return m->run != NULL;
}

static bool wall_once(struct timer *m, bool log, double *us, struct err *err)
{
    if (!execute_once(m, log, NULL, err))
        return false;
    *us = (double)m->run->calls_ns / 1e3;
    return true;
}

/* ---- What calls do ---- */

static bool note_work(void *watcher, const struct backend_call *call, struct err *err)
{
    struct timer *m = watcher;
    struct timed_node *node = &m->nodes[call->node];
    struct call_work work;
    (void)err;
    if (!call_work(call, &work))
        return true;
    node->calls++;
    node->work.dtype = work.dtype;
    node->work.bytes += work.bytes;
    node->work.flops += work.flops;
    return true;
}

static bool writes(const struct backend_op *op)
{
    for (uint32_t i = 0; i < op->n_args; i++)
        if (op->args[i].written)
            return true;
    return false;
}

/* Repeats the call by itself; its results are written to the same memory. */
static bool repeat_call(void *watcher, const struct backend_call *call, struct err *err)
{
    struct timer *m = watcher;
    struct timed_node *node = &m->nodes[call->node];
    struct backend *b = m->backend;
    struct call_work ignored;
    double us[MOST_REPEATS], all = 0;
    size_t n = 0;
    if (writes(call->op) || !call_work(call, &ignored))
        return true;
    if (!b->kind->wait(b, err))
        return false;
    for (; n < MOST_REPEATS && (n < 3 || all < REPEAT_US); n++) {
        forget_log(b);
        double start = clock_us();
        if (!b->kind->call(b, call, err) || !b->kind->wait(b, err))
            return false;
        us[n] = 0;
        for (size_t i = 0; i < b->log.launches.n; i++)
            us[n] += b->log.launches.v[i].us;
        all += clock_us() - start;
    }
    node->isolated_us += median(us, n);
    node->isolated = true;
    return true;
}

/* ---- The runs ---- */

static bool time_first_run(struct timer *m, struct err *err)
{
    struct timing *t = m->t;
    struct backend_log before = m->backend->log, *now = &m->backend->log;
    if (!begin_timing(m, err))
        return false;
    m->backend->puts_off = m->backend->kind->refine != NULL;
    const bool ok = execute_once(m, false, NULL, err);
    m->backend->puts_off = false;
    if (!ok)
        return false;
    const struct run *run = m->run;
    t->first_us = (double)run->calls_ns / 1e3;
    t->first_host_us = (double)run->host_ns / 1e3;
    t->calls = run->calls;
    t->once = (struct backend_log){ .compiled = now->compiled - before.compiled,
                                    .compile_ns = now->compile_ns - before.compile_ns,
                                    .opened = now->opened - before.opened,
                                    .open_ns = now->open_ns - before.open_ns,
                                    .loaded = now->loaded - before.loaded,
                                    .load_ns = now->load_ns - before.load_ns,
                                    .planned = now->planned - before.planned,
                                    .plan_ns = now->plan_ns - before.plan_ns,
                                    .recalled = now->recalled - before.recalled };
    t->sizes = arena_array(&t->arena, struct run_size, run->n_symbols + 1);
    t->n_sizes = t->sizes ? run->n_symbols : 0;
    for (size_t i = 0; i < t->n_sizes; i++)
        t->sizes[i] = (struct run_size){ arena_copy(&t->arena, run->symbols[i].symbol),
                                         run->symbols[i].value };
    return t->sizes || err_nomem(err);
}

/* Makes choices that the first run put off. If later runs may compute other bits, one more run is
 * made call by call, with which a captured one is compared. The ranks of a job make it always:
 * their collectives need as many runs of each. */
static bool refine_choices(struct timer *m, struct err *err)
{
    struct backend *backend = m->backend;
    const struct backend_log before = backend->log;
    double us;
    const bool changed = backend->kind->refine && backend->kind->refine(backend);
    m->t->once.tried = backend->log.tried - before.tried;
    m->t->once.try_ns = backend->log.try_ns - before.try_ns;
    if (!changed && !backend->rank)
        return true;
    m->run->options.captures = false;
    bool ok = wall_once(m, false, &us, err);
    m->run->options.captures = m->options.captures;
    return ok;
}

static bool captures(const struct timer *m)
{
    return m->options.captures && m->backend->kind->capture_begin;
}

static bool hash_outputs(struct timer *m, uint64_t *ret, struct err *err)
{
    const struct run *run = m->run;
    bool ok = true;
    *ret = 0;
    for (uint32_t i = 0; ok && i < run->n_outputs; i++) {
        struct arena arena = ARENA_INIT;
        struct array a;
        if (run->outputs[i].kind != VALUE_TENSOR)
            continue;
        ok = run_array(m->run, run->outputs[i].u.tensor, &arena, &a, err);
        if (ok)
            *ret = XXH3_64bits_withSeed(a.p, a.bytes, *ret);
        arena_release(&arena);
    }
    return ok;
}

/* Compares the outputs of the last captured run with those of the first one. */
static bool check_captured(struct timer *m, struct err *err)
{
    uint64_t hash;
    if (!m->t->captured)
        return true;
    if (!hash_outputs(m, &hash, err))
        return false;
    m->t->captured_differs = hash != m->first_hash;
    return true;
}

/* Runs once more if that makes later runs one launch. */
static bool time_capture(struct timer *m, struct err *err)
{
    struct timing *t = m->t;
    if (!captures(m))
        return true;
    const uint64_t updated = m->backend->log.updated;
    if (!hash_outputs(m, &m->first_hash, err) || !wall_once(m, false, &t->captured_us, err))
        return false;
    t->captured_updates = m->backend->log.updated != updated;
    t->captured = m->run->captured != NULL;
    t->captured_pieces = m->backend->log.pieces;
    t->captured_collectives = m->backend->log.cuts;
    t->not_captured = m->run->not_captured;
    return true;
}

static bool note_device_sizes(struct timer *m, struct err *err)
{
    const struct device_sizes *sizes = &m->run->exec.sizes;
    struct timing *t = m->t;
    struct device_size *all = arena_array(&t->arena, struct device_size, sizes->all.n + 1);
    struct host_need *needs = arena_array(&t->arena, struct host_need, sizes->needs.n + 1);
    if (!all || !needs)
        return err_nomem(err);
    for (size_t i = 0; i < sizes->all.n; i++)
        all[i] = sizes->all.v[i];
    for (size_t i = 0; i < sizes->needs.n; i++) {
        needs[i] = sizes->needs.v[i];
        needs[i].op = arena_copy(&t->arena, needs[i].op);
    }
    t->device_sizes = all;
    t->host_needs = needs;
    t->n_device_sizes = (uint32_t)sizes->all.n;
    t->n_host_needs = (uint32_t)sizes->needs.n;
    t->size_reads = sizes->reads;
    return true;
}

static bool wall_runs(struct timer *m, struct err *err)
{
    double us[MOST_RUNS], host[MOST_RUNS];
    for (uint32_t i = 0; i < m->t->runs; i++) {
        if (!wall_once(m, false, &us[i], err))
            return false;
        host[i] = (double)m->run->host_ns / 1e3;
    }
    m->t->wall_us = median(us, m->t->runs);
    m->t->host_us = median(host, m->t->runs);
    return note_device_sizes(m, err);
}

/* Returns the time from the first launch to the end of the last one in which nothing was
 * launched. */
static double idle_in(const struct backend_log *log)
{
    double first = 0, last = 0, busy = 0;
    for (size_t i = 0; i < log->launches.n; i++) {
        const struct backend_launch *l = &log->launches.v[i];
        first = i == 0 || l->start < first ? l->start : first;
        last = l->start + l->us > last ? l->start + l->us : last;
        busy += l->us;
    }
    return last - first > busy ? last - first - busy : 0;
}

/* Measures the launches by their number; a run with other launches than the first is ignored. */
static bool logged_runs(struct timer *m, struct launches *all, struct err *err)
{
    struct backend_log *log = &m->backend->log;
    double us[MOST_RUNS], times[MOST_RUNS], idle[MOST_RUNS];
    size_t n = 0, kept = 0;
    double *table = NULL;
    bool ok = true;
    for (uint32_t i = 0; i < m->t->runs && ok; i++) {
        ok = wall_once(m, true, &us[i], err);
        if (ok && i == 0) {
            n = log->launches.n;
            table = calloc(n * m->t->runs + 1, sizeof *table);
            ok = table ? launches_copy(all, log, &m->t->arena, err) : err_nomem(err);
        }
        idle[i] = ok ? idle_in(log) : 0;
        if (!ok || log->launches.n != n)
            continue;
        for (size_t k = 0; k < n; k++)
            table[k * m->t->runs + kept] = log->launches.v[k].us;
        kept++;
    }
    for (size_t k = 0; k < n && ok; k++) {
        memcpy(times, table + k * m->t->runs, kept * sizeof *times);
        all->launches[k].us = median(times, kept);
    }
    free(table);
    m->t->logged_us = ok ? median(us, m->t->runs) : 0;
    m->t->idle_us = ok ? median(idle, m->t->runs) : 0;
    return ok;
}

/* Runs the graph from the start to count calls and to record memory. */
static bool watched_run(struct timer *m, struct launches *all, struct err *err)
{
    m->options.captures = false;
    if (!begin_timing(m, err))
        return false;
    m->run->exec.storages.noting = true;
    return execute_once(m, false, note_work, err) &&
           peak_of(&m->run->exec.storages, &m->t->arena, &m->t->peak, err) &&
           timing_group(m->t, m->nodes, all, m->run->ops, err);
}

static bool measure_runs(struct timer *m, const struct timing_options *how, struct err *err)
{
    struct timing *t = m->t;
    struct launches all = { 0 };
    m->nodes = arena_array(&t->arena, struct timed_node, m->graph->n_nodes + 1u);
    t->nodes = m->nodes;
    if (!m->nodes)
        return err_nomem(err);
    if (!time_first_run(m, err) || !refine_choices(m, err))
        return false;
    uint64_t compiled = m->backend->log.compiled;
    if (!time_capture(m, err) || !wall_runs(m, err) || !check_captured(m, err) ||
        !logged_runs(m, &all, err) ||
        (how->isolated && !m->backend->rank && !execute_once(m, true, repeat_call, err)) ||
        !watched_run(m, &all, err))
        return false;
    t->compiled_later = m->backend->log.compiled - compiled;
    return true;
}

static void trim(struct backend *backend)
{
    if (backend->kind->trim && backend->pool.budget)
        backend->kind->trim(backend);
}

/* Returns how much a counter grew, which begins anew after the device was lost. */
static uint64_t growth(uint64_t before, uint64_t now)
{
    return now >= before ? now - before : now;
}

static void time_pool(struct timer *m, const struct backend_pool *before)
{
    const struct backend_pool *now = &m->backend->pool;
    trim(m->backend);
    m->t->pool = *now;
    m->t->pool.taken = growth(before->taken, now->taken);
    m->t->pool.returned = growth(before->returned, now->returned);
}

struct timing *timing_new(const struct graph *graph, const struct run_options *options,
                          const struct timing_options *how, struct err *err)
{
    struct timing *t = calloc(1, sizeof *t);
    if (!t)
        return err_nomem(err), NULL;
    struct timer m = { .t = t, .graph = graph, .options = *options, .backend = options->backend };
    m.options.captures = how->captures;
    t->graph = graph;
    t->queues = options->backend->kind->queues;
    t->runs = how->runs == 0 ? DEFAULT_RUNS : how->runs < MOST_RUNS ? how->runs : MOST_RUNS;
    trim(m.backend);
    const struct backend_pool before = m.backend->pool;
    bool ok = measure_runs(&m, how, err);
    forget_log(m.backend);
    run_free(m.run);
    time_pool(&m, &before);
    if (ok)
        return t;
    timing_free(t);
    return NULL;
}

void timing_free(struct timing *t)
{
    if (t)
        arena_release(&t->arena);
    free(t);
}
