/* Processes that share one log, each with its own string table (see trace/tape/stacks.h). A string
 * space is the number of a process's string table.
 *
 * Spaces are numbered in the order in which their processes log the first "str" record; the
 * importer and the reader of a tape both count this way. A process that logs none uses the first
 * one's table, which it inherited. */
#ifndef SYMTAPE_TRACE_TAPE_SPACES_H
#define SYMTAPE_TRACE_TAPE_SPACES_H

#include <stdint.h>

#include "trace/base/vec.h"

struct spaces {
    vec_of(uint64_t)
    pids;
};

/* Returns the process's space; 0, the first process's, for a process that has no table. */
static inline uint16_t spaces_of(const struct spaces *spaces, uint64_t pid)
{
    for (size_t i = 0; i < spaces->pids.n; i++)
        if (spaces->pids.v[i] == pid)
            return (uint16_t)i;
    return 0;
}

enum { SPACES_LIMIT = 1000 };

/* Assigns a space to the process of a "str" record. Returns false when memory ran out. */
static inline bool spaces_add(struct spaces *spaces, uint64_t pid)
{
    bool known = spaces->pids.n && (spaces_of(spaces, pid) || spaces->pids.v[0] == pid);
    return known || spaces->pids.n == SPACES_LIMIT || vec_push(&spaces->pids, pid);
}

#endif
