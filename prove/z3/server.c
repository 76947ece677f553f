/* The process that waits for questions, and those that it starts to answer them. */
#include "prove/z3/server.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "prove/z3/library.h"
#include "trace/base/clock.h"
#include "trace/base/transfer.h"

enum { MOST_QUESTION = 1 << 28, WHY = 400 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CAN_LIMIT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CAN_LIMIT 0
#endif
#endif
#ifndef CAN_LIMIT
#define CAN_LIMIT 1
#endif

struct server {
    int socket;
    z3_solver solver;
    struct z3_library library;
    char *bytes, *answer;
    size_t n_answer;
};

static void reply(const struct server *s, enum z3_end end, const void *text, size_t n)
{
    struct z3_reply head = { end, (uint32_t)n };
    if (!transfer_write(s->socket, &head, sizeof head, TRANSFER_NO_LIMIT) ||
        !transfer_write(s->socket, text, n, TRANSFER_NO_LIMIT))
        _exit(0);
}

static void set_limit(int resource, uint64_t most)
{
    struct rlimit limit;
    if (getrlimit(resource, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < most ? limit.rlim_max : (rlim_t)most;
    (void)setrlimit(resource, &limit);
}

/* Runs in the process of a question. */
static _Noreturn void solve(const struct server *s, const struct z3_request *request, int out)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, request->ms / 1000 + 2);
    close(s->socket);
    const struct str text = { s->bytes, request->n_text };
    const struct str values = { s->bytes + request->n_text + 1, request->n_values };
    if (s->solver)
        s->solver(text, values, out);
    else
        z3_library_solve(&s->library, text, values, out);
    transfer_write(out, "", 1, TRANSFER_NO_LIMIT);
    _exit(0);
}

/* Reads what the process prints until it closes its output. A zero at the end says that it was not
 * ended while it wrote. */
static enum z3_end collect(struct server *s, int from, uint64_t until)
{
    struct pollfd files[] = { { .fd = from, .events = POLLIN }, { .fd = s->socket } };
    s->n_answer = 0;
    for (;;) {
        uint64_t now = clock_ns();
        if (now >= until)
            return Z3_TOO_LONG;
        int ready = poll(files, 2, (int)((until - now) / 1000000) + 1);
        if (ready < 0 && errno != EINTR)
            return Z3_DIED;
        if (ready <= 0)
            continue;
        if (files[1].revents & (POLLHUP | POLLERR))
            return Z3_LOST; /* nobody waits for the answer */
        if (s->n_answer == Z3_MOST_ANSWER)
            return Z3_DIED;
        ssize_t n = read(from, s->answer + s->n_answer, Z3_MOST_ANSWER - s->n_answer);
        if (n == 0)
            return s->n_answer > 1 && s->answer[s->n_answer - 1] == '\0' ? Z3_ANSWERED : Z3_DIED;
        if (n < 0 && errno != EINTR)
            return Z3_DIED;
        s->n_answer += n > 0 ? (size_t)n : 0;
    }
}

static void answer(struct server *s, const struct z3_request *request)
{
    int ends[2];
    pid_t pid = -1;
    if (pipe2(ends, O_CLOEXEC) == 0) {
        pid = fork();
        if (pid == 0) {
            close(ends[0]);
            solve(s, request, ends[1]);
        }
        close(ends[1]);
    }
    if (pid < 0) {
        reply(s, Z3_DIED, "", 0);
        return;
    }
    enum z3_end end = collect(s, ends[0], clock_ns() + (uint64_t)request->ms * 1000000);
    close(ends[0]);
    kill(pid, SIGKILL); /* it may have closed its output and gone on */
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (end == Z3_LOST)
        _exit(0);
    reply(s, end, s->answer, end == Z3_ANSWERED ? s->n_answer - 1 : 0);
}

/* Makes the process independent of the terminal, files, signal handlers and limits of the program.
 * Its own limit on memory is that of the processes that it starts. */
static void detach(struct server *s)
{
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    int null = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++)
        if (null < 0 || dup2(null, i) < 0)
            _exit(1);
    if (s->socket != 3 && dup2(s->socket, 3) < 0)
        _exit(1);
    s->socket = 3;
    (void)syscall(SYS_close_range, 4u, ~0u, 0u);
    if (CAN_LIMIT)
        set_limit(RLIMIT_DATA, (uint64_t)Z3_MEGABYTES << 20);
}

void z3_serve(int socket, z3_solver solver)
{
    struct server s = { .socket = socket, .solver = solver, .answer = malloc(Z3_MOST_ANSWER) };
    struct z3_request request;
    char why[WHY];
    detach(&s);
    while (s.answer && transfer_read(s.socket, &request, sizeof request, TRANSFER_NO_LIMIT)) {
        if (request.n_text > MOST_QUESTION || request.n_values > MOST_QUESTION)
            break;
        s.bytes = malloc((size_t)request.n_text + request.n_values + 2);
        if (!s.bytes || !transfer_read(s.socket, s.bytes, request.n_text, TRANSFER_NO_LIMIT) ||
            !transfer_read(s.socket, s.bytes + request.n_text + 1, request.n_values,
                           TRANSFER_NO_LIMIT))
            break;
        s.bytes[request.n_text] = s.bytes[request.n_text + 1 + request.n_values] = '\0';
        if (!solver && !z3_library_open(&s.library, why, sizeof why))
            reply(&s, Z3_NO_LIBRARY, why, strlen(why));
        else if (request.n_text == 0)
            reply(&s, Z3_ANSWERED, "", 0);
        else
            answer(&s, &request);
        free(s.bytes);
    }
    _exit(0);
}
