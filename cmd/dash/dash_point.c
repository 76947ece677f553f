/* Reads the files of a point. */
#include <math.h>
#include <sys/stat.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cli/text_file.h"
#include "cmd/dash/dash_cmd.h"
#include "cmd/dash/dash_files.h"
#include "profile/compare/measures.h"
#include "profile/dash/config_name.h"
#include "profile/dash/result_file.h"
#include "profile/diagnosis/failures/find_failures.h"

enum { FOLDER_DEPTH = 6 };

/* ---- Files ---- */

static int read_text_file(struct dash_cmd *d, struct dash_point *point,
                          const struct dash_file *file)
{
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    bool ok = text_file_read(file->path, &d->cmd->out->limit->meter, &text, &err);
    if (ok) {
        ok = file->kind == DASH_FILE_FACTS ? point_facts_read(d->dash, point, buf_str(&text), &err)
                                           : result_file_read(d->dash, point, str_of(file->path),
                                                              buf_str(&text), d->peak_tflops, &err);
        if (!ok)
            err_at(&err, "%s", file->path);
    }
    buf_release(&text);
    return ok ? EXIT_DONE : out_error(d->cmd->out, &err);
}

/* Returns whether the model went on without compiled code: over the recompile limit, unless
 * torch._dynamo.config.fail_on_recompile_limit_hit or fullgraph=True make that an error. */
static bool ran_eagerly(const struct failure *failure)
{
    struct str limit;
    return recompile_limit_reached(failure, &limit) &&
           !str_is(failure->type, "FailOnRecompileLimitHit");
}

static const char *tape_status(const struct measures *m, const struct failure_list *failures)
{
    for (size_t i = 0; i < failures->v.n; i++)
        if (!ran_eagerly(failures->v.v[i]))
            return "failed";
    if (m->has[MEASURE_UNFINISHED] && m->value[MEASURE_UNFINISHED] > 0)
        return "unfinished";
    return m->has[MEASURE_COMPILES] && m->value[MEASURE_COMPILES] > 0 ? "compiled" : NULL;
}

/* The name of the folder that a file is in; "" if the path has none. */
static struct str folder_name(struct str path)
{
    struct str name = str_basename(path);
    return path.n > name.n ? str_basename(str_first(path, path.n - name.n - 1)) : STR("");
}

static struct dash_model *tape_model(struct dash_cmd *d, struct dash_point *point, struct str path,
                                     struct err *err)
{
    struct dash_config config;
    struct str name = config_name_stem(path);
    for (int k = 0; k < DASH_KEYS; k++)
        config.text[k] = d->dash->empty;
    if (!config_name_read(d->dash, folder_name(path), &config, err))
        return NULL;
    config = dash_config_of_tape(d->dash, point, &config, name);
    for (int k = 0; k < DASH_KEYS; k++)
        if (config.text[k] == d->dash->empty)
            config.text[k] = point->defaults[k];
    return dash_model_of(d->dash, point, &config, name, err);
}

/* `failures` are the caller's to release. */
static bool add_tape(struct dash_cmd *d, struct dash_point *point, const struct tape_arg *tape,
                     struct failure_list *failures, const char *path, struct err *err)
{
    struct measures measures = { .has = { false } };
    struct dash_run run = dash_run_empty();
    const struct measure_options how = { .compile = STR(""),
                                         .recording = tape->selector.recording,
                                         .jobs = 1 };
    if (!measures_take(tape->trace, &how, &measures, err) ||
        !failure_list_read(failures, tape->trace, &tape->selector, err))
        return false;
    const char *status = tape_status(&measures, failures);
    run.from_tape = true;
    run.status = status ? intern(&d->dash->texts, str_of(status)) : INTERN_NONE;
    if (measures.has[MEASURE_COMPILE_S])
        run.value[DASH_COMPILE] = measures.value[MEASURE_COMPILE_S];
    struct dash_model *model = tape_model(d, point, tape->selector.tape, err);
    if (!model || (status && run.status == INTERN_NONE && !err_nomem(err)))
        return false;
    if (model->tape == INTERN_NONE &&
        (model->tape = intern(&d->dash->texts, str_of(path))) == INTERN_NONE)
        return err_nomem(err);
    for (uint32_t i = 0; i < tape->trace->n_recordings; i++) {
        struct str torch = tape->trace->recordings[i].torch_version;
        if (torch.n && !dash_fact_add(d->dash, point, STR("torch"), torch, err))
            return false;
    }
    point->tapes++;
    return dash_run_add(model, &run, err);
}

