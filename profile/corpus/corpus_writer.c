/* Appends tapes to a corpus. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/corpus/corpus_schema.h"
#include "profile/tables/sqlite_table.h"
#include "trace/base/text/printable.h"

/* A transaction ends when it has so many tapes, or tapes of so many bytes. */
enum { BATCH_TAPES = 64, BATCH_BYTES = 64 << 20 };

struct corpus_writer {
    struct table_sink sink; /* of the current tape */
    struct database database;
    const char *path;
    int lock; /* of the file, held until it is closed */
    void *insertions[TABLES], *tape, *span;
    uint64_t n; /* tapes */
    uint64_t batch_tapes, batch_bytes;
    bool open_batch;
    struct corpus_tape current; /* its key and bytes */
    unsigned char last_key[SHA256_BYTES];
    enum export_table table;
    enum export_table references[COLUMNS]; /* column_reference() */
    int64_t rows;                          /* of the current table */
    int64_t base[TABLES];                  /* the first id that the tape may have */
    int64_t count[TABLES];                 /* how many ids it has, or refers to */
};

static struct corpus_writer *writer_of(struct table_sink *sink)
{
    return (struct corpus_writer *)sink;
}

/* ---- Rows ---- */

static bool writer_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    struct corpus_writer *w = writer_of(sink);
    (void)err;
    w->table = table;
    w->rows = 0;
    return true;
}

/* Makes an id of the tape one of the corpus. */
static bool move_id(struct corpus_writer *w, enum export_table table, struct table_cell *cell,
                    struct err *err)
{
    if (cell->null)
        return true;
    if (cell->integer < 0 || cell->integer > UINT32_MAX)
        return err_set(err, ERR_INPUT, "an id of table %s is out of range", table_name(table));
    if (cell->integer >= w->count[table])
        w->count[table] = cell->integer + 1;
    cell->integer += w->base[table];
    return true;
}

static bool move_ids(struct corpus_writer *w, struct table_cell *cells, struct err *err)
{
    enum export_column first = table_first_column(w->table);
    for (unsigned i = 0; i < table_n_columns(w->table); i++) {
        enum export_table table = w->references[first + i];
        if (table != TABLES && !move_id(w, table, &cells[i], err))
            return false;
    }
    return true;
}

static bool insert(struct corpus_writer *w, void *statement, struct err *err)
{
    bool ok = w->database.library.step(statement) == SQLITE_DONE;
    ok = w->database.library.reset(statement) == SQLITE_OK && ok;
    return ok || database_fail(&w->database, err);
}

static bool writer_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    struct corpus_writer *w = writer_of(sink);
    struct table_cell moved[TABLE_MOST_COLUMNS];
    unsigned n = table_n_columns(w->table);
    void *statement = w->insertions[w->table];
    memcpy(moved, cells, n * sizeof *moved);
    if (!move_ids(w, moved, err))
        return false;
    w->rows++;
    if (column_type(table_first_column(w->table)) != COLUMN_KEY)
        w->count[w->table] = w->rows;
    bool bound =
        sqlite_bind_cells(&w->database.library, statement, w->table, moved) &&
        w->database.library.bind_int64(statement, (int)n + 1, (int64_t)w->n + 1) == SQLITE_OK;
    return bound ? insert(w, statement, err) : database_fail(&w->database, err);
}

/* ---- Tapes ---- */

static bool bind_text(struct corpus_writer *w, int place, struct str text, struct buf *clean)
{
    const struct sqlite_library *library = &w->database.library;
    buf_clear(clean);
    printable_put(clean, text);
    if (clean->failed)
        return false;
    return text.n > 0 ? sqlite_bind_str(library, w->tape, place, buf_str(clean))
                      : library->bind_null(w->tape, place) == SQLITE_OK;
}

static void put_key(const unsigned char key[SHA256_BYTES], char hex[2 * SHA256_BYTES])
{
    for (size_t i = 0; i < SHA256_BYTES; i++) {
        hex[2 * i] = "0123456789abcdef"[key[i] >> 4];
        hex[2 * i + 1] = "0123456789abcdef"[key[i] & 15];
    }
}

