/* Runs the work of the CPU's kernels on several threads, in pieces that do not depend on one
 * another, so that results are the same for any number of threads. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_THREADS_H
#define SYMTAPE_REPLAY_BACKEND_CPU_THREADS_H

#include <stdint.h>

struct kernel;
struct cpu_threads;

/* Returns a thread pool that starts its threads with the first work: as many as struct backend's
 * `threads` allows, with the calling thread. NULL: out of memory; then work runs on the calling
 * thread. */
struct cpu_threads *cpu_threads_new(void);
void cpu_threads_free(struct cpu_threads *threads); /* NULL is fine */

typedef void cpu_work(void *user, int64_t piece);
/* Runs all pieces from 0 to n, in any order, and waits for them. Pieces must not allocate memory of
 * the kernel, fail, or have pieces of their own. */
void cpu_parallel(struct kernel *k, int64_t n, cpu_work *work, void *user);

#endif
