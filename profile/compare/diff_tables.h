/* Private to the writers of comparisons: the fields of the records that they list, and the tables
 * that text and Markdown share. */
#ifndef SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H
#define SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H

#include "profile/compare/diff.h"
#include "profile/report/fields.h"

/* The fields of struct change_row, compare_line and compare_measure, and of compare_time for phases
 * and for user lines. The context is the comparison. */
extern const struct fields diff_change_fields, diff_user_line_fields, diff_measure_fields,
    diff_phase_fields, diff_line_time_fields;

/* Is given a table, and how many rows the whole table would have. */
typedef void diff_put_table(void *user, const char *title, const struct table *table, uint32_t n);

/* Calls `put` for each table of a comparison that has a row, in order. The tables are released when
 * it returns. Failure to allocate is reported by out->failed. */
void diff_tables(const struct compare *compare, const struct report_options *how, struct buf *out,
                 diff_put_table *put, void *user);

/* Appends one sentence, "1 restart gone, 3 guards new, 2 guards changed", or nothing if nothing
 * differs. */
void diff_put_summary(const struct compare *compare, struct buf *out);

#endif
