/* A file's bytes, mapped for reading.
 *
 * Bytes that another process cuts off while they are mapped raise SIGBUS, as with any mapping. */
#ifndef SYMTAPE_TRACE_MAPPED_H
#define SYMTAPE_TRACE_MAPPED_H

#include "trace/base/err.h"
#include "trace/base/str.h"

/* ERR_ENV with the path: it cannot be read, or holds nothing. */
bool map_file(const char *path, struct str *ret, struct err *err);
void unmap_file(struct str bytes); /* .p NULL is fine */

#endif
