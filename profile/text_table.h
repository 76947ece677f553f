/* Aligned columns for the text report.
 *
 *     struct text_table table = { .columns = COLUMNS, .n_columns = 3 };
 *     format_count(&table.text, calls);  text_table_cell(&table);
 *     format_text(&table.text, name, 0); text_table_cell(&table);
 *     text_table_print(&table, width, indent, &out);
 *     text_table_release(&table);
 *
 * A cell is what was appended to table.text since the last one. Rows are kept until printed, since
 * the widths depend on all of them. Only the last column is cut to make a row fit the width. */
#ifndef SYMTAPE_PROFILE_TEXT_TABLE_H
#define SYMTAPE_PROFILE_TEXT_TABLE_H

#include "trace/buf.h"
#include "trace/vec.h"

struct text_column {
    const char *header;
    bool right; /* numbers */
};

struct text_table {
    const struct text_column *columns;
    size_t n_columns;
    struct buf text; /* the cells, end to end */
    vec_of(size_t) ends;
};

void text_table_cell(struct text_table *table);
size_t text_table_rows(const struct text_table *table);
/* Header and rows; nothing when there are no rows. `width` 0 is endless. Failure is out's. */
void text_table_print(struct text_table *table, unsigned width, unsigned indent, bool color,
                      struct buf *out);
void text_table_release(struct text_table *table);

#endif
