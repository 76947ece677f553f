/* Compiles several programs at a time, in processes or in threads. */
#include <stdatomic.h>
#include <stdlib.h>

#include "replay/backend/cuda/runtime/compile_worker.h"
#include "trace/base/parallel.h"

enum { LEAST_PROCESSORS = 4 }; /* for processes; on two they take longer than threads */

struct compile_all {
    const struct compiler *compiler;
    const struct compile_beside *how;
    struct compile_job **jobs; /* in their order */
    size_t n;
    atomic_size_t next;
};

static void compile_here(const struct compile_all *all, struct compile_job *job)
{
    struct err ignored = { 0 };
    const struct str source = { job->source.p, job->source.n - 1 };
    job->compiled = compiler_run(all->compiler, &job->program, source, all->how->architecture,
                                 &job->code, &ignored);
}

/* Is one of the threads that compile. Each has a worker, if there are workers. */
static void compile_next(void *user, size_t thread)
{
    struct compile_all *all = user;
    const struct compile_beside *how = all->how;
    const uint32_t seconds = how->seconds ? how->seconds : COMPILE_SECONDS;
    struct compile_worker worker = { .socket = -1 };
    size_t i;
    (void)thread;
    if (how->worker)
        (void)compile_worker_start(&worker, how->worker, all->compiler);
    while ((i = atomic_fetch_add(&all->next, 1)) < all->n)
        if (!compile_worker_run(&worker, all->compiler, all->jobs[i], how->architecture, seconds))
            compile_here(all, all->jobs[i]);
    compile_worker_end(&worker);
}

static int longest_first(const void *a, const void *b)
{
    const struct compile_job *x = *(struct compile_job *const *)a,
                             *y = *(struct compile_job *const *)b;
    if (x->source.n != y->source.n)
        return x->source.n > y->source.n ? -1 : 1;
    return x < y ? -1 : x > y;
}

void compiler_run_all(const struct compiler *compiler, struct compile_job *jobs, size_t n,
                      const struct compile_beside *how)
{
    struct compile_beside used = *how;
    struct compile_all all = { .compiler = compiler, .how = &used, .n = n };
    used.threads = how->threads ? how->threads : parallel_processors();
    all.jobs = malloc((n + 1) * sizeof *all.jobs);
    if (!all.jobs) /* each is compiled by the call that needs it */
        return;
    for (size_t i = 0; i < n; i++)
        all.jobs[i] = &jobs[i];
    qsort(all.jobs, n, sizeof *all.jobs, longest_first);
    if (n < 2 || used.threads < LEAST_PROCESSORS)
        used.worker = NULL;
    if (used.worker && used.threads > COMPILE_WORKERS)
        used.threads = COMPILE_WORKERS;
    size_t threads = n < used.threads ? n : used.threads;
    parallel_for(threads, (uint32_t)threads, compile_next, &all);
    free(all.jobs);
}
