/* Runs a program to its end and reads all that it writes to standard output. */
#ifndef SYMTAPE_MINIFY_PROCESS_CAPTURE_H
#define SYMTAPE_MINIFY_PROCESS_CAPTURE_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"

/* Appends the output, at most `most` bytes. Returns false with ERR_USAGE and the last line of its
 * standard error if the program ends with another status than 0, with ERR_ENV if it cannot be
 * started or writes more. */
bool capture(const char *const *argv, size_t most, struct buf *ret, struct err *err);

#endif
