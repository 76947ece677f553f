#include "minify/oracle/check_environment.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/base/buf.h"
#include "trace/base/vec.h"

static char *below(const char *folder, const char *name)
{
    char *path;
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

bool check_paths(struct check_paths *paths, const char *run_folder,
                 const struct oracle_question *asking, struct err *err)
{
    char name[64];
    snprintf(name, sizeof name, "%" PRIu64 ".%" PRIu32 ".%" PRIu32, asking->call, asking->attempt,
             asking->worker);
    *paths = (struct check_paths){ .folder = below(run_folder, name) };
    if (paths->folder) {
        paths->fx = below(paths->folder, "candidate.fx");
        paths->py = below(paths->folder, "candidate.py");
        paths->tape = below(paths->folder, "candidate.tape");
        paths->tmp = below(paths->folder, "tmp");
    }
    return (paths->folder && paths->fx && paths->py && paths->tape && paths->tmp) || err_nomem(err);
}

void check_paths_release(struct check_paths *paths)
{
    free(paths->folder);
    free(paths->fx);
    free(paths->py);
    free(paths->tape);
    free(paths->tmp);
    *paths = (struct check_paths){ 0 };
}

typedef vec_of(char *)
environment_list;

static bool is_reserved_variable(const char *variable)
{
    struct str name = str_of(variable);
    return str_starts(name, STR("TMPDIR=")) || str_starts(name, STR("SYMTAPE_FX=")) ||
           str_starts(name, STR("SYMTAPE_PY=")) || str_starts(name, STR("SYMTAPE_TAPE=")) ||
           str_starts(name, STR("SYMTAPE_CALL=")) || str_starts(name, STR("SYMTAPE_SEED=")) ||
           str_starts(name, STR("SYMTAPE_SIGNATURE=")) ||
           str_starts(name, STR("SYMTAPE_ATTEMPT=")) || str_starts(name, STR("SYMTAPE_WORKER=")) ||
           str_starts(name, STR("SYMTAPE_BEST=")) || str_starts(name, STR("SYMTAPE_DEADLINE_MS="));
}

static bool append_variable(environment_list *list, char *variable)
{
    if (variable && vec_push(list, variable))
        return true;
    free(variable);
    return false;
}

static bool add_text(environment_list *list, const char *name, struct str value)
{
    char *variable;
    return asprintf(&variable, "%s=%.*s", name, STR_ARG(value)) >= 0 &&
           append_variable(list, variable);
}

static bool append_number(environment_list *list, const char *name, uint64_t value)
{
    char *variable;
    return asprintf(&variable, "%s=%" PRIu64, name, value) >= 0 && append_variable(list, variable);
}

static bool add_ours(environment_list *list, const struct check_inputs *inputs)
{
    const struct oracle_question *asking = inputs->asking;
    const struct check_paths *paths = inputs->paths;
    return add_text(list, "TMPDIR", str_of(paths->tmp)) &&
           add_text(list, "SYMTAPE_FX", str_of(paths->fx)) &&
           add_text(list, "SYMTAPE_PY", str_of(paths->py)) &&
           add_text(list, "SYMTAPE_TAPE", str_of(paths->tape)) &&
           append_number(list, "SYMTAPE_CALL", asking->call) &&
           append_number(list, "SYMTAPE_SEED", inputs->seed) &&
           add_text(list, "SYMTAPE_SIGNATURE", inputs->signature) &&
           append_number(list, "SYMTAPE_ATTEMPT", asking->attempt) &&
           append_number(list, "SYMTAPE_WORKER", asking->worker) &&
           add_text(list, "SYMTAPE_BEST", inputs->best) &&
           append_number(list, "SYMTAPE_DEADLINE_MS", (uint64_t)(asking->timeout * 1e3));
}

char **check_environment(const struct check_inputs *inputs, struct err *err)
{
    environment_list list = { 0 };
    bool ok = add_ours(&list, inputs);
    for (char **variable = environ; ok && *variable; variable++)
        ok = is_reserved_variable(*variable) || append_variable(&list, strdup(*variable));
    if (ok && vec_push(&list, NULL))
        return list.v;
    err_nomem(err);
    for (size_t i = 0; i < list.n; i++)
        free(list.v[i]);
    vec_release(&list);
    return NULL;
}

void check_environment_free(char **environment)
{
    for (char **variable = environment; variable && *variable; variable++)
        free(*variable);
    free(environment);
}
