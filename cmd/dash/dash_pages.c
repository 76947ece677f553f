/* Writes the page of symtape report of each model in the lists that has a tape: into FILE_files/
 * beside the page FILE.html, which links to them. */
#include <errno.h>
#include <sys/stat.h>

#include "cmd/cli/tape_arg.h"
#include "cmd/dash/dash_cmd.h"
#include "cmd/profile/profiled.h"
#include "profile/page/page.h"

struct pages {
    struct dash_cmd *d;
    struct buf folder; /* with a '/' and a NUL behind it */
    uint32_t n;        /* pages that were written */
};

static bool make_folder(struct pages *pages, struct err *err)
{
    struct str path = str_of(pages->d->args->output);
    if (str_ends(path, STR(".html")))
        path.n -= 5;
    buf_put(&pages->folder, path);
    buf_puts(&pages->folder, "_files");
    buf_putc(&pages->folder, '\0');
    if (pages->folder.failed)
        return err_nomem(err);
    if (mkdir(pages->folder.p, 0777) != 0 && errno != EEXIST)
        return err_errno(err, "%s", pages->folder.p);
    return true;
}

static int write_page_of(struct pages *pages, struct trace *trace, const char *path)
{
    struct dash_cmd *d = pages->d;
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct profile_options what = { .replay = true, .jobs = profiled_jobs() };
    what.by[PROFILE_STACK] = what.by[PROFILE_MODULE] = true;
    struct profile *profile = profile_build(&trace, 1, &what, &err);
    struct diagnosis *diagnosis = profile ? diagnosis_build(profile, &err) : NULL;
    const struct page_input input = { profile, diagnosis, NULL, SYMTAPE_VERSION };
    int code = diagnosis && page_write(&input, &text, &err)
                   ? out_report(d->cmd->out, path, d->args->overwrite, &text)
                   : out_error(d->cmd->out, &err);
    buf_release(&text);
    diagnosis_free(diagnosis);
    profile_free(profile);
    return code;
}

/* Appends a name to an address, in which '#', ':' and others would have a meaning. */
static void put_name(struct str name, struct buf *address)
{
    for (size_t i = 0; i < name.n; i++)
        if (is_word_char(name.p[i]) || name.p[i] == '.' || name.p[i] == '-')
            buf_putc(address, name.p[i]);
        else
            buf_printf(address, "%%%02x", (unsigned char)name.p[i]);
}

/* Sets the address of a row's page, "week_files/3.html". */
static bool set_address(struct pages *pages, struct dash_model_row *row, struct str path,
                        struct err *err)
{
    struct str folder = str_basename(str_of(pages->folder.p));
    struct str name = str_basename(path);
    struct buf text = BUF_INIT;
    put_name(folder, &text);
    buf_putc(&text, '/');
    put_name(name, &text);
    if (!text.failed)
        row->page = arena_copy(&pages->d->view.arena, buf_str(&text));
    bool ok = !text.failed && row->page.p;
    buf_release(&text);
    return ok || err_nomem(err);
}

static int write_row(struct pages *pages, struct dash_model_row *row)
{
    struct dash_cmd *d = pages->d;
    struct err err = { 0 };
    struct buf path = BUF_INIT;
    struct tape_arg tape = { 0 };
    buf_printf(&path, "%s/%u.html", pages->folder.p, ++pages->n);
    buf_putc(&path, '\0');
    if (path.failed)
        err_nomem(&err);
    int code = path.failed
                   ? out_error(d->cmd->out, &err)
                   : tape_arg_open(&tape, d->cmd->out, dash_text(d->dash, row->after_tape).p,
                                   TAPE_ARG_WHOLE | TAPE_ARG_FAILURES);
    if (code == EXIT_DONE)
        code = write_page_of(pages, tape.trace, path.p);
    if (code == EXIT_DONE && !set_address(pages, row, str_of(path.p), &err))
        code = out_error(d->cmd->out, &err);
    tape_arg_close(&tape);
    buf_release(&path);
    return code;
}

/* Returns the page of a tape that an earlier row has; "" if there is none. */
static struct str page_of_tape(const struct dash_model_row *rows, size_t n, uint32_t tape)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].after_tape == tape)
            return rows[i].page;
    return STR("");
}

static int write_rows(struct pages *pages, struct dash_model_row *rows, size_t n)
{
    const struct dash_view *view = &pages->d->view;
    int code = EXIT_DONE;
    for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
        uint32_t tape = rows[i].after_tape;
        if (tape == INTERN_NONE)
            continue;
        rows[i].page = page_of_tape(rows, i, tape);
        if (rows[i].page.n == 0 && rows != view->regressed.v)
            rows[i].page = page_of_tape(view->regressed.v, view->regressed.n, tape);
        if (rows[i].page.n == 0)
            code = write_row(pages, &rows[i]);
    }
    return code;
}

int dash_pages(struct dash_cmd *d)
{
    struct err err = { 0 };
    struct pages pages = { .d = d };
    int code = make_folder(&pages, &err) ? EXIT_DONE : out_error(d->cmd->out, &err);
    if (code == EXIT_DONE)
        code = write_rows(&pages, d->view.regressed.v, d->view.regressed.n);
    if (code == EXIT_DONE)
        code = write_rows(&pages, d->view.slowest.v, d->view.slowest.n);
    buf_release(&pages.folder);
    return code;
}
