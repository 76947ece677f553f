/* Reads CLOCK_MONOTONIC, which changes of the machine's date do not affect. Only differences
 * have a meaning. */
#ifndef SYMTAPE_TRACE_BASE_CLOCK_H
#define SYMTAPE_TRACE_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns the processor time of the calling thread, which other programs on the machine do not
 * affect. */
static inline uint64_t clock_thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns microseconds with a fraction. */
static inline double clock_us(void)
{
    return (double)clock_ns() / 1e3;
}

static inline double clock_seconds(void)
{
    return (double)clock_ns() * 1e-9;
}

#endif
