#include "prove/z3/z3.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/z3/server.h"
#include "trace/base/clock.h"
#include "trace/base/transfer.h"

enum { GRACE_MS = 20000 }; /* for starting processes and opening the library */

struct z3 {
    pthread_mutex_t lock;
    pid_t pid;
    int socket; /* -1: the process is gone */
};

const char *z3_end_text(enum z3_end end)
{
    switch (end) {
    case Z3_NOT_ASKED: return "Z3 was not asked";
    case Z3_ANSWERED: return "Z3 did not decide it";
    case Z3_TOO_LONG: return "Z3 did not end in time";
    case Z3_DIED: return "Z3 ended without an answer";
    case Z3_NO_LIBRARY: return "Z3 is not installed (libz3.so.4)";
    default: return "Z3's process is gone";
    }
}

struct z3 *z3_start(z3_solver solver, struct err *err)
{
    int ends[2];
    struct z3 *z3 = malloc(sizeof *z3);
    if (!z3)
        return err_nomem(err), NULL;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
        err_errno(err, "socketpair");
        free(z3);
        return NULL;
    }
    *z3 = (struct z3){ .lock = PTHREAD_MUTEX_INITIALIZER, .pid = fork(), .socket = ends[0] };
    if (z3->pid == 0)
        z3_serve(ends[1], solver);
    close(ends[1]);
    if (z3->pid > 0)
        return z3;
    err_errno(err, "fork");
    close(ends[0]);
    free(z3);
    return NULL;
}

/* Ends the process that waits for questions; the one that it started last ends with it. */
static void end_server(struct z3 *z3)
{
    if (z3->socket < 0)
        return;
    close(z3->socket);
    z3->socket = -1;
    kill(z3->pid, SIGKILL);
    while (waitpid(z3->pid, NULL, 0) < 0 && errno == EINTR)
        ;
}

void z3_stop(struct z3 *z3)
{
    if (!z3)
        return;
    end_server(z3);
    pthread_mutex_destroy(&z3->lock);
    free(z3);
}

/* Reads the text of a reply. Without memory for it, it is read and dropped: the process can go on.
 */
static bool read_text(int socket, size_t n, struct buf *ret)
{
    char dropped[256];
    if (n == 0)
        return true;
    if (buf_reserve(ret, n)) {
        ret->n += n;
        return transfer_read(socket, ret->p + ret->n - n, n, TRANSFER_NO_LIMIT);
    }
    for (size_t piece; n; n -= piece) {
        piece = n < sizeof dropped ? n : sizeof dropped;
        if (!transfer_read(socket, dropped, piece, TRANSFER_NO_LIMIT))
            return false;
    }
    return true;
}

static bool exchange(struct z3 *z3, const struct z3_question *q, struct z3_answer *ret)
{
    struct z3_request request = { (uint32_t)q->text.n, (uint32_t)q->values.n, q->ms };
    struct z3_reply reply;
    if (!transfer_write(z3->socket, &request, sizeof request, TRANSFER_NO_LIMIT) ||
        !transfer_write(z3->socket, q->text.p, q->text.n, TRANSFER_NO_LIMIT) ||
        !transfer_write(z3->socket, q->values.p, q->values.n, TRANSFER_NO_LIMIT) ||
        !transfer_read(z3->socket, &reply, sizeof reply,
                       clock_ns() + ((uint64_t)q->ms + GRACE_MS) * 1000000) ||
        reply.n > Z3_MOST_ANSWER || reply.end <= Z3_NOT_ASKED || reply.end > Z3_NO_LIBRARY)
        return false;
    if (!read_text(z3->socket, reply.n, &ret->text))
        return false;
    ret->end = (enum z3_end)reply.end;
    return true;
}

bool z3_ask(struct z3 *z3, const struct z3_question *question, struct z3_answer *ret)
{
    buf_clear(&ret->text);
    ret->end = Z3_LOST;
    if (question->text.n > INT32_MAX || question->values.n > INT32_MAX)
        return true;
    pthread_mutex_lock(&z3->lock);
    if (z3->socket >= 0 && !exchange(z3, question, ret)) {
        ret->end = Z3_LOST;
        end_server(z3);
    }
    pthread_mutex_unlock(&z3->lock);
    return !ret->text.failed;
}

bool z3_check(struct z3 *z3, struct err *err)
{
    struct z3_answer answer = { .text = BUF_INIT };
    bool ok = z3_ask(z3, &(struct z3_question){ .ms = 1000 }, &answer);
    if (!ok)
        err_nomem(err);
    else if (answer.end != Z3_ANSWERED)
        err_set(err, ERR_ENV, "%s%s%.*s", z3_end_text(answer.end), answer.text.n ? ": " : "",
                STR_ARG(buf_str(&answer.text)));
    ok = ok && answer.end == Z3_ANSWERED;
    buf_release(&answer.text);
    return ok;
}
