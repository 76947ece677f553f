#include "minify/process/child.h"
#include "trace/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

struct running_child {
    const struct child *child;
    struct child_end *end;
    pid_t pid;
    int output; /* -1: closed by the program */
    double began;
};

static void keep_tail(struct child_end *end, const char *p, size_t n)
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
            keep_tail(running->end, bytes, (size_t)n);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            close(running->output);
            running->output = -1;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}

/* Returns whether the process has ended. It is not reaped yet, so its number cannot be that of
 * another process. */
static bool has_process_ended(pid_t pid)
{
    siginfo_t info = { 0 };
    int result = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
    return result == 0 ? info.si_pid == pid : errno != EINTR;
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
        kill(-running->pid, SIGKILL);
}

static void watch(struct running_child *running)
{
    const struct child *child = running->child;
    while (!has_process_ended(running->pid)) {
        running->end->timed_out =
            child->timeout > 0 && clock_seconds() - running->began >= child->timeout;
        running->end->cancelled = child->cancel && atomic_load(child->cancel);
        if (running->end->timed_out || running->end->cancelled) {
            end_group(running);
            return;
        }
        wait_a_little(running, 10);
    }
}

static void reap(struct running_child *running)
{
    struct child_end *end = running->end;
    int status = 0;
    kill(-running->pid, SIGKILL); /* its remaining processes */
    while (waitpid(running->pid, &status, 0) < 0 && errno == EINTR)
        ;
    end->seconds = clock_seconds() - running->began;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = end->signal ? 128 + end->signal : WEXITSTATUS(status);
    read_child_output(running);
}

static bool set_actions(posix_spawn_file_actions_t *actions, const struct child *child, int output)
{
    return posix_spawn_file_actions_addopen(actions, STDIN_FILENO,
                                            child->input ? child->input : "/dev/null", O_RDONLY,
                                            0) == 0 &&
           posix_spawn_file_actions_adddup2(actions, output, STDOUT_FILENO) == 0 &&
           posix_spawn_file_actions_adddup2(actions, output, STDERR_FILENO) == 0;
}

/* Gives the process its own group, and the signal settings that programs expect. */
static bool set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    sigfillset(&all);
    sigemptyset(&none);
    return posix_spawnattr_setpgroup(attributes, 0) == 0 &&
           posix_spawnattr_setsigdefault(attributes, &all) == 0 &&
           posix_spawnattr_setsigmask(attributes, &none) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
                                                    POSIX_SPAWN_SETSIGMASK) == 0;
}

/* Starts a program; returns 0 or an errno. */
static int spawn_as(const struct child *child, const char *program, const char *const *argv,
                    int output, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = ENOMEM;
    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&attributes) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    if (set_actions(&actions, child, output) && set_attributes(&attributes))
        error = posix_spawnp(pid, program, &actions, &attributes, (char *const *)argv,
                             child->environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
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

static int spawn_child(const struct child *child, int output, pid_t *pid)
{
    int error = spawn_as(child, child->argv[0], child->argv, output, pid);
    return error == ENOEXEC ? spawn_script(child, output, pid) : error;
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
    int error = spawn_child(child, ends[1], &running.pid);
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
