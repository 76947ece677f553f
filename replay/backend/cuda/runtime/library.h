/* Finds and opens NVIDIA's libraries when they are needed: nothing of CUDA is linked.
 *
 * They are searched by their sonames, newest first, in this order: the directories of
 * $SYMTAPE_CUDA_LIB (separated by ':'), those of the dynamic loader, $CUDA_HOME and $CUDA_PATH, the
 * prefixes that CUDA's packages install to, and the folders of Python wheels
 * (site-packages/nvidia/NAME/lib) below $VIRTUAL_ENV, $CONDA_PREFIX, the user's site and the
 * system's.
 *
 * Libraries that $SYMTAPE_CUDA_WITHOUT lists, separated by ',' ("cublaslt,cudnn"), are not opened:
 * our own kernels compute instead of them.
 *
 * Libraries are never unloaded, which the driver and cuDNN do not support. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_LIBRARY_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_LIBRARY_H

#include "trace/base/buf.h"
#include "trace/base/err.h"

enum library_id {
    LIBRARY_DRIVER,
    LIBRARY_NVRTC,
    LIBRARY_CUBLASLT,
    LIBRARY_CUDNN,
    LIBRARY_NCCL,
    LIBRARIES
};

struct cuda_library {
    enum library_id id;
    void *handle;    /* NULL: not open */
    char path[1024]; /* of its file; the soname if the path is unknown */
};

/* "NVRTC", "cuDNN" ... */
const char *library_name(enum library_id id);

/* Opens a library. major: the preferred version, 0 for the newest. ERR_ENV contains the names and
 * places that were searched, and why a file that was found could not be opened. */
bool library_open(enum library_id id, int major, struct cuda_library *ret, struct err *err);

/* Opens the library that is that file, as another process opened it (its `path`). ERR_ENV contains
 * the loader's message. */
bool library_open_file(enum library_id id, const char *path, struct cuda_library *ret,
                       struct err *err);

/* An entry of a table of functions, a struct of function pointers. */
struct library_symbol {
    const char *name;
    size_t offset; /* of the pointer in the struct */
    bool needed;   /* otherwise the pointer stays NULL if the library lacks it */
};
bool library_load(const struct cuda_library *library, const struct library_symbol *symbols,
                  size_t n, void *table, struct err *err);

/* Returns the version that the library reports: 91400, 130100, 22809 (2.28.9 of NCCL); 0: it
 * reports none. */
size_t library_version(const struct cuda_library *library);

/* Appends the existing directories that are searched besides the loader's, one per line. */
void library_folders(struct buf *ret);

#endif
