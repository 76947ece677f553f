/* Limits the memory that a file can make a command use.
 *
 * A file may come from anybody, and a few kilobytes can declare or decompress to gigabytes. Unless
 * --big is given, a command may use LIMIT_BASE, the window of a zstd input (128 MiB at most), and
 * LIMIT_TIMES the bytes that it has read, counted before decompression. The limit belongs to the
 * process (RLIMIT_DATA) and grows as input is read, so that it applies to all allocations at no
 * cost: an allocation beyond it fails, and the resulting error says what was refused
 * (cmd/cli/refused_memory.h). Address space for the stacks of threads is allowed in addition.
 *
 * A program, or a graph with values, needs as much memory as it needs: a command that runs one
 * calls memory_limit_end() first. Builds with AddressSanitizer, whose own memory would count, have
 * no limit. */
#ifndef SYMTAPE_CMD_CLI_MEMORY_LIMIT_H
#define SYMTAPE_CMD_CLI_MEMORY_LIMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>

#include "trace/base/err.h"
#include "trace/log/source.h"

struct refused_memory;

struct memory_limit {
    struct source_meter meter; /* the first member; pass its address to functions that read input */
    bool big;                  /* --big */
    bool on;
    struct rlimit before;
    uint64_t stored, window; /* bytes that the meter was notified of */
    /* Failed allocations, whose sizes show how much was needed; NULL: they are not recorded. */
    const struct refused_memory *refused;
    uint64_t stacks; /* address space of threads' stacks */
};

/* `limit` must not move while the limit is in force. If the system refuses to set it, there is no
 * limit. */
void memory_limit_begin(struct memory_limit *limit, bool big);
/* Begins anew for the next of several inputs that do not depend on each other: the limit is that of
 * an input of `stored` bytes, and of what is read from now on. */
void memory_limit_restart(struct memory_limit *limit, uint64_t stored);
/* Ends the limit. Does nothing for NULL or a limit that has ended. */
void memory_limit_end(struct memory_limit *limit);
/* Turns an ERR_NOMEM that the limit caused into ERR_INPUT with a message that says so. */
void memory_limit_explain(const struct memory_limit *limit, struct err *err);

/* Returns a field of /proc/self/status, "VmData", in bytes; 0 if it is not there. It allocates
 * nothing. */
uint64_t process_status_bytes(const char *field);

#endif
