/* Compiles texts of kernels to machine code with NVRTC.
 *
 * A program is a kernel's text after its defines; it can include the texts that are embedded in
 * symtape (replay/backend/cuda/runtime/device_text.h). No device is needed: the architecture is an
 * argument. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_H

#include "replay/backend/cuda/runtime/abi.h"
#include "replay/backend/cuda/runtime/cubin_cache.h"
#include "replay/backend/cuda/runtime/library.h"

struct compiler {
    struct cuda_library library;
    struct nvrtc nvrtc;
    int major, minor; /* its version */
    bool precompiles; /* it keeps the prologue for the programs that follow */
};

/* Opens NVRTC. driver_major: the CUDA version of the driver, whose NVRTC is preferred; 0: the
 * newest. */
bool compiler_open(struct compiler *compiler, int driver_major, struct err *err);
/* Opens the NVRTC that is that file. */
bool compiler_open_file(struct compiler *compiler, const char *path, struct err *err);

/* The parts that a kernel is compiled from. */
struct program_text {
    const char *file;    /* "softmax.cu", an embedded text; NULL: `text` is the source */
    const char *name;    /* the kernel, for messages */
    const char *defines; /* lines */
    struct str text;
};
/* Returns the complete source. False: there is no such text, or out of memory. */
bool program_source(const struct program_text *program, struct buf *ret, struct err *err);
/* Returns the hash of the source, of all texts that it can include, and of the architecture. */
struct cubin_key program_key(struct str source, int architecture);

/* Compiles a program. architecture 90: sm_90; for a device that is newer than the compiler the
 * result is PTX, which the driver compiles. ERR_ENV contains the line of the compiler's log with
 * the reason, and the path of the saved source. */
bool compiler_run(const struct compiler *compiler, const struct program_text *program,
                  struct str source, int architecture, struct buf *ret, struct err *err);

/* A program that is compiled beside others. */
struct compile_job {
    struct program_text program;
    int architecture;
    struct buf source; /* ends with 0 */
    struct cubin_key key;
    bool compiled;            /* result: `code` is what compiler_run() returns */
    struct buf code;          /* the caller frees both buffers */
    struct compile_job *next; /* of the pool, until compile_pool_wait() or compile_pool_free() */
    bool done;                /* as `next`: `compiled` is set */
};
/* How several programs are compiled. */
struct compile_options {
    uint32_t processors; /* that the process may use; 0: those of parallel_processors() */
    uint32_t threads;    /* at most that many at a time; 0: as many as processors */
    /* A symtape, whose processes compile (`symtape worker --kernels`); NULL: none. */
    const char *worker;
    uint32_t seconds; /* for a program in a worker; 0: COMPILE_SECONDS */
};
enum { COMPILE_SECONDS = 60, COMPILE_WORKERS = 16 };

/* Compiles programs while the caller goes on. With four processors and threads, or more, this is
 * done in up to COMPILE_WORKERS processes, since one thread of a process at a time can be in
 * NVRTC's front end; otherwise in threads. What a worker does not compile, since it could not be
 * started, ended, took too long or answered something else, is compiled in this process. One that
 * does not compile is tried again, alone, by the call that needs it, which reports why.
 *
 *     struct compile_pool *pool = compile_pool_new(compiler, &options);
 *     compile_pool_add(pool, &job, 1);
 *     ...
 *     compile_pool_wait(pool, &job);
 *     if (job.compiled) use(job.code);
 *     compile_pool_free(pool);
 *
 * It is used by one thread. */
struct compile_pool;
/* NULL: out of memory, or the system refuses locks. The compiler and what the options name must
 * stay until it is freed. */
struct compile_pool *compile_pool_new(const struct compiler *compiler,
                                      const struct compile_options *how);
/* Starts all processes, if there are any, before the first program. */
void compile_pool_start(struct compile_pool *pool);
/* Adds programs; of all that wait for a thread, one with a longer text comes first. The jobs stay
 * the caller's, who uses each again after compile_pool_wait(). */
void compile_pool_add(struct compile_pool *pool, struct compile_job *jobs, size_t n);
/* Returns when the program was compiled, or could not be. */
void compile_pool_wait(struct compile_pool *pool, struct compile_job *job);
/* Returns the time in which at least one program was not done, since the last call. */
uint64_t compile_pool_take_ns(struct compile_pool *pool);
/* Waits for programs that are being compiled, also by processes; others are not compiled, and
 * their jobs are not `done`. NULL is fine. */
void compile_pool_free(struct compile_pool *pool);

/* Compiles all programs, and returns when it is done. A single one needs no process. */
void compiler_run_all(const struct compiler *compiler, struct compile_job *jobs, size_t n,
                      const struct compile_options *how);

/* Is the worker: compiles what arrives at the socket `in`, with the NVRTC that is that file, and
 * answers there, until it is closed. ERR_ENV: NVRTC cannot be opened; ERR_USAGE: what arrives is no
 * program. */
bool compile_serve(int in, const char *nvrtc, struct err *err);

#endif
