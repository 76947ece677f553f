/* The form of a payload in a log: each line begins with a TAB. */
#ifndef SYMTAPE_TRACE_LOG_IMPORT_PIECE_H
#define SYMTAPE_TRACE_LOG_IMPORT_PIECE_H

#include "trace/base/buf.h"

/* The payload of TAB lines, without the TABs; `out` is cleared first. */
void import_strip_tabs(struct str lines, struct buf *out);
/* The other way round: a TAB in front of each line. Appends. */
void import_put_tabs(struct str payload, struct buf *out);

#endif
