/* Runs independent tasks on several threads. */
#ifndef SYMTAPE_TRACE_BASE_PARALLEL_H
#define SYMTAPE_TRACE_BASE_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

/* Calls fn(user, i) once for each i below n, on up to `jobs` threads (0 and 1: only this one), and
 * returns when all are done. If a thread cannot be started, the others do its work. */
void parallel_for(size_t n, uint32_t jobs, void (*fn)(void *user, size_t i), void *user);

/* The processors that the process may use: at least 1. */
uint32_t parallel_processors(void);

#endif
