#include "cmd/profile/profiled.h"
#include "profile/report/diagnosis_report.h"

struct diagnose_args {
    bool all, json, overwrite, strict;
    const char *output;
};

static const struct opt options[] = {
    OPT_FLAG('a', "all", struct diagnose_args, all,
             "print every finding, with all that was recorded about it"),
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

static int write_diagnosis(struct cmd *cmd, const struct profile *profile)
{
    const struct diagnose_args *args = cmd->args;
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    bool to_file = args->output && strcmp(args->output, "-") != 0;
    struct diagnosis *diagnosis = diagnosis_build(profile, &err);
    if (!diagnosis)
        return out_error(cmd->out, &err);
    const struct report_options how = {
        .width = to_file ? 0 : cmd->out->width,
        .styles = to_file ? NULL : out_styles(cmd->out),
    };
    if (args->json) {
        write_json(diagnosis, &text);
    } else {
        report_counts(profile, &how, &text);
        report_diagnosis_text(diagnosis, &how, args->all ? 0 : DIAGNOSIS_LINES - 1, &text);
    }
    int code = out_report(cmd->out, args->output, args->overwrite, &text);
    buf_release(&text);
    diagnosis_free(diagnosis);
    return code;
}

static int run_diagnose(struct cmd *cmd)
{
    const struct diagnose_args *args = cmd->args;
    struct profiled profiled = { 0 };
    struct profile_options what = { 0 };
    struct profile *profile = NULL;
    struct err err = { 0 };
    int code = profiled_open(&profiled, cmd, args->strict);
    if (code == EXIT_DONE && profiled_select(&profiled, &what, &err))
        profile = profile_build(profiled.traces, (uint32_t)profiled.n, &what, &err);
    if (profile)
        code = write_diagnosis(cmd, profile);
    else if (code == EXIT_DONE)
        code = out_error(cmd->out, &err);
    profile_free(profile);
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
                "  symtape diagnose --json bert.tape:0/0\n",
    .options = options,
    .args_size = sizeof(struct diagnose_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_diagnose,
};
