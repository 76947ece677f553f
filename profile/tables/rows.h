/* Private to profile/tables: rows that are being made.
 *
 *     row_integer(rows, COLUMN_guards_id, 3);
 *     row_text(rows, COLUMN_guards_expression, guard->expr);
 *     return row_put(rows);
 *
 * Columns that are not set are NULL. A text is borrowed until row_put(). */
#ifndef SYMTAPE_PROFILE_TABLES_ROWS_H
#define SYMTAPE_PROFILE_TABLES_ROWS_H

#include "profile/model/build.h"
#include "profile/tables/tables.h"

struct rows {
    const struct profile *profile;
    const struct build_input *in; /* the only trace */
    struct trace *trace;          /* that of `in` */
    struct table_sink *sink;
    struct err *err;
    enum export_table table;
    enum export_column first; /* of the table */
    unsigned n;               /* its columns */
    struct table_cell cells[TABLE_MOST_COLUMNS];
    struct buf clean;    /* texts of the row that had to be changed */
    struct buf text;     /* for a producer's own use */
    struct intern lines; /* (file, line): in the order of `line_ids` */
    vec_of(uint32_t)
    line_ids;        /* rows of the table of lines */
    int64_t n_nodes; /* written so far */
};

bool rows_init(struct rows *rows, const struct profile *profile);
void rows_release(struct rows *rows);

bool rows_begin(struct rows *rows, enum export_table table);
void row_integer(struct rows *rows, enum export_column column, int64_t value);
/* A count above INT64_MAX is NULL. */
void row_count(struct rows *rows, enum export_column column, uint64_t value);
/* UINT32_MAX, which is no row, is NULL. */
void row_id(struct rows *rows, enum export_column column, uint32_t value);
void row_bool(struct rows *rows, enum export_column column, bool value);
/* An empty text is NULL. */
void row_text(struct rows *rows, enum export_column column, struct str value);
/* Passes the row on, and begins the next one. */
bool row_put(struct rows *rows);

/* Sets the columns recording_id, compile_id and attempt_id, which are next to each other, from the
 * first of them on. */
void row_where(struct rows *rows, enum export_column recording, uint32_t record, uint32_t attempt);
/* Does the same for an incident, whose recording and compile are those of the profile. */
void row_incident(struct rows *rows, enum export_column recording,
                  const struct profile_where *where);

/* Returns the row of a user line in the table of lines, or UINT32_MAX. */
uint32_t rows_line(struct rows *rows, struct str file, uint32_t line);
/* Returns the row of a stack in the table of stacks; -1 for the empty one. */
int64_t rows_stack(const struct rows *rows, uint32_t recording, stack_id stack);
/* Sets the columns line_id and stack_id from a recorded user stack. */
void row_place(struct rows *rows, enum export_column line, enum export_column stack,
               uint32_t record, stack_id user_stack);

bool rows_of_recordings(struct rows *rows);
bool rows_of_compiles(struct rows *rows);
bool rows_of_attempts(struct rows *rows);
bool rows_of_phases(struct rows *rows);
bool rows_of_graphs(struct rows *rows);
bool rows_of_nodes(struct rows *rows);
bool rows_of_operators(struct rows *rows);
bool rows_of_dispatches(struct rows *rows);
bool rows_of_guards(struct rows *rows);
bool rows_of_symbols(struct rows *rows);
bool rows_of_stacks(struct rows *rows);
bool rows_of_lines(struct rows *rows);
bool rows_of_counters(struct rows *rows);
bool rows_of_incidents(struct rows *rows);
bool rows_of_caches(struct rows *rows);
bool rows_of_call_forms(struct rows *rows);
bool rows_of_calls(struct rows *rows);

#endif
