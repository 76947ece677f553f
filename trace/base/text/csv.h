/* Reading CSV: RFC 4180, and what tools write beside it.
 *
 *     struct csv in = csv_of(text);
 *     while (csv_next(&in, err))
 *         for (size_t i = 0; i < in.cells.n; i++) use(in.cells.v[i]);
 *     csv_release(&in);
 *     return !err_is_set(err);
 *
 * A byte order mark at the start and lines of white space only are skipped; lines end with CRLF, LF
 * or CR. A cell may stand in quotes, and then contain commas, ends of lines, and quotes written
 * twice; a quote inside a cell without quotes is a character like any other. Cells point into the
 * text and are decoded on request, so that a writer can replace one and keep all others. Rows may
 * have different numbers of cells. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_CSV_H
#define SYMTAPE_TRACE_BASE_TEXT_CSV_H

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

enum { CSV_MAX_CELLS = 4096 };

struct csv_cell {
    struct str text; /* as written, without the quotes around it */
    bool quoted;
};

struct csv {
    struct str text; /* borrowed */
    size_t next;     /* the offset at which the search for the next record begins */
    uint64_t line;   /* of that offset, from 1 */

    /* The last record. */
    uint64_t record_line;
    size_t begin, end; /* its bytes, without the end of its line */
    vec_of(struct csv_cell)
    cells;
};

struct csv csv_of(struct str text);
void csv_release(struct csv *in);

/* Reads the next record. Returns false at the end, and with err set: ERR_INPUT with the line for a
 * quote that is not closed, for text after a closing quote and for more than CSV_MAX_CELLS cells;
 * or memory ran out. */
bool csv_next(struct csv *in, struct err *err);

/* Appends the text of a cell. */
void csv_decode(const struct csv_cell *cell, struct buf *out);
/* Appends a text as a cell, in quotes where it needs them. */
void csv_quote(struct str text, struct buf *out);

#endif
