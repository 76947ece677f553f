#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/replay/replay.h"
#include "cmd/symbols/source_symbol.h"

static const struct opt options[] = {
    OPT_FLAG(0, "guards", struct replay_args, guards,
             "each guard: recorded, reproduced, missing or extra, and the node that asked"),
    OPT_FLAG(0, "operators", struct replay_args, operators,
             "counters by operator: calls, dispatches, caches, fast path, user lines"),
    OPT_STRING(0, "dynamic", "P[,P...]", struct replay_args, dynamic,
               "which symbols stay symbols: recorded, static, batch, partial, auto, all; several "
               "are compared side by side",
               .old = "policy"),
    OPT_STRING(0, "dynamic-shapes", "SHAPE[,SHAPE...]", struct replay_args, dynamic_shapes,
               "another size of an input: L['x']:1=dynamic, =static, =unbacked, =MIN..MAX, or a "
               "Dim of torch.export: =Dim(dx), =Dim(dx,MIN..MAX), =2*Dim(dx)+1",
               .old = "mark"),
    OPT_SIZES(0, "sizes", "SIZE[,SIZE...]", struct replay_args, run.sizes,
              "other sizes (hints) than the recorded ones: s77=31", .old = "set"),
    OPT_STRING(0, "what-if", "SIZE[,SIZE...]", struct replay_args, what_if,
               "what other sizes would change: guards, specializations, results", .old = "hints"),
    OPT_STRING(0, "ablate", "LIST", struct replay_args, ablate,
               "changes to PyTorch's dispatcher, each compared with the baseline: fastpath[:OP], "
               "cache[:OP], inline:OP, free:OP, roofline ..., several at once as cache+free:OP"),
    OPT_STRING(0, "audit", "fastpath", struct replay_args, audit,
               "operators with and without the fast path: attempts, misses, what a hit saves"),
    OPT_CHOICE(0, "backend", "cpu|cuda|null", struct replay_args, run.backend,
               "run the graphs with values, as symtape run does, with all of its options"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct replay_args, run.rules,
               "rules of custom operators, as symtape-rules(5) describes them"),
    OPT_STRING(
        0, "torch", "VERSION", struct replay_args, torch,
        "as this release of PyTorch would do it, such as 2.13 (default: the one that recorded)"),
    OPT_FLAG(0, "all-graphs", struct replay_args, all,
             "graphs of other events and artifacts too; they are not part of the totals",
             .old = "all"),
    OPT_NUMBER('n', "limit", "N", struct replay_args, run.limit,
               "differences, guards and rows of a table; 0 is all (default: 10, of guards all)"),
    OPT_NUMBER('j', "jobs", "N", struct replay_args, run.jobs,
               "attempts at once (default: as many as there are processors)"),
    OPT_FLAG(0, "stable", struct replay_args, stable,
             "with --json: measured times are 0, so that the same tape gives the same bytes"),
    OPT_FLAG(0, "bisect-codes", struct replay_args, run.bisect_codes,
             "exit as git bisect run expects: 0 good, 1 bad, 125 cannot tell"),
    OPT_JSON(struct replay_args, run.json),
    OPT_FLAG(0, "strict", struct replay_args, run.strict,
             "any damage is an error: exit 3; unsupported calls are a difference: exit 1"),
    OPT_END,
};

enum { TEXT_ROWS = 10 };

static uint32_t jobs_of(const struct replay_args *args)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (args->run.jobs.given && args->run.jobs.value)
        return args->run.jobs.value > 1024 ? 1024 : (uint32_t)args->run.jobs.value;
    return n > 0 && n < 1024 ? (uint32_t)n : 1;
}

struct report_options replay_report_options(const struct cmd *cmd)
{
    const struct replay_args *args = cmd->args;
    uint64_t rows = args->run.limit.given ? args->run.limit.value : TEXT_ROWS;
    return (struct report_options){
        .width = cmd->out->width,
        .styles = out_styles(cmd->out),
        .limit = rows > UINT32_MAX ? 0 : (uint32_t)rows,
    };
}

