/* Numbers, times and places for reading. All append to a buffer. */
#ifndef SYMTAPE_PROFILE_FORMAT_H
#define SYMTAPE_PROFILE_FORMAT_H

#include "trace/buf.h"

void format_ns(struct buf *out, int64_t ns);          /* "870 us", "3.41 s", "7 min 33 s" */
void format_count(struct buf *out, uint64_t count);   /* "1,234,567" */
/* "48 %"; "<1 %" rather than 0 for what is there; "-" of nothing. */
void format_share(struct buf *out, int64_t part, int64_t whole);
/* "models/hrnet.py:790": the last two names of a path; "-" when there is none. */
void format_place(struct buf *out, struct str file, uint32_t line);
/* One line of text: white space runs to one blank, other control characters and broken UTF-8 as
 * escapes, cut with "..." after `columns` (0: whole). */
void format_text(struct buf *out, struct str text, size_t columns);
/* "1 graph", "3 graphs". */
void format_plural(struct buf *out, uint64_t count, const char *noun);
/* Columns that a text takes on a terminal: its code points. */
size_t format_columns(struct str text);

#endif
