/* Files of JSON lines, joined by the name of the tape. Lines are indexed, sorted and copied, so
 * that memory has one of them at a time. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/each/each.h"
#include "trace/base/arena.h"
#include "trace/base/file/file.h"
#include "trace/base/file/output.h"
#include "trace/base/sha256.h"
#include "trace/base/text/json.h"
#include "trace/base/vec.h"

struct line {
    struct str tape;
    size_t file;
    uint64_t offset;
    size_t n; /* with its newline */
    unsigned char hash[SHA256_BYTES];
};

struct lines {
    struct cmd *cmd;
    struct file *files; /* of the operands */
    vec_of(struct line)
    lines;
    struct arena arena;
    struct json doc;
    int code;
};

/* ---- Reading ---- */

static bool add_line(struct lines *l, size_t file, uint64_t offset, struct str text,
                     struct err *err)
{
    struct line line = { .file = file, .offset = offset, .n = text.n };
    int64_t code = -1;
    if (!json_parse(&l->doc, text, err))
        return false;
    struct str schema =
        json_decoded(&l->doc, json_get(&l->doc, JSON_ROOT, STR("schema")), &l->arena);
    struct str tape = json_decoded(&l->doc, json_get(&l->doc, JSON_ROOT, STR("tape")), &l->arena);
    line.tape = tape.p ? arena_copy(&l->arena, tape) : tape;
    if (!schema.p || !line.tape.p)
        return err_nomem(err);
    if (!str_is(schema, SCHEMA_EACH) || line.tape.n == 0 ||
        !json_i64(&l->doc, json_get(&l->doc, JSON_ROOT, STR("exit")), &code) || code < 0 ||
        code > 255)
        return err_set(err, ERR_INPUT, "not a line of symtape each");
    l->code = each_worse(l->code, (int)code);
    sha256(text, line.hash);
    return vec_push(&l->lines, line) || err_nomem(err);
}

/* Reads a file in pieces, and adds each line. */
static bool index_file(struct lines *l, size_t i, struct err *err)
{
    enum { PIECE = 1 << 18 };
    const struct file *file = &l->files[i];
    struct buf text = BUF_INIT;
    uint64_t at = 0;
    bool ok = true;
    while (ok && at < file->size) {
        uint64_t left = file->size - at - text.n;
        size_t n = left < PIECE ? (size_t)left : PIECE;
        size_t end = str_find_char(buf_str(&text), '\n');
        if (end < text.n) {
            ok = add_line(l, i, at, str_first(buf_str(&text), end + 1), err);
            at += ok ? end + 1 : 0;
            memmove(text.p, text.p + end + 1, text.n - end - 1);
            text.n -= end + 1;
        } else if (n == 0) {
            ok = err_set(err, ERR_INPUT, "the last line is not complete");
        } else {
            ok = (buf_reserve(&text, n) || err_nomem(err)) &&
                 file_read(file, at + text.n, text.p + text.n, n, err);
            text.n += ok ? n : 0;
        }
    }
    buf_release(&text);
    return ok || err_at(err, "%s: line at byte %llu", l->cmd->operands[i], (unsigned long long)at);
}

/* A part may have no tapes. */
static bool is_empty(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0;
}

static bool index_files(struct lines *l, struct err *err)
{
    size_t n = l->cmd->n_operands;
    bool ok = true;
    l->files = calloc(n + 1, sizeof *l->files);
    if (!l->files)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        l->files[i] = FILE_NONE;
    for (size_t i = 0; ok && i < n; i++) {
        if (is_empty(l->cmd->operands[i]))
            continue;
        ok = file_open(&l->files[i], l->cmd->operands[i], err);
        if (ok)
            l->cmd->out->limit->meter.stored(&l->cmd->out->limit->meter, l->files[i].size);
        ok = ok && index_file(l, i, err);
    }
    return ok;
}

/* ---- Writing ---- */

static int by_tape(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    size_t n = x->tape.n < y->tape.n ? x->tape.n : y->tape.n;
    int order = memcmp(x->tape.p, y->tape.p, n);
    if (order || x->tape.n != y->tape.n)
        return order ? order : x->tape.n < y->tape.n ? -1 : 1;
    return memcmp(x->hash, y->hash, SHA256_BYTES);
}

static bool copy_line(struct lines *l, const struct line *line, struct output *output,
                      struct buf *text, struct err *err)
{
    return file_read_buf(&l->files[line->file], line->offset, line->n, text, err) &&
           output_write(output, buf_str(text), err);
}

static bool copy_lines(struct lines *l, struct output *output, struct err *err)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    if (l->lines.n > 0)
        qsort(l->lines.v, l->lines.n, sizeof *l->lines.v, by_tape);
    for (size_t i = 0; ok && i < l->lines.n; i++) {
        const struct line *line = &l->lines.v[i], *last = i > 0 ? line - 1 : NULL;
        bool again = last && str_eq(last->tape, line->tape);
        if (again && memcmp(last->hash, line->hash, SHA256_BYTES) != 0)
            ok = err_set(err, ERR_INPUT, "%.*s: two parts have different results of it",
                         STR_ARG(line->tape));
        else if (!again)
            ok = copy_line(l, line, output, &text, err);
    }
    buf_release(&text);
    return ok;
}

static bool write_lines(struct lines *l, const char *path, bool overwrite, struct err *err)
{
    struct output *output = output_open(path, overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, err);
    if (!output)
        return false;
    if (copy_lines(l, output, err))
        return output_commit(output, err);
    output_abort(output);
    return false;
}

int merge_lines(struct cmd *cmd, const char *output, bool overwrite)
{
    struct lines l = { .cmd = cmd };
    struct err err = { 0 };
    bool ok = index_files(&l, &err) && write_lines(&l, output, overwrite, &err);
    int code = ok ? l.code : out_error(cmd->out, &err);
    for (size_t i = 0; l.files && i < cmd->n_operands; i++)
        file_close(&l.files[i]);
    free(l.files);
    vec_release(&l.lines);
    json_release(&l.doc);
    arena_release(&l.arena);
    return code;
}
