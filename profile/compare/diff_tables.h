/* Private to the writers of comparisons: the fields of what they list, and the tables that text and
 * Markdown share. */
#ifndef SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H
#define SYMTAPE_PROFILE_COMPARE_DIFF_TABLES_H

#include "profile/compare/diff.h"
#include "profile/report/fields.h"

/* Of struct change_row, compare_line, compare_measure, and of compare_time of phases and of user
 * lines. The context is the comparison. */
extern const struct fields diff_change_fields, diff_user_line_fields, diff_measure_fields,
    diff_phase_fields, diff_line_time_fields;

/* Given a table and how many rows it would have, were all shown. */
typedef void diff_put_table(void *user, const char *title, const struct table *table, uint32_t n);

/* Calls `put` for each table of a comparison that has a row, in order. Tables are gone when it
 * returns. Failure to allocate is out's. */
void diff_tables(const struct compare *compare, const struct report_options *how, struct buf *out,
                 diff_put_table *put, void *user);

/* "1 restart gone, 3 guards new, 2 guards changed": one sentence; nothing when nothing differs. */
void diff_put_summary(const struct compare *compare, struct buf *out);

#endif