static int read_tape(struct dash_cmd *d, struct dash_point *point, const char *path)
{
    struct err err = { 0 };
    struct tape_arg tape = { 0 };
    struct failure_list failures = { .trace = NULL };
    unsigned flags = TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (d->args->strict ? TAPE_ARG_STRICT : 0);
    int code = tape_arg_open(&tape, d->cmd->out, path, flags);
    if (code == EXIT_DONE && !add_tape(d, point, &tape, &failures, path, &err))
        code = out_error(d->cmd->out, &err);
    failure_list_release(&failures);
    tape_arg_close(&tape);
    return code;
}

static int read_files(struct dash_cmd *d, struct dash_point *point, const struct dash_files *files)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < files->list.n && code == EXIT_DONE; i++) {
        const struct dash_file *file = &files->list.v[i];
        bool text = file->kind == DASH_FILE_FACTS || file->kind == DASH_FILE_RESULTS;
        code = text ? read_text_file(d, point, file) : read_tape(d, point, file->path);
        out_progress(d->cmd->out, "%zu of %zu files", i + 1, files->list.n);
    }
    out_progress_end(d->cmd->out);
    return code;
}

/* ---- Operands ---- */

/* A file whose ending says nothing is a tape; standard input has results. */
static bool add_operand(const char *operand, struct dash_files *files, struct err *err)
{
    struct stat info;
    size_t before = files->list.n;
    if (str_is(str_of(operand), "-"))
        return dash_files_add(operand, DASH_FILE_RESULTS, files, err);
    if (stat(operand, &info) != 0 || !S_ISDIR(info.st_mode)) {
        enum dash_file_kind kind = dash_file_kind(str_of(operand));
        return dash_files_add(operand, kind == DASH_FILE_OTHER ? DASH_FILE_TAPE : kind, files, err);
    }
    if (!dash_files_of_folder(operand, FOLDER_DEPTH, files, err))
        return false;
    return files->list.n > before ||
           err_set(err, ERR_INPUT,
                   "%s: a folder without result files (.csv, .jsonl) or tapes (.tape, .log, .pt2)",
                   operand);
}

static struct str without_slashes(struct str path)
{
    while (path.n > 1 && path.p[path.n - 1] == '/')
        path.n--;
    return path;
}

static struct dash_point *add_point(struct dash_cmd *d, size_t first, size_t n, struct err *err)
{
    struct buf label = BUF_INIT;
    buf_put(&label, without_slashes(str_of(d->cmd->operands[first])));
    if (n > 1)
        buf_printf(&label, " and %zu more", n - 1);
    struct dash_point *point = label.failed ? NULL : dash_point_add(d->dash, buf_str(&label), err);
    if (label.failed)
        err_nomem(err);
    buf_release(&label);
    return point;
}

int dash_point_read(struct dash_cmd *d, size_t first, size_t n)
{
    struct err err = { 0 };
    struct dash_files files = { .list = { 0 } };
    struct dash_point *point = add_point(d, first, n, &err);
    bool ok = point;
    for (size_t i = first; i < first + n && ok; i++)
        ok = add_operand(d->cmd->operands[i], &files, &err);
    dash_files_sort(&files);
    int code = ok ? read_files(d, point, &files) : out_error(d->cmd->out, &err);
    dash_files_release(&files);
    return code;
}
