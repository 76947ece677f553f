/* A database of SQLite. SQLite writes to places that it chooses, so that it gets a file in a
 * private folder; the complete database is then copied to the output. Texts are bound to
 * parameters of statements, and are never part of one. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "profile/tables/sqlite_table.h"
#include "profile/tables/tables.h"
#include "trace/base/buf.h"
#include "trace/base/file/scratch.h"

#define DATABASE "tables.sqlite"

struct sqlite_sink {
    struct table_sink base;
    struct sqlite_library library;
    struct output *output;
    struct scratch scratch;
    void *database, *insert; /* insert: into the current table */
    enum export_table table;
};

static struct sqlite_sink *sqlite_of(struct table_sink *sink)
{
    return (struct sqlite_sink *)sink;
}

static bool fail(const struct sqlite_sink *s, struct err *err)
{
    int code = s->database ? s->library.extended_errcode(s->database) : SQLITE_NOMEM;
    if (code == SQLITE_NOMEM || code == SQLITE_IOERR_NOMEM)
        return err_nomem(err);
    return err_set(err, ERR_ENV, "cannot write the database in TMPDIR (%.*s): %s",
                   STR_ARG(scratch_disk(&s->scratch)), s->library.errmsg(s->database));
}

static bool run(const struct sqlite_sink *s, const char *sql, struct err *err)
{
    return s->library.exec(s->database, sql, NULL, NULL, NULL) == SQLITE_OK || fail(s, err);
}

static void finalize(struct sqlite_sink *s)
{
    if (s->insert)
        (void)s->library.finalize(s->insert);
    s->insert = NULL;
}

static bool sqlite_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    struct sqlite_sink *s = sqlite_of(sink);
    struct buf definition = BUF_INIT, insertion = BUF_INIT;
    finalize(s);
    s->table = table;
    sqlite_put_definition(table, false, &definition);
    buf_putc(&definition, '\0');
    sqlite_put_insertion(table, false, &insertion);
    buf_putc(&insertion, '\0');
    bool ok = (!definition.failed && !insertion.failed) || err_nomem(err);
    ok = ok && run(s, definition.p, err);
    if (ok && s->library.prepare_v2(s->database, insertion.p, -1, &s->insert, NULL) != SQLITE_OK)
        ok = fail(s, err);
    buf_release(&definition);
    buf_release(&insertion);
    return ok;
}

static bool sqlite_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    struct sqlite_sink *s = sqlite_of(sink);
    bool ok = sqlite_bind_cells(&s->library, s->insert, s->table, cells);
    ok = ok && s->library.step(s->insert) == SQLITE_DONE;
    ok = s->library.reset(s->insert) == SQLITE_OK && ok;
    return ok || fail(s, err);
}

/* ---- The end ---- */

static bool close_database(struct sqlite_sink *s)
{
    finalize(s);
    bool ok = !s->database || s->library.close(s->database) == SQLITE_OK;
    s->database = NULL;
    return ok;
}

static bool copy_pieces(const struct sqlite_sink *s, int fd, char *piece, size_t size,
                        struct err *err)
{
    for (;;) {
        ssize_t n = read(fd, piece, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(err, "cannot read the database in TMPDIR");
        if (n == 0)
            return true;
        if (!output_write(s->output, (struct str){ piece, (size_t)n }, err))
            return false;
    }
}

/* The folder is removed before the copy: a reader of standard output that goes away ends this
 * process. */
static bool copy_database(struct sqlite_sink *s, struct err *err)
{
    enum { PIECE = 1 << 18 };
    int fd = openat(s->scratch.fd, DATABASE, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return scratch_errno(&s->scratch, "cannot read the database", err);
    (void)scratch_remove(&s->scratch);
    char *piece = malloc(PIECE);
    bool ok = piece ? copy_pieces(s, fd, piece, PIECE, err) : err_nomem(err);
    free(piece);
    close(fd);
    return ok;
}

static bool sqlite_end(struct table_sink *sink, bool good, struct err *err)
{
    struct sqlite_sink *s = sqlite_of(sink);
    finalize(s);
    good = good && run(s, "COMMIT", err);
    bool closed = close_database(s);
    good = good && (closed || err_set(err, ERR_ENV, "cannot close the database"));
    good = good && copy_database(s, err);
    if (good)
        good = output_commit(s->output, err);
    else
        output_abort(s->output);
    (void)scratch_remove(&s->scratch);
    sqlite_library_close(&s->library);
    free(s);
    return good;
}

/* ---- The beginning ---- */

static bool open_database(struct sqlite_sink *s, struct err *err)
{
    /* The file is new and private: no journal is needed, and nothing reads it before the end. */
    static const char settings[] = "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                   "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;"
                                   "BEGIN";
    char *path = NULL;
    if (asprintf(&path, "%s/" DATABASE, s->scratch.path) < 0)
        return err_nomem(err);
    int code =
        s->library.open_v2(path, &s->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    free(path);
    return code == SQLITE_OK ? run(s, settings, err) : fail(s, err);
}

struct table_sink *sqlite_sink_open(const char *path, enum output_mode mode, struct err *err)
{
    struct sqlite_sink *s = calloc(1, sizeof *s);
    if (!s) {
        err_nomem(err);
        return NULL;
    }
    s->base = (struct table_sink){ sqlite_table, sqlite_row, sqlite_end };
    s->output = sqlite_library_open(&s->library, err) ? output_open(path, mode, err) : NULL;
    if (s->output && scratch_make(&s->scratch, SCRATCH_TABLES, err) && open_database(s, err))
        return &s->base;
    (void)sqlite_end(&s->base, false, err);
    return NULL;
}
