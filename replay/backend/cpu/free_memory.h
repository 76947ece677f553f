#ifndef SYMTAPE_REPLAY_BACKEND_CPU_FREE_MEMORY_H
#define SYMTAPE_REPLAY_BACKEND_CPU_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the bytes that can still be allocated; 0: unknown. */
uint64_t cpu_free_memory(void);

#endif
