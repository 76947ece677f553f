/* How long a reduction takes with several jobs, without waiting: the workers are simulated.
 *
 *     bench_jobs GRAPH.fx JOBS OPS...     oracle: which operators a graph holds (--has-ops)
 *
 * Each question takes one unit of a time that passes only while the search waits for an answer, so
 * the time is the number of rounds of questions: what a machine with enough processors takes where
 * a question takes much longer than finding out which one to ask. A line of JSON a case. */
#include <stdio.h>
#include <stdlib.h>

#include "minify/minify.h"
#include "minify/oracle/oracle_ops.h"
#include "minify/search/workers.h"
#include "trace/base/file/file.h"

/* ---- Workers (minify/search/workers.h) in simulated time ---- */

struct workers {
    struct oracle *oracle;
    uint32_t n;
    double now;
    struct simulated {
        struct task task;
        double end;
    } v[];
};

/* The linker puts these in place of those of workers.c, whose names they have. */
struct workers *__wrap_workers_start(struct oracle *oracle, uint32_t n, struct err *err);
uint32_t __wrap_workers_n(const struct workers *workers);
struct task *__wrap_workers_task(struct workers *workers, uint32_t i);
enum task_state __wrap_workers_state(struct workers *workers, uint32_t i);
void __wrap_workers_ask(struct workers *workers, uint32_t i);
bool __wrap_workers_any_done(struct workers *workers);
void __wrap_workers_wait(struct workers *workers, double seconds);
void __wrap_workers_stop(struct workers *workers);

struct workers *__wrap_workers_start(struct oracle *oracle, uint32_t n, struct err *err)
{
    struct workers *workers = calloc(1, sizeof *workers + n * sizeof *workers->v);
    if (!workers) {
        err_nomem(err);
        return NULL;
    }
    workers->oracle = oracle;
    workers->n = n;
    for (uint32_t i = 0; i < n; i++) {
        workers->v[i].task.worker = i;
        atomic_init(&workers->v[i].task.cancel, false);
    }
    return workers;
}

uint32_t __wrap_workers_n(const struct workers *workers)
{
    return workers->n;
}

struct task *__wrap_workers_task(struct workers *workers, uint32_t i)
{
    return &workers->v[i].task;
}

enum task_state __wrap_workers_state(struct workers *workers, uint32_t i)
{
    return workers->v[i].task.state;
}

void __wrap_workers_ask(struct workers *workers, uint32_t i)
{
    struct simulated *worker = &workers->v[i];
    atomic_store(&worker->task.cancel, false);
    worker->task.state = TASK_ASKING;
    worker->end = workers->now + 1;
    task_ask(&worker->task, workers->oracle);
}

bool __wrap_workers_any_done(struct workers *workers)
{
    bool any = false;
    for (uint32_t i = 0; i < workers->n; i++)
        any |= workers->v[i].task.state == TASK_DONE;
    return any;
}

/* A question that is cancelled ends a hundredth of a unit later: its answer does not count. */
static void notice_cancel(struct workers *workers)
{
    const double soon = workers->now + 0.01;
    for (uint32_t i = 0; i < workers->n; i++) {
        struct simulated *worker = &workers->v[i];
        if (worker->task.state != TASK_ASKING || !atomic_load(&worker->task.cancel) ||
            worker->end <= soon)
            continue;
        worker->end = soon;
        worker->task.answer.verdict = VERDICT_UNRESOLVED;
    }
}

/* Time passes until the next question ends. */
void __wrap_workers_wait(struct workers *workers, double seconds)
{
    struct simulated *next = NULL;
    (void)seconds;
    notice_cancel(workers);
    for (uint32_t i = 0; i < workers->n; i++)
        if (workers->v[i].task.state == TASK_ASKING && (!next || workers->v[i].end < next->end))
            next = &workers->v[i];
    if (!next)
        return;
    workers->now = next->end;
    for (uint32_t i = 0; i < workers->n; i++)
        if (workers->v[i].task.state == TASK_ASKING && workers->v[i].end <= workers->now)
            workers->v[i].task.state = TASK_DONE;
}

/* How long the last search took; the benchmark runs one after the other. */
static double elapsed;

void __wrap_workers_stop(struct workers *workers)
{
    if (!workers)
        return;
    elapsed = workers->now;
    for (uint32_t i = 0; i < workers->n; i++)
        task_free(&workers->v[i].task);
    free(workers);
}

/* ---- Cases ---- */

static void complain(const struct err *err)
{
    fprintf(stderr, "bench_jobs: %s\n", err->text);
    exit(1);
}

static struct candidate *read_graph(const char *path)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct file file;
    if (!file_open(&file, path, &err) || !file_read_buf(&file, 0, file.size, &text, &err))
        complain(&err);
    file_close(&file);
    struct candidate *ret = candidate_read_fx(buf_str(&text), NULL, &err);
    buf_release(&text);
    if (!ret)
        complain(&err);
    return ret;
}

static void run(const struct candidate *whole, const char *ops, uint32_t jobs)
{
    struct err err = { 0 };
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct minify_result result;
    struct oracle *inner = oracle_ops(str_of(ops), &err);
    if (!inner)
        complain(&err);
    /* Its answers count as expensive, and are not known to be the same each time. */
    inner->cheap = inner->deterministic = false;
    options.oracle = inner;
    options.jobs = jobs;
    elapsed = 0;
    if (!minify_run(whole, &options, &result, &err))
        complain(&err);
    struct cand_hash hash = candidate_hash(result.best);
    printf("{\"case\": \"%s\", \"jobs\": %u, \"end\": \"%s\", \"calls\": %llu, \"asked\": %llu, "
           "\"unneeded\": %llu, \"left\": %llu, \"best\": \"%016llx\", \"ms\": %.2f, \"passes\": {",
           ops, (unsigned)jobs, minify_end_name(result.end),
           (unsigned long long)graph_counts(whole->graph).calls, (unsigned long long)result.calls,
           (unsigned long long)result.unneeded, (unsigned long long)result.after.part[SIZE_CALLS],
           (unsigned long long)hash.low, elapsed);
    for (uint32_t i = 0; i < result.n_passes; i++)
        printf("%s\"%s\": [%llu, %llu]", i ? ", " : "", result.passes[i].pass->name,
               (unsigned long long)result.passes[i].calls,
               (unsigned long long)result.passes[i].accepted);
    printf("}}\n");
    fflush(stdout);
    minify_result_release(&result);
    inner->free(inner);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: bench_jobs GRAPH.fx JOBS OPS...\n", stderr);
        return 2;
    }
    struct candidate *whole = read_graph(argv[1]);
    for (int i = 3; i < argc; i++) {
        run(whole, argv[i], 1);
        run(whole, argv[i], (uint32_t)strtoul(argv[2], NULL, 10));
    }
    candidate_free(whole);
    return 0;
}
