#include "minify/remote/warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "minify/process/torch_python.h"
#include "trace/base/clock.h"
#include "trace/base/file/folder.h"
#include "trace/base/text/json_write.h"

#define WARM_NAME "warm"

/* ---- The process ---- */

void warm_release(struct warm *warm, const struct scratch *scratch)
{
    torch_worker_stop(warm->worker);
    if (warm->folder >= 0) {
        close(warm->folder);
        (void)folder_remove(scratch->fd, WARM_NAME);
    }
    buf_release(&warm->files);
    *warm = (struct warm){ .folder = -1 };
}

/* All that a process is started with: files but the question, which changes. */
static void put_started_files(const struct job *job, struct buf *out)
{
    for (uint32_t i = 0; i < job->files.n; i++) {
        const struct job_file *file = &job->files.v[i];
        if (i == job->input)
            continue;
        buf_printf(out, "%.*s %zu\n", STR_ARG(file->name), file->bytes.n);
        buf_put(out, file->bytes);
    }
}

static bool write_started_files(struct warm *warm, const struct job *job,
                                const struct scratch *scratch, struct err *err)
{
    char name[256];
    warm->folder = folder_make(scratch->fd, WARM_NAME);
    bool good = warm->folder >= 0;
    for (uint32_t i = 0; good && i < job->files.n; i++) {
        const struct job_file *file = &job->files.v[i];
        snprintf(name, sizeof name, "%.*s", STR_ARG(file->name));
        good = i == job->input || folder_write(warm->folder, name, file->bytes);
    }
    return good || err_errno(err, "%s/" WARM_NAME, scratch->path);
}

/* Returns NULL with err set; `why` instead if the files are there, and Python does not start. */
static struct torch_worker *start_process(const struct job *job, const struct scratch *scratch,
                                          struct err *why)
{
    struct buf folder = BUF_INIT;
    struct torch_worker *ret = NULL;
    struct torch_python python = { 0 };
    buf_printf(&folder, "%s/" WARM_NAME, scratch->path);
    if (folder.failed)
        err_nomem(why);
    else if (torch_python_choose(STR(""), STR(""), job->cancel, &python, why))
        ret = torch_worker_start_script(
            str_of(python.path), job->files.v[job->words.v[0].file].bytes, buf_str(&folder), why);
    torch_python_release(&python);
    buf_release(&folder);
    return ret;
}

/* Makes the process that the job needs. Returns false with err set, or with `why`. */
static bool ready(struct warm *warm, const struct job *job, const struct scratch *scratch,
                  struct err *why, struct err *err)
{
    struct buf files = BUF_INIT;
    put_started_files(job, &files);
    if (files.failed) {
        buf_release(&files);
        return err_nomem(err);
    }
    if (warm->worker && str_eq(buf_str(&files), buf_str(&warm->files))) {
        buf_release(&files);
        return true;
    }
    warm_release(warm, scratch);
    warm->files = files;
    if (!write_started_files(warm, job, scratch, err))
        return false;
    warm->worker = start_process(job, scratch, why);
    return warm->worker != NULL;
}

/* ---- Asking ---- */

static void set_output(struct child_end *end, struct str line)
{
    end->n = line.n < sizeof end->output ? line.n : sizeof end->output;
    memcpy(end->output, line.p, end->n);
}

/* Says why there is no process, in the form of an answer. */
static bool answer_start(const struct err *why, struct child_end *end, struct err *err)
{
    struct buf line = BUF_INIT, text = BUF_INIT;
    buf_printf(&text, "%s%s", why->kind == ERR_USAGE ? "setup: " : "no: ", why->text);
    struct json_writer w = json_writer_of(&line);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "eager", "");
    json_put_cstr(&w, "outcome", "start");
    json_put_str(&w, "message", buf_str(&text));
    json_close(&w);
    bool good = (!line.failed && !text.failed) || err_nomem(err);
    if (good)
        set_output(end, buf_str(&line));
    buf_release(&line);
    buf_release(&text);
    return good;
}

bool warm_run(struct warm *warm, const struct job *job, const struct scratch *scratch,
              struct child_end *end, struct err *err)
{
    struct buf reply = BUF_INIT;
    struct err why = { 0 };
    enum torch_end how = TORCH_DIED;
    double began = clock_seconds();
    *end = (struct child_end){ 0 };
    bool good = ready(warm, job, scratch, &why, err);
    if (!good)
        return err_is_set(&why) && answer_start(&why, end, err);
    good = torch_worker_send(warm->worker, job->files.v[job->input].bytes, job->timeout,
                             job->cancel, &reply, &how, &why);
    end->timed_out = how == TORCH_TIMED_OUT;
    end->cancelled = how == TORCH_CANCELLED;
    end->status = how == TORCH_DIED;
    end->seconds = clock_seconds() - began;
    if (good && how == TORCH_ANSWERED)
        set_output(end, buf_str(&reply));
    buf_release(&reply);
    return good || answer_start(&why, end, err);
}
