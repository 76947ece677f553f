#include "cmd/calls/calls_arg.h"
#include "profile/calls/dynamic/dynamic_report.h"

struct dynamic_args {
    const char *calls, *marks;
    struct opt_number bail_outs, limit;
    bool json, strict;
};

enum { BAIL_OUTS_DEFAULT = 2 };

static const struct opt options[] = {
    OPT_CALLS(struct dynamic_args, calls),
    OPT_STRING('m', "marks", "LIST", struct dynamic_args, marks,
               "what the policy marked makes dynamic, as L['x']:0,L['n'], in place of what symtape "
               "proposes"),
    OPT_NUMBER(0, "bail-outs", "N", struct dynamic_args, bail_outs,
               "under the policy partial, break the graph after N recompiles for sizes that Python "
               "reads (default 2)"),
    OPT_ROWS(struct dynamic_args, limit),
    OPT_JSON(struct dynamic_args, json),
    OPT_STRICT(struct dynamic_args, strict),
    OPT_END,
};

static int print(struct cmd *cmd, const struct dynamic_run *run)
{
    const struct dynamic_args *args = cmd->args;
    const struct report_options shown = calls_report_options(cmd, args->limit);
    struct buf report = BUF_INIT, exact = BUF_INIT;
    if (args->json) {
        dynamic_json(run, &exact);
    } else {
        dynamic_text(run, &shown, &report);
        dynamic_paste_text(run, &shown, &exact);
    }
    return calls_print(cmd, &report, &exact);
}

static int run(struct cmd *cmd)
{
    const struct dynamic_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct call_log log = { 0 };
    struct dynamic_run run = { 0 };
    uint64_t bail_outs = args->bail_outs.given ? args->bail_outs.value : BAIL_OUTS_DEFAULT;
    struct dynamic_options how = {
        .marks = args->marks,
        .bail_outs = bail_outs < UINT32_MAX ? (uint32_t)bail_outs : UINT32_MAX,
    };
    struct err err = { 0 };
    int code =
        tape_arg_open(&tape, cmd->out, cmd->operands[0],
                      TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE) {
        bool ok = calls_arg_required(cmd->out, args->calls, &tape, &log, &err) &&
                  dynamic_run_make(&run, tape.trace, calls_arg_recording(&tape), &log, &how, &err);
        code = ok ? print(cmd, &run) : out_error(cmd->out, &err);
    }
    dynamic_run_release(&run);
    call_log_release(&log);
    tape_arg_close(&tape);
    return code;
}

const struct command command_dynamic = {
    .synopsis = "[options] TAPE",
    .description =
        "Replays automatic dynamic shapes over the calls that a program made: when each size went "
        "dynamic and what that caused; what other policies would have compiled for the same "
        "calls; and the marks to paste that spare the most compiles.",
    .examples = "  symtape dynamic train.tape\n"
                "  symtape dynamic --calls calls.jsonl train.log\n",
    .options = options,
    .args_size = sizeof(struct dynamic_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
