/* NVIDIA's libraries, found and opened when they are needed: nothing of CUDA is linked.
 *
 * Looked for by their sonames, newest first, in this order: the folders of $SYMTAPE_CUDA_LIB
 * (divided by ':'), wherever the dynamic loader looks, $CUDA_HOME and $CUDA_PATH, the prefixes that
 * CUDA's packages install to, and the folders of Python wheels (site-packages/nvidia/NAME/lib)
 * below $VIRTUAL_ENV, $CONDA_PREFIX, the user's site and the system's.
 *
 * Those that $SYMTAPE_CUDA_WITHOUT lists, divided by ',' ("cublaslt,cudnn"), are not opened: what
 * they would compute goes by kernels of our own.
 *
 * What was opened stays in the process: the driver and cuDNN do not bear being unloaded. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_LIBRARY_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_LIBRARY_H

#include "trace/base/buf.h"
#include "trace/base/err.h"

enum library_id { LIBRARY_DRIVER, LIBRARY_NVRTC, LIBRARY_CUBLASLT, LIBRARY_CUDNN, LIBRARIES };

struct library {
    enum library_id id;
    void *handle;    /* NULL: not open */
    char path[1024]; /* of its file; the soname where that cannot be told */
};

/* "NVRTC", "cuDNN" ... */
const char *library_name(enum library_id id);

/* `major`: the version wanted first, 0 for the newest. ERR_ENV: what was looked for and where, and
 * why a file that was found could not be opened. */
bool library_open(enum library_id id, int major, struct library *ret, struct err *err);

/* A table of its functions: a struct of function pointers. */
struct library_symbol {
    const char *name;
    size_t offset; /* of the pointer in the struct */
    bool needed;   /* NULL stays where others are not there */
};
bool library_load(const struct library *library, const struct library_symbol *symbols, size_t n,
                  void *table, struct err *err);

/* As its own function tells it: 91400, 130100; 0: it does not. */
size_t library_version(const struct library *library);

/* The folders that are looked through besides the loader's, one a line, existing ones only. */
void library_folders(struct buf *ret);

#endif
