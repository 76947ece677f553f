#include "trace/record/record.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/vec.h"
#include "trace/record/deep_install.h"
#include "trace/record/log_folder.h"

enum { NO_RESOURCES = 4 }; /* the exit code of symtape(1) for the environment */

/* ------------------------------------------------------------------------------------------------
 * The program's environment: ours, with PyTorch told where to log. */

typedef vec_of(char *)
environment_vec;

/* TORCH_DTRACE names a folder as well, which PyTorch prefers to that of TORCH_TRACE (init_logs). */
static const char *const folder_variables[] = { "TORCH_TRACE", "TORCH_DTRACE" };

/* Returns whether `entry`, NAME=VALUE, has this name. */
static bool is_entry_of(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool is_own_variable(const char *entry)
{
    return is_entry_of(entry, folder_variables[0]) || is_entry_of(entry, folder_variables[1]);
}

/* The variables of a deep recording, which sitecustomize.py and the recorder read
 * (trace/record/deep/python). */
static const char *const deep_variables[] = { "PYTHONPATH", "SYMTAPE_DEEP", "SYMTAPE_DEEP_FOLDER",
                                              "SYMTAPE_DEEP_LIBRARY", "SYMTAPE_DEEP_REDACT" };

static bool is_deep(const char *entry)
{
    for (size_t i = 0; i < sizeof deep_variables / sizeof *deep_variables; i++)
        if (is_entry_of(entry, deep_variables[i]))
            return true;
    return false;
}

enum { MOST_OURS = 7 };

struct environment {
    environment_vec vars; /* NULL-terminated; borrowed, except for: */
    char *ours[MOST_OURS];
    size_t n_ours;
};

static void environment_release(struct environment *environment)
{
    vec_release(&environment->vars);
    for (size_t i = 0; i < environment->n_ours; i++)
        free(environment->ours[i]);
}

/* Adds NAME=VALUE. */
static bool add_environment_variable(struct environment *environment, const char *name,
                                     const char *value)
{
    char *entry;
    if (asprintf(&entry, "%s=%s", name, value) < 0)
        return false;
    environment->ours[environment->n_ours++] = entry;
    return vec_push(&environment->vars, entry);
}

/* Adds a folder to PYTHONPATH without an empty part, which would stand for the working folder. */
static bool add_python_path(struct environment *environment, const char *folder)
{
    const char *old = getenv(deep_variables[0]);
    char *path;
    if (asprintf(&path, "%s/python%s%s", folder, old && *old ? ":" : "", old ? old : "") < 0)
        return false;
    bool ok = add_environment_variable(environment, deep_variables[0], path);
    free(path);
    return ok;
}

/* Returns whether a recorder is loaded into the program's Python processes. */
static bool loads_recorder(const struct record_options *options)
{
    return options->calls || options->deep;
}

static bool add_deep_variables(struct environment *environment, const struct record_run *run,
                               const struct record_options *options)
{
    return add_python_path(environment, run->folder.path) &&
           (!options->deep ||
            add_environment_variable(environment, deep_variables[1], options->deep)) &&
           (!run->library ||
            add_environment_variable(environment, deep_variables[3], run->library)) &&
           add_environment_variable(environment, deep_variables[2], run->folder.path) &&
           (!options->redact || add_environment_variable(environment, deep_variables[4], "1"));
}

static bool environment_make(struct environment *ret, const struct record_run *run,
                             const struct record_options *options)
{
    bool ok = true, loads = loads_recorder(options);
    for (char **entry = environ; ok && entry && *entry; entry++)
        ok = is_own_variable(*entry) || (loads && is_deep(*entry)) || vec_push(&ret->vars, *entry);
    ok = ok && add_environment_variable(ret, folder_variables[0], run->folder.path);
    if (run->expensive)
        ok = ok && add_environment_variable(ret, folder_variables[1], run->folder.path);
    if (loads)
        ok = ok && add_deep_variables(ret, run, options);
    return ok && vec_push(&ret->vars, NULL);
}

static bool names_folder(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* ------------------------------------------------------------------------------------------------
 * Running. */

static void wait_for_writers(struct record_run *run, unsigned grace_ms)
{
    unsigned step = 10, waited = 0;
    while ((run->writers = log_folder_writers(run->folder.path)) > 0 && waited < grace_ms) {
        if (step > grace_ms - waited)
            step = grace_ms - waited;
        if (signals_pause(&run->held, step))
            break;
        waited += step;
        step = step < 100 ? 2 * step : step;
    }
}

static bool gather_logs(struct record_run *run, struct err *err)
{
    struct log_list list;
    scratch_reopen(&run->folder);
    if (!log_folder_list(&run->folder, &list, err)) {
        run->keep_logs = true;
        return false;
    }
    run->logs = list.paths;
    run->n_logs = list.n;
    run->n_sides = list.n_sides;
    run->log_bytes = list.bytes;
    return true;
}

/* Makes the folder and holds signals, writes the recorder's Python part and finds the C part, which
 * a deep recording needs; calls are noted without it, too. */
static bool prepare(const struct record_options *options, struct record_run *run, struct err *err)
{
    if (!scratch_make(&run->folder, SCRATCH_LOGS, err))
        return false;
    signals_hold(&run->held);
    struct err unused = { 0 };
    run->library = loads_recorder(options) ? deep_library(options->deep ? err : &unused) : NULL;
    bool ok = (!options->deep || run->library) &&
              (!loads_recorder(options) || deep_install(&run->folder, err));
    if (!ok)
        run->end.status = NO_RESOURCES;
    return ok;
}

static bool run_program(const char *const *argv, const struct record_options *options,
                        struct record_run *run, struct err *err)
{
    struct environment environment = { 0 };
    bool ok = environment_make(&environment, run, options) || err_nomem(err);
    if (!ok)
        run->end.status = NO_RESOURCES;
    ok = ok && supervise(argv, environment.vars.v, &run->held, &run->end, err);
    environment_release(&environment);
    return ok;
}

static bool collect(const struct record_options *options, unsigned grace_ms, struct record_run *run,
                    struct err *err)
{
    run->deep_failure = loads_recorder(options) ? log_folder_failure(&run->folder) : NULL;
    run->python = loads_recorder(options) ? log_folder_python(&run->folder) : NULL;
    run->keep_logs = options->keep_logs;
    wait_for_writers(run, grace_ms);
    run->disk_full = scratch_is_full(&run->folder);
    bool known = !options->redact || log_folder_environment(&run->folder, &run->set, err);
    run->keep_logs |= !known;
    return known && gather_logs(run, err);
}

bool record_run(const char *const *argv, const struct record_options *options,
                struct record_run *run, struct err *err)
{
    static const struct record_options usual = { .grace_ms = RECORD_GRACE_MS };
    if (!options)
        options = &usual;
    bool had_expensive = names_folder(folder_variables[1]);
    *run = (struct record_run){
        .replaced = had_expensive || names_folder(folder_variables[0]),
        .expensive = had_expensive || options->expensive,
    };
    return prepare(options, run, err) && run_program(argv, options, run, err) &&
           collect(options, run->end.abandoned ? 0 : options->grace_ms, run, err);
}

/* ------------------------------------------------------------------------------------------------
 * A process that runs already. */

bool record_begin(const struct record_options *options, struct record_run *run, struct err *err)
{
    *run = (struct record_run){ 0 };
    return prepare(options, run, err);
}

/* Returns whether the end of a file was reached; what comes before it is dropped. */
static bool is_at_end(int fd)
{
    char bytes[256];
    ssize_t n = read(fd, bytes, sizeof bytes);
    return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* Waits until the process ends or the file does. Returns whether it was the process. A descriptor
 * of the process is needed because a child of it may hold the other end of the file. */
static bool wait_for_end(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0u);
    bool is_gone = process < 0 && errno == ESRCH, at_end = false;
    while (!is_gone && !at_end) {
        struct pollfd files[] = { { .fd = fd, .events = POLLIN },
                                  { .fd = process, .events = POLLIN } };
        if (poll(files, 2, -1) <= 0)
            continue; /* EINTR */
        at_end = files[0].revents && is_at_end(fd);
        is_gone = files[1].revents;
    }
    if (process >= 0)
        close(process);
    return !at_end;
}

bool record_wait(pid_t pid, int fd, const struct record_options *options, struct record_run *run,
                 struct err *err)
{
    uint64_t began = clock_ns();
    bool is_gone = wait_for_end(pid, fd);
    run->end.wall_ns = clock_ns() - began;
    return collect(options, is_gone ? options->grace_ms : 0, run, err);
}

bool record_finish(struct record_run *run, struct err *err)
{
    if (!run->folder.path)
        return true;
    char *path = strdup(run->folder.path);
    bool ok = run->keep_logs || scratch_remove(&run->folder) ||
              err_errno(err, "%s: cannot remove the logs", path ? path : "TMPDIR");
    scratch_leave(&run->folder);
    free(path);
    struct log_list list = { .paths = run->logs, .n = run->n_logs, .n_sides = run->n_sides };
    log_list_release(&list);
    run->logs = NULL;
    run->n_logs = run->n_sides = 0;
    free(run->deep_failure);
    free(run->library);
    free(run->python);
    run->deep_failure = run->library = run->python = NULL;
    buf_release(&run->set);
    signals_release(&run->held);
    return ok;
}
