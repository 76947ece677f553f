#include "cmd/calls/calls_arg.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/profile/profiled.h"
#include "profile/ranks/divergence_report.h"
#include "profile/ranks/steps.h"
#include "profile/viewers/viewers.h"

struct ranks_args {
    const char *format, *output;
    struct opt_number limit;
    bool json, overwrite, strict;
};

static const struct opt options[] = {
    OPT_CHOICE('f', "format", "text|json|chrome", struct ranks_args, format,
               "format of the report; chrome is a timeline of all ranks, for Perfetto (default "
               "text)"),
    OPT_JSON(struct ranks_args, json),
    OPT_STRING('o', "output", "FILE", struct ranks_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct ranks_args, overwrite),
    OPT_ROWS(struct ranks_args, limit),
    OPT_STRICT(struct ranks_args, strict),
    OPT_END,
};

static bool is_format(const struct ranks_args *args, const char *name)
{
    return str_is(str_of(args->format ? args->format : args->json ? "json" : "text"), name);
}

/* ---- The timeline ---- */

static int write_timeline(struct cmd *cmd, const struct profiled *profiled)
{
    const struct ranks_args *args = cmd->args;
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    const struct profile_options what = { .jobs = profiled_jobs() };
    struct profile *profile = profile_build(profiled->traces, (uint32_t)profiled->n, &what, &err);
    if (!profile)
        return out_error(cmd->out, &err);
    int code = viewer_timeline(profile, &text, &err)
                   ? out_report(cmd->out, args->output, args->overwrite, &text)
                   : out_error(cmd->out, &err);
    buf_release(&text);
    profile_free(profile);
    return code;
}

static int run_timeline(struct cmd *cmd)
{
    const struct ranks_args *args = cmd->args;
    struct profiled profiled = { 0 };
    int code = profiled_open(&profiled, cmd, args->strict);
    if (code == EXIT_DONE)
        code = write_timeline(cmd, &profiled);
    profiled_close(&profiled);
    return code;
}

/* ---- The comparison ---- */

static int write_report(struct cmd *cmd, const struct job *job, const struct divergences *found)
{
    const struct ranks_args *args = cmd->args;
    struct buf text = BUF_INIT;
    bool to_file = args->output && !str_is(str_of(args->output), "-");
    struct report_options how = calls_report_options(cmd, args->limit);
    how.width = to_file ? 0 : how.width;
    how.styles = to_file ? NULL : how.styles;
    if (is_format(args, "json"))
        divergences_json(found, job, &text);
    else
        divergences_text(found, job, &how, &text);
    cmd->out->exact = is_format(args, "json");
    int code = out_report(cmd->out, args->output, args->overwrite, &text);
    buf_release(&text);
    return code != EXIT_DONE ? code : found->list.n ? EXIT_DIFFERS : EXIT_DONE;
}

/* Of each tape only what is compared is kept; it is closed before the next one is opened. */
static int add_tape(struct cmd *cmd, struct job *job, const char *operand)
{
    const struct ranks_args *args = cmd->args;
    struct err err = { 0 };
    struct tape_arg tape = { 0 };
    unsigned flags = TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (args->strict ? TAPE_ARG_STRICT : 0);
    int code = tape_arg_open(&tape, cmd->out, operand, flags);
    if (code == EXIT_DONE && tape.selector.recording.n)
        code = out_usage(cmd->out, "%s: ranks takes whole tapes", operand);
    if (code == EXIT_DONE && !job_add(job, tape.trace, &err))
        code = out_error(cmd->out, &err);
    tape_arg_close(&tape);
    return code;
}

static int compare(struct cmd *cmd, struct job *job)
{
    struct divergences found = { 0 };
    struct err err = { 0 };
    int code = EXIT_DONE;
    for (size_t i = 0; code == EXIT_DONE && i < cmd->n_operands; i++)
        code = add_tape(cmd, job, cmd->operands[i]);
    if (code == EXIT_DONE)
        code = job_finish(job, &err) && steps_make(job, &err) && divergences_find(&found, job, &err)
                   ? write_report(cmd, job, &found)
                   : out_error(cmd->out, &err);
    divergences_release(&found);
    return code;
}

static int run(struct cmd *cmd)
{
    const struct ranks_args *args = cmd->args;
    struct err err = { 0 };
    if (args->json && !is_format(args, "json"))
        return out_usage(cmd->out, "ranks: --json and --format %s exclude each other",
                         args->format);
    if (is_format(args, "chrome"))
        return run_timeline(cmd);
    struct job *job = job_new(&err);
    int code = job ? compare(cmd, job) : out_error(cmd->out, &err);
    job_free(job);
    return code;
}

const struct command command_ranks = {
    .synopsis = "[options] TAPE...",
    .description =
        "Compares the ranks of one job: compiles, graph breaks, collectives, specialized numbers, "
        "inputs, cache answers and times. Reports the first thing that a rank did otherwise, at "
        "which user line, and who waits for whom if the job hangs. Several recordings on one tape "
        "are ranks, too.",
    .examples = "  symtape ranks job.tape\n"
                "  symtape ranks logs/\n"
                "  symtape ranks rank0.log rank1.log --json\n"
                "  symtape ranks job.tape --format chrome -o job.trace\n",
    .options = options,
    .args_size = sizeof(struct ranks_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run,
};
