/* Private to profile: a table of tables.def in a database of SQLite.
 *
 * A corpus has the same tables, each with one more column at its end: tape_id. */
#ifndef SYMTAPE_PROFILE_TABLES_SQLITE_TABLE_H
#define SYMTAPE_PROFILE_TABLES_SQLITE_TABLE_H

#include "profile/tables/sqlite_library.h"
#include "profile/tables/tables.h"
#include "trace/base/buf.h"

/* Appends the statement that creates a table, or that inserts a row with parameters for its
 * columns, without a NUL. */
void sqlite_put_definition(enum export_table table, bool tape_id, struct buf *sql);
void sqlite_put_insertion(enum export_table table, bool tape_id, struct buf *sql);

/* Binds cells to the first parameters of an insertion. Texts are borrowed until it is stepped. */
bool sqlite_bind_cells(const struct sqlite_library *library, void *insertion,
                       enum export_table table, const struct table_cell *cells);
bool sqlite_bind_str(const struct sqlite_library *library, void *statement, int place,
                     struct str text);

#endif
