/* A profile and its traces as tables, for programs that query: the manual of profile/tables.
 *
 *     struct table_sink *sink = sqlite_sink_open("run.sqlite", OUTPUT_NEW, err);
 *     bool ok = sink && tables_write(profile, sink, err);
 *     ok = sink && sink->end(sink, ok, err) && ok;
 *
 * tables.def defines the tables and their columns; both kinds of files are made from it.
 * tables_write() makes the rows, one at a time, from a profile and the traces that it borrows, and
 * passes them to a sink, which keeps none of them. Two runs pass the same rows in the same order.
 *
 * Texts of a tape are passed as values only: names of tables, columns and files come from
 * tables.def. They are harmless to read (trace/base/text/printable.h), and thus valid UTF-8 without
 * a NUL. */
#ifndef SYMTAPE_PROFILE_TABLES_TABLES_H
#define SYMTAPE_PROFILE_TABLES_TABLES_H

#include "profile/model/profile.h"
#include "trace/base/file/output.h"

enum export_table {
#define EXPORT_TABLE(name) TABLE_##name,
#define EXPORT_COLUMN(table, name, type)
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
    TABLES
};

/* All columns, those of a table next to each other. */
enum export_column {
#define EXPORT_TABLE(name)
#define EXPORT_COLUMN(table, name, type) COLUMN_##table##_##name,
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
    COLUMNS
};

enum column_type { COLUMN_KEY, COLUMN_INTEGER, COLUMN_BOOLEAN, COLUMN_TEXT };

const char *table_name(enum export_table table);
enum export_column table_first_column(enum export_table table); /* of TABLES: COLUMNS */
static inline unsigned table_n_columns(enum export_table table)
{
    return table_first_column(table + 1) - table_first_column(table);
}
const char *column_name(enum export_column column);
enum column_type column_type(enum export_column column);
enum export_table column_table(enum export_column column);
/* Returns the table whose key the column has: its own of a KEY, that of X of a column X_id; TABLES
 * for any other column. */
enum export_table column_reference(enum export_column column);

enum { TABLE_MOST_COLUMNS = 32 }; /* no table has more */

struct table_cell {
    bool null;
    int64_t integer; /* of a boolean 0 or 1 */
    struct str text; /* of a COLUMN_TEXT */
};

/* What takes the rows. Each call returns false with err set when it failed. */
struct table_sink {
    /* Called for each table, in their order, before its rows. */
    bool (*table)(struct table_sink *sink, enum export_table table, struct err *err);
    /* Takes a row of that table: its cells in the order of its columns. They are the caller's. */
    bool (*row)(struct table_sink *sink, const struct table_cell *cells, struct err *err);
    /* Makes the files appear if `good`, and removes them otherwise. Frees the sink. */
    bool (*end)(struct table_sink *sink, bool good, struct err *err);
};

/* Passes all tables of a profile that was made of one trace. The sink is not ended. */
bool tables_write(const struct profile *profile, struct table_sink *sink, struct err *err);

/* A database of SQLite at `path`. It is made in a folder of TMPDIR, and copied when it is complete.
 * Fails with ERR_ENV where SQLite's library, which is opened at run time, is not installed. */
struct table_sink *sqlite_sink_open(const char *path, enum output_mode mode, struct err *err);

/* A folder with a file TABLE.jsonl.zst for each table: a JSON object a line. The folder is made if
 * it is not there. The files appear when all are complete; if one cannot, none does, and files that
 * were to be replaced stay. */
struct table_sink *jsonl_sink_open(const char *folder, enum output_mode mode, struct err *err);

#endif
