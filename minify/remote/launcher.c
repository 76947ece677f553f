#include "minify/remote/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "minify/process/command_line.h"
#include "minify/remote/message.h"
#include "trace/base/clock.h"
#include "trace/base/process.h"

/* Seconds: for a worker to start, which a queue may delay; to report behind a cancellation; and to
 * end by itself and remove its files, if another one waits to take its place, and at the end. */
static const double start_seconds = 600, cancel_seconds = 5, replace_seconds = 2, end_seconds = 10;
enum { POLL_MS = 20, TRIES = 3, NOISE_MAX = 1 << 16, SAID_MAX = 300 };

struct remote_worker {
    pid_t pid;         /* -1: none */
    int in, out, said; /* -1; said: its standard error */
    bool greeted;
    struct buf received;
    char last[SAID_MAX]; /* the end of what it wrote to standard error */
    size_t n_last;
};

struct launcher {
    struct command_line command;
    const char **argv;
    char program[4096];
    uint32_t n;
    atomic_ullong lost, killed;
    struct remote_worker v[];
};

/* ---- Starting and ending a worker ---- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Reads some of what a worker wrote to standard error, and keeps its end. */
static void read_said(struct remote_worker *worker)
{
    char text[1 << 16];
    ssize_t n = worker->said >= 0 ? read(worker->said, text, sizeof text) : -1;
    if (n == 0)
        close_fd(&worker->said);
    if (n <= 0)
        return;
    size_t add = (size_t)n < SAID_MAX ? (size_t)n : SAID_MAX;
    size_t keep = worker->n_last < SAID_MAX - add ? worker->n_last : SAID_MAX - add;
    memmove(worker->last, worker->last + worker->n_last - keep, keep);
    memcpy(worker->last + keep, text + n - add, add);
    worker->n_last = keep + add;
}

/* Waits for the end of a worker, and reads what it writes: otherwise it might wait for us. */
static bool wait_for_end(struct remote_worker *worker, double until)
{
    char text[1 << 16];
    while (process_state(worker->pid) == PROCESS_RUNNING) {
        if (clock_seconds() > until)
            return false;
        read_said(worker);
        if (worker->out >= 0)
            (void)!read(worker->out, text, sizeof text);
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000 }, NULL);
    }
    return true;
}

/* Closes its input, so that it ends its job, and kills it if it has not ended by `until`. */
static void end_worker(struct launcher *launcher, struct remote_worker *worker, double until)
{
    struct process_end end;
    close_fd(&worker->in);
    if (worker->pid > 0) {
        if (!wait_for_end(worker, until))
            atomic_fetch_add(&launcher->killed, 1);
        process_kill_group(worker->pid);
        (void)process_reap(worker->pid, &end);
    }
    worker->pid = -1;
    worker->greeted = false;
    close_fd(&worker->out);
    close_fd(&worker->said);
    buf_clear(&worker->received);
    worker->n_last = 0;
}

static void replace_worker(struct launcher *launcher, struct remote_worker *worker)
{
    end_worker(launcher, worker, clock_seconds() + replace_seconds);
}

/* Sets an error with the last line that the worker wrote to standard error. */
static bool fail_worker(struct remote_worker *worker, struct err *err, const char *what)
{
    read_said(worker);
    struct str said = str_trim((struct str){ worker->last, worker->n_last });
    size_t start = said.n;
    while (start > 0 && said.p[start - 1] != '\n')
        start--;
    said = str_from(said, start);
    return err_set(err, ERR_ENV, "--launcher: a worker %s%s%.*s", what, said.n ? ": " : "",
                   STR_ARG(said));
}

