#include "cmd/calls/calls_arg.h"
#include "profile/calls/tree/guard_use.h"
#include "profile/calls/tree/guards_filter.h"
#include "profile/calls/tree/guards_report.h"

struct guards_args {
    const char *calls, *function;
    struct opt_number limit;
    bool tree, filter, arguments, json, strict;
};

static const struct opt options[] = {
    OPT_CALLS(struct guards_args, calls),
    OPT_STRING('f', "function", "NAME", struct guards_args, function,
               "print only functions of this name: forward, train.py:17"),
    OPT_FLAG('t', "tree", struct guards_args, tree, "also print the merged trees"),
    OPT_FLAG(0, "filter", struct guards_args, filter,
             "print only the Python function that removes the guards that can go"),
    OPT_FLAG(0, "arguments", struct guards_args, arguments,
             "let guards on arguments go, too, if they are no tensors"),
    OPT_ROWS(struct guards_args, limit),
    OPT_JSON(struct guards_args, json),
    OPT_STRICT(struct guards_args, strict),
    OPT_END,
};

static bool check_function(const struct guard_trees *trees, const struct trace *trace,
                           struct str name, struct err *err)
{
    if (!trees->functions.n)
        return err_set(err, ERR_USAGE, "%.*s has no guards of Dynamo", STR_ARG(trace->path));
    for (size_t i = 0; i < trees->functions.n; i++)
        if (guard_function_is(&trees->functions.v[i], name))
            return true;
    return err_set(err, ERR_USAGE, "%.*s has no function %.*s with guards", STR_ARG(trace->path),
                   STR_ARG(name));
}

/* ---- One tape ---- */

static bool use_calls(struct cmd *cmd, struct trace *trace, uint32_t recording,
                      struct guard_trees *trees, struct err *err)
{
    const struct guards_args *args = cmd->args;
    const struct cache_options as_recorded = { 0 };
    const struct guard_use_options how = { .arguments = args->arguments };
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    bool ok = args->calls ? calls_arg_read(cmd->out, args->calls, &log, err)
                          : calls_arg_recorded(cmd->out, trace, recording, &log, err);
    if (ok && !log.calls.n && args->filter)
        ok = calls_arg_missing(trace, err);
    if (ok && log.calls.n)
        ok = cache_run_make(&run, trace, recording, &log, &as_recorded, err) &&
             guard_use_make(trees, &run, &log, &how, err);
    cache_run_release(&run);
    call_log_release(&log);
    return ok;
}

/* A filter that nothing speaks for is not printed. */
static bool check_filter(const struct guard_trees *trees, const struct trace *trace,
                         struct err *err)
{
    struct buf why = BUF_INIT;
    bool known = guards_filter_is_known(trees);
    if (!known) {
        guards_filter_put_unknown(trees, &why);
        err_set(err, ERR_USAGE, "%.*s: which guards can go is not known: %.*s",
                STR_ARG(trace->path), STR_ARG(buf_str(&why)));
    }
    buf_release(&why);
    return known;
}

static int print(struct cmd *cmd, const struct guard_trees *trees)
{
    const struct guards_args *args = cmd->args;
    const struct guards_shown shown = { .function = str_of(args->function), .tree = args->tree };
    const struct report_options how = calls_report_options(cmd, args->limit);
    struct buf report = BUF_INIT, exact = BUF_INIT;
    if (args->json) {
        guards_json(trees, &shown, &exact);
    } else if (args->filter) {
        guards_filter_python(trees, &exact);
    } else {
        guards_text(trees, &shown, &how, &report);
        guards_paste_text(trees, &how, &exact);
    }
    return calls_print(cmd, &report, &exact);
}

static int run_one(struct cmd *cmd, struct tape_arg *tape)
{
    const struct guards_args *args = cmd->args;
    uint32_t recording = calls_arg_recording(tape);
    struct guard_trees trees = { 0 };
    struct err err = { 0 };
    bool ok = guard_trees_read(&trees, tape->trace, recording, false, &err) &&
              check_function(&trees, tape->trace, str_of(args->function), &err) &&
              use_calls(cmd, tape->trace, recording, &trees, &err) &&
              (!args->filter || check_filter(&trees, tape->trace, &err));
    int code = ok ? print(cmd, &trees) : out_error(cmd->out, &err);
    guard_trees_release(&trees);
    return code;
}

/* ---- Two tapes ---- */

static int print_comparison(struct cmd *cmd, const struct guards_comparison *comparison)
{
    const struct guards_args *args = cmd->args;
    const struct report_options how = calls_report_options(cmd, args->limit);
    struct buf out = BUF_INIT;
    cmd->out->exact = args->json;
    if (args->json)
        guards_compare_json(comparison, &out);
    else
        guards_compare_text(comparison, &how, &out);
    int code = out_buf(cmd->out, &out);
    buf_release(&out);
    return code == EXIT_DONE && comparison->changes.n ? EXIT_DIFFERS : code;
}

static int run_two(struct cmd *cmd, struct tape_arg *tapes)
{
    const struct guards_args *args = cmd->args;
    struct guard_trees trees[2] = { 0 };
    struct guards_comparison comparison = { 0 };
    struct err err = { 0 };
    bool ok = true;
    if (args->calls || args->filter || args->arguments || args->tree)
        return out_usage(cmd->out, "--calls, --filter, --arguments and --tree are for one tape");
    for (int i = 0; ok && i < 2; i++)
        ok = guard_trees_read(&trees[i], tapes[i].trace, calls_arg_recording(&tapes[i]), true,
                              &err) &&
             check_function(&trees[i], tapes[i].trace, str_of(args->function), &err);
    ok = ok &&
         guards_comparison_make(&comparison, &trees[0], &trees[1], str_of(args->function), &err);
    int code = ok ? print_comparison(cmd, &comparison) : out_error(cmd->out, &err);
    guards_comparison_release(&comparison);
    guard_trees_release(&trees[0]);
    guard_trees_release(&trees[1]);
    return code;
}

static int run(struct cmd *cmd)
{
    const struct guards_args *args = cmd->args;
    return calls_run(cmd, args->strict, run_one, run_two);
}

const struct command command_guards = {
    .synopsis = "[options] TAPE\n[options] TAPE TAPE",
    .description =
        "Merges the guards of a compiled function's entries into one tree, and says which guards "
        "tell calls apart, what looking them up costs, and which can go. With two tapes, compares "
        "their guards.",
    .examples = "  symtape guards train.tape\n"
                "  symtape guards --calls calls.jsonl --filter train.log\n"
                "  symtape guards before.tape after.tape\n",
    .options = options,
    .args_size = sizeof(struct guards_args),
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
