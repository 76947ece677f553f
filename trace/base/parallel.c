#include "trace/base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MAX_JOBS = 64 };

struct parallel_job {
    atomic_size_t next;
    size_t n;
    void (*fn)(void *user, size_t i);
    void *user;
};

static void *run_worker(void *arg)
{
    struct parallel_job *s = arg;
    for (size_t i; (i = atomic_fetch_add(&s->next, 1)) < s->n;)
        s->fn(s->user, i);
    return NULL;
}

void parallel_for(size_t n, uint32_t jobs, void (*fn)(void *user, size_t i), void *user)
{
    struct parallel_job s = { .n = n, .fn = fn, .user = user };
    pthread_t threads[MAX_JOBS];
    size_t n_threads = 0, wanted = jobs < n ? jobs : n;
    while (n_threads + 1 < wanted && n_threads < MAX_JOBS &&
           pthread_create(&threads[n_threads], NULL, run_worker, &s) == 0)
        n_threads++;
    run_worker(&s);
    for (size_t i = 0; i < n_threads; i++)
        pthread_join(threads[i], NULL);
}

uint32_t parallel_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return (uint32_t)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (uint32_t)n : 1;
}
