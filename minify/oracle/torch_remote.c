#include "minify/oracle/torch_remote.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "minify/program/program_script.h"
#include "minify/remote/command_files.h"
#include "trace/base/text/json.h"

struct import_file {
    struct str name; /* borrowed from the setup's texts */
    struct buf bytes;
};

struct torch_remote {
    struct launcher *launcher;
    char *script;
    vec_of(struct import_file)
    imports;
    atomic_ullong asked;
    char version[64]; /* written by the first question alone */
};

/* Every answer begins so. */
#define ANSWER_MARK "{\"eager\""

/* The files of a question, in this order; those of --import follow. */
enum { FILE_SCRIPT, FILE_QUESTION };

/* ---- Files of --import ---- */

static bool has_import(const struct torch_remote *remote, struct str name)
{
    for (size_t i = 0; i < remote->imports.n; i++)
        if (str_eq(remote->imports.v[i].name, name))
            return true;
    return false;
}

/* Of two files that one name imports, Python takes the first. */
static bool read_imports(struct torch_remote *remote, struct str list, struct err *err)
{
    char path[4096];
    for (struct str file; (file = program_next_import_file(&list)).n;) {
        const char *slash = memrchr(file.p, '/', file.n);
        struct str name = slash ? str_from(file, (size_t)(slash + 1 - file.p)) : file;
        int n = snprintf(path, sizeof path, "%.*s", STR_ARG(file));
        if (n < 0 || (size_t)n >= sizeof path)
            return err_set(err, ERR_USAGE, "--import: a path is too long");
        if (has_import(remote, name))
            continue;
        if (!vec_push(&remote->imports, ((struct import_file){ name, BUF_INIT })))
            return err_nomem(err);
        if (!command_file_bytes(path, &remote->imports.v[remote->imports.n - 1].bytes, err))
            return err_at(err, "--import");
    }
    return true;
}

struct torch_remote *torch_remote_open(struct launcher *launcher, const struct program_setup *setup,
                                       struct err *err)
{
    struct torch_remote *remote = calloc(1, sizeof *remote);
    if (!remote) {
        err_nomem(err);
        return NULL;
    }
    remote->launcher = launcher;
    atomic_init(&remote->asked, 0);
    remote->script = program_script(PROGRAM_WORKER, setup);
    if (!remote->script)
        err_nomem(err);
    else if (read_imports(remote, setup->imports, err))
        return remote;
    torch_remote_close(remote);
    return NULL;
}

void torch_remote_close(struct torch_remote *remote)
{
    if (!remote)
        return;
    for (size_t i = 0; i < remote->imports.n; i++)
        buf_release(&remote->imports.v[i].bytes);
    vec_release(&remote->imports);
    free(remote->script);
    free(remote);
}

struct str torch_remote_version(const struct torch_remote *remote)
{
    return str_of(remote->version);
}

/* ---- Asking ---- */

static void make_question(struct torch_remote *remote, struct str text,
                          const struct oracle_question *asking, struct job *job)
{
    *job = (struct job){ .number = atomic_fetch_add(&remote->asked, 1) + 1,
                         .worker = asking->worker,
                         .timeout = asking->timeout,
                         .input = FILE_QUESTION,
                         .warm = true,
                         .cancel = asking->cancel };
    job_add_file(job, STR("script"), str_of(remote->script), false);
    job_add_file(job, STR("question"), text, false);
    for (size_t i = 0; i < remote->imports.n; i++)
        job_add_file(job, remote->imports.v[i].name, buf_str(&remote->imports.v[i].bytes), false);
    job_add_word(job, FILE_SCRIPT, STR(""));
}

/* A worker whose Python did not start PyTorch says so with the line that a warm worker sends. */
static bool fail_start(struct str line, struct err *err)
{
    struct str setup = STR("setup: "), none = STR("no: ");
    if (str_starts(line, setup))
        return err_set(err, ERR_USAGE, "%.*s", STR_ARG(str_from(line, setup.n)));
    return err_set(err, ERR_ENV, "--launcher: a worker: %.*s",
                   STR_ARG(str_starts(line, none) ? str_from(line, none.n) : line));
}

static bool note_version(struct torch_remote *remote, struct str version, struct err *err)
{
    struct str first = str_of(remote->version);
    if (!first.n)
        snprintf(remote->version, sizeof remote->version, "%.*s", STR_ARG(str_first(version, 60)));
    return !first.n || str_eq(first, str_first(version, 60)) ||
           err_set(err, ERR_ENV,
                   "--launcher: a worker has PyTorch %.*s, and another %.*s: all need the same",
                   STR_ARG(str_first(version, 60)), STR_ARG(first));
}

/* Checks who answered. The rest of the line is the caller's. */
static bool check_reply(struct torch_remote *remote, struct str line, struct err *err)
{
    struct json doc = { 0 };
    struct arena arena = { 0 };
    struct err ignored = { 0 };
    bool good = true;
    if (json_parse(&doc, line, &ignored)) {
        struct str outcome = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("outcome")), &arena);
        struct str message = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("message")), &arena);
        struct str version = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("torch")), &arena);
        good = str_is(outcome, "start") ? fail_start(message, err)
                                        : note_version(remote, version, err);
    }
    json_release(&doc);
    arena_release(&arena);
    return good;
}

static bool judge_end(struct torch_remote *remote, const struct child_end *ended, struct buf *reply,
                      enum torch_end *end, struct err *err)
{
    struct str last = child_last_line(ended);
    *end = ended->cancelled ? TORCH_CANCELLED : ended->timed_out ? TORCH_TIMED_OUT : TORCH_DIED;
    if (ended->cancelled || ended->timed_out)
        return true;
    if (str_starts(last, STR(ANSWER_MARK))) {
        *end = TORCH_ANSWERED;
        buf_put(reply, last);
        return check_reply(remote, last, err);
    }
    if (ended->signal == SIGKILL) { /* the worker's machine, and not the graph, may be the reason */
        *end = TORCH_ANSWERED;
        buf_puts(
            reply,
            "{\"eager\": \"\", \"outcome\": \"cannot\", \"message\": \"Python was killed, or three "
            "workers were lost\"}");
    }
    return true;
}

bool torch_remote_ask(struct torch_remote *remote, struct str question, struct str source,
                      const struct oracle_question *asking, struct buf *reply, enum torch_end *end,
                      struct err *err)
{
    struct buf text = BUF_INIT;
    struct child_end ended;
    struct job job;
    torch_question_print(question, source, &text);
    make_question(remote, buf_str(&text), asking, &job);
    bool good = (!text.failed && !job.failed) || err_nomem(err);
    good = good && launcher_run(remote->launcher, &job, &ended, err) &&
           judge_end(remote, &ended, reply, end, err);
    job_release(&job);
    buf_release(&text);
    return good && (!reply->failed || err_nomem(err));
}
