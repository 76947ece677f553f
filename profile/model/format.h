/* Functions that append numbers, times, places and texts in a readable form to a buffer. */
#ifndef SYMTAPE_PROFILE_MODEL_FORMAT_H
#define SYMTAPE_PROFILE_MODEL_FORMAT_H

#include "trace/base/buf.h"

void format_ns(struct buf *out, int64_t ns); /* as human_ns() */
void format_us(struct buf *out, double us);
void format_count(struct buf *out, uint64_t count); /* as human_count() */
/* Appends "48 %"; "<1 %" for a part above 0 that rounds to 0; "-" if the whole is 0. */
void format_share(struct buf *out, int64_t part, int64_t whole);
/* Appends a rate in its unit: 1.25 a microsecond in "B/s" is "1.25 MB/s". */
void format_rate(struct buf *out, double per_us, const char *unit);
/* Appends "models/hrnet.py:790", with the last two names of a path; "-" if there is none. */
void format_place(struct buf *out, struct str file, uint32_t line);
/* Appends printable_line() of a text, cut with "..." after `columns` (0: not cut). */
void format_text(struct buf *out, struct str text, size_t columns);
/* Appends "1 graph", "3 graphs". */
void format_plural(struct buf *out, uint64_t count, const char *noun);

/* Returns the columns of a text on a terminal: its code points. */
size_t format_columns(struct str text);
/* Return the bytes of the first or last `columns` columns of a text. */
size_t format_first(struct str text, size_t columns);
size_t format_last(struct str text, size_t columns);

void format_spaces(struct buf *out, size_t n);
/* Appends the words of a text, wrapped before column `width` (0: not at all): the first line starts
 * at column `at`, the others at `indent`. A word that is longer than a line is broken. The text
 * ends with a line feed. */
void format_wrapped(struct buf *out, struct str text, size_t width, size_t at, size_t indent);

/* Appends the share of a part of which only bounds are known: "34 %" if they are at most
 * RANGE_POINTS points apart, else "10 to 20 %". */
enum { RANGE_POINTS = 10 };
void format_range(struct buf *out, int64_t part, int64_t low, int64_t high, int64_t whole);

#endif
