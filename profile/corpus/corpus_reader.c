/* Reads tapes of a corpus. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/corpus/corpus_schema.h"

struct corpus_reader {
    struct database database;
    void *rows[TABLES], *span;
    struct corpus_span spans[TABLES];      /* of the tape that is copied */
    enum export_table references[COLUMNS]; /* column_reference() */
};

int corpus_tape_compare(const struct corpus_tape *a, const struct corpus_tape *b)
{
    return memcmp(a->key, b->key, SHA256_BYTES);
}

bool corpus_tape_same(const struct corpus_tape *a, const struct corpus_tape *b)
{
    return corpus_tape_compare(a, b) == 0 && str_eq(a->name, b->name) &&
           str_eq(a->model, b->model) && str_eq(a->revision, b->revision) && a->bytes == b->bytes;
}

bool corpus_is_database(const char *path, bool *ret, struct err *err)
{
    static const char magic[16] = "SQLite format 3";
    char bytes[sizeof magic];
    *ret = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT || err_errno(err, "%s", path);
    ssize_t n = pread(fd, bytes, sizeof bytes, 0);
    if (n < 0 && errno != ESPIPE && errno != EISDIR)
        err_errno(err, "%s", path);
    close(fd);
    *ret = n == (ssize_t)sizeof bytes && memcmp(bytes, magic, sizeof magic) == 0;
    return !err_is_set(err);
}

/* ---- Tapes ---- */

