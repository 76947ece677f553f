/* SQLite's library, opened at run time. */
#ifndef SYMTAPE_PROFILE_TABLES_SQLITE_LIBRARY_H
#define SYMTAPE_PROFILE_TABLES_SQLITE_LIBRARY_H

#include <stdint.h>

#include "trace/base/err.h"

/* Results and flags of SQLite's header, which is not needed to build symtape. */
enum {
    SQLITE_OK = 0,
    SQLITE_NOMEM = 7,
    SQLITE_IOERR_NOMEM = 10 | 12 << 8,
    SQLITE_DONE = 101,
    SQLITE_OPEN_READWRITE = 2,
    SQLITE_OPEN_CREATE = 4,
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
    int (*step)(void *statement);
    int (*reset)(void *statement);
    int (*finalize)(void *statement);
    int (*extended_errcode)(void *database);
    const char *(*errmsg)(void *database);
};

/* Searches the library as the dynamic linker does. Returns false with ERR_ENV, which says what is
 * missing. */
bool sqlite_library_open(struct sqlite_library *ret, struct err *err);
void sqlite_library_close(struct sqlite_library *library); /* also if it is not open */

#endif