static bool spawn_remote(struct launcher *launcher, struct remote_worker *worker, struct err *err)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 }, said[2] = { -1, -1 };
    bool good = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) == 0 &&
                pipe2(out, O_CLOEXEC) == 0 && pipe2(said, O_CLOEXEC) == 0;
    if (!good)
        err_errno(err, "a pipe");
    const struct process_file files[] = { { STDIN_FILENO, NULL, 0, in[1] },
                                          { STDOUT_FILENO, NULL, 0, out[1] },
                                          { STDERR_FILENO, NULL, 0, said[1] } };
    sigset_t none;
    sigemptyset(&none);
    int error = !good ? 0
                      : process_start(&(struct process_start){ .argv = launcher->argv,
                                                               .environment = environ,
                                                               .files = files,
                                                               .n_files = 3,
                                                               .own_group = true,
                                                               .default_signals = true,
                                                               .mask = &none },
                                      &worker->pid);
    close_fd(&in[1]);
    close_fd(&out[1]);
    close_fd(&said[1]);
    worker->in = in[0];
    worker->out = out[0];
    worker->said = said[0];
    if (!good || error) {
        worker->pid = -1;
        errno = error;
        return good ? err_errno(err, "--launcher: %s", launcher->argv[0]) : false;
    }
    (void)fcntl(worker->out, F_SETFL, O_NONBLOCK);
    (void)fcntl(worker->said, F_SETFL, O_NONBLOCK);
    return true;
}

/* ---- Conversation ---- */

enum heard { HEARD_MORE, HEARD_NOTHING, HEARD_END };

/* Waits a moment for something that the worker writes or, while `sending`, until it takes more. */
static enum heard hear(struct remote_worker *worker, bool sending, struct err *err)
{
    struct pollfd fds[] = { { .fd = worker->out, .events = POLLIN },
                            { .fd = worker->said, .events = POLLIN },
                            { .fd = worker->in, .events = POLLOUT } };
    bool woken = poll(fds, sending ? 3 : 2, POLL_MS) > 0;
    if (woken && fds[1].revents)
        read_said(worker);
    if (!woken || !fds[0].revents)
        return HEARD_NOTHING;
    if (!buf_reserve(&worker->received, 1 << 14))
        return err_nomem(err), HEARD_END;
    ssize_t n = read(worker->out, worker->received.p + worker->received.n, 1 << 14);
    if (n > 0)
        worker->received.n += (size_t)n;
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return HEARD_NOTHING;
    return n > 0 ? HEARD_MORE : HEARD_END;
}

static void drop_received(struct remote_worker *worker, size_t n)
{
    memmove(worker->received.p, worker->received.p + n, worker->received.n - n);
    worker->received.n -= n;
}

/* Removes the lines before the greeting: a shell's, or the queue's. Returns whether it is there;
 * `noise` counts what was removed. */
static bool find_hello(struct remote_worker *worker, size_t *noise)
{
    struct str mark = STR("{\"symtape-worker\"");
    for (;;) {
        struct str text = buf_str(&worker->received);
        size_t line = str_find_char(text, '\n');
        if (line == text.n)
            return false;
        if (str_starts(text, mark))
            return true;
        drop_received(worker, line + 1);
        *noise += line + 1;
    }
}

/* Waits for the greeting. */
static bool greet(struct remote_worker *worker, const atomic_bool *cancel, bool *cancelled,
                  struct err *err)
{
    struct message message;
    size_t noise = 0;
    double until = clock_seconds() + start_seconds;
    while (!find_hello(worker, &noise)) {
        *cancelled = cancel && atomic_load(cancel);
        if (*cancelled)
            return false;
        if (clock_seconds() > until)
            return fail_worker(worker, err, "did not start within 10 minutes");
        if (noise + worker->received.n > NOISE_MAX)
            return fail_worker(worker, err, "wrote something else than its greeting");
        if (hear(worker, false, err) == HEARD_END)
            return !err_is_set(err) && fail_worker(worker, err, "ended before its greeting");
    }
    struct str text = buf_str(&worker->received);
    size_t before = text.n;
    if (message_read(&text, &message, err) != MESSAGE_READ)
        return fail_worker(worker, err, "wrote a greeting that is none");
    drop_received(worker, before - text.n);
    message_release(&message);
    worker->greeted = message.protocol == WORKER_PROTOCOL;
    return worker->greeted ||
           err_set(err, ERR_ENV,
                   "--launcher: a worker speaks protocol %llu, and this symtape %d: both need the "
                   "same version",
                   (unsigned long long)message.protocol, WORKER_PROTOCOL);
}

