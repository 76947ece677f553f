#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/replay/replay.h"

static const struct opt options[] = {
    OPT_FLAG(0, "guards", struct replay_args, guards,
             "each guard: recorded, reproduced, missing or extra, and the node that asked"),
    OPT_FLAG(0, "operators", struct replay_args, operators,
             "counters by operator: calls, dispatches, caches, fast path, user lines"),
    OPT_STRING(0, "policy", "P[,P...]", struct replay_args, policy,
               "which symbols stay: recorded, static, batch, partial, auto, all; several are put "
               "side by side"),
    OPT_STRING(0, "mark", "MARK[,MARK...]", struct replay_args, mark,
               "another size: L['x']:1=dynamic, =static, =unbacked, =MIN..MAX, or a Dim of "
               "torch.export: =Dim(dx), =Dim(dx,MIN..MAX), =2*Dim(dx)+1"),
    OPT_STRING(0, "set", "HINT[,HINT...]", struct replay_args, set,
               "other hints than the recorded ones: s77=31; with --backend also lists and ranges: "
               "s0=1..64,s1=8,16"),
    OPT_STRING(0, "hints", "HINT[,HINT...]", struct replay_args, hints,
               "what other hints would change: guards, specializations, results"),
    OPT_STRING(0, "ablate", "LIST", struct replay_args, ablate,
               "without fastpath, cache, fastpath:OP or free:OP, each beside the baseline"),
    OPT_STRING(0, "audit", "fastpath", struct replay_args, audit,
               "operators that could take the fast path and do not"),
    OPT_STRING(0, "backend", "NAME", struct replay_args, backend,
               "run the graphs for real on this backend: cpu; null tells sizes and memory only"),
    OPT_FLAG(0, "tf32", struct replay_args, tf32,
             "matmuls and convolutions of f32 may use TF32 inputs, as PyTorch's "
             "allow_tf32 lets them"),
    OPT_FLAG(0, "force", struct replay_args, force,
             "run at sizes that guards or asserts do not allow, and say which"),
    OPT_FLAG(0, "profile", struct replay_args, profile,
             "where the time goes: by operator and fused group, with user lines"),
    OPT_NUMBER(0, "runs", "N", struct replay_args, runs,
               "with --profile: of so many runs the median is taken (default: 5)"),
    OPT_STRING(0, "inputs", "FILE", struct replay_args, inputs,
               "values of the inputs, in order, from a .safetensors file"),
    OPT_STRING(0, "input-prefix", "TEXT", struct replay_args, input_prefix,
               "in front of an input's number in its name there (default: in.)"),
    OPT_STRING(0, "sizes", "FILE", struct replay_args, sizes,
               "run at the sizes of each line: s0=3 s1=8"),
    OPT_NUMBER(0, "seed", "N", struct replay_args, seed,
               "of random inputs and random operators (default: 0)"),
    OPT_STRING(0, "against", "NAME", struct replay_args, against,
               "compare the outputs with those of that backend, or of a .safetensors file"),
    OPT_FLAG(0, "nodes", struct replay_args, nodes,
             "with --against: compare each node, and tell the first that differs"),
    OPT_STRING(0, "tolerance", "FACTOR", struct replay_args, tolerance,
               "with --against: that many times the tolerance (default: 1)"),
    OPT_STRING(0, "against-prefix", "TEXT", struct replay_args, against_prefix,
               "in front of an output's number in its name there (default: out.)"),
    OPT_STRING(0, "outputs", "FILE", struct replay_args, outputs,
               "write the outputs to a .safetensors file"),
    OPT_STRING(0, "save", "NODE[,NODE...]", struct replay_args, save,
               "with --outputs: write the values of these nodes too, of all, or of the "
               "inputs"),
    OPT_NUMBER(0, "samples", "N", struct replay_args, samples,
               "with --save: of nodes with more elements keep N, and a hash (default: all)"),
    OPT_STRING(0, "perturb", "NODE=EPS", struct replay_args, perturb,
               "a drill: add EPS * (1 + |x|) to each element x of that node"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct replay_args, rules,
               "rules of custom operators, as symtape-rules(5) describes them"),
    OPT_FLAG(0, "all", struct replay_args, all,
             "graphs of other events and artifacts too; they are not part of the totals"),
    OPT_NUMBER('n', "limit", "N", struct replay_args, limit,
               "differences, guards and rows of a table; 0 is all (default: 10, of guards all)"),
    OPT_NUMBER(
        'j', "jobs", "N", struct replay_args, jobs,
        "attempts at once, or threads of backend cpu (default: as many as there are processors)"),
    OPT_FLAG(0, "bisect-codes", struct replay_args, bisect_codes,
             "exit as git bisect run wants: 0 good, 1 bad, 125 cannot tell"),
    OPT_JSON(struct replay_args, json),
    OPT_FLAG(0, "strict", struct replay_args, strict,
             "any damage is an error: exit 3; unsupported calls are a difference: exit 1"),
    OPT_END,
};

enum { TEXT_ROWS = 10 };