static int print_replay(struct cmd *cmd, const struct tape_arg *tape, const struct replay *replay)
{
    const struct replay_args *args = cmd->args;
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct replay_report report = { .trace = tape->trace,
                                    .list = trace_graphs(tape->trace, &err),
                                    .replay = replay,
                                    .failures = &tape->failures,
                                    .guards = args->guards,
                                    .operators = args->operators };
    const struct report_options how = replay_report_options(cmd);
    report.max_guards = args->run.limit.given ? how.limit : 0;
    if (!report.list)
        return out_error(cmd->out, &err);
    if (args->run.json)
        replay_json(&report, &text);
    else
        replay_text(&report, &how, &text);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

static bool has_errors(const struct replay *replay)
{
    for (size_t i = 0; i < replay->n_graphs; i++)
        if (replay->graphs[i].error.n)
            return true;
    return false;
}

static int verdict(const struct replay_args *args, const struct replay *replay)
{
    const struct replay_counts *t = &replay->totals, *o = &replay->others;
    if (t->mismatch + t->refused + o->mismatch + o->refused || replay->n_contradictions ||
        (args->dynamic_shapes && replay->n_violations))
        return EXIT_DIFFERS;
    if (has_errors(replay))
        return EXIT_INPUT;
    if (t->unsupported + o->unsupported || (args->run.bisect_codes && t->graphs + o->graphs == 0))
        return args->run.bisect_codes ? EXIT_CANNOT_TELL
               : args->run.strict     ? EXIT_DIFFERS
                                      : EXIT_DONE;
    return EXIT_DONE;
}

/* Two replays of a tape differ in the measured times only. */
static void forget_times(struct replay *replay)
{
    replay->totals.ns = replay->others.ns = replay->costs.ns = 0;
    for (size_t i = 0; i < replay->n_graphs; i++)
        replay->graphs[i].counts.ns = 0;
    for (size_t i = 0; i < replay->n_operators; i++)
        replay->operators[i].stats.ns = 0;
}

static int replay_once(struct cmd *cmd, const struct tape_arg *tape,
                       const struct replay_options *how)
{
    struct err err = { 0 };
    struct replay *result = replay_trace(tape->trace, how, &err);
    if (!result)
        return out_error(cmd->out, &err);
    const struct replay_args *args = cmd->args;
    if (args->stable)
        forget_times(result);
    int code = print_replay(cmd, tape, result);
    if (code == EXIT_DONE)
        code = verdict(cmd->args, result);
    replay_free(result);
    return code;
}

/* Returns the first option that only the other of the two commands has; NULL if there is none. */
static const struct opt *misplaced_option(const struct replay_args *args)
{
    const struct opt *own = args->run.backend ? options : run_options_table;
    const struct opt *other = args->run.backend ? run_options_table : options;
    for (const struct opt *o = own; o->kind != OPT_KIND_END; o++)
        if (opt_is_given(o, args) && !opt_find(other, o->name))
            return o;
    return NULL;
}

static int replay(struct cmd *cmd, const struct tape_arg *tape, struct replay_lists *lists,
                  const struct custom_rules *rules)
{
    const struct replay_args *args = cmd->args;
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.selector = tape->selector;
    how.all = args->all;
    how.rules = rules;
    how.jobs = jobs_of(args);
    how.torch = args->torch ? torch_release(str_of(args->torch)) : 0;
    how.timing = args->operators || args->run.json;
    how.passes = args->operators || args->run.json;
    how.changes = (struct input_changes){ .marks = lists->marks,
                                          .n_marks = lists->n_marks,
                                          .sets = lists->sets,
                                          .n_sets = lists->n_sets };
    if (lists->n_policies == 1)
        how.changes.policy = lists->policies[0];
    if (lists->n_policies > 1)
        return replay_policies(cmd, tape->trace, &how, lists);
    if (lists->n_ablations)
        return replay_ablations(cmd, tape->trace, &how, lists);
    if (lists->n_hints)
        return replay_other_hints(cmd, tape->trace, &how, lists);
    if (args->audit)
        return replay_audit(cmd, tape->trace, &how);
    return replay_once(cmd, tape, &how);
}

/* Puts symbols in the places of sources. */
static bool find_sources(const struct tape_arg *tape, struct replay_lists *lists, struct err *err)
{
    for (size_t i = 0; i < lists->n_sets; i++)
        if (!source_symbol_find(tape->trace, &tape->selector, &lists->sets[i].symbol, err))
            return err_at(err, "--sizes");
    for (size_t i = 0; i < lists->n_hints; i++)
        if (!source_symbol_find(tape->trace, &tape->selector, &lists->hints[i].symbol, err))
            return err_at(err, "--what-if");
    return true;
}

static int run_replay(struct cmd *cmd)
{
    const struct replay_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct replay_lists lists = { 0 };
    struct custom_rules *rules = NULL;
    const struct opt *misplaced = misplaced_option(args);
    if (misplaced)
        return out_usage(cmd->out, "--%s: %s with --backend", misplaced->name,
                         args->run.backend ? "not" : "only");
    if (args->run.backend)
        return run_graphs(cmd, &args->run);
    if (args->run.sizes.file)
        return out_usage(cmd->out, "--sizes %s: a size is SYMBOL=NUMBER; files only with --backend",
                         args->run.sizes.file);
    if (args->torch && !torch_release(str_of(args->torch)))
        return out_usage(cmd->out, "--torch %s: not a version such as 2.13", args->torch);
    struct err err = { 0 };
    int code = replay_lists_read(&lists, args, &err) &&
                       rules_arg_read(&rules, args->run.rules, &cmd->out->limit->meter, &err)
                   ? tape_arg_open(&tape, cmd->out, cmd->operands[0],
                                   args->run.strict ? TAPE_ARG_STRICT : 0)
                   : out_error(cmd->out, &err);
    if (code == EXIT_DONE && !find_sources(&tape, &lists, &err))
        code = out_error(cmd->out, &err);
    if (code == EXIT_DONE)
        code = replay(cmd, &tape, &lists, rules);
    tape_arg_close(&tape);
    replay_lists_release(&lists);
    custom_rules_free(rules);
    return args->run.bisect_codes ? exit_code_for_bisect(code) : code;
}

const struct command command_replay = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]",
    .description =
        "Walks every recorded graph through the shape engine, without PyTorch: each call's rule "
        "computes the symbolic result from the results before it, adds the guards that PyTorch "
        "adds, and is compared with what was recorded.",
    .examples = "  symtape replay bert.tape\n"
                "  symtape replay bert.tape:0/0_1:joint --guards\n"
                "  symtape replay bert.tape --json\n",
    .options = options,
    .unlisted = run_options_table,
    .args_size = sizeof(struct replay_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_replay,
};
