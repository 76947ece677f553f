/* Private to the writers of dashboards: the tables that text, Markdown and HTML share. */
#ifndef SYMTAPE_PROFILE_DASH_DASH_TABLES_H
#define SYMTAPE_PROFILE_DASH_DASH_TABLES_H

#include "profile/dash/dash_report.h"

/* Is given a table with rows, and a remark below it or "". */
typedef void dash_put_table(void *user, const char *title, const struct table *table,
                            const char *remark);

/* Calls `put` for each table of a view that has a row, in order. The tables are released when it
 * returns. */
void dash_tables(const struct dash_view *view, const struct verdicts *verdicts, dash_put_table *put,
                 void *user);
/* The same for the table of all models of a point. */
void dash_point_table(const struct dash *dash, const struct dash_point *point, dash_put_table *put,
                      void *user);
/* Appends one sentence about the verdicts: "53 as expected, 2 FAIL, 1 FLAKY". */
void dash_put_verdicts(const struct verdicts *verdicts, struct buf *out);
/* Appends a value for a reader, "1.37x", "23.1 s", "34.2 %"; nothing for NAN. */
void dash_put_value(enum dash_measure measure, double value, struct buf *out);
/* Appends the parts of a configuration that are known, with blanks between them. */
void dash_put_config(const struct dash *dash, uint32_t config, struct buf *out);

#endif
