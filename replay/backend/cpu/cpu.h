/* The open CPU backend. Private to replay/backend/cpu. */
#ifndef SYMTAPE_REPLAY_BACKEND_CPU_CPU_H
#define SYMTAPE_REPLAY_BACKEND_CPU_CPU_H

#include "replay/backend/call/backend.h"
#include "replay/backend/call/kernel.h"
#include "replay/backend/cpu/threads.h"

struct cpu {
    struct backend base;
    struct kernel_table kernels;
    struct cpu_threads *threads; /* NULL: only the caller's */
};

static inline struct cpu *cpu_of(const struct kernel *k)
{
    return (struct cpu *)k->call->caller->backend;
}

#endif
