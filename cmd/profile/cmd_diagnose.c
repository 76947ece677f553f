#include "cmd/calls/calls_arg.h"
#include "cmd/profile/profiled.h"
#include "profile/advice/advice_report.h"
#include "profile/report/diagnosis_report.h"

struct diagnose_args {
    bool all, prove, json, overwrite, strict;
    const char *output;
};

static const struct opt options[] = {
    OPT_FLAG('a', "all", struct diagnose_args, all,
             "print every finding, with all that was recorded about it"),
    OPT_FLAG('p', "prove", struct diagnose_args, prove,
             "replay the calls of the tape with each remedy, as symtape advise does, and print "
             "which are proved and what they save"),
    OPT_JSON(struct diagnose_args, json),
    OPT_STRING('o', "output", "FILE", struct diagnose_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct diagnose_args, overwrite),
    OPT_STRICT(struct diagnose_args, strict),
    OPT_END,
};

static void write_json(const struct diagnosis *diagnosis, struct buf *text)
{
    struct json_writer w = json_writer_of(text);
    report_diagnosis_json(diagnosis, &w, NULL);
    buf_putc(text, '\n');
}

/* What is diagnosed, and what proves its remedies. */
struct diagnosed {
    struct profile *profile;
    struct diagnosis *diagnosis;
    struct call_log log;
    struct advice *advice;
};

static void diagnosed_release(struct diagnosed *d)
{
    advice_free(d->advice);
    diagnosis_free(d->diagnosis);
    profile_free(d->profile);
    call_log_release(&d->log);
}

static bool prove(struct cmd *cmd, const struct profiled *profiled, struct diagnosed *d,
                  struct err *err)
{
    const struct tape_arg *tape = &profiled->tapes[0];
    const struct advice_sources sources = { d->diagnosis, calls_arg_recording(tape), &d->log };
    if (!calls_arg_recorded(cmd->out, tape->trace, sources.recording, &d->log, err))
        return false;
    if (!d->log.calls.n)
        out_note(cmd->out, "the tape has no calls to replay: symtape record --calls notes them");
    d->advice = advice_build(&sources, err);
    return d->advice && (advice_give_proofs(d->advice, d->diagnosis) || err_nomem(err));
}

static int write_diagnosis(struct cmd *cmd, const struct diagnosed *d)
{
    const struct diagnose_args *args = cmd->args;
    struct buf text = BUF_INIT;
    bool to_file = args->output && strcmp(args->output, "-") != 0;
    const struct report_options how = {
        .width = to_file ? 0 : cmd->out->width,
        .styles = to_file ? NULL : out_styles(cmd->out),
    };
    if (args->json) {
        write_json(d->diagnosis, &text);
    } else {
        report_counts(d->profile, &how, &text);
        report_diagnosis_text(d->diagnosis, &how, args->all ? 0 : DIAGNOSIS_LINES - 1, &text);
    }
    int code = out_report(cmd->out, args->output, args->overwrite, &text);
    buf_release(&text);
    return code;
}

/* Calls are those of one recording, so that is what is diagnosed then. */
static int check_prove(struct cmd *cmd, const struct profiled *profiled,
                       struct profile_options *what)
{
    const struct tape_arg *tape = &profiled->tapes[0];
    if (!((const struct diagnose_args *)cmd->args)->prove)
        return EXIT_DONE;
    if (profiled->n > 1 || tape->selector.compile.n)
        return out_usage(cmd->out, "--prove replays the calls of one whole tape or recording");
    if (tape->trace->n_recordings)
        what->recording = tape->trace->recordings[calls_arg_recording(tape)].name;
    return EXIT_DONE;
}

static bool diagnose(struct cmd *cmd, const struct profiled *profiled,
                     const struct profile_options *what, struct diagnosed *d, struct err *err)
{
    const struct diagnose_args *args = cmd->args;
    d->profile = profile_build(profiled->traces, (uint32_t)profiled->n, what, err);
    d->diagnosis = d->profile ? diagnosis_build(d->profile, err) : NULL;
    return d->diagnosis && (!args->prove || prove(cmd, profiled, d, err));
}

static int run_diagnose(struct cmd *cmd)
{
    const struct diagnose_args *args = cmd->args;
    struct profiled profiled = { 0 };
    struct profile_options what = { 0 };
    struct diagnosed diagnosed = { 0 };
    struct err err = { 0 };
    int code = profiled_open(&profiled, cmd, args->strict);
    if (code == EXIT_DONE)
        code = check_prove(cmd, &profiled, &what);
    if (code == EXIT_DONE)
        code = profiled_select(&profiled, &what, &err) &&
                       diagnose(cmd, &profiled, &what, &diagnosed, &err)
                   ? write_diagnosis(cmd, &diagnosed)
                   : out_error(cmd->out, &err);
    diagnosed_release(&diagnosed);
    profiled_close(&profiled);
    return code;
}

const struct command command_diagnose = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]...",
    .description = "Prints why the program failed, recompiled or compiled slowly, at which line, "
                   "what was recorded about it, and what to change; what ended the program comes "
                   "first, then what cost most. \"symtape TAPE\" does the same.",
    .examples = "  symtape bert.tape\n"
                "  symtape diagnose --all bert.tape\n"
                "  symtape diagnose --prove train.tape\n"
                "  symtape diagnose --json bert.tape:0/0\n",
    .options = options,
    .args_size = sizeof(struct diagnose_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_diagnose,
};
