/* Compiles several programs at a time, in processes or in threads. A process is `symtape worker
 * --kernels NVRTC`, which calls compile_serve(). The two exchange the structs below: they are the
 * same program on the same machine. */
#include "replay/backend/cuda/runtime/compile.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "trace/base/clock.h"
#include "trace/base/parallel.h"
#include "trace/base/process.h"
#include "trace/base/transfer.h"

enum { WORKER_MARK = 0x6b726e6c, MOST_SOURCE = 1 << 24, MOST_NAME = 4096, MOST_CODE = 1 << 28 };
enum { RECEIVED_AT_ONCE = 1 << 16 };

/* What precedes the kernel's name and the source. */
struct worker_request {
    uint32_t mark, architecture, generated, n_name, n_source;
};

/* What precedes the code; the version of NVRTC that made it. */
struct worker_reply {
    uint32_t mark, major, minor, compiled, n_code;
};

/* ---- The side that asks ---- */

struct compile_worker {
    pid_t pid;  /* 0: there is none */
    int socket; /* -1: there is none */
};

/* Starts the process; it answers later. Returns false if it cannot be started. */
static bool compile_worker_start(struct compile_worker *ret, const char *program,
                                 const struct compiler *compiler)
{
    int ends[2];
    *ret = (struct compile_worker){ .socket = -1 };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    const char *const argv[] = { "symtape", "worker", "--kernels", compiler->library.path, NULL };
    const struct process_file files[] = { { STDIN_FILENO, NULL, 0, ends[1] },
                                          { STDOUT_FILENO, "/dev/null", O_WRONLY, -1 },
                                          { STDERR_FILENO, "/dev/null", O_WRONLY, -1 } };
    sigset_t none;
    sigemptyset(&none);
    int code = process_start(&(struct process_start){ .program = program,
                                                      .argv = argv,
                                                      .environment = environ,
                                                      .files = files,
                                                      .n_files = 3,
                                                      .own_group = true,
                                                      .default_signals = true,
                                                      .mask = &none },
                             &ret->pid);
    close(ends[1]);
    if (code == 0) {
        ret->socket = ends[0];
        return true;
    }
    close(ends[0]);
    ret->pid = 0;
    return false;
}

/* Kills the process. One that is ended already is fine. */
static void compile_worker_end(struct compile_worker *worker)
{
    struct process_end end;
    if (worker->pid > 0) {
        close(worker->socket);
        process_kill_group(worker->pid);
        (void)process_reap(worker->pid, &end);
    }
    *worker = (struct compile_worker){ .socket = -1 };
}

/* Memory grows with what arrives, since the size may be a wrong one. */
static bool receive_code(int socket, size_t n, struct buf *ret, uint64_t until)
{
    while (ret->n < n) {
        const size_t part = n - ret->n < RECEIVED_AT_ONCE ? n - ret->n : RECEIVED_AT_ONCE;
        if (!buf_reserve(ret, part + 1) || !transfer_read(socket, ret->p + ret->n, part, until))
            return false;
        ret->n += part;
    }
    return true;
}

static bool receive(const struct compile_worker *worker, const struct compiler *compiler,
                    struct compile_job *job, uint64_t until)
{
    struct worker_reply reply;
    if (!transfer_read(worker->socket, &reply, sizeof reply, until) || reply.mark != WORKER_MARK ||
        reply.major != (uint32_t)compiler->major || reply.minor != (uint32_t)compiler->minor ||
        reply.compiled > 1 || (reply.compiled != 0) != (reply.n_code != 0) ||
        reply.n_code > MOST_CODE || !receive_code(worker->socket, reply.n_code, &job->code, until))
        return false;
    job->compiled = reply.compiled;
    return true;
}

/* Has it compile the job's program, and sets its result. Returns false if there was no answer
 * within that time, or one of another program; then the worker is ended, and the job is as it was.
 * Without a worker, or with a program that is too long for one, nothing is done. */
static bool compile_worker_run(struct compile_worker *worker, const struct compiler *compiler,
                               struct compile_job *job, int architecture, uint32_t seconds)
{
    const char *name = job->program.file ? job->program.file : job->program.name;
    const uint64_t until = clock_ns() + (uint64_t)seconds * 1000000000u;
    const struct worker_request request = { WORKER_MARK, (uint32_t)architecture, !job->program.file,
                                            (uint32_t)strlen(name), (uint32_t)job->source.n };
    if (worker->pid <= 0 || job->source.n > MOST_SOURCE || request.n_name > MOST_NAME)
        return false;
    if (transfer_write(worker->socket, &request, sizeof request, until) &&
        transfer_write(worker->socket, name, request.n_name, until) &&
        transfer_write(worker->socket, job->source.p, job->source.n, until) &&
        receive(worker, compiler, job, until))
        return true;
    buf_release(&job->code);
    job->compiled = false;
    compile_worker_end(worker);
    return false;
}

