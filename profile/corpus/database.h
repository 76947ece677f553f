/* A connection to a database of SQLite, with errors as values.
 *
 * DATABASE_READ is for files that may be a stranger's. It reads that file alone, and neither its
 * journal nor its log; it takes no statement but SELECT, no PRAGMA, no ATTACH, no extension, no
 * virtual table of the file's, no function that is not harmless; what it sorts stays in memory;
 * lengths and depths are limited, and database_set_time() limits the time. A schema is not trusted:
 * views cannot call what a query cannot. */
#ifndef SYMTAPE_PROFILE_CORPUS_DATABASE_H
#define SYMTAPE_PROFILE_CORPUS_DATABASE_H

#include "profile/tables/sqlite_library.h"
#include "trace/base/buf.h"

enum database_mode { DATABASE_READ, DATABASE_WRITE };

struct database {
    struct sqlite_library library;
    void *handle;
    enum database_mode mode;
    uint64_t end_ms; /* of the clock; 0: no limit */
    bool late;       /* a statement was ended by the limit */
};

/* Opens a file. `ret` must not move until database_close(), which is also required after a
 * failure. */
bool database_open(struct database *ret, const char *path, enum database_mode mode,
                   struct err *err);
void database_close(struct database *database);

/* From now on, statements fail after so many milliseconds. */
void database_set_time(struct database *database, uint64_t ms);

/* Sets the error of the last call that failed, and returns false: memory, ERR_INPUT for a damaged
 * file, ERR_USAGE for a statement that is wrong or not allowed, and else ERR_ENV. */
bool database_fail(const struct database *database, struct err *err);

bool database_run(struct database *database, const char *sql, struct err *err);
/* Prepares one statement, which is to be finalized; NULL on failure. */
void *database_prepare(struct database *database, const char *sql, struct err *err);
void database_finalize(struct database *database, void *statement); /* NULL is allowed */
/* Steps to the next row; *row is false at the end. */
bool database_step(struct database *database, void *statement, bool *row, struct err *err);
/* Returns the text of a column, which is valid until the next step; "" for NULL. */
struct str database_text(const struct database *database, void *statement, int column);

#endif
