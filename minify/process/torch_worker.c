#include "minify/process/torch_worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "minify/program/program_script.h"
#include "trace/base/clock.h"
#include "trace/base/process.h"

extern char **environ;

enum { START_SECONDS = 300, POLL_MS = 20, MAX_REPLY = 1 << 20, CONTROL = 3 };

struct torch_worker {
    pthread_mutex_t lock; /* protects control and pid */
    pid_t pid;
    int control;
    char *python, *script;
    char *folder; /* of the files of --import; NULL: where they were named */
    char version[64];
};

/* ---- Starting and stopping ---- */

static bool spawn_worker(struct torch_worker *worker, int socket, struct err *err)
{
    char number[12];
    snprintf(number, sizeof number, "%d", CONTROL);
    const char *argv[] = {
        worker->python, "-u", "-c", worker->script, number, worker->folder, NULL
    };
    const struct process_file files[] = {
        { STDIN_FILENO, "/dev/null", O_RDONLY, -1 },
        { STDOUT_FILENO, "/dev/null", O_WRONLY, -1 },
        { STDERR_FILENO, "/dev/null", O_WRONLY, -1 },
        { CONTROL, NULL, 0, socket },
    };
    /* In a group of its own the worker gets no Ctrl-C; symtape handles it. */
    int error = process_start(&(struct process_start){ .argv = argv,
                                                       .environment = environ,
                                                       .files = files,
                                                       .n_files = sizeof files / sizeof *files,
                                                       .own_group = true },
                              &worker->pid);
    if (error == 0)
        return true;
    worker->pid = -1;
    errno = error;
    return err_errno(err, "%s", worker->python);
}

/* Reads a line from the worker, without its end; waits at most until `until`. */
static bool read_worker_line(int socket, double until, char *line, size_t size)
{
    size_t n = 0;
    while (n + 1 < size) {
        struct pollfd fd = { .fd = socket, .events = POLLIN };
        double left = until - clock_seconds();
        if (left <= 0 ||
            (poll(&fd, 1, (int)(left < 1e6 ? left * 1000 : 1e9)) < 0 && errno != EINTR))
            return false;
        if (!fd.revents)
            continue;
        ssize_t got = recv(socket, line + n, 1, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (got > 0 && line[n] == '\n') {
            line[n] = '\0';
            return true;
        }
        n += got > 0;
    }
    return false;
}

static void end_worker(struct torch_worker *worker)
{
    if (worker->control >= 0)
        close(worker->control);
    worker->control = -1;
    if (worker->pid > 0) {
        struct process_end end;
        process_kill_group(worker->pid);
        (void)process_reap(worker->pid, &end);
    }
    worker->pid = -1;
}

static bool start_torch_worker(struct torch_worker *worker, struct err *err)
{
    int ends[2];
    char line[1000];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return err_errno(err, "socketpair");
    bool ok = spawn_worker(worker, ends[1], err);
    close(ends[1]);
    worker->control = ends[0];
    if (ok && !read_worker_line(ends[0], clock_seconds() + START_SECONDS, line, sizeof line))
        ok = err_set(err, ERR_ENV,
                     "%s does not start; --python or $SYMTAPE_PYTHON names another Python",
                     worker->python);
    else if (ok && strncmp(line, "setup: ", 7) == 0)
        ok = err_set(err, ERR_USAGE, "%s", line + 7);
    else if (ok && strncmp(line, "ready ", 6) != 0)
        ok = err_set(err, ERR_ENV,
                     "%s has no PyTorch; --python or $SYMTAPE_PYTHON names a Python that has "
                     "it: %s",
                     worker->python, strncmp(line, "no: ", 4) == 0 ? line + 4 : line);
    if (ok)
        snprintf(worker->version, sizeof worker->version, "%.60s", line + 6);
    else
        end_worker(worker);
    return ok;
}

/* Takes the script and the folder. */
static struct torch_worker *start_with(struct str python, char *script, char *folder,
                                       bool has_folder, struct err *err)
{
    struct torch_worker *worker = calloc(1, sizeof *worker);
    if (!worker) {
        free(script);
        free(folder);
        err_nomem(err);
        return NULL;
    }
    *worker = (struct torch_worker){ .control = -1, .pid = -1, .script = script, .folder = folder };
    worker->python = strndup(python.p, python.n);
    pthread_mutex_init(&worker->lock, NULL);
    if (!worker->python || !worker->script || (has_folder && !folder))
        err_nomem(err);
    else if (start_torch_worker(worker, err))
        return worker;
    torch_worker_stop(worker);
    return NULL;
}

struct torch_worker *torch_worker_start(struct str python, const struct program_setup *setup,
                                        struct err *err)
{
    return start_with(python, program_script(PROGRAM_WORKER, setup), NULL, false, err);
}

struct torch_worker *torch_worker_start_script(struct str python, struct str script,
                                               struct str folder, struct err *err)
{
    return start_with(python, strndup(script.p, script.n), strndup(folder.p, folder.n), true, err);
}

void torch_worker_stop(struct torch_worker *worker)
{
    if (!worker)
        return;
    end_worker(worker);
    pthread_mutex_destroy(&worker->lock);
    free(worker->python);
    free(worker->script);
    free(worker->folder);
    free(worker);
}

struct str torch_worker_version(const struct torch_worker *worker)
{
    return str_of(worker->version);
}

/* ---- Asking ---- */

static bool send_socket(int control, int socket)
{
    char byte = 'q';
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int))];
    } extra = { 0 };
    struct iovec part = { &byte, 1 };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = extra.bytes,
                              .msg_controllen = sizeof extra.bytes };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(header), &socket, sizeof socket);
    return sendmsg(control, &message, MSG_NOSIGNAL) == 1;
}

