/* The Python of a run: it is chosen once, and noted with the version of its PyTorch before it runs
 * anything. */
#include "cmd/minify/minify.h"

bool minify_choose_python(struct minify_job *job, struct err *err)
{
    const char *named = job->args->python;
    return job->python.path || torch_python_choose(str_of(named ? named : ""), job->program_python,
                                                   job->options.stop, &job->python, err);
}

void minify_put_python(struct minify_job *job, struct buf *out)
{
    const struct torch_python *python = &job->python;
    buf_printf(out, "%s (%s, ", python->path, python->from);
    if (python->version[0])
        buf_printf(out, "torch %s)", python->version);
    else
        buf_printf(out, "%s)", python->lacks);
    job->has_noted_python = true;
}

void minify_note_python(struct minify_job *job, const char *file)
{
    struct buf text = BUF_INIT;
    if (job->has_noted_python || !job->python.version[0])
        return;
    minify_put_python(job, &text);
    out_note(job->cmd->out, "%s: run by %.*s", file, STR_ARG(buf_str(&text)));
    buf_release(&text);
}

/* "2.13.0" of "2.13.0+cpu" */
static struct str release_of(struct str version)
{
    return str_first(version, str_find_char(version, '+'));
}

void minify_note_release(const struct minify_job *job)
{
    struct str recorded = job->whole ? job->whole->torch_version : STR("");
    struct str now = str_of(job->python.version);
    if (recorded.n && now.n && !str_eq(release_of(recorded), release_of(now)))
        out_note(job->cmd->out,
                 "it was recorded with torch %.*s: torch %.*s may not fail, or fail differently",
                 STR_ARG(recorded), STR_ARG(now));
}
