/* Queries of a corpus, or of any database of SQLite, which may be a stranger's (database.h).
 *
 *     struct query query;
 *     bool ok = query_open(&query, "all.sqlite", sql, 60000, err) &&
 *               query_bind(&query, "before", STR("1f2e"), err) && query_bound(&query, err);
 *     while (ok && (ok = query_step(&query, &row, err)) && row)
 *         for (int i = 0; i < query.n_columns; i++)
 *             use(query_cell(&query, i));
 *     query_close(&query);
 *
 * corpus_queries.def has the queries that are shipped. */
#ifndef SYMTAPE_PROFILE_CORPUS_CORPUS_QUERY_H
#define SYMTAPE_PROFILE_CORPUS_CORPUS_QUERY_H

#include "profile/corpus/database.h"

struct shipped_query {
    const char *name, *summary;
    const char *parameters; /* "before, after"; "" if it has none */
    const char *sql;
};

/* The shipped queries; a row without a name ends them. */
extern const struct shipped_query shipped_queries[];
const struct shipped_query *shipped_query_find(struct str name); /* NULL: there is none */

enum { QUERY_PARAMETERS = 32 };

struct query {
    const char *path; /* of the database; borrowed */
    struct database database;
    void *statement;
    int n_columns;
    int n_parameters;
    bool bound[QUERY_PARAMETERS];
};

enum query_kind { QUERY_NULL, QUERY_INTEGER, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

struct query_cell {
    enum query_kind kind;
    int64_t integer;
    double real;
    struct str text; /* or the bytes of a blob; until the next step */
};

/* Opens a database and prepares one statement, which may take so many milliseconds. The query
 * must not move until query_close(), which is also required after a failure. */
bool query_open(struct query *ret, const char *path, const char *sql, uint64_t ms, struct err *err);
void query_close(struct query *query);

/* Sets the parameter :NAME to a text, or to an integer if it is one without leading zeros or "+".
 * ERR_USAGE: there is no such parameter. The text must live until query_close(). */
bool query_bind(struct query *query, struct str name, struct str value, struct err *err);
/* Fails with ERR_USAGE if a parameter has no name or no value. */
bool query_bound(struct query *query, struct err *err);

bool query_step(struct query *query, bool *row, struct err *err);
struct str query_column(const struct query *query, int column); /* its name */
struct query_cell query_cell(const struct query *query, int column);

#endif
