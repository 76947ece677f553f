/* A file that is read by place, and may change while it is.
 *
 * Not mapped: bytes that another process cuts off of a mapped file raise SIGBUS. Read, they are an
 * error. */
#ifndef SYMTAPE_TRACE_BASE_FILE_FILE_H
#define SYMTAPE_TRACE_BASE_FILE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

struct file {
    int fd;        /* -1: none */
    uint64_t size; /* when it was opened */
};

#define FILE_NONE ((struct file){ .fd = -1 })

/* ERR_ENV with the path: it cannot be opened, is no regular file, or holds nothing. On failure
 * there is nothing to close. */
bool file_open(struct file *file, const char *path, struct err *err);
void file_close(struct file *file); /* FILE_NONE is fine */

/* All n bytes from `offset` on. ERR_ENV, with the offset: it cannot be read, or ends before, as it
 * was cut short since. */
bool file_read(const struct file *file, uint64_t offset, void *to, size_t n, struct err *err);
/* As file_read(), into a buffer, which is cleared first. */
bool file_read_buf(const struct file *file, uint64_t offset, size_t n, struct buf *to,
                   struct err *err);

#endif
