#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/runtime/cuda.h"

struct cuda_times {
    cu_event base;  /* recorded when the log was switched on ... */
    double base_us; /* ... at this time of the host's clock */
    vec_of(struct cuda_timed)
    pairs; /* whose times have not been read yet */
    vec_of(cu_event)
    unused;
};

enum { MOST_PAIRS = 1 << 16 };

const char *cuda_keep_name(struct cuda *cuda, struct str name)
{
    uint32_t id = intern(&cuda->names, name);
    return id == INTERN_NONE ? NULL : intern_text(&cuda->names, id).p;
}

/* ---- Times ---- */

static bool new_event(struct cuda *cuda, cu_event *ret, struct err *err)
{
    if (cuda->times->unused.n) {
        *ret = cuda->times->unused.v[--cuda->times->unused.n];
        return true;
    }
    return cuda_check(cuda, cuda->driver.event_create(ret, 0), err, "making an event");
}

/* Records the event that others are compared with, when the log was switched on. */
static bool times_open(struct cuda *cuda, struct err *err)
{
    if (cuda->times)
        return true;
    struct cuda_times *times = calloc(1, sizeof *times);
    if (!times)
        return err_nomem(err);
    cuda->times = times;
    if (!new_event(cuda, &times->base, err) ||
        !cuda_check(cuda, cuda_wait_for_stream(cuda), err, "waiting for the device") ||
        !cuda_check(cuda, cuda->driver.event_record(times->base, cuda->stream), err,
                    "recording an event")) {
        cuda_times_close(cuda);
        return false;
    }
    times->base_us = clock_us();
    return true;
}

void cuda_times_close(struct cuda *cuda)
{
    struct cuda_times *times = cuda->times;
    if (!times)
        return;
    for (size_t i = 0; i < times->unused.n; i++)
        cuda->driver.event_destroy(times->unused.v[i]);
    for (size_t i = 0; i < times->pairs.n; i++) {
        cuda->driver.event_destroy(times->pairs.v[i].start);
        cuda->driver.event_destroy(times->pairs.v[i].end);
    }
    if (times->base)
        cuda->driver.event_destroy(times->base);
    vec_release(&times->unused);
    vec_release(&times->pairs);
    free(times);
    cuda->times = NULL;
}

static void give_event_back(struct cuda *cuda, cu_event event)
{
    if (event && !vec_push(&cuda->times->unused, event))
        cuda->driver.event_destroy(event);
}

/* Releases the events of a launch that failed. */
static void drop_pair(struct cuda *cuda, struct cuda_timed *timed)
{
    if (cuda->times) {
        give_event_back(cuda, timed->start);
        give_event_back(cuda, timed->end);
    }
    timed->start = timed->end = NULL;
    timed->on = false;
}

static bool resolve_pair(struct cuda *cuda, const struct cuda_timed *pair, struct err *err)
{
    float from = 0, during = 0;
    if (!cuda_check(cuda, cuda->driver.event_between(&from, cuda->times->base, pair->start), err,
                    "reading a time") ||
        !cuda_check(cuda, cuda->driver.event_between(&during, pair->start, pair->end), err,
                    "reading a time"))
        return false;
    if (pair->launch < cuda->base.log.launches.n) { /* the reader of a log can empty it */
        cuda->base.log.launches.v[pair->launch].start = (double)from * 1e3;
        cuda->base.log.launches.v[pair->launch].us = (double)during * 1e3;
    }
    return true;
}

bool cuda_times_resolve(struct cuda *cuda, struct err *err)
{
    struct cuda_times *times = cuda->times;
    bool ok = true;
    for (size_t i = 0; times && i < times->pairs.n; i++) {
        struct cuda_timed *pair = &times->pairs.v[i];
        ok = ok && resolve_pair(cuda, pair, err);
        give_event_back(cuda, pair->start);
        give_event_back(cuda, pair->end);
    }
    if (times)
        times->pairs.n = 0;
    return ok;
}

/* ---- The log ---- */

static struct backend_launch *log_add(struct cuda *cuda, const char *what, const uint32_t *nodes,
                                      uint32_t n)
{
    struct backend_log *log = &cuda->base.log;
    struct backend_launch *launch = n ? backend_log_add(log, what, nodes[0]) : NULL;
    for (uint32_t i = 1; launch && i < n; i++)
        launch->n_nodes += vec_push(&log->nodes, nodes[i]);
    return launch;
}

