#include "profile/tables/tables.h"

#include "profile/tables/rows.h"

static const char *const table_names[] = {
#define EXPORT_TABLE(name) #name,
#define EXPORT_COLUMN(table, name, type)
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
};

static const struct column_info {
    const char *name;
    enum export_table table;
    enum column_type type;
} columns[] = {
#define EXPORT_TABLE(name)
#define EXPORT_COLUMN(table, name, type) { #name, TABLE_##table, COLUMN_##type },
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
};

const char *table_name(enum export_table table)
{
    return table_names[table];
}

/* The number of columns before each table: FIRST_ is that of the next column, and AGAIN_ takes the
 * count back by one. */
enum {
#define EXPORT_TABLE(name)               FIRST_##name, AGAIN_##name = FIRST_##name - 1,
#define EXPORT_COLUMN(table, name, type) PLACE_##table##_##name,
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
};

enum export_column table_first_column(enum export_table table)
{
    static const unsigned short firsts[TABLES + 1] = {
#define EXPORT_TABLE(name) FIRST_##name,
#define EXPORT_COLUMN(table, name, type)
#include "profile/tables/tables.def"
#undef EXPORT_TABLE
#undef EXPORT_COLUMN
        COLUMNS,
    };
    return (enum export_column)firsts[table];
}

const char *column_name(enum export_column column)
{
    return columns[column].name;
}

enum column_type column_type(enum export_column column)
{
    return columns[column].type;
}

enum export_table column_table(enum export_column column)
{
    return columns[column].table;
}

/* Returns the table of X from "X", which is its name without the plural's ending. */
static enum export_table table_of_row(struct str row)
{
    for (enum export_table table = 0; table < TABLES; table++) {
        struct str name = str_of(table_names[table]);
        if (str_starts(name, row) && str_is(str_from(name, row.n), "s"))
            return table;
    }
    return TABLES;
}

enum export_table column_reference(enum export_column column)
{
    struct str name = str_of(columns[column].name);
    if (columns[column].type == COLUMN_KEY || str_is(name, "parent_id"))
        return columns[column].table;
    if (columns[column].type != COLUMN_INTEGER || !str_ends(name, STR("_id")))
        return TABLES;
    return table_of_row(str_first(name, name.n - 3));
}

bool tables_write(const struct profile *profile, struct table_sink *sink, struct err *err)
{
    static bool (*const producers[TABLES])(struct rows *) = {
        [TABLE_recordings] = rows_of_recordings, [TABLE_compiles] = rows_of_compiles,
        [TABLE_attempts] = rows_of_attempts,     [TABLE_phases] = rows_of_phases,
        [TABLE_graphs] = rows_of_graphs,         [TABLE_nodes] = rows_of_nodes,
        [TABLE_operators] = rows_of_operators,   [TABLE_dispatches] = rows_of_dispatches,
        [TABLE_guards] = rows_of_guards,         [TABLE_symbols] = rows_of_symbols,
        [TABLE_stacks] = rows_of_stacks,         [TABLE_lines] = rows_of_lines,
        [TABLE_counters] = rows_of_counters,     [TABLE_incidents] = rows_of_incidents,
        [TABLE_caches] = rows_of_caches,         [TABLE_call_forms] = rows_of_call_forms,
        [TABLE_calls] = rows_of_calls,
    };
    struct rows rows = { .sink = sink, .err = err };
    bool ok = rows_init(&rows, profile);
    for (enum export_table table = 0; ok && table < TABLES; table++)
        ok = rows_begin(&rows, table) && producers[table](&rows);
    rows_release(&rows);
    return ok;
}
