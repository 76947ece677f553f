#include "minify/oracle/oracle_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "minify/candidate/candidate_tape.h"
#include "minify/oracle/check_environment.h"
#include "minify/oracle/check_id.h"
#include "minify/process/child.h"
#include "minify/process/command_line.h"
#include "minify/process/signature.h"
#include "trace/base/file/folder.h"
#include "trace/base/file/scratch.h"

struct oracle_check {
    struct oracle oracle;
    struct check_options options; /* its texts are in `arena` */
    struct command_line command;
    struct scratch scratch;
    atomic_bool ran; /* the command ran at least once */
    struct arena arena;
};

/* The state of one question. */

struct command_run {
    struct oracle_check *check;
    const struct candidate *candidate;
    const struct oracle_question *asking;
    struct answer *answer;
    struct check_paths paths;
    int folder; /* paths.folder; -1: it does not exist */
    struct child_end end;
};

/* Writes a file whose name is the last part of `path`; an error contains `path`. */
static bool write_plain(struct command_run *q, const char *path, const struct buf *text,
                        struct err *err)
{
    if (text->failed)
        return err_nomem(err);
    return folder_write(q->folder, strrchr(path, '/') + 1, buf_str(text)) ||
           err_errno(err, "%s", path);
}

static bool write_candidate_fx(struct command_run *q, struct err *err)
{
    struct buf text = BUF_INIT;
    (void)candidate_print_fx(q->candidate, &text);
    bool good = write_plain(q, q->paths.fx, &text, err);
    buf_release(&text);
    return good;
}

static bool write_tape(struct command_run *q, struct err *err)
{
    struct buf bytes = BUF_INIT;
    bool good =
        candidate_tape(q->candidate, &bytes, err) && write_plain(q, q->paths.tape, &bytes, err);
    buf_release(&bytes);
    return good;
}

static bool write_py(struct command_run *q, struct err *err)
{
    const struct check_options *options = &q->check->options;
    struct buf text = BUF_INIT;
    if (!options->print_py)
        return true;
    bool good = (options->print_py(options->user, q->candidate, &text) || err_nomem(err)) &&
                write_plain(q, q->paths.py, &text, err);
    buf_release(&text);
    return good;
}

static bool write_candidate(struct command_run *q, struct err *err)
{
    q->folder = folder_make(q->check->scratch.fd, strrchr(q->paths.folder, '/') + 1);
    int tmp = q->folder >= 0 ? folder_make(q->folder, strrchr(q->paths.tmp, '/') + 1) : -1;
    if (tmp < 0)
        return err_errno(err, "%s", q->paths.folder);
    close(tmp);
    return write_candidate_fx(q, err) && write_tape(q, err) && write_py(q, err);
}

/* Removes the folder with everything that the command left in it. */
static void end_question(struct command_run *q)
{
    if (q->folder >= 0) {
        close(q->folder);
        (void)folder_remove(q->check->scratch.fd, strrchr(q->paths.folder, '/') + 1);
    }
    q->folder = -1;
    check_paths_release(&q->paths);
}

static bool run_check_command(struct command_run *q, struct err *err)
{
    const struct command_line *command = &q->check->command;
    const struct check_inputs inputs = { .paths = &q->paths,
                                         .asking = q->asking,
                                         .seed = q->candidate->seed,
                                         .signature = q->check->options.signature,
                                         .best = q->check->options.best };
    char **environment = check_environment(&inputs, err);
    const char **argv = calloc(command->words.n + 2, sizeof *argv);
    bool good = environment && (argv || err_nomem(err));
    if (good) {
        memcpy(argv, command->words.v, command->words.n * sizeof *argv);
        argv[command->words.n] = q->paths.fx;
        const struct child child = { .argv = argv,
                                     .environment = environment,
                                     .input = q->paths.fx,
                                     .timeout = q->asking->timeout,
                                     .cancel = q->asking->cancel };
        good = child_run(&child, &q->end, err);
    }
    free(argv);
    check_environment_free(environment);
    return good;
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

static bool prepare_question(struct command_run *q, struct err *err)
{
    if (check_paths(&q->paths, q->check->scratch.path, q->asking, err) && write_candidate(q, err))
        return true;
    end_question(q);
    return false;
}

/* Prepares the folder once more if that may help: a disk that is full because of another question
 * is empty again afterwards. */
static bool prepare_twice(struct command_run *q, struct err *err)
{
    const struct timespec second = { .tv_sec = 1 };
    struct err first = { 0 };
    if (prepare_question(q, &first))
        return true;
    nanosleep(&second, NULL);
    return prepare_question(q, err);
}

static void ask_command(struct oracle *oracle, const struct candidate *candidate,
                        const struct oracle_question *asking, struct answer *answer)
{
    struct command_run q = { .check = (struct oracle_check *)oracle,
                             .candidate = candidate,
                             .asking = asking,
                             .answer = answer,
                             .folder = -1 };
    struct err err = { 0 };
    if (prepare_twice(&q, &err) && run_twice(&q, &err))
        judge_exit(&q);
    else
        set_broken(&q, "--check: %s", err.text);
    end_question(&q);
}

static void free_check(struct oracle *oracle)
{
    struct oracle_check *check = (struct oracle_check *)oracle;
    (void)scratch_remove(&check->scratch); /* the error of the command is more important */
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
        scratch_make(&check->scratch, SCRATCH_QUESTIONS, err))
        return &check->oracle;
    err_at(err, "--check");
    free_check(&check->oracle);
    return NULL;
}
