#include "minify/remote/serve.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "minify/remote/warm.h"
#include "trace/base/buf.h"

enum { POLL_MS = 50 };

struct server {
    int in, out;
    const atomic_bool *stop;
    pthread_mutex_t lock; /* protects what is not the reader's or the runner's alone */
    pthread_cond_t changed;
    struct buf task;     /* the message of the job that waits or runs */
    uint64_t number;     /* of that job */
    bool has_task, over; /* over: no more messages come */
    atomic_bool cancel;
    struct err err;         /* of the reader */
    struct buf received;    /* the reader's */
    struct scratch scratch; /* the runner's */
    struct warm warm;       /* the runner's */
};

/* ---- Reading, in a thread of its own ---- */

static void end_reading(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    server->over = true;
    atomic_store(&server->cancel, true);
    pthread_cond_signal(&server->changed);
    pthread_mutex_unlock(&server->lock);
}

/* Hands a job to the runner, with a copy of its message: the buffer goes on to be used. */
static bool take_run(struct server *server, struct str text, uint64_t number)
{
    bool good;
    pthread_mutex_lock(&server->lock);
    if (server->has_task) {
        good = err_set(&server->err, ERR_INPUT, "a job came while another was running");
    } else {
        buf_clear(&server->task);
        buf_put(&server->task, text);
        good = !server->task.failed || err_nomem(&server->err);
        server->number = number;
        server->has_task = good;
        atomic_store(&server->cancel, false);
        pthread_cond_signal(&server->changed);
    }
    pthread_mutex_unlock(&server->lock);
    return good;
}

static void take_cancel(struct server *server, uint64_t number)
{
    pthread_mutex_lock(&server->lock);
    if (server->has_task && server->number == number)
        atomic_store(&server->cancel, true);
    pthread_mutex_unlock(&server->lock);
}

static bool take_messages(struct server *server)
{
    struct str text = buf_str(&server->received);
    size_t before = text.n;
    for (;;) {
        struct message message;
        const struct str start = text;
        enum message_read got = message_read(&text, &message, &server->err);
        bool good = got != MESSAGE_BAD;
        if (got == MESSAGE_READ) {
            if (message.kind == MESSAGE_RUN)
                good = take_run(server, str_first(start, start.n - text.n), message.number);
            else if (message.kind == MESSAGE_CANCEL)
                take_cancel(server, message.number);
            message_release(&message);
        }
        if (!good)
            return false;
        if (got == MESSAGE_PARTIAL)
            break;
    }
    memmove(server->received.p, text.p, text.n);
    server->received.n -= before - text.n;
    return true;
}

static bool read_some(struct server *server)
{
    struct pollfd fd = { .fd = server->in, .events = POLLIN };
    if (poll(&fd, 1, POLL_MS) <= 0)
        return true;
    if (!buf_reserve(&server->received, 1 << 16))
        return err_nomem(&server->err);
    ssize_t n = read(server->in, server->received.p + server->received.n, 1 << 16);
    if (n > 0)
        server->received.n += (size_t)n;
    return n > 0 ? take_messages(server) : n < 0 && (errno == EINTR || errno == EAGAIN);
}

static void *read_main(void *arg)
{
    struct server *server = arg;
    while (!atomic_load(server->stop) && read_some(server))
        ;
    end_reading(server);
    return NULL;
}

/* ---- Running ---- */

static bool write_all(int fd, const struct buf *text, struct err *err)
{
    struct str rest = buf_str(text);
    if (text->failed)
        return err_nomem(err);
    while (rest.n) {
        ssize_t n = write(fd, rest.p, rest.n);
        if (n < 0 && errno != EINTR)
            return err_errno(err, "standard output");
        rest = str_from(rest, n > 0 ? (size_t)n : 0);
    }
    return true;
}

static bool run_task(struct server *server, struct err *err)
{
    struct str text = buf_str(&server->task);
    struct message message;
    struct child_end end = { 0 };
    struct err why = { 0 };
    struct buf out = BUF_INIT;
    if (message_read(&text, &message, err) != MESSAGE_READ)
        return false;
    message.job.cancel = &server->cancel;
    bool started = message.job.warm
                       ? warm_run(&server->warm, &message.job, &server->scratch, &end, &why)
                       : job_run(&message.job, &server->scratch, &end, &why);
    message_print_end(message.number, &end, started ? STR("") : str_of(why.text), &out);
    message_release(&message);
    pthread_mutex_lock(&server->lock);
    server->has_task = false; /* before it is told: the next job may come at once */
    bool over = server->over;
    pthread_mutex_unlock(&server->lock);
    bool good = over || write_all(server->out, &out, err);
    buf_release(&out);
    return good;
}

static bool wait_for_task(struct server *server)
{
    pthread_mutex_lock(&server->lock);
    while (!server->has_task && !server->over)
        pthread_cond_wait(&server->changed, &server->lock);
    bool ret = server->has_task && !server->over;
    pthread_mutex_unlock(&server->lock);
    return ret;
}

static bool run_tasks(struct server *server, struct err *err)
{
    struct buf hello = BUF_INIT;
    message_print_hello(&hello);
    bool good = write_all(server->out, &hello, err);
    buf_release(&hello);
    while (good && wait_for_task(server))
        good = run_task(server, err);
    return good;
}

/* Signals are for the main thread. */
static bool start_reader(struct server *server, pthread_t *thread, struct err *err)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, read_main, server);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return error == 0 || err_errno(err, "a thread");
}

bool worker_serve(int in, int out, const atomic_bool *stop, struct err *err)
{
    struct server server = { .in = in,
                             .out = out,
                             .stop = stop,
                             .warm = { .folder = -1 },
                             .lock = PTHREAD_MUTEX_INITIALIZER,
                             .changed = PTHREAD_COND_INITIALIZER };
    pthread_t reader;
    if (!scratch_make(&server.scratch, SCRATCH_QUESTIONS, err))
        return false;
    bool good = start_reader(&server, &reader, err);
    if (good) {
        good = run_tasks(&server, err);
        pthread_mutex_lock(&server.lock);
        bool over = server.over;
        pthread_mutex_unlock(&server.lock);
        if (!over)
            pthread_cancel(reader); /* the output cannot be written */
        pthread_join(reader, NULL);
    }
    if (good && err_is_set(&server.err)) {
        *err = server.err;
        good = false;
    }
    warm_release(&server.warm, &server.scratch);
    (void)scratch_remove(&server.scratch);
    buf_release(&server.task);
    buf_release(&server.received);
    return good;
}