/* Sends all that fits. Returns false if the worker has gone. */
static bool send_some(struct remote_worker *worker, struct str *rest)
{
    ssize_t n = send(worker->in, rest->p, rest->n, MSG_NOSIGNAL | MSG_DONTWAIT);
    *rest = str_from(*rest, n > 0 ? (size_t)n : 0);
    return n > 0 || errno == EAGAIN || errno == EINTR;
}

/* Takes an answer to the job. Returns MESSAGE_BAD for anything else. */
static enum message_read take_answer(struct remote_worker *worker, const struct job *job,
                                     struct message *answer)
{
    struct err ignored = { 0 };
    struct str text = buf_str(&worker->received);
    size_t before = text.n;
    enum message_read got = message_read(&text, answer, &ignored);
    if (got != MESSAGE_READ)
        return got;
    drop_received(worker, before - text.n);
    if (answer->kind == MESSAGE_END && answer->number == job->number)
        return MESSAGE_READ;
    message_release(answer);
    return MESSAGE_BAD;
}

static bool tell_to_cancel(struct remote_worker *worker, const struct job *job)
{
    struct buf text = BUF_INIT;
    message_print_cancel(job->number, &text);
    struct str rest = buf_str(&text);
    bool good = !text.failed && send_some(worker, &rest) && rest.n == 0;
    buf_release(&text);
    return good;
}

/* Returns how long a worker may take to report behind a job's time limit: as long as that, between
 * 5 and 30 seconds. */
static double late_seconds(double timeout)
{
    return timeout < 5 ? 5 : timeout > 30 ? 30 : timeout;
}

enum asked { ASKED_ANSWERED, ASKED_CANCELLED, ASKED_LOST };

/* Sends a job and waits for its answer. `err` says why a worker is lost. */
static enum asked ask_worker(struct launcher *launcher, struct remote_worker *worker,
                             const struct job *job, struct message *answer, struct err *err)
{
    struct buf text = BUF_INIT;
    double limit = job->timeout > 0 ? job->timeout + late_seconds(job->timeout) : 1e18;
    double until = clock_seconds() + start_seconds; /* `limit` begins when all is sent */
    bool cancelling = false, sending = true;
    enum asked ret = ASKED_LOST;
    message_print_run(job, &text);
    struct str rest = buf_str(&text);
    for (;;) {
        enum message_read got = take_answer(worker, job, answer);
        if (got == MESSAGE_READ) {
            ret = cancelling ? ASKED_CANCELLED : ASKED_ANSWERED;
            if (cancelling)
                message_release(answer);
            break;
        }
        if (got == MESSAGE_BAD) {
            fail_worker(worker, err, "wrote something that is no answer");
            break;
        }
        if (!cancelling && job->cancel && atomic_load(job->cancel)) {
            cancelling = true;
            until = clock_seconds() + cancel_seconds;
            if (rest.n || !tell_to_cancel(worker, job)) { /* it is replaced */
                ret = ASKED_CANCELLED;
                replace_worker(launcher, worker);
                break;
            }
        }
        if (clock_seconds() > until) {
            fail_worker(worker, err, "did not answer in time");
            break;
        }
        if (text.failed || (rest.n && !send_some(worker, &rest)) ||
            hear(worker, rest.n > 0, err) == HEARD_END) {
            fail_worker(worker, err, "ended");
            break;
        }
        if (sending && !rest.n) {
            sending = false;
            until = cancelling ? until : clock_seconds() + limit;
        }
    }
    buf_release(&text);
    return ret;
}

/* ---- Jobs ---- */

static void set_cancelled(struct child_end *end)
{
    end->cancelled = true;
    end->status = end->signal = 0;
    end->n = 0;
}

/* Makes the end of a job that lost its workers: the last message is its output. */
static void set_lost(struct child_end *end, const struct err *err)
{
    *end = (struct child_end){ .signal = SIGKILL, .status = 128 + SIGKILL };
    int n = snprintf(end->output, sizeof end->output, "%s", err->text);
    end->n = n > 0 && (size_t)n < sizeof end->output ? (size_t)n : 0;
}

