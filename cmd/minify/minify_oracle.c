#include <stdlib.h>

#include "cmd/minify/minify.h"
#include "minify/oracle/oracle_backends.h"
#include "minify/oracle/oracle_check.h"
#include "minify/oracle/oracle_ops.h"
#include "minify/oracle/oracle_shape.h"

static enum crash_is crash_of(const char *word)
{
    if (!word)
        return CRASH_UNRESOLVED;
    return strcmp(word, "interesting") == 0 ? CRASH_INTERESTING
           : strcmp(word, "boring") == 0    ? CRASH_BORING
                                            : CRASH_ABORT;
}

/* Workers are started by the first questions. */
static bool make_launcher(struct minify_job *job, struct err *err)
{
    const char *command = job->args->launcher;
    const struct launcher_options how = { str_of(command ? command : ""), job->options.jobs };
    if (command && !job->launcher)
        job->launcher = launcher_open(&how, err);
    return !command || job->launcher;
}

static bool make_check(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    if (args->also_interesting.given &&
        (args->also_interesting.value < 1 || args->also_interesting.value > 124))
        return err_set(err, ERR_USAGE, "--also-interesting must be from 1 to 124");
    if (!make_launcher(job, err))
        return false;
    char *best = strcmp(job->tape, "-") == 0 ? NULL : realpath(job->tape, NULL);
    const struct check_options options = {
        .command = str_of(args->check),
        .invert = args->invert,
        .crash = crash_of(args->crash_is),
        .also_interesting = args->also_interesting.given ? (int)args->also_interesting.value : 0,
        .best = str_of(best ? best : job->tape),
        .print_py = minify_print_py,
        .launcher = job->launcher,
        .user = job,
    };
    job->repro = (struct repro_what){ .check = REPRO_RUNS };
    job->oracle = oracle_check(&options, err);
    free(best);
    return job->oracle != NULL;
}

static bool make_shape(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    struct shape_options options = { .question = SHAPE_EXPECT,
                                     .what = job->error,
                                     .inject =
                                         str_of(args->inject_fault ? args->inject_fault : "") };
    /* What an operator refuses may fail in eager mode, too. */
    job->repro = (struct repro_what){ .check = REPRO_RAISES, .eager_fails = true };
    if (args->guard || args->specializes || args->cost)
        job->repro.eager_fails = false;
    if (args->guard) {
        options.question = SHAPE_GUARD;
        job->repro.check = REPRO_GUARD;
        job->repro.expr = options.what = str_of(args->guard);
    } else if (args->specializes) {
        options.question = SHAPE_SPECIALIZES;
        job->repro.check = REPRO_SPECIALIZES;
        job->repro.expr = options.what = str_of(args->specializes);
    } else if (args->cost) {
        options.question = SHAPE_COST;
        options.estimate = minify_estimate_ms;
        struct cost_limit limit;
        options.what = str_of(args->cost);
        if (!cost_read(options.what, &limit, err))
            return false;
        /* Of these costs, a program can count guards alone. */
        job->repro.check = limit.cost == GRAPH_COST_GUARDS ? REPRO_GUARDS : REPRO_RUNS;
        job->repro.at_least = limit.least;
    }
    job->oracle = oracle_shape(&options, job->whole, err);
    return job->oracle != NULL;
}

/* A time that PyTorch takes cannot be compared with an estimate, but two times can be compared. */
static bool make_cost(struct minify_job *job, struct err *err)
{
    return (!minify_times_result(job->args) || minify_time_whole(job, err)) && make_shape(job, err);
}

static enum torch_question question_of(const char *word)
{
#define QUESTION(id, name, check, route) \
    if (strcmp(word, name) == 0)         \
        return TORCH_##id;
    TORCH_QUESTIONS(QUESTION)
#undef QUESTION
    return TORCH_COMPILE;
}

