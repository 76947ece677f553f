#include "minify/search/workers.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "trace/base/clock.h"

struct worker {
    struct workers *all;
    struct task task;
    pthread_t thread;
    pthread_cond_t given;
};

struct workers {
    struct oracle *oracle;
    pthread_mutex_t lock;
    pthread_cond_t done;
    uint64_t ended; /* the number of finished tasks */
    uint64_t seen;  /* of those, at the last return of workers_wait() */
    bool stop;
    uint32_t n;
    struct worker *v;
};

/* Keeps the worse of several answers to one question, for an oracle whose answers vary. */
static void replace_if_worse(struct task *task, struct answer *next)
{
    static const int rank[VERDICTS] = { [VERDICT_BORING] = 0,
                                        [VERDICT_OTHER] = 1,
                                        [VERDICT_UNRESOLVED] = 2,
                                        [VERDICT_INTERESTING] = 3,
                                        [VERDICT_BROKEN] = 4 };
    if (task->attempts == 0 || rank[next->verdict] > rank[task->answer.verdict]) {
        answer_release(&task->answer);
        task->answer = *next;
    } else {
        answer_release(next);
    }
}

void task_ask(struct task *task, struct oracle *oracle)
{
    struct oracle_question asking = { .worker = task->worker,
                                      .call = task->call,
                                      .cancel = task->stop ? task->stop : &task->cancel,
                                      .timeout = task->how.timeout };
    task->attempts = 0;
    do {
        struct answer answer = { .verdict = VERDICT_UNRESOLVED };
        asking.attempt = task->attempts;
        oracle->ask(oracle, task->candidate, &asking, &answer);
        replace_if_worse(task, &answer);
        task->attempts++;
    } while (task->attempts < task->how.clean && task->answer.verdict != VERDICT_INTERESTING &&
             task->answer.verdict != VERDICT_BROKEN && !atomic_load(&task->cancel));
}

void task_free(struct task *task)
{
    candidate_free(task->owned);
    task->candidate = task->owned = NULL;
    task->again = false;
    answer_release(&task->answer);
    buf_release(&task->edits);
    task->edits = BUF_INIT;
    task->attempts = 0;
    task->state = TASK_FREE;
}

static void *worker_main(void *arg)
{
    struct worker *worker = arg;
    struct workers *all = worker->all;
    pthread_mutex_lock(&all->lock);
    for (;;) {
        while (!all->stop && worker->task.state != TASK_ASKING)
            pthread_cond_wait(&worker->given, &all->lock);
        if (worker->task.state != TASK_ASKING)
            break;
        pthread_mutex_unlock(&all->lock);
        task_ask(&worker->task, all->oracle);
        pthread_mutex_lock(&all->lock);
        worker->task.state = TASK_DONE;
        all->ended++;
        pthread_cond_signal(&all->done);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

/* Starts a thread with signals blocked, since the main thread handles them. */
static bool start_thread(struct worker *worker)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool good = pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return good;
}

static bool start_oracle_worker(struct workers *workers, uint32_t i)
{
    struct worker *worker = &workers->v[i];
    worker->all = workers;
    worker->task.worker = i;
    atomic_init(&worker->task.cancel, false);
    if (pthread_cond_init(&worker->given, NULL) != 0)
        return false;
    if (start_thread(worker))
        return true;
    pthread_cond_destroy(&worker->given);
    return false;
}

static bool init_waiting(struct workers *workers)
{
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0)
        return false;
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    bool good = pthread_cond_init(&workers->done, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return good && pthread_mutex_init(&workers->lock, NULL) == 0;
}

struct workers *workers_start(struct oracle *oracle, uint32_t n, struct err *err)
{
    struct workers *workers = calloc(1, sizeof *workers);
    if (workers)
        workers->v = calloc(n, sizeof *workers->v);
    if (!workers || !workers->v || !init_waiting(workers)) {
        free(workers ? workers->v : NULL);
        free(workers);
        err_nomem(err);
        return NULL;
    }
    workers->oracle = oracle;
    for (; workers->n < n; workers->n++) {
        if (start_oracle_worker(workers, workers->n))
            continue;
        err_set(err, ERR_ENV, "cannot start %u threads", (unsigned)n);
        workers_stop(workers);
        return NULL;
    }
    return workers;
}

uint32_t workers_n(const struct workers *workers)
{
    return workers->n;
}

struct task *workers_task(struct workers *workers, uint32_t i)
{
    return &workers->v[i].task;
}

enum task_state workers_state(struct workers *workers, uint32_t i)
{
    pthread_mutex_lock(&workers->lock);
    enum task_state state = workers->v[i].task.state;
    pthread_mutex_unlock(&workers->lock);
    return state;
}

void workers_ask(struct workers *workers, uint32_t i)
{
    struct worker *worker = &workers->v[i];
    pthread_mutex_lock(&workers->lock);
    atomic_store(&worker->task.cancel, false);
    worker->task.state = TASK_ASKING;
    pthread_cond_signal(&worker->given);
    pthread_mutex_unlock(&workers->lock);
}

bool workers_any_done(struct workers *workers)
{
    bool any = false;
    pthread_mutex_lock(&workers->lock);
    for (uint32_t i = 0; i < workers->n; i++)
        any |= workers->v[i].task.state == TASK_DONE;
    pthread_mutex_unlock(&workers->lock);
    return any;
}

void workers_wait(struct workers *workers, double seconds)
{
    uint64_t ns = clock_ns() + (uint64_t)(seconds * 1e9);
    const struct timespec until = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
    pthread_mutex_lock(&workers->lock);
    while (workers->ended == workers->seen &&
           pthread_cond_timedwait(&workers->done, &workers->lock, &until) == 0)
        ;
    workers->seen = workers->ended;
    pthread_mutex_unlock(&workers->lock);
}

void workers_stop(struct workers *workers)
{
    if (!workers)
        return;
    pthread_mutex_lock(&workers->lock);
    workers->stop = true;
    for (uint32_t i = 0; i < workers->n; i++) {
        atomic_store(&workers->v[i].task.cancel, true);
        pthread_cond_signal(&workers->v[i].given);
    }
    pthread_mutex_unlock(&workers->lock);
    for (uint32_t i = 0; i < workers->n; i++) {
        pthread_join(workers->v[i].thread, NULL);
        pthread_cond_destroy(&workers->v[i].given);
        task_free(&workers->v[i].task);
    }
    pthread_cond_destroy(&workers->done);
    pthread_mutex_destroy(&workers->lock);
    free(workers->v);
    free(workers);
}
