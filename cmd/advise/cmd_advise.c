#include "cmd/calls/calls_arg.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/text_file.h"
#include "profile/advice/advice_report.h"

struct advise_args {
    const char *calls, *apply, *output;
    struct opt_number limit;
    bool json, overwrite, strict;
};

static const struct opt options[] = {
    OPT_CALLS(struct advise_args, calls),
    OPT_STRING('a', "apply", "FILE.py", struct advise_args, apply,
               "print the proved changes that have a certain place as a patch of this program, a "
               "unified diff; the program is not changed"),
    OPT_STRING('o', "output", "FILE", struct advise_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct advise_args, overwrite),
    OPT_ROWS(struct advise_args, limit),
    OPT_JSON(struct advise_args, json),
    OPT_STRICT(struct advise_args, strict),
    OPT_END,
};

/* What advice is made from and of. */
struct advised {
    struct call_log log;
    struct profile *profile;
    struct diagnosis *diagnosis;
    struct advice *advice;
    struct program_patch patch; /* with --apply */
    struct buf program;
};

static void advised_release(struct advised *a)
{
    program_patch_release(&a->patch);
    buf_release(&a->program);
    advice_free(a->advice);
    diagnosis_free(a->diagnosis);
    profile_free(a->profile);
    call_log_release(&a->log);
}

static bool read_calls(struct cmd *cmd, const struct tape_arg *tape, struct advised *a,
                       struct err *err)
{
    const struct advise_args *args = cmd->args;
    return args->calls
               ? calls_arg_read(cmd->out, args->calls, &a->log, err)
               : calls_arg_recorded(cmd->out, tape->trace, calls_arg_recording(tape), &a->log, err);
}

static bool advise(struct cmd *cmd, struct tape_arg *tape, struct advised *a, struct err *err)
{
    uint32_t recording = calls_arg_recording(tape);
    struct profile_options what = { 0 };
    if (tape->trace->n_recordings)
        what.recording = tape->trace->recordings[recording].name;
    if (!read_calls(cmd, tape, a, err))
        return false;
    a->profile = profile_build(&tape->trace, 1, &what, err);
    a->diagnosis = a->profile ? diagnosis_build(a->profile, err) : NULL;
    const struct advice_sources sources = { a->diagnosis, recording, &a->log };
    a->advice = a->diagnosis ? advice_build(&sources, err) : NULL;
    return a->advice != NULL;
}

static bool make_patch(struct cmd *cmd, struct advised *a, struct err *err)
{
    const struct advise_args *args = cmd->args;
    return text_file_read(args->apply, cmd->out->limit ? &cmd->out->limit->meter : NULL,
                          &a->program, err) &&
           program_patch_make(a->advice, str_of(args->apply), buf_str(&a->program), &a->patch, err);
}

/* Says which changes the patch does not make. */
static void note_not_applied(struct cmd *cmd, const struct advised *a)
{
    const struct advice *advice = a->advice;
    uint32_t n = advice->n_together - a->patch.n_applied;
    if (!advice->n_together)
        out_note(cmd->out, "no change is proved to save anything");
    else if (n)
        out_note(cmd->out, "%u of %u changes have no certain place in the program (symtape advise)",
                 n, advice->n_together);
}

static int print(struct cmd *cmd, struct advised *a)
{
    const struct advise_args *args = cmd->args;
    bool to_file = args->output && strcmp(args->output, "-") != 0;
    struct report_options how = calls_report_options(cmd, args->limit);
    struct buf text = BUF_INIT;
    if (to_file) {
        how.width = 0;
        how.styles = NULL;
    }
    if (args->json)
        advice_json(a->advice, args->apply ? &a->patch : NULL, &text);
    else if (args->apply)
        buf_put(&text, buf_str(&a->patch.diff));
    else
        advice_text(a->advice, &how, &text);
    cmd->out->exact = args->json || args->apply;
    int code = out_report(cmd->out, args->output, args->overwrite, &text);
    buf_release(&text);
    return code;
}

static int run(struct cmd *cmd)
{
    const struct advise_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct advised a = { 0 };
    struct err err = { 0 };
    int code =
        tape_arg_open(&tape, cmd->out, cmd->operands[0],
                      TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE) {
        bool ok = advise(cmd, &tape, &a, &err) && (!args->apply || make_patch(cmd, &a, &err));
        if (ok && args->apply)
            note_not_applied(cmd, &a);
        code = ok ? print(cmd, &a) : out_error(cmd->out, &err);
    }
    advised_release(&a);
    tape_arg_close(&tape);
    return code;
}

const struct command command_advise = {
    .synopsis = "[options] TAPE",
    .description =
        "Prints which remedies of symtape diagnose a replay proves, and what they save: compiles, "
        "attempts, graph breaks, guards, time to compile and time of a call. Those that help "
        "together come first. What no replay shows is only suggested, with the reason.",
    .examples = "  symtape advise train.tape\n"
                "  symtape advise --apply train.py train.tape | patch -p0\n",
    .options = options,
    .args_size = sizeof(struct advise_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
