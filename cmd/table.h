/* Aligned columns.
 *
 *     static const struct column columns[] = { { "calls", COLUMN_RIGHT }, { "operator", COLUMN_WIDE } };
 *     struct table table = table_of(columns, 2);
 *     table_u64(&table, calls);
 *     table_text(&table, name);
 *     table_print(&table, out);
 *     table_release(&table);
 *
 * Rows are kept until printed, since the widths depend on all of them. Where data goes to a terminal
 * the COLUMN_WIDE columns are shortened ("...") until a row fits its width; elsewhere every cell is
 * whole. A cell is one line of valid text: line feeds, other control characters and bytes that are
 * not UTF-8 are shown as escapes. Failure to allocate shows when printing. */
#ifndef SYMTAPE_CMD_TABLE_H
#define SYMTAPE_CMD_TABLE_H

#include "cmd/out.h"
#include "trace/vec.h"

enum column_kind { COLUMN_LEFT, COLUMN_RIGHT, COLUMN_WIDE };

struct column {
    const char *header;
    enum column_kind kind;
};

struct table {
    const struct column *columns;
    size_t n_columns;
    struct buf text;        /* the cells, end to end */
    vec_of(size_t) ends;    /* of each cell in text, row by row */
    bool failed;
};

/* `columns` must outlive the table. */
struct table table_of(const struct column *columns, size_t n_columns);
void table_release(struct table *table);

/* The next cell of the current row, or of the next one when that is full. */
void table_text(struct table *table, struct str text);
void table_printf(struct table *table, const char *fmt, ...) ERR_PRINTF(2, 3);
void table_u64(struct table *table, uint64_t value); /* with thousands separated */

size_t table_rows(const struct table *table);
/* Header and rows; nothing when there are no rows. EXIT_DONE, or EXIT_ENV with the error told. */
int table_print(const struct table *table, struct out *out);
/* One row as lines of its own, "header  cell", whole. */
void table_print_block(const struct table *table, size_t row, struct out *out);

#endif
