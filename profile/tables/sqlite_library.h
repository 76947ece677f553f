/* SQLite's library, opened at run time. */
#ifndef SYMTAPE_PROFILE_TABLES_SQLITE_LIBRARY_H
#define SYMTAPE_PROFILE_TABLES_SQLITE_LIBRARY_H

#include <stdint.h>

#include "trace/base/err.h"

/* Results and flags of SQLite's header, which is not needed to build symtape. */
enum {
    SQLITE_OK = 0,
    SQLITE_DENY = 1,
    SQLITE_NOMEM = 7,
    SQLITE_INTERRUPT = 9,
    SQLITE_CORRUPT = 11,
    SQLITE_NOTADB = 26,
    SQLITE_IOERR_NOMEM = 10 | 12 << 8,
    SQLITE_ROW = 100,
    SQLITE_DONE = 101,
    SQLITE_OPEN_READONLY = 1,
    SQLITE_OPEN_READWRITE = 2,
    SQLITE_OPEN_CREATE = 4,
    SQLITE_OPEN_URI = 0x40,
};

/* The types of values. */
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT = 2, SQLITE_TEXT = 3, SQLITE_BLOB = 4, SQLITE_NULL = 5 };

/* What an authorizer is asked about, of which a query needs these only. */
enum { SQLITE_READ = 20, SQLITE_SELECT = 21, SQLITE_FUNCTION = 31, SQLITE_RECURSIVE = 33 };

/* Settings of a connection: sqlite3_db_config(). */
enum {
    SQLITE_DBCONFIG_ENABLE_TRIGGER = 1003,
    SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER = 1004,
    SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION = 1005,
    SQLITE_DBCONFIG_DEFENSIVE = 1010,
    SQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017,
};

/* Limits of a connection: sqlite3_limit(). */
enum {
    SQLITE_LIMIT_LENGTH = 0,
    SQLITE_LIMIT_SQL_LENGTH = 1,
    SQLITE_LIMIT_COLUMN = 2,
    SQLITE_LIMIT_EXPR_DEPTH = 3,
    SQLITE_LIMIT_COMPOUND_SELECT = 4,
    SQLITE_LIMIT_VDBE_OP = 5,
    SQLITE_LIMIT_FUNCTION_ARG = 6,
    SQLITE_LIMIT_ATTACHED = 7,
    SQLITE_LIMIT_LIKE_PATTERN_LENGTH = 8,
    SQLITE_LIMIT_VARIABLE_NUMBER = 9,
    SQLITE_LIMIT_TRIGGER_DEPTH = 10,
    SQLITE_LIMIT_WORKER_THREADS = 11,
};

/* The functions that are used, under their names without "sqlite3_"; a database and a statement are
 * pointers. */
struct sqlite_library {
    void *handle;
    int (*open_v2)(const char *path, void **ret, int flags, const char *vfs);
    int (*close)(void *database);
    int (*exec)(void *database, const char *sql, int (*callback)(void *, int, char **, char **),
                void *data, char **message);
    int (*prepare_v2)(void *database, const char *sql, int size, void **ret, const char **rest);
    int (*bind_int64)(void *statement, int place, long long value);
    int (*bind_text64)(void *statement, int place, const char *text, unsigned long long size,
                       void (*release)(void *), unsigned char encoding);
    int (*bind_null)(void *statement, int place);
    int (*bind_parameter_count)(void *statement);
    const char *(*bind_parameter_name)(void *statement, int place);
    int (*step)(void *statement);
    int (*reset)(void *statement);
    int (*finalize)(void *statement);
    int (*column_count)(void *statement);
    const char *(*column_name)(void *statement, int column);
    int (*column_type)(void *statement, int column);
    long long (*column_int64)(void *statement, int column);
    double (*column_double)(void *statement, int column);
    const unsigned char *(*column_text)(void *statement, int column);
    const void *(*column_blob)(void *statement, int column);
    int (*column_bytes)(void *statement, int column);
    int (*set_authorizer)(void *database,
                          int (*asked)(void *, int, const char *, const char *, const char *,
                                       const char *),
                          void *data);
    void (*progress_handler)(void *database, int operations, int (*called)(void *), void *data);
    int (*limit)(void *database, int id, int value);
    int (*db_config)(void *database, int option, ...);
    int (*extended_errcode)(void *database);
    const char *(*errmsg)(void *database);
};

/* Searches the library as the dynamic linker does. Returns false with ERR_ENV, which says what is
 * missing. */
bool sqlite_library_open(struct sqlite_library *ret, struct err *err);
void sqlite_library_close(struct sqlite_library *library); /* also if it is not open */

#endif
