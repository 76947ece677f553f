#include "trace/record/record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/base/vec.h"
#include "trace/record/log_folder.h"

/* ------------------------------------------------------------------------------------------------
 * The program's environment: ours, with PyTorch told where to log. */

typedef vec_of(char *) environment_vec;

/* TORCH_DTRACE names a folder too, which PyTorch prefers to TORCH_TRACE's (init_logs). */
static const char *const folder_variables[] = { "TORCH_TRACE", "TORCH_DTRACE" };

/* Whether `entry`, NAME=VALUE, is of this name. */
static bool is_entry_of(const char *entry, const char *name)
{
    size_t n = strlen(name);
    return strncmp(entry, name, n) == 0 && entry[n] == '=';
}

static bool is_ours(const char *entry)
{
    return is_entry_of(entry, folder_variables[0]) || is_entry_of(entry, folder_variables[1]);
}

/* Adds NAME=FOLDER; `*ours` keeps it for freeing. */
static bool add_variable(environment_vec *vars, const char *name, const char *folder, char **ours)
{
    if (asprintf(ours, "%s=%s", name, folder) < 0) {
        *ours = NULL;
        return false;
    }
    return vec_push(vars, *ours);
}

struct environment {
    environment_vec vars; /* NULL-terminated; borrowed but for: */
    char *ours[2];
};

static void environment_release(struct environment *environment)
{
    vec_release(&environment->vars);
    free(environment->ours[0]);
    free(environment->ours[1]);
}

static bool environment_make(struct environment *ret, const char *folder, bool expensive)
{
    bool ok = true;
    for (char **entry = environ; ok && entry && *entry; entry++)
        ok = is_ours(*entry) || vec_push(&ret->vars, *entry);
    ok = ok && add_variable(&ret->vars, folder_variables[0], folder, &ret->ours[0]);
    if (expensive)
        ok = ok && add_variable(&ret->vars, folder_variables[1], folder, &ret->ours[1]);
    return ok && vec_push(&ret->vars, NULL);
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

/* ------------------------------------------------------------------------------------------------
 * Running. */

static void wait_for_writers(struct record_run *run, unsigned grace_ms)
{
    unsigned step = 10, waited = 0;
    while ((run->writers = log_folder_writers(run->folder)) > 0 && waited < grace_ms) {
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
    if (!log_folder_list(run->folder, &list, err)) {
        run->keep_logs = true;
        return false;
    }
    run->logs = list.paths;
    run->n_logs = list.n;
    run->log_bytes = list.bytes;
    return true;
}

static bool run_program(const char *const *argv, struct record_run *run, struct err *err)
{
    struct environment environment = { 0 };
    bool ok = environment_make(&environment, run->folder, run->expensive) || err_nomem(err);
    ok = ok && supervise(argv, environment.vars.v, &run->held, &run->end, err);
    environment_release(&environment);
    return ok;
}

bool record_run(const char *const *argv, const struct record_options *options,
                struct record_run *run, struct err *err)
{
    static const struct record_options usual = { .grace_ms = RECORD_GRACE_MS };
    if (!options)
        options = &usual;
    bool had_expensive = is_set(folder_variables[1]);
    *run = (struct record_run){
        .replaced = had_expensive || is_set(folder_variables[0]),
        .expensive = had_expensive || options->expensive,
        .folder = log_folder_make(err),
    };
    if (!run->folder)
        return false;
    signals_hold(&run->held);
    if (!run_program(argv, run, err))
        return false;
    run->keep_logs = options->keep_logs;
    wait_for_writers(run, run->end.abandoned ? 0 : options->grace_ms);
    return gather_logs(run, err);
}

bool record_finish(struct record_run *run, struct err *err)
{
    if (!run->folder)
        return true;
    bool ok = run->keep_logs || log_folder_remove(run->folder, err);
    struct log_list list = { .paths = run->logs, .n = run->n_logs };
    log_list_release(&list);
    free(run->folder);
    run->folder = NULL;
    run->logs = NULL;
    run->n_logs = 0;
    signals_release(&run->held);
    return ok;
}
