#include "profile/corpus/database.h"

#include <sys/stat.h>

#include "trace/base/clock.h"

enum { SQLITE_ERROR = 1, SQLITE_TOOBIG = 18, SQLITE_AUTH = 23 };

/* ---- What a stranger's file may not do ---- */

static bool is_harmless(struct str function)
{
    static const char *const barred[] = { "load_extension", "fts3_tokenizer", "readfile",
                                          "writefile",      "edit",           "sqlite_log" };
    return !STR_IS_ANY(function, barred);
}

static int authorize(void *data, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)data, (void)a, (void)c, (void)d;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE: return SQLITE_OK;
    case SQLITE_FUNCTION: return is_harmless(str_of(b ? b : "")) ? SQLITE_OK : SQLITE_DENY;
    default: return SQLITE_DENY;
    }
}

static int check_time(void *data)
{
    struct database *database = data;
    database->late = database->end_ms && clock_ns() / 1000000 >= database->end_ms;
    return database->late;
}

static void set_limits(struct database *database)
{
    static const struct {
        int id, value;
    } limits[] = {
        { SQLITE_LIMIT_LENGTH, 64 << 20 },
        { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 },
        { SQLITE_LIMIT_COLUMN, 500 },
        { SQLITE_LIMIT_EXPR_DEPTH, 200 },
        { SQLITE_LIMIT_COMPOUND_SELECT, 50 },
        { SQLITE_LIMIT_VDBE_OP, 1 << 20 },
        { SQLITE_LIMIT_FUNCTION_ARG, 50 },
        { SQLITE_LIMIT_ATTACHED, 0 },
        { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200 },
        { SQLITE_LIMIT_VARIABLE_NUMBER, 100 },
        { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        (void)database->library.limit(database->handle, limits[i].id, limits[i].value);
}

static bool configure(struct database *database, struct err *err)
{
    static const struct {
        int option, on;
    } settings[] = {
        { SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },        { SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
        { SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 }, { SQLITE_DBCONFIG_DEFENSIVE, 1 },
        { SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
    };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (database->library.db_config(database->handle, settings[i].option, settings[i].on,
                                        (int *)NULL) != SQLITE_OK)
            return err_set(err, ERR_ENV, "reading databases needs SQLite 3.31 or newer");
    return true;
}

/* Code of a module reads what a virtual table's other tables hold, which a stranger made. One that
 * a damaged schema hides from here is not made either: that would create a table, which authorize()
 * denies. */
static bool refuse_virtual_tables(struct database *database, struct err *err)
{
    static const char sql[] = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND "
                              "(rootpage = 0 OR rootpage IS NULL)";
    bool row = false;
    void *statement = database_prepare(database, sql, err);
    bool ok = statement && database_step(database, statement, &row, err);
    if (ok && row && database->library.column_int64(statement, 0) > 0)
        ok = err_set(err, ERR_INPUT, "has virtual tables, which are not read");
    database_finalize(database, statement);
    return ok;
}

/* Makes the table-valued functions that a query may use, json_each and json_tree. Afterwards no
 * table is made. A file may have tables of these names; no file has any in `temp`. */
static bool make_json_tables(struct database *database, struct err *err)
{
    return database_run(database, "SELECT 1 FROM temp.json_each('[]'), temp.json_tree('[]')", err);
}

static bool protect(struct database *database, struct err *err)
{
    static const char settings[] = "PRAGMA query_only = ON; PRAGMA cell_size_check = ON;"
                                   "PRAGMA mmap_size = 0; PRAGMA cache_size = -2048;"
                                   "PRAGMA temp_store = MEMORY";
    enum { OPERATIONS = 10000 };
    set_limits(database);
    if (!configure(database, err) || !database_run(database, settings, err) ||
        !make_json_tables(database, err))
        return false;
    database->library.progress_handler(database->handle, OPERATIONS, check_time, database);
    if (database->library.set_authorizer(database->handle, authorize, database) != SQLITE_OK)
        return database_fail(database, err);
    return refuse_virtual_tables(database, err);
}

/* ---- Opening ---- */

/* The library would wait for the writer of a pipe. What is not there is left to it. */
static bool is_file(const char *path)
{
    struct stat info;
    return stat(path, &info) != 0 || S_ISREG(info.st_mode);
}

/* Appends a path as SQLite's library takes it: as a URI, in which every character has one meaning.
 * It is absolute or begins with "./", so that nothing in it is a host or an option. */
static void put_uri(const char *path, enum database_mode mode, struct buf *uri)
{
    buf_puts(uri, path[0] == '/' ? "file://" : "file:./");
    for (const char *c = path; *c; c++)
        if (is_word_char(*c) || *c == '/' || *c == '.' || *c == '-')
            buf_putc(uri, *c);
        else
            buf_printf(uri, "%%%02x", (unsigned char)*c);
    buf_puts(uri, mode == DATABASE_READ ? "?mode=ro&immutable=1" : "?mode=rwc");
    buf_putc(uri, '\0');
}

bool database_open(struct database *ret, const char *path, enum database_mode mode, struct err *err)
{
    int flags =
        SQLITE_OPEN_URI |
        (mode == DATABASE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    struct buf uri = BUF_INIT;
    *ret = (struct database){ .mode = mode };
    if (mode == DATABASE_READ && !is_file(path))
        return err_set(err, ERR_INPUT, "not a file; a database is read from a file");
    if (!sqlite_library_open(&ret->library, err))
        return false;
    put_uri(path, mode, &uri);
    bool ok = !uri.failed || err_nomem(err);
    if (ok && ret->library.open_v2(uri.p, &ret->handle, flags, NULL) != SQLITE_OK)
        ok = database_fail(ret, err);
    buf_release(&uri);
    return ok && (mode == DATABASE_WRITE || protect(ret, err));
}

void database_close(struct database *database)
{
    if (database->handle)
        (void)database->library.close(database->handle);
    database->handle = NULL;
    sqlite_library_close(&database->library);
}

void database_set_time(struct database *database, uint64_t ms)
{
    database->end_ms = clock_ns() / 1000000 + ms;
}

/* ---- Statements ---- */

bool database_fail(const struct database *database, struct err *err)
{
    int code =
        database->handle ? database->library.extended_errcode(database->handle) : SQLITE_NOMEM;
    int kind = code & 0xff;
    if (kind == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM)
        return err_nomem(err);
    const char *why = database->library.errmsg(database->handle);
    if (kind == SQLITE_INTERRUPT && database->late)
        return err_set(err, ERR_ENV, "the query took longer than --timeout allows");
    if (kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB)
        return err_set(err, ERR_INPUT, "%s", why);
    if (kind == SQLITE_AUTH)
        return err_set(err, ERR_USAGE, "%s: a query is a SELECT, and only reads", why);
    if (kind == SQLITE_ERROR || kind == SQLITE_TOOBIG)
        return err_set(err, database->mode == DATABASE_READ ? ERR_USAGE : ERR_ENV, "%s", why);
    return err_set(err, ERR_ENV, "%s", why);
}

bool database_run(struct database *database, const char *sql, struct err *err)
{
    return database->library.exec(database->handle, sql, NULL, NULL, NULL) == SQLITE_OK ||
           database_fail(database, err);
}

void *database_prepare(struct database *database, const char *sql, struct err *err)
{
    void *statement = NULL;
    if (database->library.prepare_v2(database->handle, sql, -1, &statement, NULL) != SQLITE_OK)
        database_fail(database, err);
    else if (!statement)
        err_set(err, ERR_USAGE, "the statement is empty");
    return statement;
}

void database_finalize(struct database *database, void *statement)
{
    if (statement)
        (void)database->library.finalize(statement);
}

bool database_step(struct database *database, void *statement, bool *row, struct err *err)
{
    int code = database->library.step(statement);
    *row = code == SQLITE_ROW;
    return code == SQLITE_ROW || code == SQLITE_DONE || database_fail(database, err);
}

struct str database_text(const struct database *database, void *statement, int column)
{
    const char *text = (const char *)database->library.column_text(statement, column);
    int n = database->library.column_bytes(statement, column);
    return text && n > 0 ? (struct str){ text, (size_t)n } : STR("");
}