void cuda_log_host(struct cuda *cuda, const char *what, uint32_t node, double start)
{
    struct err ignored = { 0 };
    if (!cuda->base.log.on || !what || !times_open(cuda, &ignored))
        return;
    struct backend_launch *launch = log_add(cuda, what, &node, 1);
    if (!launch)
        return;
    launch->start = start > cuda->times->base_us ? start - cuda->times->base_us : 0;
    launch->us = clock_us() - start;
    launch->on_host = true;
}

static uint32_t last_node(struct cuda_work work)
{
    return work.n_nodes ? work.nodes[work.n_nodes - 1] : 0;
}

static bool begin_launch(struct cuda *cuda, const char *what, struct cuda_work work,
                         struct cuda_timed *ret, struct err *err)
{
    struct cuda_failures *f = &cuda->failures;
    *ret = (struct cuda_timed){ .on = cuda->base.log.on };
    f->last_node = last_node(work);
    f->last_what = what;
    if (!ret->on)
        return true;
    if (!times_open(cuda, err) || (cuda->times->pairs.n >= MOST_PAIRS && !cuda_settle(cuda, err)))
        return false;
    struct backend_launch *launch = log_add(cuda, what, work.nodes, work.n_nodes);
    if (!launch || !vec_reserve(&cuda->times->pairs, 1))
        return err_nomem(err);
    launch->bytes = work.bytes;
    launch->flops = work.flops;
    ret->launch = cuda->base.log.launches.n - 1;
    if (new_event(cuda, &ret->start, err) && new_event(cuda, &ret->end, err) &&
        cuda_check(cuda, cuda->driver.event_record(ret->start, cuda->stream), err,
                   "recording an event"))
        return true;
    drop_pair(cuda, ret);
    return false;
}

static bool end_launch(struct cuda *cuda, struct cuda_timed *timed, struct err *err)
{
    if (!timed->on)
        return true;
    bool ok = cuda_check(cuda, cuda->driver.event_record(timed->end, cuda->stream), err,
                         "recording an event");
    if (ok)
        cuda->times->pairs.v[cuda->times->pairs.n++] = *timed;
    else
        drop_pair(cuda, timed);
    return ok;
}

/* ---- Launches ---- */

static bool within_limits(struct cuda_function *f, struct cuda_grid g, struct err *err)
{
    if (g.x <= INT32_MAX && g.y <= 65535 && g.z <= 65535 && g.threads > 0 && g.threads <= 1024)
        return true;
    return err_set(err, ERR_USAGE,
                   "kernel %s: a grid of %u x %u x %u blocks of %u threads exceeds the limits "
                   "of CUDA devices",
                   f->name, g.x, g.y, g.z, g.threads);
}

/* A block may use more than 48 KiB only after this attribute is set. */
static bool allow_shared(struct cuda *cuda, struct cuda_function *f, uint32_t bytes,
                         struct err *err)
{
    if (bytes <= f->shared_allowed)
        return true;
    if (bytes > (uint32_t)cuda->shared_max || f->shared > cuda->shared_max - (int)bytes)
        return err_set(
            err, ERR_ENV,
            "kernel %s: %u bytes of shared memory a block are needed, and the device has "
            "%d",
            f->name, bytes + (uint32_t)f->shared, cuda->shared_max);
    if (!cuda_check(cuda, cuda->driver.function_set(f->f, CU_FUNCTION_DYNAMIC_SHARED, (int)bytes),
                    err, "kernel %s: %u bytes of shared memory", f->name, bytes))
        return false;
    f->shared_allowed = bytes;
    return true;
}

static bool add_to_batch(struct cuda *cuda, const struct cuda_function *f, struct cuda_grid g,
                         const void *args, struct cuda_work work, struct err *err)
{
    const struct cuda_node node = { .f = f->f,
                                    .grid = { g.x, g.y, g.z },
                                    .block = { g.threads, 1, 1 },
                                    .shared = g.shared,
                                    .n_parameters = 1,
                                    .arguments = args,
                                    .bytes = f->arguments };
    return cuda_batch_add(cuda, &node, f->name, last_node(work), err);
}