/* Sends a socket to the worker, which is started again if it has ended. Returns -1 with err set. */
static int open_question(struct torch_worker *worker, struct err *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return err_errno(err, "socketpair"), -1;
    pthread_mutex_lock(&worker->lock);
    bool ok = worker->control >= 0 && send_socket(worker->control, ends[1]);
    if (!ok) {
        end_worker(worker);
        ok = start_torch_worker(worker, err) && send_socket(worker->control, ends[1]);
    }
    pthread_mutex_unlock(&worker->lock);
    close(ends[1]);
    if (ok)
        return ends[0];
    close(ends[0]);
    err_set(err, ERR_ENV, "the Python process with PyTorch ends as soon as it starts");
    return -1;
}

struct exchange {
    int socket;
    struct str out; /* remaining to be sent */
    struct buf *in;
    double until;
    const atomic_bool *cancel;
};

static bool has_line(const struct buf *in)
{
    return in->n && in->p[in->n - 1] == '\n';
}

/* Performs one step of sending and receiving; returns false if the other side is closed. */
static bool exchange_step(struct exchange *x)
{
    struct pollfd fd = { .fd = x->socket, .events = (short)(POLLIN | (x->out.n ? POLLOUT : 0)) };
    char bytes[4096];
    if (poll(&fd, 1, POLL_MS) <= 0)
        return true;
    if (fd.revents & POLLOUT) {
        ssize_t n = send(x->socket, x->out.p, x->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        x->out = str_from(x->out, n > 0 ? (size_t)n : 0);
    }
    if (!(fd.revents & (POLLIN | POLLHUP | POLLERR)))
        return true;
    ssize_t n = recv(x->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n > 0)
        buf_put(x->in, (struct str){ bytes, (size_t)n });
    return n > 0 ? x->in->n < MAX_REPLY : n < 0 && (errno == EAGAIN || errno == EINTR);
}

static enum torch_end converse(struct exchange *x)
{
    for (;;) {
        if (has_line(x->in))
            return TORCH_ANSWERED;
        if (x->cancel && atomic_load(x->cancel))
            return TORCH_CANCELLED;
        if (clock_seconds() > x->until)
            return TORCH_TIMED_OUT;
        if (!exchange_step(x))
            return has_line(x->in) ? TORCH_ANSWERED : TORCH_DIED;
    }
}

void torch_question_print(struct str question, struct str source, struct buf *out)
{
    buf_put(out, question);
    buf_printf(out, ", \"bytes\": %zu}\n", source.n);
    buf_put(out, source);
}

bool torch_worker_send(struct torch_worker *worker, struct str text, double timeout,
                       const atomic_bool *cancel, struct buf *reply, enum torch_end *end,
                       struct err *err)
{
    char line[32];
    int socket = open_question(worker, err);
    if (socket < 0)
        return false;
    double until = timeout > 0 ? clock_seconds() + timeout : clock_seconds() + 1e9;
    uint64_t pid = 0;
    struct exchange x = { socket, text, reply, until, cancel };
    *end = TORCH_DIED;
    if (read_worker_line(socket, until < clock_seconds() + 60 ? until : clock_seconds() + 60, line,
                         sizeof line) &&
        str_to_u64(str_of(line), &pid))
        *end = converse(&x);
    if (pid > 1)
        process_kill_group((pid_t)pid);
    close(socket);
    return !reply->failed || err_nomem(err);
}

bool torch_worker_ask(struct torch_worker *worker, struct str question, struct str source,
                      double timeout, const atomic_bool *cancel, struct buf *reply,
                      enum torch_end *end, struct err *err)
{
    struct buf text = BUF_INIT;
    torch_question_print(question, source, &text);
    bool good = (!text.failed || err_nomem(err)) &&
                torch_worker_send(worker, buf_str(&text), timeout, cancel, reply, end, err);
    buf_release(&text);
    return good;
}
