#include "cmd/calls/calls_arg.h"
#include "profile/calls/cudagraphs/cudagraph_report.h"

struct cudagraphs_args {
    const char *calls;
    struct opt_number limit;
    bool on_gpu, skip_dynamic, json, strict;
};

static const struct opt options[] = {
    OPT_CALLS(struct cudagraphs_args, calls),
    OPT_FLAG(0, "on-gpu", struct cudagraphs_args, on_gpu,
             "take tensors on the CPU to be on a GPU, as if the program ran there"),
    OPT_FLAG(0, "skip-dynamic", struct cudagraphs_args, skip_dynamic,
             "as if triton.cudagraph_skip_dynamic_graphs were set"),
    OPT_ROWS(struct cudagraphs_args, limit),
    OPT_JSON(struct cudagraphs_args, json),
    OPT_STRICT(struct cudagraphs_args, strict),
    OPT_END,
};

static int print(struct cmd *cmd, const struct cudagraph_run *run, const struct cache_run *cache,
                 const struct call_log *log)
{
    const struct cudagraphs_args *args = cmd->args;
    const struct report_options shown = calls_report_options(cmd, args->limit);
    struct buf report = BUF_INIT, exact = BUF_INIT;
    if (args->json)
        cudagraph_json(run, log, &exact);
    else
        cudagraph_text(run, cache, log, &shown, &report);
    return calls_print(cmd, &report, &exact);
}

static bool make(struct cmd *cmd, const struct tape_arg *tape, struct call_log *log,
                 struct cache_run *cache, struct cudagraph_run *run, struct err *err)
{
    const struct cudagraphs_args *args = cmd->args;
    const struct cache_options as_recorded = { 0 };
    const struct cudagraph_options how = { .on_gpu = args->on_gpu,
                                           .skip_dynamic = args->skip_dynamic };
    uint32_t recording = calls_arg_recording(tape);
    return calls_arg_required(cmd->out, args->calls, tape, log, err) &&
           cache_run_make(cache, tape->trace, recording, log, &as_recorded, err) &&
           cudagraph_run_make(run, tape->trace, recording, log, cache, &how, err);
}

static int run(struct cmd *cmd)
{
    const struct cudagraphs_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct call_log log = { 0 };
    struct cache_run cache = { 0 };
    struct cudagraph_run run = { 0 };
    struct err err = { 0 };
    int code =
        tape_arg_open(&tape, cmd->out, cmd->operands[0],
                      TAPE_ARG_WHOLE | TAPE_ARG_FAILURES | (args->strict ? TAPE_ARG_STRICT : 0));
    if (code == EXIT_DONE)
        code = make(cmd, &tape, &log, &cache, &run, &err) ? print(cmd, &run, &cache, &log)
                                                          : out_error(cmd->out, &err);
    cudagraph_run_release(&run);
    cache_run_release(&cache);
    call_log_release(&log);
    tape_arg_close(&tape);
    return code;
}

const struct command command_cudagraphs = {
    .synopsis = "[options] TAPE",
    .description =
        "Says which CUDA graphs mode=\"reduce-overhead\" would record for the calls that a program "
        "made: which runs warm up, record and replay, at which sizes; which graphs are skipped "
        "and why; and what padding sizes would save.",
    .examples = "  symtape cudagraphs train.tape\n"
                "  symtape cudagraphs --calls calls.jsonl train.log\n"
                "  symtape cudagraphs --on-gpu train.tape\n",
    .options = options,
    .args_size = sizeof(struct cudagraphs_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
