/* JSON lines, compressed with zstd: a file for each table. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "profile/tables/tables.h"
#include "trace/base/buf.h"
#include "trace/base/text/json_write.h"

#define SUFFIX ".jsonl.zst"

enum { PIECE = 1 << 20, LEVEL = 3 };

struct jsonl_sink {
    struct table_sink base;
    char *folder;
    bool made; /* the folder was made here */
    enum output_mode mode;
    struct output *outputs[TABLES]; /* all stay open, so that all files appear at the end */
    enum export_table table;
    ZSTD_CCtx *zstd;
    struct buf lines, packed; /* lines that are not compressed yet; what they become */
};

static struct jsonl_sink *jsonl_of(struct table_sink *sink)
{
    return (struct jsonl_sink *)sink;
}

/* Compresses the lines, and ends the frame if `last`. */
static bool pack(struct jsonl_sink *s, bool last, struct err *err)
{
    ZSTD_inBuffer in = { s->lines.p, s->lines.n, 0 };
    size_t left;
    if (s->lines.failed || !buf_reserve(&s->packed, ZSTD_CStreamOutSize()))
        return err_nomem(err);
    do {
        ZSTD_outBuffer out = { s->packed.p, s->packed.cap, 0 };
        left = ZSTD_compressStream2(s->zstd, &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left))
            return err_nomem(err); /* the only reason with these parameters */
        if (!output_write(s->outputs[s->table], (struct str){ s->packed.p, out.pos }, err))
            return false;
    } while (last ? left > 0 : in.pos < in.size);
    buf_clear(&s->lines);
    return true;
}

static bool finish_table(struct jsonl_sink *s, struct err *err)
{
    return s->table == TABLES || (pack(s, true, err) && output_flush(s->outputs[s->table], err));
}

static bool jsonl_table(struct table_sink *sink, enum export_table table, struct err *err)
{
    struct jsonl_sink *s = jsonl_of(sink);
    struct buf path = BUF_INIT;
    if (!finish_table(s, err))
        return false;
    s->table = TABLES;
    buf_printf(&path, "%s/%s" SUFFIX, s->folder, table_name(table));
    buf_putc(&path, '\0');
    if (path.failed)
        err_nomem(err);
    else
        s->outputs[table] = output_open(path.p, s->mode, err);
    buf_release(&path);
    if (!s->outputs[table])
        return false;
    s->table = table;
    return true;
}

static void put_cell(struct json_writer *w, enum export_column column,
                     const struct table_cell *cell)
{
    const char *name = column_name(column);
    if (cell->null)
        json_put_null(w, name);
    else if (column_type(column) == COLUMN_TEXT)
        json_put_str(w, name, cell->text);
    else if (column_type(column) == COLUMN_BOOLEAN)
        json_put_bool(w, name, cell->integer != 0);
    else
        json_put_i64(w, name, cell->integer);
}

static bool jsonl_row(struct table_sink *sink, const struct table_cell *cells, struct err *err)
{
    struct jsonl_sink *s = jsonl_of(sink);
    struct json_writer w = json_writer_of(&s->lines);
    enum export_column first = table_first_column(s->table);
    unsigned n = table_n_columns(s->table);
    json_open_object(&w, NULL);
    for (unsigned i = 0; i < n; i++)
        put_cell(&w, first + i, &cells[i]);
    json_close(&w);
    buf_putc(&s->lines, '\n');
    return s->lines.failed ? err_nomem(err) : s->lines.n < PIECE || pack(s, false, err);
}

static void jsonl_free(struct jsonl_sink *s)
{
    ZSTD_freeCCtx(s->zstd);
    buf_release(&s->lines);
    buf_release(&s->packed);
    free(s->folder);
    free(s);
}

/* A folder that is not empty is not ours alone, and stays. */
static bool jsonl_end(struct table_sink *sink, bool good, struct err *err)
{
    struct jsonl_sink *s = jsonl_of(sink);
    good = good && finish_table(s, err);
    if (good)
        good = output_commit_all(s->outputs, TABLES, err);
    else
        for (enum export_table table = 0; table < TABLES; table++)
            output_abort(s->outputs[table]);
    if (!good && s->made)
        (void)!rmdir(s->folder);
    jsonl_free(s);
    return good;
}

static bool make_folder(struct jsonl_sink *s, struct err *err)
{
    s->made = mkdir(s->folder, 0777) == 0;
    return s->made || errno == EEXIST || err_errno(err, "%s", s->folder);
}

struct table_sink *jsonl_sink_open(const char *folder, enum output_mode mode, struct err *err)
{
    struct jsonl_sink *s = calloc(1, sizeof *s);
    if (!s) {
        err_nomem(err);
        return NULL;
    }
    *s = (struct jsonl_sink){ .base = { jsonl_table, jsonl_row, jsonl_end },
                              .folder = strdup(folder),
                              .mode = mode,
                              .table = TABLES,
                              .zstd = ZSTD_createCCtx() };
    bool ok = (s->folder && s->zstd &&
               !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, LEVEL)) &&
               !ZSTD_isError(ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_checksumFlag, 1))) ||
              err_nomem(err);
    if (ok && make_folder(s, err))
        return &s->base;
    jsonl_free(s);
    return NULL;
}