static enum repro_values values_of(const char *word)
{
#define VALUES(id, name, suffix, words)  \
    if (word && strcmp(word, name) == 0) \
        return REPRO_VALUES_##id;
    REPRO_VALUES(VALUES)
#undef VALUES
    return REPRO_VALUES_NORMAL;
}

static struct program_setup minify_setup(const struct minify_args *args)
{
    return (struct program_setup){ .allow = str_of(args->allow),
                                   .imports = str_of(args->import),
                                   .env = str_of(args->env),
                                   .config = str_of(args->config),
                                   .backend = str_of(args->backend) };
}

static void drop_oracle(struct minify_job *job)
{
    if (job->oracle)
        job->oracle->free(job->oracle);
    job->oracle = NULL;
}

/* Whether the failure on the tape is one of a Dim with a name, all of whose sizes must satisfy the
 * guards: produce_guards_verbose() of torch/fx/experimental/symbolic_shapes.py. */
static bool violates_guard(const struct minify_job *job)
{
    return str_find(job->failed, STR(" satisfy the generated guard ")) < job->failed.n;
}

static bool start_torch(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    job->repro.setup = minify_setup(args);
    const struct torch_options options = {
        .question = question_of(args->torch),
        .python = str_of(job->python.path ? job->python.path : ""),
        .backend = str_of(args->backend ? args->backend : ""),
        .named_dims = violates_guard(job),
        .cpu = args->cpu,
        .values = values_of(args->values),
        .setup = job->repro.setup,
        .timeout = job->options.timeout,
        .cancel = job->options.stop,
        .launcher = job->launcher,
    };
    out_progress(job->cmd->out, "running the whole graph in PyTorch");
    job->oracle = job->torch_oracle = oracle_torch(&options, job->whole, &job->torch, err);
    out_progress_end(job->cmd->out);
    return job->oracle != NULL;
}

/* The program may have registered the backend of its calls; nobody asked for it here. */
static bool start_inductor(struct minify_job *job, struct err *err)
{
    if (!job->calls_backend || !job->torch.no_backend)
        return false;
    err_clear(err);
    out_note(job->cmd->out,
             "PyTorch has no backend %s by itself: inductor is asked; --torch-backend MODULE:NAME "
             "names the function, and --import its file",
             job->chosen.backend);
    job->chosen.backend = "inductor";
    job->calls_backend = false;
    return start_torch(job, err);
}

/* Asks PyTorch about the graph, or about each until one fails. */
static bool ask_torch(struct minify_job *job, struct err *err)
{
    drop_oracle(job);
    return minify_drop_gradients(job, err) && minify_first_graph(job, err) &&
           (start_torch(job, err) || start_inductor(job, err)) && minify_ask_gradients(job, err) &&
           minify_find_graph(job, err);
}

/* If all graphs of a program are right, but its results are wrong, its values are the reason. */
static bool find_values(struct minify_job *job, struct err *err)
{
    bool wrong = job->program && job->status != 0 && job->all_right;
    if (!wrong || atomic_load(job->options.stop))
        return true;
    if (!job->args->values && !minify_try_values(job, err))
        return false;
    return job->torch.verdict == VERDICT_INTERESTING || minify_find_frame(job, err);
}

/* last: nothing else is tried if the graph does not fail. */
static bool make_torch(struct minify_job *job, bool last, struct err *err)
{
    bool again = false;
    if (!make_launcher(job, err) || !ask_torch(job, err))
        return false;
    if (last && job->torch.verdict == VERDICT_BORING && !minify_find_settings(job, &again, err))
        return false;
    if ((again && !ask_torch(job, err)) || !find_values(job, err))
        return false;
    job->repro = oracle_torch_repro(job->oracle);
    if (!minify_hide_text(job, &job->torch.eager, err))
        return false;
    if (job->torch.eager.n)
        out_note(job->cmd->out, "eager fails too, without any compiler: %.*s",
                 STR_ARG(str_first(job->torch.eager, 300)));
    return true;
}

