/* Expectations: reading, judging, writing. */
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/text_file.h"
#include "cmd/dash/dash_cmd.h"
#include "cmd/dash/dash_files.h"
#include "trace/base/file/output.h"

/* A file that --update is to make begins with the columns of PyTorch's. */
static bool read_or_begin(struct dash_cmd *d, const char *path, struct buf *text, struct err *err)
{
    if (d->args->update && access(path, F_OK) != 0) {
        buf_puts(text, "name,accuracy,graph_breaks\n");
        return !text->failed || err_nomem(err);
    }
    return text_file_read(path, &d->cmd->out->limit->meter, text, err);
}

static bool read_expectations(struct dash_cmd *d, const char *path, struct err *err)
{
    struct buf text = BUF_INIT;
    struct expectations file = { .columns = 0 };
    uint32_t kept = intern(&d->dash->texts, str_of(path));
    bool ok = kept != INTERN_NONE || err_nomem(err);
    ok = ok && read_or_begin(d, path, &text, err);
    if (ok && !expectations_read(d->dash, dash_text(d->dash, kept), &text, &file, err))
        ok = err_at(err, "%s", path);
    buf_release(&text);
    if (ok && vec_push(&d->expectations, file))
        return true;
    expectations_release(&file);
    return !ok ? false : err_nomem(err);
}

static bool read_all(struct dash_cmd *d, struct err *err)
{
    struct dash_files files = { .list = { 0 } };
    struct stat info;
    const char *path = d->args->expect;
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode))
        return read_expectations(d, path, err);
    bool ok = dash_files_of_folder(path, 0, &files, err);
    dash_files_sort(&files);
    for (size_t i = 0; i < files.list.n && ok; i++)
        if (str_ends(str_of(files.list.v[i].path), STR(".csv")))
            ok = read_expectations(d, files.list.v[i].path, err);
    dash_files_release(&files);
    return ok;
}

static bool read_flaky(struct dash_cmd *d, struct err *err)
{
    struct str rest = str_of(d->args->flaky ? d->args->flaky : "");
    while (rest.n > 0) {
        size_t comma = str_find_char(rest, ',');
        if (!vec_push(&d->flaky, str_trim(str_first(rest, comma))))
            return err_nomem(err);
        rest = str_from(rest, comma + 1);
    }
    return true;
}

static bool is_any_used(const struct dash_cmd *d, struct err *err)
{
    for (size_t i = 0; i < d->expectations.n; i++)
        if (d->expectations.v[i].used)
            return true;
    return err_set(err, ERR_USAGE,
                   "dash: --expect %s is about none of the results: their suite, compiler, dtype, "
                   "mode or device is another one, or they have no status",
                   d->args->expect);
}

/* Returns whether a file has the bytes that were read from it: it is no pipe, it was not
 * compressed, and nobody else wrote it meanwhile. */
static bool is_as_read(const struct expectations *file)
{
    struct stat info;
    if (stat(file->path.p, &info) != 0)
        return true; /* it is to be made */
    return S_ISREG(info.st_mode) && (uint64_t)info.st_size == file->text.n;
}

/* The bytes as they are: out_report() would escape a carriage return. */
static bool write_file(const struct expectations *file, struct str text, struct err *err)
{
    const char *path = file->path.p;
    if (str_is(file->path, "-") || !is_as_read(file))
        return err_set(err, ERR_USAGE,
                       "%s: --update writes a plain file, and one that is as it was read", path);
    struct output *output = output_open(path, OUTPUT_REPLACE, err);
    if (!output)
        return false;
    if (!output_write(output, text, err)) {
        output_abort(output);
        return false;
    }
    return output_commit(output, err);
}

static int update_file(struct dash_cmd *d, size_t at)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    const struct expectations *file = &d->expectations.v[at];
    int code = expectations_update(file, (uint32_t)at, d->dash, &d->verdicts, &text, &err)
                   ? EXIT_DONE
                   : out_error(d->cmd->out, &err);
    bool same = str_eq(buf_str(&text), buf_str(&file->text));
    if (code == EXIT_DONE && !same && !write_file(file, buf_str(&text), &err))
        code = out_error(d->cmd->out, &err);
    if (code == EXIT_DONE && !same)
        out_note(d->cmd->out, "%.*s: updated", STR_ARG(file->path));
    buf_release(&text);
    return code;
}

int dash_expect(struct dash_cmd *d)
{
    struct err err = { 0 };
    bool ok = read_all(d, &err) && read_flaky(d, &err);
    const struct verdict_options options = { d->args->partial, d->flaky.v, d->flaky.n };
    ok = ok &&
         verdicts_make(d->dash, d->expectations.v, d->expectations.n, &options, &d->verdicts,
                       &err) &&
         is_any_used(d, &err);
    int code = ok ? EXIT_DONE : out_error(d->cmd->out, &err);
    for (size_t i = 0; i < d->expectations.n && code == EXIT_DONE && d->args->update; i++)
        if (d->expectations.v[i].used)
            code = update_file(d, i);
    return code;
}