bool cuda_launch_work(struct cuda *cuda, struct cuda_function *f, struct cuda_grid g,
                      const void *args, struct cuda_work work, struct err *err)
{
    const bool in_batch = f->arguments && cuda_batches_on(cuda);
    struct cuda_timed timed = { 0 };
    void *arguments[] = { (void *)(uintptr_t)args };
    g.y += g.y == 0;
    g.z += g.z == 0;
    if (g.x == 0 || cuda->base.unbuilt)
        return true;
    if (!cuda_usable(cuda, err) || !within_limits(f, g, err) ||
        !allow_shared(cuda, f, g.shared, err) || (!in_batch && !cuda_batch_end(cuda, err)) ||
        !begin_launch(cuda, f->name, work, &timed, err))
        return false;
    if (in_batch)
        return add_to_batch(cuda, f, g, args, work, err);
    int rc = cuda->driver.launch(f->f, g.x, g.y, g.z, g.threads, 1, 1, g.shared, cuda->stream,
                                 arguments, NULL);
    if (cuda_check(cuda, rc, err, "kernel %s: %u x %u x %u blocks of %u threads", f->name, g.x, g.y,
                   g.z, g.threads))
        return end_launch(cuda, &timed, err);
    drop_pair(cuda, &timed);
    return false;
}

static struct cuda_work work_of(struct kernel *k)
{
    struct cuda_call *now = cuda_of(k)->now;
    struct cuda_work work = { &k->call->node, 1, now->bytes, now->flops };
    if (now->nodes) {
        work.nodes = now->nodes;
        work.n_nodes = now->n_nodes;
    }
    now->bytes = now->flops = 0;
    now->nodes = NULL;
    now->launched = true;
    return work;
}

void cuda_launch(struct kernel *k, struct cuda_function *f, struct cuda_grid grid, const void *args,
                 size_t bytes)
{
    struct cuda *cuda = cuda_of(k);
    (void)bytes; /* the driver knows the size of the only parameter */
    if (k->failed || !f)
        return;
    if (!cuda_flush(cuda, k->err) || !cuda_launch_work(cuda, f, grid, args, work_of(k), k->err))
        k->failed = true;
}

void cuda_launch_node(struct kernel *k, const struct cuda_node *node, const char *what)
{
    struct cuda *cuda = cuda_of(k);
    struct cuda_timed timed;
    const struct cuda_work work = work_of(k);
    if (k->failed)
        return;
    if (!cuda_usable(cuda, k->err) || !cuda_flush(cuda, k->err) ||
        !begin_launch(cuda, what, work, &timed, k->err) ||
        !cuda_batch_add(cuda, node, what, last_node(work), k->err))
        k->failed = true;
}

void cuda_traffic(struct kernel *k, uint64_t bytes, uint64_t flops)
{
    cuda_of(k)->now->bytes = bytes;
    cuda_of(k)->now->flops = flops;
}

void cuda_stands_for(struct kernel *k, const uint32_t *nodes, uint32_t n)
{
    cuda_of(k)->now->nodes = nodes;
    cuda_of(k)->now->n_nodes = n;
}

uint32_t cuda_multiprocessors(const struct kernel *k)
{
    return (uint32_t)cuda_of(k)->multiprocessors;
}

bool cuda_always_wide(const struct kernel *k)
{
    return cuda_of(k)->wide;
}

uint32_t cuda_blocks(const struct kernel *k, int64_t n, int64_t each)
{
    int64_t blocks = n <= 0 ? 1 : (n - 1) / (each > 0 ? each : 1) + 1;
    int64_t most = (int64_t)cuda_multiprocessors(k) * 16;
    return (uint32_t)(blocks < most ? blocks : most);
}

/* ---- Libraries ---- */

bool cuda_library_begin(struct kernel *k, const char *what, void **stream)
{
    struct cuda *cuda = cuda_of(k);
    *stream = cuda->stream;
    if (k->failed)
        return false;
    if (!cuda_usable(cuda, k->err) || !cuda_flush(cuda, k->err) || !cuda_batch_end(cuda, k->err) ||
        !begin_launch(cuda, what, work_of(k), &cuda->now->timed, k->err))
        k->failed = true;
    return !k->failed && !cuda->base.unbuilt;
}

void cuda_library_refused(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct backend_log *log = &cuda->base.log;
    if (cuda->now->timed.on && log->launches.n) {
        const struct backend_launch *last = &log->launches.v[--log->launches.n];
        cuda_traffic(k, last->bytes, last->flops);
        log->nodes.n = last->first_node;
    }
    drop_pair(cuda, &cuda->now->timed);
}

void cuda_library_end(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    if (k->failed)
        drop_pair(cuda, &cuda->now->timed);
    else if (!end_launch(cuda, &cuda->now->timed, k->err))
        k->failed = true;
}
