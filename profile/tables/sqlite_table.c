#include "profile/tables/sqlite_table.h"

void sqlite_put_definition(enum export_table table, bool tape_id, struct buf *sql)
{
    static const char *const types[] = {
        [COLUMN_KEY] = "INTEGER PRIMARY KEY",
        [COLUMN_INTEGER] = "INTEGER",
        [COLUMN_BOOLEAN] = "BOOLEAN",
        [COLUMN_TEXT] = "TEXT",
    };
    enum export_column first = table_first_column(table);
    buf_printf(sql, "CREATE TABLE \"%s\" (", table_name(table));
    for (unsigned i = 0; i < table_n_columns(table); i++)
        buf_printf(sql, "%s\n  \"%s\" %s", i > 0 ? "," : "", column_name(first + i),
                   types[column_type(first + i)]);
    buf_printf(sql, "%s\n)", tape_id ? ",\n  \"tape_id\" INTEGER" : "");
}

void sqlite_put_insertion(enum export_table table, bool tape_id, struct buf *sql)
{
    unsigned n = table_n_columns(table) + tape_id;
    buf_printf(sql, "INSERT INTO \"%s\" VALUES (", table_name(table));
    for (unsigned i = 0; i < n; i++)
        buf_puts(sql, i > 0 ? ",?" : "?");
    buf_puts(sql, ")");
}

/* The text lives until the row is inserted, so that SQLite need not copy it. */
bool sqlite_bind_str(const struct sqlite_library *library, void *statement, int place,
                     struct str text)
{
    enum { UTF8 = 1 };
    return library->bind_text64(statement, place, text.p, text.n, NULL, UTF8) == SQLITE_OK;
}

static bool bind_cell(const struct sqlite_library *library, void *insertion, int place,
                      enum column_type type, const struct table_cell *cell)
{
    if (cell->null)
        return library->bind_null(insertion, place) == SQLITE_OK;
    if (type != COLUMN_TEXT)
        return library->bind_int64(insertion, place, cell->integer) == SQLITE_OK;
    return sqlite_bind_str(library, insertion, place, cell->text);
}

bool sqlite_bind_cells(const struct sqlite_library *library, void *insertion,
                       enum export_table table, const struct table_cell *cells)
{
    enum export_column first = table_first_column(table);
    for (unsigned i = 0; i < table_n_columns(table); i++)
        if (!bind_cell(library, insertion, (int)i + 1, column_type(first + i), &cells[i]))
            return false;
    return true;
}