static bool insert_tape(struct corpus_writer *w, const struct corpus_tape *tape, struct err *err)
{
    const struct sqlite_library *library = &w->database.library;
    struct buf name = BUF_INIT, model = BUF_INIT, revision = BUF_INIT;
    char key[2 * SHA256_BYTES];
    put_key(tape->key, key);
    bool bound =
        library->bind_int64(w->tape, TAPES_ID + 1, (int64_t)w->n + 1) == SQLITE_OK &&
        sqlite_bind_str(library, w->tape, TAPES_KEY + 1, (struct str){ key, sizeof key }) &&
        bind_text(w, TAPES_NAME + 1, tape->name, &name) &&
        bind_text(w, TAPES_MODEL + 1, tape->model, &model) &&
        bind_text(w, TAPES_REVISION + 1, tape->revision, &revision) &&
        library->bind_int64(w->tape, TAPES_BYTES + 1, (int64_t)tape->bytes) == SQLITE_OK;
    bool ok = bound                                            ? insert(w, w->tape, err)
              : name.failed || model.failed || revision.failed ? err_nomem(err)
                                                               : database_fail(&w->database, err);
    buf_release(&name);
    buf_release(&model);
    buf_release(&revision);
    return ok;
}

static bool insert_span(struct corpus_writer *w, enum export_table table, struct err *err)
{
    const struct sqlite_library *library = &w->database.library;
    bool bound = library->bind_int64(w->span, 1, corpus_span_id(w->n, table)) == SQLITE_OK &&
                 library->bind_int64(w->span, 2, (int64_t)w->n + 1) == SQLITE_OK &&
                 sqlite_bind_str(library, w->span, 3, str_of(table_name(table))) &&
                 library->bind_int64(w->span, 4, w->base[table]) == SQLITE_OK &&
                 library->bind_int64(w->span, 5, w->count[table]) == SQLITE_OK;
    return bound ? insert(w, w->span, err) : database_fail(&w->database, err);
}

static bool end_batch(struct corpus_writer *w, struct err *err)
{
    if (!w->open_batch)
        return true;
    w->open_batch = false;
    w->batch_tapes = w->batch_bytes = 0;
    return database_run(&w->database, "COMMIT", err);
}

static bool writer_end(struct table_sink *sink, bool good, struct err *err)
{
    struct corpus_writer *w = writer_of(sink);
    for (enum export_table table = 0; good && table < TABLES; table++)
        good = insert_span(w, table, err);
    if (!good)
        return false;
    for (enum export_table table = 0; table < TABLES; table++) {
        w->base[table] += w->count[table];
        w->count[table] = 0;
    }
    w->n++;
    memcpy(w->last_key, w->current.key, SHA256_BYTES);
    w->batch_tapes++;
    w->batch_bytes += w->current.bytes;
    return (w->batch_tapes < BATCH_TAPES && w->batch_bytes < BATCH_BYTES) || end_batch(w, err);
}

struct table_sink *corpus_writer_begin(struct corpus_writer *w, const struct corpus_tape *tape,
                                       struct err *err)
{
    if (w->n > 0 && memcmp(tape->key, w->last_key, SHA256_BYTES) <= 0) {
        err_set(err, ERR_INPUT, "the tapes are not in the order of their keys");
        return NULL;
    }
    if (!w->open_batch && !database_run(&w->database, "BEGIN", err))
        return NULL;
    w->open_batch = true;
    w->current = *tape;
    return insert_tape(w, tape, err) ? &w->sink : NULL;
}

/* ---- The beginning and the end ---- */

static bool prepare_insertion(struct corpus_writer *w, enum export_table table, struct err *err)
{
    struct buf sql = BUF_INIT;
    sqlite_put_insertion(table, true, &sql);
    buf_putc(&sql, '\0');
    if (sql.failed)
        err_nomem(err);
    else
        w->insertions[table] = database_prepare(&w->database, sql.p, err);
    buf_release(&sql);
    return w->insertions[table];
}

static bool prepare_all(struct corpus_writer *w, struct err *err)
{
    bool ok = true;
    for (enum export_table table = 0; ok && table < TABLES; table++)
        ok = prepare_insertion(w, table, err);
    w->tape = ok ? database_prepare(&w->database, "INSERT INTO \"tapes\" VALUES (?,?,?,?,?,?)", err)
                 : NULL;
    w->span = w->tape
                  ? database_prepare(&w->database, "INSERT INTO \"spans\" VALUES (?,?,?,?,?)", err)
                  : NULL;
    return w->span;
}

/* Continues after the tapes that are there. */
static bool find_end(struct corpus_writer *w, const struct corpus_tapes *tapes, struct err *err)
{
    void *spans = corpus_span_statement(&w->database, err);
    bool ok = spans;
    w->n = tapes->tapes.n;
    for (enum export_table table = 0; table < TABLES; table++) {
        struct corpus_span span = { .first = 1 };
        ok =
            ok && (w->n == 0 || corpus_span_read(&w->database, spans, w->n - 1, table, &span, err));
        w->base[table] = span.first + span.count;
    }
    if (w->n > 0)
        memcpy(w->last_key, tapes->tapes.v[w->n - 1].key, SHA256_BYTES);
    database_finalize(&w->database, spans);
    return ok;
}

