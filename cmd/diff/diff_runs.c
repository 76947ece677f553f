#include "cmd/diff/diff_runs.h"

#include <sys/stat.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cli/text_file.h"
#include "cmd/cmd.h"
#include "trace/log/source.h"

enum content { CONTENT_TRACE, CONTENT_SNAPSHOT, CONTENT_OTHER_JSON };

/* Determines the kind of a regular file by its first bytes. trace_open() reports damage. */
static bool read_content_kind(const char *path, struct source_meter *meter, enum content *ret,
                              struct err *err)
{
    struct err why = { 0 };
    struct stat st;
    char start[512];
    size_t n = 0, got = 1;
    *ret = CONTENT_TRACE;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    struct source *in = source_open(path, &why);
    if (in)
        source_set_window_meter(in, meter);
    while (in && n < sizeof start && got > 0 &&
           source_read(in, start + n, sizeof start - n, &got, &why))
        n += got;
    source_close(in);
    if (why.kind == ERR_ENV)
        return err_set(err, ERR_ENV, "%s", why.text);
    struct str text = str_trim((struct str){ start, n });
    if (snapshot_looks_like(text))
        *ret = CONTENT_SNAPSHOT;
    else if (text.n > 0 && text.p[0] == '{')
        *ret = CONTENT_OTHER_JSON;
    return true;
}

static int open_snapshot(struct out *out, const char *path, struct snapshot **ret)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    if (text_file_read(path, &out->limit->meter, &text, &err) &&
        !(*ret = snapshot_read(buf_str(&text), &err)))
        err_at(&err, "%s", path);
    buf_release(&text);
    return *ret ? EXIT_DONE : out_error(out, &err);
}

static int open_side(struct out *out, const char *operand, bool strict, struct snapshot **ret)
{
    struct err err = { 0 };
    struct tape_arg tape;
    int code = tape_arg_open(&tape, out, operand, strict ? TAPE_ARG_STRICT : 0);
    if (code == EXIT_DONE && tape.selector.kind.n)
        code = out_usage(out,
                         "diff: %s: name a tape, a recording or a compile here, not a part of one",
                         operand);
    if (code == EXIT_DONE) {
        *ret = snapshot_take(tape.trace, &tape.selector, str_basename(str_of(operand)), &err);
        if (!*ret) {
            err_at(&err, "%s", operand);
            code = out_error(out, &err);
        }
    }
    tape_arg_close(&tape);
    return code;
}

int diff_run_open(struct out *out, const char *operand, bool strict, struct snapshot **ret)
{
    struct err err = { 0 };
    enum content content;
    *ret = NULL;
    if (!read_content_kind(operand, &out->limit->meter, &content, &err))
        return out_error(out, &err);
    if (content == CONTENT_SNAPSHOT)
        return open_snapshot(out, operand, ret);
    if (content == CONTENT_TRACE)
        return open_side(out, operand, strict, ret);
    err_set(&err, ERR_INPUT, "%s: JSON, but not written by symtape diff --save", operand);
    return out_error(out, &err);
}
