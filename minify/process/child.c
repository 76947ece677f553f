#include "minify/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/process.h"

struct running_child {
    const struct child *child;
    struct child_end *end;
    pid_t pid;
    int output; /* -1: closed by the program */
    double began;
};

static void store_tail(struct child_end *end, const char *p, size_t n)
{
    if (n >= CHILD_TAIL) {
        memcpy(end->output, p + n - CHILD_TAIL, CHILD_TAIL);
        end->n = CHILD_TAIL;
        return;
    }
    size_t keep = end->n + n > CHILD_TAIL ? CHILD_TAIL - n : end->n;
    memmove(end->output, end->output + end->n - keep, keep);
    memcpy(end->output + keep, p, n);
    end->n = keep + n;
}

/* Reads a limited amount at a time, so that the time limit of a program that writes without end is
 * checked. */
static void read_child_output(struct running_child *running)
{
    char bytes[16384];
    for (int i = 0; running->output >= 0 && i < 16; i++) {
        ssize_t n = read(running->output, bytes, sizeof bytes);
        if (n > 0) {
            store_tail(running->end, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(running->output);
            running->output = -1;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

static bool has_process_ended(pid_t pid)
{
    enum process_state state = process_state(pid);
    return state == PROCESS_ENDED || state == PROCESS_LOST;
}

/* Waits at most `ms` for output or the end of the program. */
static void wait_a_little(struct running_child *running, int ms)
{
    struct pollfd fd = { .fd = running->output, .events = POLLIN };
    if (running->output < 0)
        ms = ms < 2 ? ms : 2; /* it closed its output and usually ends right after that */
    (void)poll(&fd, running->output >= 0, ms);
    read_child_output(running);
}

static bool wait_until(struct running_child *running, double until)
{
    while (!has_process_ended(running->pid)) {
        if (clock_seconds() >= until)
            return false;
        wait_a_little(running, 10);
    }
    return true;
}

static void end_group(struct running_child *running)
{
    kill(-running->pid, SIGTERM);
    if (!wait_until(running, clock_seconds() + CHILD_GRACE_MS * 1e-3))
        process_kill_group(running->pid);
}

/* Waits for the end of the process. One that has ended when it is cancelled counts as cancelled: a
 * signal that ends symtape often ends the process as well. */
static void watch(struct running_child *running)
{
    const struct child *child = running->child;
    struct child_end *end = running->end;
    for (;;) {
        bool ended = has_process_ended(running->pid);
        end->timed_out =
            !ended && child->timeout > 0 && clock_seconds() - running->began >= child->timeout;
        end->cancelled = child->cancel && atomic_load(child->cancel);
        if (end->timed_out || end->cancelled)
            end_group(running);
        if (ended || end->timed_out || end->cancelled)
            return;
        wait_a_little(running, 10);
    }
}

static void reap(struct running_child *running)
{
    struct child_end *end = running->end;
    struct process_end how = { 0 };
    process_kill_group(running->pid); /* its remaining processes */
    (void)process_reap(running->pid, &how);
    end->seconds = clock_seconds() - running->began;
    end->signal = how.signal;
    end->status = how.status;
    read_child_output(running);
}

/* Starts a program in a group of its own, with the signal settings that programs expect. Returns 0
 * or an errno. */
static int spawn_as(const struct child *child, const char *program, const char *const *argv,
                    int output, pid_t *pid)
{
    const struct process_file files[] = {
        { STDIN_FILENO, child->input ? child->input : "/dev/null", O_RDONLY, -1 },
        { STDOUT_FILENO, NULL, 0, output },
        { STDERR_FILENO, NULL, 0, output },
    };
    sigset_t none;
    sigemptyset(&none);
    return process_start(&(struct process_start){ .program = program,
                                                  .argv = argv,
                                                  .environment = child->environment,
                                                  .files = files,
                                                  .n_files = sizeof files / sizeof *files,
                                                  .own_group = true,
                                                  .default_signals = true,
                                                  .mask = &none },
                         pid);
}

/* Runs a script without #! with the shell, as a shell would do. */
static int spawn_script(const struct child *child, int output, pid_t *pid)
{
    size_t n = 0;
    while (child->argv[n])
        n++;
    const char **argv = calloc(n + 2, sizeof *argv);
    if (!argv)
        return ENOMEM;
    argv[0] = "sh";
    memcpy(argv + 1, child->argv, n * sizeof *argv);
    int error = spawn_as(child, "/bin/sh", argv, output, pid);
    free(argv);
    return error;
}

static bool fail_start(const struct child *child, struct child_end *end, int error, struct err *err)
{
    end->status = error == ENOENT ? 127
                  : error == EACCES || error == ENOEXEC || error == ENOTDIR || error == EISDIR ||
                          error == ELOOP
                      ? 126
                      : 0;
    errno = error;
    return err_errno(err, "%s", child->argv[0]);
}

bool child_run(const struct child *child, struct child_end *end, struct err *err)
{
    int ends[2];
    struct running_child running = { .child = child, .end = end, .began = clock_seconds() };
    end->n = 0;
    end->status = end->signal = 0;
    end->timed_out = end->cancelled = false;
    end->seconds = 0;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return err_errno(err, "pipe");
    int error = spawn_as(child, child->argv[0], child->argv, ends[1], &running.pid);
    if (error == ENOEXEC)
        error = spawn_script(child, ends[1], &running.pid);
    close(ends[1]);
    running.output = ends[0];
    if (error == 0) {
        (void)fcntl(running.output, F_SETFL, O_NONBLOCK);
        watch(&running);
        reap(&running);
    }
    if (running.output >= 0)
        close(running.output);
    return error == 0 || fail_start(child, end, error, err);
}

struct str child_last_line(const struct child_end *end)
{
    struct str text = str_trim((struct str){ end->output, end->n });
    size_t start = text.n;
    while (start > 0 && text.p[start - 1] != '\n')
        start--;
    return str_trim(str_from(text, start));
}
