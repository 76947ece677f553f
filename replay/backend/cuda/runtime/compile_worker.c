/* Compiles programs beside the caller, in processes or in threads. A process is `symtape worker
 * --kernels NVRTC`, which calls compile_serve(). The two exchange the structs below: they are the
 * same program on the same machine. A thread has a process if there are any, and waits for the next
 * program until the pool is freed. */
#include "replay/backend/cuda/runtime/compile.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
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
                               struct compile_job *job, uint32_t seconds)
{
    const char *name = job->program.file ? job->program.file : job->program.name;
    const uint64_t until = clock_ns() + (uint64_t)seconds * 1000000000u;
    const struct worker_request request = { WORKER_MARK, (uint32_t)job->architecture,
                                            !job->program.file, (uint32_t)strlen(name),
                                            (uint32_t)job->source.n };
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

/* ---- Threads and the pool ---- */

enum { LEAST_PROCESSORS = 4 }; /* for processes; on two they take longer than threads */
enum { MOST_THREADS = 64 };

struct compile_pool {
    const struct compiler *compiler;
    struct compile_options how;
    pthread_mutex_t lock;
    pthread_cond_t work, progress; /* a program waits, or the pool ends; a program is done */
    struct compile_job *waiting;   /* the longest text first */
    size_t left;                   /* programs that are not done */
    uint64_t busy_since, busy_ns;
    bool ends;
    size_t most, n_threads; /* threads at a time, and now */
    pthread_t threads[MOST_THREADS];
};

static struct compile_job *take_job(struct compile_pool *pool)
{
    struct compile_job *job = pool->waiting;
    if (job)
        pool->waiting = job->next;
    return job;
}

static void compile_here(const struct compile_pool *pool, struct compile_job *job)
{
    struct err ignored = { 0 };
    const struct str source = { job->source.p, job->source.n - 1 };
    job->compiled = compiler_run(pool->compiler, &job->program, source, job->architecture,
                                 &job->code, &ignored);
}

static bool has_ended(struct compile_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    const bool ret = pool->ends;
    pthread_mutex_unlock(&pool->lock);
    return ret;
}

/* Compiles the job, which was taken from the list. The lock is held before and after. */
static void compile_one(struct compile_pool *pool, struct compile_worker *worker,
                        struct compile_job *job)
{
    pthread_mutex_unlock(&pool->lock);
    if (!compile_worker_run(worker, pool->compiler, job, pool->how.seconds) && !has_ended(pool))
        compile_here(pool, job);
    pthread_mutex_lock(&pool->lock);
    job->done = true;
    if (--pool->left == 0)
        pool->busy_ns += clock_ns() - pool->busy_since;
    pthread_cond_broadcast(&pool->progress);
}

static void *run_thread(void *user)
{
    struct compile_pool *pool = user;
    struct compile_worker worker = { .socket = -1 };
    if (pool->how.worker)
        (void)compile_worker_start(&worker, pool->how.worker, pool->compiler);
    pthread_mutex_lock(&pool->lock);
    while (!pool->ends) {
        struct compile_job *job = take_job(pool);
        if (job)
            compile_one(pool, &worker, job);
        else
            pthread_cond_wait(&pool->work, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    compile_worker_end(&worker);
    return NULL;
}

/* The lock is held. */
static void start_threads(struct compile_pool *pool, size_t wanted)
{
    wanted = wanted < pool->most ? wanted : pool->most;
    while (pool->n_threads < wanted &&
           pthread_create(&pool->threads[pool->n_threads], NULL, run_thread, pool) == 0)
        pool->n_threads++;
}

/* False: the system lacks what they need. */
static bool make_locks(struct compile_pool *pool)
{
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        return false;
    if (pthread_cond_init(&pool->work, NULL) == 0) {
        if (pthread_cond_init(&pool->progress, NULL) == 0)
            return true;
        pthread_cond_destroy(&pool->work);
    }
    pthread_mutex_destroy(&pool->lock);
    return false;
}

struct compile_pool *compile_pool_new(const struct compiler *compiler,
                                      const struct compile_options *how)
{
    struct compile_pool *pool = calloc(1, sizeof *pool);
    if (!pool || !make_locks(pool)) {
        free(pool);
        return NULL;
    }
    pool->compiler = compiler;
    pool->how = *how;
    pool->how.processors = how->processors ? how->processors : parallel_processors();
    pool->how.seconds = how->seconds ? how->seconds : COMPILE_SECONDS;
    pool->most = how->threads ? how->threads : pool->how.processors;
    if (pool->most < LEAST_PROCESSORS || pool->how.processors < LEAST_PROCESSORS)
        pool->how.worker = NULL;
    const size_t limit = pool->how.worker ? COMPILE_WORKERS : MOST_THREADS;
    pool->most = pool->most < limit ? pool->most : limit;
    return pool;
}

void compile_pool_start(struct compile_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    if (pool->how.worker)
        start_threads(pool, pool->most);
    pthread_mutex_unlock(&pool->lock);
}

static void put_job(struct compile_pool *pool, struct compile_job *job)
{
    struct compile_job **at = &pool->waiting;
    while (*at && (*at)->source.n >= job->source.n)
        at = &(*at)->next;
    job->next = *at;
    job->done = false;
    *at = job;
    if (pool->left++ == 0)
        pool->busy_since = clock_ns();
}

void compile_pool_add(struct compile_pool *pool, struct compile_job *jobs, size_t n)
{
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < n; i++)
        put_job(pool, &jobs[i]);
    start_threads(pool, pool->left);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* If no thread can be started, this one compiles. */
void compile_pool_wait(struct compile_pool *pool, struct compile_job *job)
{
    struct compile_worker none = { .socket = -1 };
    pthread_mutex_lock(&pool->lock);
    while (!job->done && pool->n_threads)
        pthread_cond_wait(&pool->progress, &pool->lock);
    while (!job->done)
        compile_one(pool, &none, take_job(pool));
    pthread_mutex_unlock(&pool->lock);
}

uint64_t compile_pool_take_ns(struct compile_pool *pool)
{
    const uint64_t now = clock_ns();
    pthread_mutex_lock(&pool->lock);
    const uint64_t ns = pool->busy_ns + (pool->left ? now - pool->busy_since : 0);
    pool->busy_ns = 0;
    pool->busy_since = now;
    pthread_mutex_unlock(&pool->lock);
    return ns;
}

void compile_pool_free(struct compile_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (size_t i = 0; i < pool->n_threads; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->progress);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void compiler_run_all(const struct compiler *compiler, struct compile_job *jobs, size_t n,
                      const struct compile_options *how)
{
    struct compile_options used = *how;
    used.worker = n < 2 ? NULL : how->worker;
    struct compile_pool *pool = n ? compile_pool_new(compiler, &used) : NULL;
    if (!pool) /* each is compiled by the call that needs it */
        return;
    compile_pool_add(pool, jobs, n);
    for (size_t i = 0; i < n; i++)
        compile_pool_wait(pool, &jobs[i]);
    compile_pool_free(pool);
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
