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
};

/* Opens NVRTC. driver_major: the CUDA version of the driver, whose NVRTC is preferred; 0: the
 * newest. */
bool compiler_open(struct compiler *compiler, int driver_major, struct err *err);

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
    struct buf source; /* ends with 0 */
    struct cubin_key key;
    bool compiled;   /* result: `code` is what compiler_run() returns */
    struct buf code; /* the caller frees both buffers */
};
/* Compiles the programs on up to that many threads; 0: as many as the process may use processors.
 * One that does not compile is tried again, alone, by the call that needs it, which reports why. */
void compiler_run_all(const struct compiler *compiler, struct compile_job *jobs, size_t n,
                      int architecture, uint32_t threads);

#endif