static int digit(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_key(struct str hex, unsigned char key[SHA256_BYTES])
{
    bool ok = hex.n == 2 * SHA256_BYTES;
    for (size_t i = 0; ok && i < SHA256_BYTES; i++) {
        int high = digit(hex.p[2 * i]), low = digit(hex.p[2 * i + 1]);
        ok = high >= 0 && low >= 0;
        key[i] = (unsigned char)(high << 4 | low);
    }
    return ok;
}

static bool read_text(struct database *database, void *statement, int column, struct arena *arena,
                      struct str *ret)
{
    struct str text = database_text(database, statement, column);
    *ret = text.n > 0 ? arena_copy(arena, text) : STR("");
    return ret->p;
}

static bool read_tape(struct database *database, void *statement, struct arena *arena,
                      struct corpus_tapes *ret, struct err *err)
{
    struct corpus_tape tape = { 0 };
    size_t n = ret->tapes.n;
    long long id = database->library.column_int64(statement, TAPES_ID);
    long long bytes = database->library.column_int64(statement, TAPES_BYTES);
    if (id != (long long)n + 1 || bytes < 0 ||
        !read_key(database_text(database, statement, TAPES_KEY), tape.key) ||
        (n > 0 && corpus_tape_compare(&ret->tapes.v[n - 1], &tape) >= 0))
        return err_set(err, ERR_INPUT, "the corpus is damaged: table tapes");
    tape.bytes = (uint64_t)bytes;
    return (read_text(database, statement, TAPES_NAME, arena, &tape.name) &&
            read_text(database, statement, TAPES_MODEL, arena, &tape.model) &&
            read_text(database, statement, TAPES_REVISION, arena, &tape.revision) &&
            vec_push(&ret->tapes, tape)) ||
           err_nomem(err);
}

bool corpus_tapes_read(struct database *database, struct arena *arena, struct corpus_tapes *ret,
                       struct err *err)
{
    static const char sql[] =
        "SELECT id, \"key\", name, model, revision, bytes FROM \"tapes\" ORDER BY id";
    bool row = true;
    void *statement = database_prepare(database, sql, err);
    bool ok = statement;
    while (ok && row) {
        ok = database_step(database, statement, &row, err);
        ok = ok && (!row || read_tape(database, statement, arena, ret, err));
    }
    database_finalize(database, statement);
    return ok;
}

bool corpus_reader_tapes(struct corpus_reader *reader, struct arena *arena,
                         struct corpus_tapes *ret, struct err *err)
{
    return corpus_tapes_read(&reader->database, arena, ret, err);
}

/* ---- Rows ---- */

/* Makes an id of the corpus one of the tape. */
static bool move_id(const struct corpus_span *span, struct table_cell *cell)
{
    cell->integer -= span->first;
    return cell->integer >= 0 && cell->integer < span->count;
}

static bool read_cell(struct corpus_reader *r, void *statement, int i, enum export_column column,
                      struct table_cell *ret)
{
    const struct sqlite_library *library = &r->database.library;
    bool text = column_type(column) == COLUMN_TEXT;
    enum export_table reference = r->references[column];
    int type = library->column_type(statement, i);
    *ret = (struct table_cell){ .null = type == SQLITE_NULL };
    if (ret->null)
        return column_type(column) != COLUMN_KEY;
    if (type != (text ? SQLITE_TEXT : SQLITE_INTEGER))
        return false;
    if (text) {
        ret->text = database_text(&r->database, statement, i);
        return true;
    }
    ret->integer = library->column_int64(statement, i);
    return reference == TABLES || move_id(&r->spans[reference], ret);
}

static bool copy_row(struct corpus_reader *r, enum export_table table, struct table_sink *sink,
                     struct err *err)
{
    struct table_cell cells[TABLE_MOST_COLUMNS];
    enum export_column first = table_first_column(table);
    for (unsigned i = 0; i < table_n_columns(table); i++)
        if (!read_cell(r, r->rows[table], (int)i, first + i, &cells[i]))
            return err_set(err, ERR_INPUT, "the corpus is damaged: table %s", table_name(table));
    return sink->row(sink, cells, err);
}

static bool copy_table(struct corpus_reader *r, enum export_table table, struct table_sink *sink,
                       struct err *err)
{
    const struct sqlite_library *library = &r->database.library;
    const struct corpus_span *span = &r->spans[table];
    void *rows = r->rows[table];
    bool row = true;
    bool ok = (library->bind_int64(rows, 1, span->first) == SQLITE_OK &&
               library->bind_int64(rows, 2, span->first + span->count) == SQLITE_OK) ||
              database_fail(&r->database, err);
    ok = ok && sink->table(sink, table, err);
    while (ok && row) {
        ok = database_step(&r->database, rows, &row, err);
        ok = ok && (!row || copy_row(r, table, sink, err));
    }
    (void)library->reset(rows);
    return ok;
}

bool corpus_reader_copy(struct corpus_reader *r, uint64_t n, struct table_sink *sink,
                        struct err *err)
{
    bool ok = true;
    for (enum export_table table = 0; ok && table < TABLES; table++)
        ok = corpus_span_read(&r->database, r->span, n, table, &r->spans[table], err);
    for (enum export_table table = 0; ok && table < TABLES; table++)
        ok = copy_table(r, table, sink, err);
    return ok;
}

/* ---- The beginning and the end ---- */

static bool prepare_rows(struct corpus_reader *r, enum export_table table, struct err *err)
{
    struct buf sql = BUF_INIT;
    buf_printf(&sql, "SELECT * FROM \"%s\" WHERE rowid >= ? AND rowid < ? ORDER BY rowid",
               table_name(table));
    buf_putc(&sql, '\0');
    if (sql.failed)
        err_nomem(err);
    else
        r->rows[table] = database_prepare(&r->database, sql.p, err);
    buf_release(&sql);
    return r->rows[table];
}

struct corpus_reader *corpus_reader_open(const char *path, struct err *err)
{
    struct corpus_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_nomem(err);
        return NULL;
    }
    for (enum export_column column = 0; column < COLUMNS; column++)
        r->references[column] = column_reference(column);
    bool ok = database_open(&r->database, path, DATABASE_READ, err) &&
              corpus_schema_check(&r->database, err);
    for (enum export_table table = 0; ok && table < TABLES; table++)
        ok = prepare_rows(r, table, err);
    r->span = ok ? corpus_span_statement(&r->database, err) : NULL;
    if (r->span)
        return r;
    err_at(err, "%s", path);
    corpus_reader_close(r);
    return NULL;
}

void corpus_reader_close(struct corpus_reader *r)
{
    if (!r)
        return;
    for (enum export_table table = 0; table < TABLES; table++)
        database_finalize(&r->database, r->rows[table]);
    database_finalize(&r->database, r->span);
    database_close(&r->database);
    free(r);
}
