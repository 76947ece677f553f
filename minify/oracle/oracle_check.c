#include "minify/oracle/oracle_check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "minify/candidate/candidate_tape.h"
#include "minify/oracle/check_id.h"
#include "minify/process/signature.h"
#include "minify/remote/command_files.h"

/* The most answers to one question (minify/search/course.c), which number its jobs. */
enum { CLEAN_MAX = 100 };

struct oracle_check {
    struct oracle oracle;
    struct check_options options; /* its texts are in `arena` */
    struct command_line command;
    struct command_files files; /* with a launcher: those that words name */
    struct scratch scratch;     /* without one */
    atomic_bool ran;            /* the command ran at least once */
    struct arena arena;
};

/* The state of one question. */

struct command_run {
    struct oracle_check *check;
    const struct candidate *candidate;
    const struct oracle_question *asking;
    struct answer *answer;
    struct buf fx, py, tape; /* the files of the job */
    struct job job;
    struct child_end end;
};

/* The files of a job, in this order; those that words name follow. */
enum { FILE_FX, FILE_TAPE, FILE_PY };

static bool print_files(struct command_run *q, struct err *err)
{
    const struct check_options *options = &q->check->options;
    (void)candidate_print_fx(q->candidate, &q->fx);
    if (!candidate_tape(q->candidate, &q->tape, err))
        return false;
    if (options->print_py && !options->print_py(options->user, q->candidate, &q->py))
        return err_nomem(err);
    job_add_file(&q->job, STR("candidate.fx"), buf_str(&q->fx), false);
    job_add_file(&q->job, STR("candidate.tape"), buf_str(&q->tape), false);
    job_add_file(&q->job, STR("candidate.py"), buf_str(&q->py), false);
    return (!q->fx.failed && !q->py.failed && !q->tape.failed) || err_nomem(err);
}

static void add_number(struct command_run *q, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    struct str copy = arena_copy(&q->job.arena, str_of(text));
    q->job.failed |= !copy.p;
    job_add_variable(&q->job, str_of(name), JOB_TEXT, copy);
}

static void add_variables(struct command_run *q)
{
    const struct oracle_question *asking = q->asking;
    const struct check_options *options = &q->check->options;
    job_add_variable(&q->job, STR("TMPDIR"), JOB_TMP, STR(""));
    job_add_variable(&q->job, STR("SYMTAPE_FX"), FILE_FX, STR(""));
    job_add_variable(&q->job, STR("SYMTAPE_PY"), FILE_PY, STR(""));
    job_add_variable(&q->job, STR("SYMTAPE_TAPE"), FILE_TAPE, STR(""));
    add_number(q, "SYMTAPE_CALL", asking->call);
    add_number(q, "SYMTAPE_SEED", q->candidate->seed);
    job_add_variable(&q->job, STR("SYMTAPE_SIGNATURE"), JOB_TEXT, options->signature);
    add_number(q, "SYMTAPE_ATTEMPT", asking->attempt);
    add_number(q, "SYMTAPE_WORKER", asking->worker);
    job_add_variable(&q->job, STR("SYMTAPE_BEST"), JOB_TEXT, options->best);
    add_number(q, "SYMTAPE_DEADLINE_MS", (uint64_t)(asking->timeout * 1e3));
}

static bool make_job(struct command_run *q, struct err *err)
{
    const struct oracle_check *check = q->check;
    q->job = (struct job){ .number = q->asking->call * CLEAN_MAX + q->asking->attempt,
                           .worker = q->asking->worker,
                           .timeout = q->asking->timeout,
                           .input = FILE_FX,
                           .cancel = q->asking->cancel };
    if (!print_files(q, err))
        return false;
    add_variables(q);
    command_files_add(&check->files, &check->command, &q->job);
    job_add_word(&q->job, FILE_FX, STR(""));
    return !q->job.failed || err_nomem(err);
}

static void end_question(struct command_run *q)
{
    job_release(&q->job);
    buf_release(&q->fx);
    buf_release(&q->py);
    buf_release(&q->tape);
}

static bool run_check_command(struct command_run *q, struct err *err)
{
    struct oracle_check *check = q->check;
    return check->options.launcher ? launcher_run(check->options.launcher, &q->job, &q->end, err)
                                   : job_run(&q->job, &check->scratch, &q->end, err);
}

static void set_broken(struct command_run *q, const char *fmt, ...) ERR_PRINTF(2, 3);
static void set_broken(struct command_run *q, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    q->answer->verdict = VERDICT_BROKEN;
    err_setv(&q->answer->err, ERR_ENV, fmt, args);
    va_end(args);
}

