/* What a program calls the result of a call whose size or value depends on data. */
#ifndef SYMTAPE_TRACE_EVENTS_RESULT_NAME_H
#define SYMTAPE_TRACE_EVENTS_RESULT_NAME_H

#include "trace/base/buf.h"
#include "trace/base/str.h"

/* Appends the name of the number or size that `maker` makes on a line that assigns nothing else:
 * "longest" for "longest = lengths.max().item()" and ".item()", "kept.shape[0]" for
 * "kept = x[mask]" and "indexing with a mask". Returns false for other lines. */
bool result_put_name(struct str code, struct str maker, struct buf *out);

#endif
