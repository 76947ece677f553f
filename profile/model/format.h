/* Numbers, times, places and texts for reading. All append to a buffer. */
#ifndef SYMTAPE_PROFILE_MODEL_FORMAT_H
#define SYMTAPE_PROFILE_MODEL_FORMAT_H

#include "trace/base/buf.h"

void format_ns(struct buf *out, int64_t ns);        /* as human_ns() */
void format_count(struct buf *out, uint64_t count); /* as human_count() */
/* "48 %"; "<1 %" rather than 0 for what is there; "-" of nothing. */
void format_share(struct buf *out, int64_t part, int64_t whole);
/* "models/hrnet.py:790": the last two names of a path; "-" when there is none. */
void format_place(struct buf *out, struct str file, uint32_t line);
/* printable_line(), cut with "..." after `columns` (0: whole). */
void format_text(struct buf *out, struct str text, size_t columns);
/* "1 graph", "3 graphs". */
void format_plural(struct buf *out, uint64_t count, const char *noun);

/* Columns that a text takes on a terminal: its code points. */
size_t format_columns(struct str text);
/* Bytes of its first or last `columns` columns. */
size_t format_first(struct str text, size_t columns);
size_t format_last(struct str text, size_t columns);

void format_spaces(struct buf *out, size_t n);
/* The words of a text, wrapped before column `width` (0: not at all): the first line goes on at
 * column `at`, the others begin at `indent`. A word that is longer than a line is broken. Ends with
 * a line feed. */
void format_wrapped(struct buf *out, struct str text, size_t width, size_t at, size_t indent);

#endif