static void describe_end(struct command_run *q)
{
    struct answer *answer = q->answer;
    struct buf text = BUF_INIT;
    struct str line = child_last_line(&q->end);
    if (q->end.timed_out)
        buf_printf(&text, NO_END_WITHIN " %.1f s", q->asking->timeout);
    else if (q->end.signal)
        buf_printf(&text, "killed by signal %d", q->end.signal);
    else
        buf_printf(&text, "exit %d", q->end.status);
    if (line.n)
        buf_printf(&text, ": %.*s", STR_ARG(str_first(line, 300)));
    if (!text.failed)
        answer->text = arena_copy(&answer->arena, buf_str(&text));
    buf_clear(&text);
    signature_normalise(line, &text);
    if (!text.failed)
        answer->signature.message = arena_copy(&answer->arena, buf_str(&text));
    answer->signature.kind = STR("exit");
    answer->signature.op = answer->signature.frame = STR("");
    answer->node = STR("");
    buf_release(&text);
}

static enum verdict verdict_of_code(const struct check_options *options, int status)
{
    if (options->also_interesting && status == options->also_interesting)
        return VERDICT_OTHER;
    if (status == 125)
        return VERDICT_UNRESOLVED;
    return (status == 0) != options->invert ? VERDICT_INTERESTING : VERDICT_BORING;
}

static void judge_crash(struct command_run *q)
{
    switch (q->check->options.crash) {
    case CRASH_INTERESTING: q->answer->verdict = VERDICT_INTERESTING; break;
    case CRASH_BORING: q->answer->verdict = VERDICT_BORING; break;
    case CRASH_ABORT: set_broken(q, "--check: %.*s", STR_ARG(q->answer->text)); break;
    default: q->answer->verdict = VERDICT_UNRESOLVED; break;
    }
}

static bool cannot_run(const struct command_run *q)
{
    return q->end.status == 126 || q->end.status == 127;
}

static bool is_crash(const struct command_run *q)
{
    return !q->end.timed_out && (q->end.signal || q->end.status >= 128);
}

/* Runs the command once more if that may help. Returns false if it cannot be started. */
static bool run_twice(struct command_run *q, struct err *err)
{
    double seconds = 0;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (!run_check_command(q, err))
            return false;
        seconds = attempt ? seconds : q->end.seconds;
        bool again = cannot_run(q) ? atomic_load(&q->check->ran)
                                   : is_crash(q) && q->check->options.crash == CRASH_UNRESOLVED;
        if (q->end.cancelled || !again)
            break;
    }
    q->answer->seconds = seconds;
    return true;
}

static void judge_exit(struct command_run *q)
{
    describe_end(q);
    if (q->end.cancelled || q->end.timed_out) {
        q->answer->verdict = VERDICT_UNRESOLVED;
        return;
    }
    if (cannot_run(q)) {
        set_broken(q, "--check: the command cannot be run: %.*s", STR_ARG(q->answer->text));
        return;
    }
    atomic_store(&q->check->ran, true);
    if (is_crash(q))
        judge_crash(q);
    else
        q->answer->verdict = verdict_of_code(&q->check->options, q->end.status);
}

static void ask_command(struct oracle *oracle, const struct candidate *candidate,
                        const struct oracle_question *asking, struct answer *answer)
{
    struct command_run q = { .check = (struct oracle_check *)oracle,
                             .candidate = candidate,
                             .asking = asking,
                             .answer = answer };
    struct err err = { 0 };
    if (make_job(&q, &err) && run_twice(&q, &err))
        judge_exit(&q);
    else
        set_broken(&q, "--check: %s", err.text);
    end_question(&q);
}

static void free_check(struct oracle *oracle)
{
    struct oracle_check *check = (struct oracle_check *)oracle;
    (void)scratch_remove(&check->scratch); /* the error of the command is more important */
    command_files_release(&check->files);
    command_line_release(&check->command);
    arena_release(&check->arena);
    free(check);
}

static bool copy_check_options(struct oracle_check *check, const struct check_options *options,
                               struct err *err)
{
    struct buf id = BUF_INIT;
    check->options = *options;
    check->options.command = arena_copy(&check->arena, options->command);
    check->options.best = arena_copy(&check->arena, options->best);
    check->options.signature = arena_copy(&check->arena, options->signature);
    check_id(options, &check->command, &id);
    check->oracle.id = id.failed ? (struct str){ 0 } : arena_copy(&check->arena, buf_str(&id));
    buf_release(&id);
    return (check->options.command.p && check->options.best.p && check->options.signature.p &&
            check->oracle.id.p) ||
           err_nomem(err);
}

struct oracle *oracle_check(const struct check_options *options, struct err *err)
{
    struct oracle_check *check = calloc(1, sizeof *check);
    if (!check) {
        err_nomem(err);
        return NULL;
    }
    check->oracle = (struct oracle){ .ask = ask_command, .free = free_check, .name = STR("check") };
    atomic_init(&check->ran, false);
    if (command_line_split(&check->command, options->command, getenv("HOME"), err) &&
        copy_check_options(check, options, err) &&
        (options->launcher ? command_files_read(&check->files, &check->command, err)
                           : scratch_make(&check->scratch, SCRATCH_QUESTIONS, err)))
        return &check->oracle;
    err_at(err, "--check");
    free_check(&check->oracle);
    return NULL;
}
