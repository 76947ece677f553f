/* Compiles programs in a process of its own.
 *
 *     struct compile_worker worker;
 *     if (!compile_worker_start(&worker, "/proc/self/exe", compiler)) ...  // compile it here
 *     if (!compile_worker_run(&worker, job, 90, 60)) ...                   // the worker is gone
 *     compile_worker_end(&worker);
 *
 * The process is `symtape worker --kernels NVRTC`, which calls compile_serve(). The two exchange
 * the structs of compile_worker.c: they are the same program on the same machine. A worker reads
 * nothing but its standard input and the files of NVRTC, and writes no files but the source of a
 * program that does not compile; it ends when its input does, and is killed at the end of its work.
 */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_WORKER_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_WORKER_H

#include <sys/types.h>

#include "replay/backend/cuda/runtime/compile.h"

struct compile_worker {
    pid_t pid;  /* 0: there is none */
    int socket; /* -1: there is none */
};

/* Starts the process with the compiler's library; it answers later. Returns false if it cannot be
 * started. */
bool compile_worker_start(struct compile_worker *ret, const char *program,
                          const struct compiler *compiler);

/* Has it compile the job's program, and sets its result. Returns false if there was no answer
 * within that time, or one of another program; then the worker is ended, and the job is as it was.
 */
bool compile_worker_run(struct compile_worker *worker, const struct compiler *compiler,
                        struct compile_job *job, int architecture, uint32_t seconds);

/* Kills the process. One that is ended already is fine. */
void compile_worker_end(struct compile_worker *worker);

/* Is the worker: compiles what arrives at the socket `in`, with the NVRTC that is that file, and
 * answers there, until it is closed. ERR_ENV: NVRTC cannot be opened; ERR_USAGE: what arrives is no
 * program. */
bool compile_serve(int in, const char *nvrtc, struct err *err);

#endif