static uint32_t jobs_of(const struct replay_args *args)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (args->jobs.given && args->jobs.value)
        return args->jobs.value > 1024 ? 1024 : (uint32_t)args->jobs.value;
    return n > 0 && n < 1024 ? (uint32_t)n : 1;
}

struct report_options replay_report_options(const struct cmd *cmd)
{
    const struct replay_args *args = cmd->args;
    uint64_t rows = args->limit.given ? args->limit.value : TEXT_ROWS;
    return (struct report_options){
        .width = cmd->out->width,
        .styles = out_styles(cmd->out),
        .limit = rows > UINT32_MAX ? 0 : (uint32_t)rows,
    };
}

static int print(struct cmd *cmd, struct trace *trace, const struct replay *replay)
{
    const struct replay_args *args = cmd->args;
    struct err err = { 0 };
    struct buf text = BUF_INIT;
    struct replay_report report = { .trace = trace,
                                    .list = trace_graphs(trace, &err),
                                    .replay = replay,
                                    .guards = args->guards,
                                    .operators = args->operators };
    const struct report_options how = replay_report_options(cmd);
    report.max_guards = args->limit.given ? how.limit : 0;
    if (!report.list)
        return out_error(cmd->out, &err);
    if (args->json)
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
    if (t->mismatch + t->refused + o->mismatch + o->refused || (args->mark && replay->n_violations))
        return EXIT_DIFFERS;
    if (has_errors(replay))
        return EXIT_INPUT;
    if (t->unsupported + o->unsupported || (args->bisect_codes && t->graphs + o->graphs == 0))
        return args->bisect_codes ? EXIT_CANNOT_TELL : args->strict ? EXIT_DIFFERS : EXIT_DONE;
    return EXIT_DONE;
}

static int replay_once(struct cmd *cmd, struct trace *trace, const struct replay_options *how)
{
    struct err err = { 0 };
    struct replay *result = replay_trace(trace, how, &err);
    if (!result)
        return out_error(cmd->out, &err);
    int code = print(cmd, trace, result);
    if (code == EXIT_DONE)
        code = verdict(cmd->args, result);
    replay_free(result);
    return code;
}

/* An option that the other options make meaningless; NULL: there is none. */
static const char *idle_option(const struct replay_args *args)
{
    const struct {
        const char *name;
        bool given, for_backend;
    } given[] = {
        { "--inputs", args->inputs, true },
        { "--input-prefix", args->input_prefix, true },
        { "--against", args->against, true },
        { "--against-prefix", args->against_prefix, true },
        { "--outputs", args->outputs, true },
        { "--nodes", args->nodes, true },
        { "--save", args->save, true },
        { "--samples", args->samples.given, true },
        { "--seed", args->seed.given, true },
        { "--sizes", args->sizes, true },
        { "--tolerance", args->tolerance, true },
        { "--perturb", args->perturb, true },
        { "--tf32", args->tf32, true },
        { "--force", args->force, true },
        { "--profile", args->profile, true },
        { "--guards", args->guards, false },
        { "--operators", args->operators, false },
        { "--policy", args->policy, false },
        { "--mark", args->mark, false },
        { "--hints", args->hints, false },
        { "--ablate", args->ablate, false },
        { "--audit", args->audit, false },
        { "--all", args->all, false },
    };
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (given[i].given && given[i].for_backend != (args->backend != NULL))
            return given[i].name;
    return NULL;
}

static int replay(struct cmd *cmd, const struct tape_arg *tape, const struct replay_lists *lists,
                  const struct custom_rules *rules)
{
    const struct replay_args *args = cmd->args;
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.selector = tape->selector;
    how.all = args->all;
    how.rules = rules;
    how.jobs = jobs_of(args);
    how.timing = args->operators || args->json;
    how.passes = args->operators || args->json;
    how.changes = (struct input_changes){ .marks = lists->marks,
                                          .n_marks = lists->n_marks,
                                          .sets = lists->sets,
                                          .n_sets = lists->n_sets };
    if (args->backend)
        memory_limit_end(cmd->out->limit);
    if (args->backend)
        return replay_backend(cmd, tape->trace, &tape->selector, rules);
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
    return replay_once(cmd, tape->trace, &how);
}

static int run(struct cmd *cmd)
{
    const struct replay_args *args = cmd->args;
    struct tape_arg tape = { 0 };
    struct replay_lists lists = { 0 };
    struct custom_rules *rules = NULL;
    if (idle_option(args))
        return out_usage(cmd->out,
                         args->backend ? "%s: not with --backend" : "%s: only with --backend",
                         idle_option(args));
    struct err err = { 0 };
    int code =
        replay_lists_read(&lists, args, &err) &&
                rules_read(&rules, args->rules, &cmd->out->limit->meter, &err)
            ? tape_arg_open(&tape, cmd->out, cmd->operands[0], args->strict ? TAPE_ARG_STRICT : 0)
            : out_error(cmd->out, &err);
    if (code == EXIT_DONE)
        code = replay(cmd, &tape, &lists, rules);
    tape_arg_close(&tape);
    replay_lists_release(&lists);
    custom_rules_free(rules);
    return args->bisect_codes ? exit_code_for_bisect(code) : code;
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
    .args_size = sizeof(struct replay_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