static void wait_before_retry(int try, const atomic_bool *cancel)
{
    double until = clock_seconds() + (try == 0 ? 0.1 : 1.0);
    while (clock_seconds() < until && !(cancel && atomic_load(cancel)))
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000 }, NULL);
}

static bool take_end(struct message *answer, struct child_end *end, struct err *err)
{
    bool started = answer->started;
    *end = answer->end;
    if (!started)
        err_set(err, ERR_ENV, "%.*s", STR_ARG(answer->error));
    message_release(answer);
    return started;
}

bool launcher_run(struct launcher *launcher, const struct job *job, struct child_end *end,
                  struct err *err)
{
    struct remote_worker *worker = &launcher->v[job->worker % launcher->n];
    struct err why = { 0 };
    bool ran = false, cancelled = false;
    *end = (struct child_end){ 0 };
    if (!message_check_run(job, err))
        return false;
    for (int try = 0; try < TRIES; try++) {
        struct message answer;
        why = (struct err){ 0 };
        if ((worker->pid > 0 || spawn_remote(launcher, worker, &why)) &&
            (worker->greeted || greet(worker, job->cancel, &cancelled, &why))) {
            ran = true;
            enum asked asked = ask_worker(launcher, worker, job, &answer, &why);
            if (asked == ASKED_ANSWERED)
                return take_end(&answer, end, err);
            cancelled = asked == ASKED_CANCELLED;
        }
        if (!cancelled)
            replace_worker(launcher, worker);
        if (cancelled || (job->cancel && atomic_load(job->cancel))) {
            set_cancelled(end);
            return true;
        }
        atomic_fetch_add(&launcher->lost, 1);
        wait_before_retry(try, job->cancel);
    }
    if (!ran) {
        *err = why;
        return false;
    }
    set_lost(end, &why);
    return true;
}

uint64_t launcher_lost(const struct launcher *launcher)
{
    return launcher ? atomic_load(&launcher->lost) : 0;
}

static bool make_argv(struct launcher *launcher, struct err *err)
{
    size_t n = launcher->command.words.n;
    ssize_t length = readlink("/proc/self/exe", launcher->program, sizeof launcher->program - 1);
    if (length < 0)
        return err_errno(err, "/proc/self/exe");
    launcher->program[length] = '\0';
    launcher->argv = calloc(n + 3, sizeof *launcher->argv);
    if (!launcher->argv)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        launcher->argv[i] = launcher->command.words.v[i];
    launcher->argv[n] = launcher->program;
    launcher->argv[n + 1] = "worker";
    return true;
}

struct launcher *launcher_open(const struct launcher_options *options, struct err *err)
{
    struct launcher *launcher = calloc(1, sizeof *launcher + options->n * sizeof *launcher->v);
    if (!launcher) {
        err_nomem(err);
        return NULL;
    }
    launcher->n = options->n;
    atomic_init(&launcher->lost, 0);
    atomic_init(&launcher->killed, 0);
    for (uint32_t i = 0; i < options->n; i++)
        launcher->v[i] = (struct remote_worker){ .pid = -1, .in = -1, .out = -1, .said = -1 };
    if (command_line_split(&launcher->command, options->command, getenv("HOME"), err) &&
        make_argv(launcher, err))
        return launcher;
    err_at(err, "--launcher");
    launcher_close(launcher);
    return NULL;
}

uint64_t launcher_close(struct launcher *launcher)
{
    if (!launcher)
        return 0;
    double until = clock_seconds() + end_seconds;
    for (uint32_t i = 0; i < launcher->n; i++)
        close_fd(&launcher->v[i].in); /* all end at once */
    for (uint32_t i = 0; i < launcher->n; i++) {
        end_worker(launcher, &launcher->v[i], until);
        buf_release(&launcher->v[i].received);
    }
    uint64_t killed = atomic_load(&launcher->killed);
    command_line_release(&launcher->command);
    free(launcher->argv);
    free(launcher);
    return killed;
}
