/* Private to the writers of comparisons: what both the text and the Markdown are made of. */
#ifndef SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H
#define SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H

#include "profile/compare/diff.h"
#include "profile/report/table.h"

enum { DIFF_COLUMNS = 12 };

/* Cells are shown as they are: one line of text each, "" where there is nothing. */
struct diff_table {
    const char *title;
    struct column columns[DIFF_COLUMNS];
    size_t n_columns;
    struct buf text; /* the cells, end to end */
    vec_of(size_t)
    ends;            /* of each cell, row by row */
    uint32_t n_rows; /* shown */
    uint32_t n_all;  /* that there are */
};

struct str diff_cell(const struct diff_table *table, uint32_t row, size_t column);

/* Calls `put` for each table of a comparison that has a row, in order. Tables are gone when it
 * returns. Failure to allocate is out's. */
void diff_tables(const struct compare *compare, const struct report_options *how, struct buf *out,
                 void (*put)(void *user, const struct diff_table *table), void *user);

/* "1 restart gone, 3 guards new, 2 guards changed": one sentence; nothing when nothing differs. */
void diff_put_summary(const struct compare *compare, struct buf *out);

#endif
