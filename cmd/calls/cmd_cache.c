#include <string.h>

#include "cmd/calls/cache_ranks.h"
#include "cmd/calls/cache_warm.h"
#include "cmd/calls/calls_arg.h"
#include "profile/calls/cache/cache_report.h"
#include "profile/calls/cache/written_calls.h"
#include "profile/calls/levels/levels_report.h"

struct cache_args {
    const char *calls, *inputs, *policy;
    struct opt_number recompile_limit, accumulated_limit, limit;
    bool all, ranks, json, strict;
};

static const struct opt options[] = {
    OPT_CALLS(struct cache_args, calls),
    OPT_STRING('i', "inputs", "LIST", struct cache_args, inputs,
               "calls with these values of symbols and sources: s27=4,8;L['n']=3"),
    OPT_NUMBER(0, "recompile-limit", "N", struct cache_args, recompile_limit,
               "torch._dynamo.config.recompile_limit (default: as recorded)"),
    OPT_NUMBER(0, "accumulated-recompile-limit", "N", struct cache_args, accumulated_limit,
               "torch._dynamo.config.accumulated_recompile_limit (default: as recorded)"),
    OPT_CHOICE('p', "policy", "recorded|levels", struct cache_args, policy,
               "what the calls would have compiled under another design (default recorded): levels "
               "choose among artifacts for the function, after values that Python reads, and for "
               "the backward"),
    OPT_FLAG('a', "all", struct cache_args, all,
             "also check the entries behind the one that answers"),
    OPT_FLAG(0, "ranks", struct cache_args, ranks,
             "list the compiles of all recordings by time: ranks or workers of one job"),
    OPT_ROWS(struct cache_args, limit),
    OPT_JSON(struct cache_args, json),
    OPT_STRICT(struct cache_args, strict),
    OPT_END,
};

/* Reads the calls of --inputs. */
static bool read_written_calls(struct trace *trace, uint32_t recording, const char *inputs,
                               struct call_log *log, struct err *err)
{
    struct buf lines = BUF_INIT;
    bool ok = (written_calls_read(trace, recording, str_of(inputs), &lines, err) ||
               err_at(err, "--inputs")) &&
              call_log_read(log, buf_str(&lines), err);
    buf_release(&lines);
    return ok;
}

static bool check_limit(struct opt_number limit, const char *option, struct err *err)
{
    return !limit.given || limit.value || err_set(err, ERR_USAGE, "%s must be at least 1", option);
}

static bool get_calls(struct cmd *cmd, const struct tape_arg *tape, struct call_log *log,
                      struct err *err)
{
    const struct cache_args *args = cmd->args;
    if (args->inputs && args->calls)
        return err_set(err, ERR_USAGE, "--inputs and --calls exclude each other");
    if (!check_limit(args->recompile_limit, "--recompile-limit", err) ||
        !check_limit(args->accumulated_limit, "--accumulated-recompile-limit", err))
        return false;
    return args->inputs
               ? read_written_calls(tape->trace, calls_arg_recording(tape), args->inputs, log, err)
               : calls_arg_required(cmd->out, args->calls, tape, log, err);
}

/* What is made of the calls: `levels` under that policy, and `run` otherwise. */
struct cache_made {
    struct cache_run run;
    struct levels_run levels;
};

static bool has_levels(const struct cache_args *args)
{
    return args->policy && !strcmp(args->policy, "levels");
}

static int print(struct cmd *cmd, const struct cache_made *made, const struct call_log *log)
{
    const struct cache_args *args = cmd->args;
    const struct report_options shown = calls_report_options(cmd, args->limit);
    bool levels = has_levels(args);
    struct buf report = BUF_INIT, exact = BUF_INIT;
    if (levels && args->json)
        levels_json(&made->levels, log, &exact);
    else if (levels)
        levels_text(&made->levels, log, &shown, &report);
    else if (args->json)
        cache_json(&made->run, log, &exact);
    else
        cache_text(&made->run, log, &shown, &report);
    return calls_print(cmd, &report, &exact);
}

static int run_one(struct cmd *cmd, struct tape_arg *tape)
{
    const struct cache_args *args = cmd->args;
    struct call_log log = { 0 };
    struct cache_made made = { 0 };
    struct cache_options how = { .limits = { args->recompile_limit.value,
                                             args->accumulated_limit.value },
                                 .what_if = args->inputs != NULL,
                                 .all_checks = args->all };
    struct err err = { 0 };
    bool ok = get_calls(cmd, tape, &log, &err) &&
              (has_levels(args) ? levels_run_make(&made.levels, tape->trace,
                                                  calls_arg_recording(tape), &log, &how, &err)
                                : cache_run_make(&made.run, tape->trace, calls_arg_recording(tape),
                                                 &log, &how, &err));
    int code = ok ? print(cmd, &made, &log) : out_error(cmd->out, &err);
    levels_run_release(&made.levels);
    cache_run_release(&made.run);
    call_log_release(&log);
    return code;
}

/* What only calls need. */
static int refuse_calls(struct cmd *cmd)
{
    const struct cache_args *args = cmd->args;
    return args->calls || args->inputs || args->recompile_limit.given ||
                   args->accumulated_limit.given || args->all || args->policy
               ? out_usage(cmd->out,
                           "--calls, --inputs, --all, --policy and the limits are for one tape")
               : EXIT_DONE;
}

static int run_two(struct cmd *cmd, struct tape_arg *tapes)
{
    const struct cache_args *args = cmd->args;
    int code = refuse_calls(cmd);
    return code == EXIT_DONE ? cache_warm_run(cmd, tapes, args->limit, args->json) : code;
}

static int run_ranks(struct cmd *cmd)
{
    const struct cache_args *args = cmd->args;
    int code = refuse_calls(cmd);
    return code == EXIT_DONE ? cache_ranks_run(cmd, args->limit, args->json, args->strict) : code;
}

static int run(struct cmd *cmd)
{
    const struct cache_args *args = cmd->args;
    if (args->ranks)
        return run_ranks(cmd);
    if (cmd->n_operands > 2)
        return out_usage(cmd->out, "cache: more than two tapes need --ranks");
    return calls_run(cmd, args->strict, run_one, run_two);
}

const struct command command_cache = {
    .synopsis = "[options] TAPE\n[options] COLD WARM\n--ranks [options] TAPE...",
    .description =
        "Replays Dynamo's caches over the calls that a program made: which compiled entry answers "
        "each call, which guard turns it away, which compile follows and what it costs. With two "
        "tapes, says what a warm start compiled again though a cold one had compiled it, and why.",
    .examples = "  symtape cache train.tape\n"
                "  symtape cache --calls calls.jsonl train.log\n"
                "  symtape cache --inputs \"s27=4,8,8,6;L['n']=3\" train.log\n"
                "  symtape cache --calls calls.jsonl --recompile-limit 16 train.log\n"
                "  symtape cache --policy levels train.tape\n"
                "  symtape cache cold.tape warm.tape\n"
                "  symtape cache --ranks job.tape\n",
    .options = options,
    .args_size = sizeof(struct cache_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run,
};
