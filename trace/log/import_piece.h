/* The form of a payload in a log: each line begins with a TAB. */
#ifndef SYMTAPE_TRACE_LOG_IMPORT_PIECE_H
#define SYMTAPE_TRACE_LOG_IMPORT_PIECE_H

#include "trace/base/buf.h"

/* Writes the payload of TAB lines to `out`, without the TABs; `out` is cleared first. */
void import_strip_tabs(struct str lines, struct buf *out);
/* Appends the payload with a TAB in front of each line. */
void import_put_tabs(struct str payload, struct buf *out);

#endif