/* ---- Several programs ---- */

enum { LEAST_PROCESSORS = 4 }; /* for processes; on two they take longer than threads */

struct compile_all {
    const struct compiler *compiler;
    const struct compile_options *how;
    struct compile_job **jobs; /* in their order */
    size_t n;
    atomic_size_t next;
};

static void compile_here(const struct compile_all *all, struct compile_job *job)
{
    struct err ignored = { 0 };
    const struct str source = { job->source.p, job->source.n - 1 };
    job->compiled = compiler_run(all->compiler, &job->program, source, all->how->architecture,
                                 &job->code, &ignored);
}

/* Is one of the threads that compile. Each has a worker, if there are workers, from its first
 * program on. */
static void compile_next(void *user, size_t thread)
{
    struct compile_all *all = user;
    const struct compile_options *how = all->how;
    const uint32_t seconds = how->seconds ? how->seconds : COMPILE_SECONDS;
    struct compile_worker worker = { .socket = -1 };
    size_t i = atomic_fetch_add(&all->next, 1);
    (void)thread;
    if (how->worker && i < all->n)
        (void)compile_worker_start(&worker, how->worker, all->compiler);
    for (; i < all->n; i = atomic_fetch_add(&all->next, 1))
        if (!compile_worker_run(&worker, all->compiler, all->jobs[i], how->architecture, seconds))
            compile_here(all, all->jobs[i]);
    compile_worker_end(&worker);
}

static int longest_first(const void *a, const void *b)
{
    const struct compile_job *x = *(struct compile_job *const *)a,
                             *y = *(struct compile_job *const *)b;
    if (x->source.n != y->source.n)
        return x->source.n > y->source.n ? -1 : 1;
    return x < y ? -1 : x > y;
}

void compiler_run_all(const struct compiler *compiler, struct compile_job *jobs, size_t n,
                      const struct compile_options *how)
{
    struct compile_options used = *how;
    struct compile_all all = { .compiler = compiler, .how = &used, .n = n };
    used.processors = how->processors ? how->processors : parallel_processors();
    used.threads = how->threads ? how->threads : used.processors;
    all.jobs = malloc((n + 1) * sizeof *all.jobs);
    if (!all.jobs) /* each is compiled by the call that needs it */
        return;
    for (size_t i = 0; i < n; i++)
        all.jobs[i] = &jobs[i];
    qsort(all.jobs, n, sizeof *all.jobs, longest_first);
    if (n < 2 || used.threads < LEAST_PROCESSORS || used.processors < LEAST_PROCESSORS)
        used.worker = NULL;
    if (used.worker && used.threads > COMPILE_WORKERS)
        used.threads = COMPILE_WORKERS;
    size_t threads = n < used.threads ? n : used.threads;
    parallel_for(threads, (uint32_t)threads, compile_next, &all);
    free(all.jobs);
}

/* ---- The worker ---- */

/* Reads `n` bytes, which an end is added to. NULL: the other side is gone, or no memory. */
static char *read_text(int in, size_t n)
{
    char *text = malloc(n + 1);
    if (text && transfer_read(in, text, n, TRANSFER_NO_LIMIT)) {
        text[n] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

static bool answer(int out, const struct compiler *compiler, const struct worker_request *request,
                   const char *name, const char *source)
{
    struct err ignored = { 0 };
    struct buf code = BUF_INIT;
    const struct program_text program = { .file = request->generated ? NULL : name, .name = name };
    const struct str text = { source, strlen(source) };
    bool ok = compiler_run(compiler, &program, text, (int)request->architecture, &code, &ignored);
    struct worker_reply reply = { WORKER_MARK, (uint32_t)compiler->major, (uint32_t)compiler->minor,
                                  ok, ok ? (uint32_t)code.n : 0 };
    bool sent = transfer_write(out, &reply, sizeof reply, TRANSFER_NO_LIMIT) &&
                transfer_write(out, code.p, reply.n_code, TRANSFER_NO_LIMIT);
    buf_release(&code);
    return sent;
}

bool compile_serve(int in, const char *nvrtc, struct err *err)
{
    struct compiler compiler = { 0 };
    struct worker_request request;
    bool sent = compiler_open_file(&compiler, nvrtc, err);
    if (!sent)
        return false;
    compiler.precompiles = false; /* for one or two programs it costs more, and it writes files */
    while (sent && transfer_read(in, &request, sizeof request, TRANSFER_NO_LIMIT)) {
        if (request.mark != WORKER_MARK || request.n_name > MOST_NAME ||
            request.n_source > MOST_SOURCE)
            return err_set(err, ERR_USAGE, "--kernels: the input is no program of a symtape");
        char *name = read_text(in, request.n_name);
        char *source = name ? read_text(in, request.n_source) : NULL;
        sent = source && answer(in, &compiler, &request, name, source);
        free(name);
        free(source);
    }
    return true;
}
