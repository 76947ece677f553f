#ifndef SYMTAPE_REPLAY_BACKEND_CPU_FREE_MEMORY_H
#define SYMTAPE_REPLAY_BACKEND_CPU_FREE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes that can still be had; 0: not known. */
uint64_t cpu_free_memory(void);

#endif
