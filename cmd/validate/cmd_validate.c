#include "cmd/cli/tape_arg.h"
#include "cmd/cmd.h"
#include "cmd/solver/solver_arg.h"
#include "cmd/symbols/outside_symbols.h"
#include "cmd/validate/validate.h"

struct validate_args {
    bool json, redundant, strict;
    struct opt_number limit, time;
    const char *solver;
};

enum { LIMIT_DEFAULT = 20, MILLISECONDS_MAX = 3600000 };

static const struct opt options[] = {
    OPT_FLAG('r', "redundant", struct validate_args, redundant,
             "also list the guards that other guards imply, and what they cost a call"),
    OPT_NUMBER(0, "time", "MS", struct validate_args, time,
               "milliseconds for a claim at most (default 5000)"),
    OPT_SOLVER(struct validate_args, solver),
    OPT_NUMBER('n', "limit", "N", struct validate_args, limit,
               "print at most N rows of each list (default 20, 0: all)"),
    OPT_JSON(struct validate_args, json),
    OPT_STRICT(struct validate_args, strict),
    OPT_END,
};

static int print(struct cmd *cmd, const struct trace *trace, const struct validation *v,
                 const struct redundant_costs *costs)
{
    const struct validate_args *args = cmd->args;
    struct buf text = BUF_INIT;
    const struct report_options how = { .width = cmd->out->width,
                                        .styles = out_styles(cmd->out),
                                        .limit = args->limit.given ? (uint32_t)args->limit.value
                                                                   : LIMIT_DEFAULT };
    if (args->json)
        validate_json(trace, v, costs, &text);
    else
        validate_text(trace, v, args->redundant ? costs : NULL, &how, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    if (code != EXIT_DONE)
        return code;
    enum decide_verdict verdict = validate_verdict(v);
    return !validate_has_claims(v)     ? EXIT_CANNOT_TELL
           : verdict == DECIDE_PROVED  ? EXIT_DONE
           : verdict == DECIDE_REFUTED ? EXIT_DIFFERS
                                       : EXIT_CANNOT_TELL;
}

static void no_attempts(struct trace *trace, struct err *err)
{
    struct buf outside = BUF_INIT;
    bool programs = false;
    if (!outside_symbols_put(trace, &outside, err)) {
        buf_release(&outside);
        return;
    }
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        programs |= trace->recordings[i].kind == RECORDING_PT2;
    err_set(err, ERR_USAGE, "%.*s has no attempt of a compile with guards%s%.*s",
            STR_ARG(trace->path),
            programs ? "; of an exported program, symtape inputs lists what its range constraints "
                       "and asserts allow, and --cover asks whether they hold in a range"
                     : "",
            STR_ARG(buf_str(&outside)));
    buf_release(&outside);
}

static int validate(struct cmd *cmd, struct tape_arg *tape, const struct decide_limits *limits)
{
    const struct validate_args *args = cmd->args;
    struct validate_options how = VALIDATE_DEFAULT;
    struct err err = { 0 };
    how.selector = tape->selector;
    how.limits = *limits;
    how.redundant = args->redundant || args->json;
    struct validation *v = validate_trace(tape->trace, &how, &err);
    if (v && !v->n_attempts)
        no_attempts(tape->trace, &err);
    struct redundant_costs costs = { 0 };
    bool ok = v && v->n_attempts &&
              (!how.redundant || redundant_costs_make(&costs, tape->trace, v, &err));
    int code = ok ? print(cmd, tape->trace, v, &costs) : 0;
    if (!ok) {
        err_at(&err, "validate");
        code = out_error(cmd->out, &err);
    }
    redundant_costs_release(&costs);
    validation_free(v);
    return code;
}

static int run(struct cmd *cmd)
{
    const struct validate_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct decide_limits limits = VALIDATE_DEFAULT.limits;
    struct err err = { 0 };
    if (args->time.given && (args->time.value < 1 || args->time.value > MILLISECONDS_MAX))
        return out_usage(cmd->out, "validate: --time is from 1 to %d", MILLISECONDS_MAX);
    if (args->time.given)
        limits.ns = (uint64_t)args->time.value * 1000000;
    int code =
        solver_arg_start(args->solver, &limits, &err) ? EXIT_DONE : out_error(cmd->out, &err);
    if (code == EXIT_DONE)
        code = tape_arg_open(&tape, cmd->out, cmd->operands[0], args->strict ? TAPE_ARG_STRICT : 0);
    if (code == EXIT_DONE)
        code = validate(cmd, &tape, &limits);
    tape_arg_close(&tape);
    z3_stop(limits.z3);
    return code;
}

const struct command command_validate = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]",
    .description =
        "Decides whether the guards of each attempt imply what was answered while it was "
        "traced: questions about sizes, replacements of symbols, ranges, "
        "specializations. If not, prints the smallest sizes that pass all guards and "
        "have another answer.",
    .examples = "  symtape validate train.tape\n"
                "  symtape validate train.tape:0/1 --redundant\n",
    .options = options,
    .args_size = sizeof(struct validate_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