/* Returns whether the file has no tables yet. */
static bool is_new(struct corpus_writer *w, bool *ret, struct err *err)
{
    bool row = false;
    void *statement = database_prepare(&w->database, "SELECT 1 FROM sqlite_master", err);
    bool ok = statement && database_step(&w->database, statement, &row, err);
    database_finalize(&w->database, statement);
    *ret = !row;
    return ok;
}

static bool begin_corpus(struct corpus_writer *w, struct corpus_tapes *tapes, struct arena *arena,
                         struct err *err)
{
    static const char settings[] = "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8';"
                                   "PRAGMA auto_vacuum = NONE; PRAGMA journal_mode = DELETE;"
                                   "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384";
    bool fresh;
    if (!database_run(&w->database, settings, err) || !is_new(w, &fresh, err))
        return false;
    if (fresh &&
        !(database_run(&w->database, "BEGIN", err) && corpus_schema_create(&w->database, err) &&
          database_run(&w->database, "COMMIT", err)))
        return false;
    return corpus_schema_check(&w->database, err) &&
           corpus_tapes_read(&w->database, arena, tapes, err) && find_end(w, tapes, err) &&
           prepare_all(w, err);
}

/* Returns whether the file that is locked has the name still: another process may have renamed or
 * removed it. */
static bool has_name(const struct corpus_writer *w)
{
    struct stat named, locked;
    return stat(w->path, &named) == 0 && fstat(w->lock, &locked) == 0 &&
           named.st_dev == locked.st_dev && named.st_ino == locked.st_ino;
}

static bool is_alone(const struct corpus_writer *w, bool alone, struct err *err)
{
    return alone || err_set(err, ERR_ENV, "%s: another process writes it", w->path);
}

static bool lock_file(struct corpus_writer *w, struct err *err)
{
    w->lock = open(w->path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (w->lock < 0)
        return err_errno(err, "%s", w->path);
    bool locked = flock(w->lock, LOCK_EX | LOCK_NB) == 0;
    if (!locked && errno != EWOULDBLOCK) /* the file system has no locks */
        return err_errno(err, "%s", w->path);
    return is_alone(w, locked && has_name(w), err);
}

struct corpus_writer *corpus_writer_open(const char *path, struct err *err)
{
    struct corpus_writer *w = calloc(1, sizeof *w);
    struct corpus_tapes tapes = { 0 };
    struct arena arena = ARENA_INIT;
    if (!w) {
        err_nomem(err);
        return NULL;
    }
    w->sink = (struct table_sink){ writer_table, writer_row, writer_end };
    w->path = path;
    w->lock = -1;
    for (enum export_column column = 0; column < COLUMNS; column++)
        w->references[column] = column_reference(column);
    bool ok = lock_file(w, err);
    if (ok && !(database_open(&w->database, path, DATABASE_WRITE, err) &&
                begin_corpus(w, &tapes, &arena, err)))
        ok = err_at(err, "%s", path);
    vec_release(&tapes.tapes);
    arena_release(&arena);
    if (ok)
        return w;
    (void)corpus_writer_close(w, false, err);
    return NULL;
}

uint64_t corpus_writer_tapes(const struct corpus_writer *w)
{
    return w->n;
}

/* Rolls back what was not ended. */
static void close_database(struct corpus_writer *w)
{
    for (enum export_table table = 0; table < TABLES; table++) {
        database_finalize(&w->database, w->insertions[table]);
        w->insertions[table] = NULL;
    }
    database_finalize(&w->database, w->tape);
    database_finalize(&w->database, w->span);
    w->tape = w->span = NULL;
    database_close(&w->database);
}

bool corpus_writer_finish(struct corpus_writer *w, struct err *err)
{
    bool good = end_batch(w, err);
    close_database(w);
    if (good && fsync(w->lock) != 0)
        good = err_errno(err, "%s", w->path);
    return good && is_alone(w, has_name(w), err);
}

bool corpus_writer_close(struct corpus_writer *w, bool good, struct err *err)
{
    if (!w)
        return false;
    good = good && corpus_writer_finish(w, err);
    close_database(w);
    if (w->lock >= 0)
        close(w->lock);
    free(w);
    return good;
}
