#include "minify/remote/job.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "trace/base/file/folder.h"

#define TMP_NAME "tmp"

void job_add_file(struct job *job, struct str name, struct str bytes, bool program)
{
    job->failed |= !vec_push(&job->files, ((struct job_file){ name, bytes, program }));
}

void job_add_word(struct job *job, uint32_t file, struct str text)
{
    job->failed |= !vec_push(&job->words, ((struct job_value){ file, text }));
}

void job_add_variable(struct job *job, struct str name, uint32_t file, struct str text)
{
    const struct job_variable variable = { name, { file, text } };
    job->failed |= !vec_push(&job->variables, variable);
}

void job_release(struct job *job)
{
    vec_release(&job->files);
    vec_release(&job->words);
    vec_release(&job->variables);
    arena_release(&job->arena);
    *job = (struct job){ 0 };
}

/* ---- Running ---- */

typedef vec_of(char *)
text_list;

struct job_run {
    const struct job *job;
    const struct scratch *scratch;
    char name[64]; /* of the folder */
    int folder;    /* -1: not made */
    text_list argv, environment;
};

static bool write_file(struct job_run *run, const struct job_file *file)
{
    char name[256];
    int n = snprintf(name, sizeof name, "%.*s", STR_ARG(file->name));
    if (n < 0 || (size_t)n >= sizeof name)
        return errno = ENAMETOOLONG, false;
    return folder_write(run->folder, name, file->bytes) &&
           (!file->program || fchmodat(run->folder, name, 0700, 0) == 0);
}

static bool make_folder(struct job_run *run, struct err *err)
{
    const struct job *job = run->job;
    snprintf(run->name, sizeof run->name, "%" PRIu64 ".%" PRIu32, job->number, job->worker);
    run->folder = folder_make(run->scratch->fd, run->name);
    int tmp = run->folder >= 0 ? folder_make(run->folder, TMP_NAME) : -1;
    bool good = tmp >= 0;
    if (good)
        close(tmp);
    for (size_t i = 0; good && i < job->files.n; i++)
        good = write_file(run, &job->files.v[i]);
    return good || err_errno(err, "%s/%s", run->scratch->path, run->name);
}

static void remove_folder(struct job_run *run)
{
    if (run->folder >= 0) {
        close(run->folder);
        (void)folder_remove(run->scratch->fd, run->name);
    }
    run->folder = -1;
}

/* A disk that is full because of another job is empty again afterwards. */
static bool make_folder_twice(struct job_run *run, struct err *err)
{
    const struct timespec second = { .tv_sec = 1 };
    struct err first = { 0 };
    if (make_folder(run, &first))
        return true;
    remove_folder(run);
    nanosleep(&second, NULL);
    return make_folder(run, err);
}

/* Returns a text with what a value stands for behind it; NULL when memory ran out. */
static char *text_of_value(const struct job_run *run, struct str before,
                           const struct job_value *value)
{
    char *text = NULL;
    struct str name = value->file == JOB_TMP    ? STR(TMP_NAME)
                      : value->file == JOB_TEXT ? value->text
                                                : run->job->files.v[value->file].name;
    int n = value->file == JOB_TEXT ? asprintf(&text, "%.*s%.*s", STR_ARG(before), STR_ARG(name))
                                    : asprintf(&text, "%.*s%s/%s/%.*s", STR_ARG(before),
                                               run->scratch->path, run->name, STR_ARG(name));
    return n < 0 ? NULL : text;
}

static bool add_text(text_list *list, char *text)
{
    if (text && vec_push(list, text))
        return true;
    free(text);
    return false;
}

static bool sets_variable(const struct job *job, struct str variable)
{
    for (size_t i = 0; i < job->variables.n; i++) {
        struct str name = job->variables.v[i].name;
        if (variable.n > name.n && variable.p[name.n] == '=' && str_starts(variable, name))
            return true;
    }
    return false;
}

static bool add_variable(struct job_run *run, const struct job_variable *variable)
{
    char before[128];
    int n = snprintf(before, sizeof before, "%.*s=", STR_ARG(variable->name));
    return n > 0 && (size_t)n < sizeof before &&
           add_text(&run->environment, text_of_value(run, str_of(before), &variable->value));
}

/* Makes the words and the environment: ours, with the job's variables before it. */
static bool make_texts(struct job_run *run, struct err *err)
{
    const struct job *job = run->job;
    bool good = true;
    for (size_t i = 0; good && i < job->words.n; i++)
        good = add_text(&run->argv, text_of_value(run, STR(""), &job->words.v[i]));
    for (size_t i = 0; good && i < job->variables.n; i++)
        good = add_variable(run, &job->variables.v[i]);
    for (char **variable = environ; good && *variable; variable++)
        good =
            sets_variable(job, str_of(*variable)) || add_text(&run->environment, strdup(*variable));
    return (good && vec_push(&run->argv, NULL) && vec_push(&run->environment, NULL)) ||
           err_nomem(err);
}

static void free_texts(text_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->v[i]);
    vec_release(list);
}

static bool start(struct job_run *run, struct child_end *end, struct err *err)
{
    const struct job *job = run->job;
    const struct job_value input = { job->input, STR("/dev/null") };
    char *path = text_of_value(run, STR(""), &input);
    const struct child child = { .argv = (const char *const *)run->argv.v,
                                 .environment = run->environment.v,
                                 .input = path,
                                 .timeout = job->timeout,
                                 .cancel = job->cancel };
    bool good = path ? child_run(&child, end, err) : err_nomem(err);
    free(path);
    return good;
}

bool job_run(const struct job *job, const struct scratch *scratch, struct child_end *end,
             struct err *err)
{
    struct job_run run = { .job = job, .scratch = scratch, .folder = -1 };
    end->status = end->signal = 0;
    end->n = 0;
    bool good = make_folder_twice(&run, err) && make_texts(&run, err) && start(&run, end, err);
    free_texts(&run.argv);
    free_texts(&run.environment);
    remove_folder(&run);
    return good;
}
