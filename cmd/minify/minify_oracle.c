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

static bool make_check(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    if (args->also_interesting.given &&
        (args->also_interesting.value < 1 || args->also_interesting.value > 124))
        return err_set(err, ERR_USAGE, "--also-interesting must be from 1 to 124");
    char *best = strcmp(job->tape, "-") == 0 ? NULL : realpath(job->tape, NULL);
    const struct check_options options = {
        .command = str_of(args->check),
        .invert = args->invert,
        .crash = crash_of(args->crash_is),
        .also_interesting = args->also_interesting.given ? (int)args->also_interesting.value : 0,
        .best = str_of(best ? best : job->tape),
        .print_py = minify_print_py,
        .user = job,
    };
    job->repro = (struct repro_what){ .check = REPRO_RUNS };
    job->oracle = oracle_check(&options, err);
    free(best);
    return job->oracle != NULL;
}

/* Returns the number in a cost such as "guards>=200", which the repro checks. */
static uint64_t number_behind(const char *cost)
{
    uint64_t n = 0;
    struct str text = str_of(cost);
    size_t digits = text.n;
    while (digits > 0 && text.p[digits - 1] >= '0' && text.p[digits - 1] <= '9')
        digits--;
    (void)str_to_u64(str_from(text, digits), &n);
    return n;
}

static bool make_shape(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    struct shape_options options = { .question = SHAPE_EXPECT,
                                     .what = job->error,
                                     .inject =
                                         str_of(args->inject_fault ? args->inject_fault : "") };
    job->repro = (struct repro_what){ .check = REPRO_RAISES };
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
        options.what = str_of(args->cost);
        job->repro.check = REPRO_GUARDS;
        job->repro.at_least = number_behind(args->cost);
    }
    job->oracle = oracle_shape(&options, job->whole, err);
    return job->oracle != NULL;
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

static bool make_torch(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    const struct torch_options options = {
        .question = question_of(args->torch),
        .backend = str_of(args->backend ? args->backend : ""),
        .cpu = args->cpu,
        .allow = str_of(args->allow),
        .timeout = job->options.timeout,
    };
    out_progress(job->cmd->out, "running the whole graph in PyTorch");
    job->oracle = oracle_torch(&options, job->whole, &job->torch, err);
    out_progress_end(job->cmd->out);
    if (!job->oracle)
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

bool minify_make_oracle(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    unsigned n = !!args->check + !!args->torch + !!args->error + !!args->guard +
                 !!args->specializes + !!args->cost + !!args->has_ops + !!args->mismatch;
    if (n > 1)
        return err_set(err, ERR_USAGE,
                       "--check, --torch-oracle, --error, --guard, --specializes, --cost, "
                       "--backend-mismatch and --has-ops exclude each other");
    if (!args->check && (args->invert || args->crash_is || args->also_interesting.given))
        return err_set(err, ERR_USAGE, "--invert, --crash-is and --also-interesting need --check");
    if (!args->torch && (args->backend || args->cpu))
        return err_set(err, ERR_USAGE, "--torch-backend and --cpu need --torch-oracle");
    if (!args->mismatch && args->tf32)
        return err_set(err, ERR_USAGE, "--tf32 needs --backend-mismatch");
    if ((args->check || args->torch || args->has_ops) && args->inject_fault)
        return err_set(err, ERR_USAGE,
                       "--inject-fault cannot be combined with --check, "
                       "--torch-oracle or --has-ops");
    bool made = args->check      ? make_check(job, err)
                : args->torch    ? make_torch(job, err)
                : args->has_ops  ? make_ops(job, err)
                : args->mismatch ? make_backends(job, err)
                                 : make_shape(job, err);
    if (!made)
        return false;
    if (job->oracle->without.n)
        out_note(job->cmd->out, "%.*s", STR_ARG(job->oracle->without));
    if (!minify_hide_oracle(job, err))
        return false;
    job->repro.allow = str_of(args->allow);
    return true;
}
