/* symtape minify -- CMD: runs the program, recorded deeply; what is reduced is picked of the tape.
 */
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/minify/minify.h"
#include "trace/base/clock.h"
#include "trace/log/import.h"
#include "trace/record/record.h"

static void note_program(struct minify_job *job)
{
    struct buf text = BUF_INIT;
    for (size_t i = 0; i < job->cmd->n_operands; i++)
        buf_printf(&text, " %s", job->cmd->operands[i]);
    out_note(job->cmd->out, "runs%.*s (symtape record --deep -o %s)", STR_ARG(buf_str(&text)),
             job->operand);
    buf_release(&text);
}

static bool pack(struct minify_job *job, const struct record_run *run, struct err *err)
{
    const struct import_options options = { .overwrite = job->args->overwrite };
    struct import_result result = { 0 };
    if (run->n_logs == 0)
        return err_set(err, ERR_USAGE, "%s compiled nothing: PyTorch wrote no log",
                       job->cmd->operands[0]);
    bool ok = import_paths((const char *const *)run->logs, run->n_logs + run->n_sides, job->operand,
                           &options, &result, err);
    import_result_release(&result);
    return ok;
}

static bool is_tape(const char *word)
{
    return names_tape(word) && access(word, X_OK) != 0;
}

bool minify_runs_program(const struct cmd *cmd)
{
    return cmd->n_operands > 1 ||
           (cmd->n_operands == 1 && cmd->dashes && !is_tape(cmd->operands[0]));
}

bool minify_record(struct minify_job *job, struct err *err)
{
    const struct record_options how = { .deep = "all", .grace_ms = RECORD_GRACE_MS };
    struct record_run run;
    struct err late = { 0 };
    if (is_tape(job->cmd->operands[0]))
        return err_set(err, ERR_USAGE, "minify takes one tape, or the command of a program");
    const char *tape = NULL; /* the operands name the program */
    if (!minify_name_beside(job, ".recording.tape", &tape, err))
        return false;
    job->operand = tape;
    if (access(job->operand, F_OK) == 0 && !job->args->overwrite)
        return err_set(err, ERR_USAGE,
                       "%s exists already; --overwrite replaces it, and symtape minify %s reduces "
                       "what it has",
                       job->operand, job->operand);
    double began = clock_seconds();
    note_program(job);
    memory_limit_end(job->cmd->out->limit); /* the program would inherit it */
    bool ok = record_run(job->cmd->operands, &how, &run, err) && pack(job, &run, err);
    job->status = run.end.status;
    job->program_python = arena_copy(&job->texts, str_of(run.python ? run.python : ""));
    if (ok && !job->program_python.p)
        ok = err_nomem(err);
    job->program_seconds = clock_seconds() - began;
    ok = record_finish(&run, ok ? err : &late) && ok;
    if (ok)
        out_note(job->cmd->out, "the program ended with exit code %d", job->status);
    return ok;
}
