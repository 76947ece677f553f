/* Transfers of all bytes over a socket or a pipe to another process, with a time limit. */
#ifndef SYMTAPE_TRACE_BASE_TRANSFER_H
#define SYMTAPE_TRACE_BASE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRANSFER_NO_LIMIT UINT64_MAX

/* Each returns whether all n bytes were transferred before `until`, a time of clock_ns()
 * (trace/base/clock.h); false also if the other end is closed. A closed socket raises no signal. A
 * pipe is written to without a time limit. */
bool transfer_write(int fd, const void *bytes, size_t n, uint64_t until);
bool transfer_read(int fd, void *bytes, size_t n, uint64_t until);

#endif
