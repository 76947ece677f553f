#include "profile/corpus/corpus_schema.h"

#include "profile/tables/sqlite_table.h"

static const char *const own_tables[] = {
    "CREATE TABLE \"tapes\" (\n  \"id\" INTEGER PRIMARY KEY,\n  \"key\" TEXT,\n  \"name\" TEXT,\n"
    "  \"model\" TEXT,\n  \"revision\" TEXT,\n  \"bytes\" INTEGER\n)",
    "CREATE TABLE \"spans\" (\n  \"id\" INTEGER PRIMARY KEY,\n  \"tape_id\" INTEGER,\n"
    "  \"table\" TEXT,\n  \"first\" INTEGER,\n  \"count\" INTEGER\n)",
};

enum { OWN_TABLES = sizeof own_tables / sizeof *own_tables };

/* Appends the i-th statement. */
static void put_definition(unsigned i, struct buf *sql)
{
    if (i < OWN_TABLES)
        buf_puts(sql, own_tables[i]);
    else
        sqlite_put_definition((enum export_table)(i - OWN_TABLES), true, sql);
}

bool corpus_schema_create(struct database *database, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_puts(&sql, "PRAGMA application_id = " CORPUS_APPLICATION ";");
    for (unsigned i = 0; i < OWN_TABLES + TABLES; i++) {
        put_definition(i, &sql);
        buf_puts(&sql, ";");
    }
    buf_putc(&sql, '\0');
    bool ok = sql.failed ? err_nomem(err) : database_run(database, sql.p, err);
    buf_release(&sql);
    return ok;
}

static bool check_tables(struct database *database, void *statement, struct buf *sql,
                         struct err *err)
{
    bool row = true, same = true;
    unsigned n = 0;
    for (; same && row; n++) {
        if (!database_step(database, statement, &row, err))
            return false;
        buf_clear(sql);
        if (n < OWN_TABLES + TABLES)
            put_definition(n, sql);
        if (sql->failed)
            return err_nomem(err);
        same = row == (n < OWN_TABLES + TABLES) &&
               (!row || str_eq(database_text(database, statement, 0), buf_str(sql)));
    }
    return same || err_set(err, ERR_INPUT, "not a corpus of this version of symtape");
}

bool corpus_schema_check(struct database *database, struct err *err)
{
    static const char sql[] = "SELECT sql FROM sqlite_master ORDER BY rowid";
    struct buf expected = BUF_INIT;
    void *statement = database_prepare(database, sql, err);
    bool ok = statement && check_tables(database, statement, &expected, err);
    database_finalize(database, statement);
    buf_release(&expected);
    return ok;
}

void *corpus_span_statement(struct database *database, struct err *err)
{
    return database_prepare(database, "SELECT \"first\", \"count\" FROM \"spans\" WHERE id = ?",
                            err);
}

bool corpus_span_read(struct database *database, void *statement, uint64_t n,
                      enum export_table table, struct corpus_span *ret, struct err *err)
{
    const struct sqlite_library *library = &database->library;
    const int64_t most = INT64_MAX / 4;
    bool row = false;
    bool ok = library->bind_int64(statement, 1, corpus_span_id(n, table)) == SQLITE_OK
                  ? database_step(database, statement, &row, err)
                  : database_fail(database, err);
    if (ok && row)
        *ret = (struct corpus_span){ library->column_int64(statement, 0),
                                     library->column_int64(statement, 1) };
    ok = library->reset(statement) == SQLITE_OK && ok;
    if (!ok || (row && ret->first > 0 && ret->first < most && ret->count >= 0 && ret->count < most))
        return ok || err_is_set(err) || database_fail(database, err);
    return err_set(err, ERR_INPUT, "the corpus is damaged: table spans");
}
