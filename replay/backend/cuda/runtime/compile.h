/* Kernels' text to machine code, by NVRTC.
 *
 * A program is a kernel's text behind its defines; what it includes are the texts that are part of
 * this program (replay/backend/cuda/runtime/device_text.h). It needs no device: the architecture is
 * a number. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_COMPILE_H

#include "replay/backend/cuda/runtime/abi.h"
#include "replay/backend/cuda/runtime/cubin_cache.h"
#include "replay/backend/cuda/runtime/library.h"

struct compiler {
    struct library library;
    struct nvrtc nvrtc;
    int major, minor; /* its version */
};

/* driver_major: of CUDA that the driver is for, whose NVRTC is wanted first; 0: the newest. */
bool compiler_open(struct compiler *compiler, int driver_major, struct err *err);

/* What a kernel is compiled from. */
struct program_text {
    const char *file;    /* "softmax.cu": of the embedded texts; NULL: `text` */
    const char *name;    /* the kernel, for messages */
    const char *defines; /* lines */
    struct str text;
};
/* The source as the compiler gets it. False: there is no such text, or no memory. */
bool program_source(const struct program_text *program, struct buf *ret, struct err *err);
/* Of the source, of all that it can include and of the architecture. */
struct cubin_key program_key(struct str source, int architecture);

/* architecture 90: sm_90; a compiler that is older than the device gives PTX, which the driver
 * compiles. ERR_ENV where it fails: with the line of the compiler's log that says why, and where
 * the source was kept. */
bool compiler_run(const struct compiler *compiler, const struct program_text *program,
                  struct str source, int architecture, struct buf *ret, struct err *err);

#endif
