/* A file that is read by offset, and may change meanwhile.
 *
 * It is not mapped, because bytes that another process truncates from a mapped file raise
 * SIGBUS. Reading them is an error. */
#ifndef SYMTAPE_TRACE_BASE_FILE_FILE_H
#define SYMTAPE_TRACE_BASE_FILE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

struct file {
    int fd;        /* -1: not open */
    uint64_t size; /* when it was opened */
};

#define FILE_NONE ((struct file){ .fd = -1 })

/* Opens a file. It fails with ERR_ENV and the path if it cannot be opened, is no regular file,
 * or is empty; then there is nothing to close. */
bool file_open(struct file *file, const char *path, struct err *err);
void file_close(struct file *file); /* FILE_NONE is allowed */

/* Reads all n bytes from `offset` on. It fails with ERR_ENV and the offset if they cannot be
 * read, or the file was truncated meanwhile. */
bool file_read(const struct file *file, uint64_t offset, void *to, size_t n, struct err *err);
/* As file_read(), into a buffer, which is cleared first. */
bool file_read_buf(const struct file *file, uint64_t offset, size_t n, struct buf *to,
                   struct err *err);

#endif
