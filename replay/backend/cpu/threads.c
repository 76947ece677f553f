#include "replay/backend/cpu/threads.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "replay/backend/cpu/cpu.h"
#include "trace/base/parallel.h"

enum { MOST_THREADS = 256, STACK_BYTES = 1 << 20 };

struct cpu_threads {
    pthread_mutex_t lock;
    pthread_cond_t more, done;
    pthread_t ids[MOST_THREADS];
    unsigned n; /* without the calling thread */
    bool started, stops;
    cpu_work *work;
    void *user;
    int64_t next, end, finished;
};

struct cpu_threads *cpu_threads_new(void)
{
    struct cpu_threads *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->more, NULL);
    pthread_cond_init(&t->done, NULL);
    return t;
}

void cpu_threads_free(struct cpu_threads *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stops = true;
    pthread_cond_broadcast(&t->more);
    pthread_mutex_unlock(&t->lock);
    for (unsigned i = 0; i < t->n; i++)
        pthread_join(t->ids[i], NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->more);
    pthread_cond_destroy(&t->done);
    free(t);
}

/* Runs pieces until none is left; the lock is held before and after. */
static void take_pieces(struct cpu_threads *t)
{
    while (t->next < t->end) {
        int64_t piece = t->next++;
        cpu_work *work = t->work;
        void *user = t->user;
        pthread_mutex_unlock(&t->lock);
        work(user, piece);
        pthread_mutex_lock(&t->lock);
        if (++t->finished == t->end)
            pthread_cond_signal(&t->done);
    }
}

static void *serve(void *user)
{
    struct cpu_threads *t = user;
    pthread_mutex_lock(&t->lock);
    while (!t->stops) {
        take_pieces(t);
        if (!t->stops)
            pthread_cond_wait(&t->more, &t->lock);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

/* Starts threads. They block all signals, which the other threads handle. Fewer threads than wanted
 * are enough. */
static void start_threads(struct cpu_threads *t, unsigned wanted)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    t->started = true;
    wanted = (wanted ? wanted : parallel_processors()) - 1;
    wanted = wanted < MOST_THREADS ? wanted : MOST_THREADS;
    if (wanted == 0)
        return;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (t->n < wanted && pthread_create(&t->ids[t->n], &attributes, serve, t) == 0)
        t->n++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

void cpu_parallel(struct kernel *k, int64_t n, cpu_work *work, void *user)
{
    struct cpu_threads *t = cpu_of(k)->threads;
    if (t && n > 1 && !t->started)
        start_threads(t, cpu_of(k)->base.threads);
    if (!t || t->n == 0 || n < 2) {
        for (int64_t i = 0; i < n; i++)
            work(user, i);
        return;
    }
    pthread_mutex_lock(&t->lock);
    t->work = work;
    t->user = user;
    t->next = t->finished = 0;
    t->end = n;
    pthread_cond_broadcast(&t->more);
    take_pieces(t);
    while (t->finished < t->end)
        pthread_cond_wait(&t->done, &t->lock);
    t->next = t->end = 0;
    pthread_mutex_unlock(&t->lock);
}
