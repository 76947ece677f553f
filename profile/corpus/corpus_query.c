#include "profile/corpus/corpus_query.h"

#include "profile/tables/sqlite_table.h"

const struct shipped_query shipped_queries[] = {
#define QUERY(name, summary, parameters, sql) { name, summary, parameters, sql },
#include "profile/corpus/corpus_queries.def"
#undef QUERY
    { 0 },
};

const struct shipped_query *shipped_query_find(struct str name)
{
    for (const struct shipped_query *q = shipped_queries; q->name; q++)
        if (str_is(name, q->name))
            return q;
    return NULL;
}

static bool has_rest(const char *rest)
{
    while (rest && (is_space(*rest) || *rest == ';'))
        rest++;
    return rest && *rest;
}

static bool prepare(struct query *query, const char *sql, struct err *err)
{
    struct database *database = &query->database;
    const char *rest = NULL;
    int code = database->library.prepare_v2(database->handle, sql, -1, &query->statement, &rest);
    if (code != SQLITE_OK)
        return database_fail(database, err);
    if (!query->statement)
        return err_set(err, ERR_USAGE, "the statement is empty");
    if (has_rest(rest))
        return err_set(err, ERR_USAGE, "one statement at a time");
    query->n_columns = database->library.column_count(query->statement);
    query->n_parameters = database->library.bind_parameter_count(query->statement);
    if (query->n_columns == 0)
        return err_set(err, ERR_USAGE, "a query is a SELECT, and only reads");
    return query->n_parameters <= QUERY_PARAMETERS ||
           err_set(err, ERR_USAGE, "the statement has more than %d parameters", QUERY_PARAMETERS);
}

bool query_open(struct query *ret, const char *path, const char *sql, uint64_t ms, struct err *err)
{
    *ret = (struct query){ .path = path };
    if (!database_open(&ret->database, path, DATABASE_READ, err))
        return err_at(err, "%s", path);
    database_set_time(&ret->database, ms);
    return prepare(ret, sql, err) || err_at(err, "%s", path);
}

void query_close(struct query *query)
{
    database_finalize(&query->database, query->statement);
    query->statement = NULL;
    database_close(&query->database);
}

/* Returns a parameter's name without ':', '@' or '$'; "" for one without a name. */
static struct str parameter_name(const struct query *query, int i)
{
    const char *name = query->database.library.bind_parameter_name(query->statement, i + 1);
    return name && (*name == ':' || *name == '@' || *name == '$') ? str_of(name + 1) : STR("");
}

/* Returns whether a text is a number written in the one usual way: 0012 and +12 may be a commit or
 * a name, and as numbers they would be 12. */
static bool is_number(struct str value, int64_t *number)
{
    size_t sign = str_starts(value, STR("-"));
    bool usual = value.n > sign && is_digit(value.p[sign]) &&
                 (value.p[sign] != '0' || (value.n == 1 && !sign));
    return usual && str_to_i64(value, number);
}

static bool bind_value(struct query *query, int i, struct str value)
{
    const struct sqlite_library *library = &query->database.library;
    int64_t number;
    if (is_number(value, &number))
        return library->bind_int64(query->statement, i + 1, number) == SQLITE_OK;
    return sqlite_bind_str(library, query->statement, i + 1, value);
}

bool query_bind(struct query *query, struct str name, struct str value, struct err *err)
{
    bool found = false;
    for (int i = 0; i < query->n_parameters; i++) {
        if (!str_eq(parameter_name(query, i), name) || name.n == 0)
            continue;
        if (!bind_value(query, i, value))
            return database_fail(&query->database, err);
        query->bound[i] = found = true;
    }
    return found || err_set(err, ERR_USAGE, "the query has no parameter \"%.*s\"", STR_ARG(name));
}

bool query_bound(struct query *query, struct err *err)
{
    for (int i = 0; i < query->n_parameters; i++) {
        struct str name = parameter_name(query, i);
        if (name.n == 0)
            return err_set(err, ERR_USAGE, "a parameter has a name, as in :NAME");
        if (!query->bound[i])
            return err_set(err, ERR_USAGE, "the query needs %.*s=VALUE", STR_ARG(name));
    }
    return true;
}

bool query_step(struct query *query, bool *row, struct err *err)
{
    return database_step(&query->database, query->statement, row, err) ||
           err_at(err, "%s", query->path);
}

struct str query_column(const struct query *query, int column)
{
    const char *name = query->database.library.column_name(query->statement, column);
    return str_of(name ? name : "");
}

static struct query_cell blob_cell(const struct query *query, int column)
{
    const struct sqlite_library *library = &query->database.library;
    const char *bytes = library->column_blob(query->statement, column);
    int n = library->column_bytes(query->statement, column);
    return (struct query_cell){ .kind = QUERY_BLOB,
                                .text = bytes ? (struct str){ bytes, (size_t)n } : STR("") };
}

struct query_cell query_cell(const struct query *query, int column)
{
    const struct sqlite_library *library = &query->database.library;
    switch (library->column_type(query->statement, column)) {
    case SQLITE_INTEGER:
        return (struct query_cell){ .kind = QUERY_INTEGER,
                                    .integer = library->column_int64(query->statement, column) };
    case SQLITE_FLOAT:
        return (struct query_cell){ .kind = QUERY_REAL,
                                    .real = library->column_double(query->statement, column) };
    case SQLITE_TEXT:
        return (struct query_cell){ .kind = QUERY_TEXT,
                                    .text =
                                        database_text(&query->database, query->statement, column) };
    case SQLITE_BLOB: return blob_cell(query, column);
    default: return (struct query_cell){ .kind = QUERY_NULL };
    }
}
