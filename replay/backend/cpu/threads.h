/* Work of the CPU's kernels on several threads: pieces that do not depend on one another, so that
 * results are the same for any number of threads. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_THREADS_H
#define SYMTAPE_REPLAY_BACKEND_CPU_THREADS_H

#include <stdint.h>

struct kernel;
struct cpu_threads;

/* They start with the first work: as many as struct backend's `threads` says, the caller among
 * them. NULL: no memory, which work does without. */
struct cpu_threads *cpu_threads_new(void);
void cpu_threads_free(struct cpu_threads *threads); /* NULL is fine */

typedef void cpu_work(void *user, int64_t piece);
/* All pieces from 0 to n, in any order; they are done when it returns. Pieces ask for no memory of
 * the kernel, fail nothing, and have no pieces of their own. */
void cpu_parallel(struct kernel *k, int64_t n, cpu_work *work, void *user);

#endif