static bool make_ops(struct minify_job *job, struct err *err)
{
    job->repro = (struct repro_what){ .check = REPRO_RUNS };
    job->oracle = oracle_ops(str_of(job->args->has_ops), err);
    return job->oracle != NULL;
}

/* --backend-mismatch cuda,cpu */
static bool make_backends(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    struct str both = str_of(args->mismatch);
    size_t comma = str_find_char(both, ',');
    const struct backends_options options = {
        .tested = str_trim(str_first(both, comma)),
        .reference = comma < both.n ? str_trim(str_from(both, comma + 1)) : STR("cpu"),
        .tf32 = args->tf32,
        .inject = str_of(args->inject_fault ? args->inject_fault : ""),
    };
    job->repro = (struct repro_what){ .check = REPRO_RUNS };
    if (str_is(options.tested, "cuda") || str_is(options.reference, "cuda"))
        job->repro = (struct repro_what){ .check = REPRO_WRONG, .route = REPRO_CUDA, .cpu = true };
    job->oracle = oracle_backends(&options, job->whole, err);
    return job->oracle != NULL;
}

/* Asks on the CPU if the graph is for a device that is not there. */
static bool make_torch_anywhere(struct minify_job *job, bool last, struct err *err)
{
    if (!minify_note_oracle(job, err) || !make_torch(job, last, err))
        return false;
    if (!job->torch.no_device || job->chosen.cpu)
        return true;
    out_note(job->cmd->out, "%.*s; it is asked on the CPU (--cpu)", STR_ARG(job->torch.error));
    job->chosen.cpu = true;
    return make_torch(job, last, err);
}

/* What a program's results need is noted when that is known. */
static bool make_named_torch(struct minify_job *job, struct err *err)
{
    return (job->has_noted_python || minify_note_oracle(job, err)) && make_torch(job, true, err);
}

static bool fails_now(struct minify_job *job)
{
    const struct oracle_question question = { .timeout = 60 };
    struct answer answer;
    job->oracle->ask(job->oracle, job->whole, &question, &answer);
    bool ret = answer.verdict == VERDICT_INTERESTING && minify_is_failure_of_tape(job, answer.text);
    answer_release(&answer);
    return ret;
}

static struct str tape_name(const struct minify_job *job)
{
    struct selector selector;
    struct err ignored = { 0 };
    struct str operand = str_of(job->operand);
    return selector_parse(&selector, operand, &ignored) ? selector.tape : operand;
}

/* A compile that failed while Dynamo traced fails in the shape engine, too, if an operator refused
 * its sizes. All else is asked of PyTorch, with the backend that failed. */
static bool make_picked(struct minify_job *job, struct err *err)
{
    struct err ignored = { 0 };
    bool tries_inductor = job->traced && !job->outside && !job->chosen.backend;
    if (!job->traced && make_shape(job, &ignored) && fails_now(job)) {
        job->repro.route = job->outside ? REPRO_EXPORT : REPRO_COMPILE;
        return minify_note_oracle(job, err) && minify_hide_oracle(job, err);
    }
    drop_oracle(job);
    job->chosen.torch = !job->outside                                        ? "compile"
                        : str_is(job->exception, "ConstraintViolationError") ? "constraints"
                                                                             : "export";
    if (!job->outside && !job->chosen.backend)
        job->chosen.backend = "aot_eager";
    if (!make_torch_anywhere(job, !tries_inductor, err))
        return false;
    if (job->torch.verdict == VERDICT_BORING && tries_inductor) {
        job->chosen.backend = "inductor";
        if (!make_torch_anywhere(job, true, err))
            return false;
    }
    if (job->torch.verdict == VERDICT_BORING && !job->traced && job->failed_at.n)
        out_note(job->cmd->out,
                 "no call of the graph fails, but the code at %.*s, which is not in the graph; "
                 "symtape diagnose %.*s explains it, and what to write instead",
                 STR_ARG(job->failed_at), STR_ARG(tape_name(job)));
    if (job->torch.verdict == VERDICT_INTERESTING && !job->failed_type.n &&
        !minify_is_failure_of_tape(job, job->torch.error))
        out_note(job->cmd->out,
                 "PyTorch %.*s fails with another message than the tape has; the one that it "
                 "gives now is reduced",
                 STR_ARG(job->torch.version));
    if (!minify_hide_oracle(job, err))
        return false;
    job->repro.setup = minify_setup(job->args);
    return true;
}

bool minify_check_oracle(const struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    unsigned n = !!args->check + !!args->torch + !!args->error + !!args->guard +
                 !!args->specializes + !!args->cost + !!args->has_ops + !!args->mismatch;
    if (n > 1 && !(n == 2 && minify_times_result(args)))
        return err_set(
            err, ERR_USAGE,
            "--check, --torch-oracle, --error, --guard, --specializes, --cost, "
            "--backend-mismatch and --has-ops exclude each other, except for --cost with "
            "--torch-oracle seconds");
    if (!args->check && (args->invert || args->crash_is || args->also_interesting.given))
        return err_set(err, ERR_USAGE, "--invert, --crash-is and --also-interesting need --check");
    if (minify_times_result(args) && minify_only_costs(args))
        return err_set(err, ERR_USAGE,
                       "--torch-oracle: --cost %s only prints what the graph costs; with a limit, "
                       "as in '%s>=10', PyTorch compiles the whole graph and the smallest one",
                       args->cost, args->cost);
    if (args->launcher && minify_times_result(args))
        return err_set(err, ERR_USAGE,
                       "--launcher: with --cost, this machine alone is asked how long compiling "
                       "takes");
    if (args->launcher && n > 0 && !args->check && !args->torch)
        return err_set(err, ERR_USAGE, "--launcher needs --check or --torch-oracle");
    if (!args->mismatch && args->tf32)
        return err_set(err, ERR_USAGE, "--tf32 needs --backend-mismatch");
    if ((args->check || args->torch || args->has_ops) && args->inject_fault)
        return err_set(err, ERR_USAGE,
                       "--inject-fault cannot be combined with --check, "
                       "--torch-oracle or --has-ops");
    const struct program_setup setup = minify_setup(args);
    struct cost_limit limit;
    return program_setup_check(&setup, err) &&
           (!args->cost || cost_read(str_of(args->cost), &limit, err));
}

/* Checks the options of PyTorch, which need something that asks it. */
static bool check_torch_options(const struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    if (args->torch || job->is_picked)
        return true;
    if (args->backend || args->cpu || args->values || args->env || args->config || args->import)
        return err_set(err, ERR_USAGE,
                       "--torch-backend, --cpu, --values, --import, --env and --config need "
                       "--torch-oracle");
    return !args->python || args->repro ||
           err_set(err, ERR_USAGE, "--python needs --torch-oracle or --repro");
}

bool minify_make_oracle(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    const struct program_setup setup = minify_setup(args);
    if (!check_torch_options(job, err) || !program_setup_check(&setup, err))
        return false;
    job->repro.setup = setup;
    if (job->is_picked)
        return make_picked(job, err);
    bool made = args->check      ? make_check(job, err)
                : args->cost     ? make_cost(job, err)
                : args->torch    ? make_named_torch(job, err)
                : args->has_ops  ? make_ops(job, err)
                : args->mismatch ? make_backends(job, err)
                                 : make_shape(job, err);
    if (!made)
        return false;
    if (job->oracle->without.n)
        out_note(job->cmd->out, "%.*s", STR_ARG(job->oracle->without));
    if (!minify_hide_oracle(job, err))
        return false;
    job->repro.setup = minify_setup(args); /* options may have been added */
    return true;
}
