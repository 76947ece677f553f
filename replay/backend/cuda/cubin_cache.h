/* Compiled kernels kept on disk: $XDG_CACHE_HOME/symtape/cubin, or ~/.cache/symtape/cubin.
 *
 * A file is one compiled program, named by the hash of what it was made of and by the version of the
 * compiler. It carries a check of itself; one that is damaged is as good as none. Files appear whole,
 * under their name; a folder that cannot be written costs a compile the next time. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_CUBIN_CACHE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_CUBIN_CACHE_H

#include "trace/base/buf.h"

struct cubin_key {
    uint64_t high, low; /* of text, options and architecture */
};

/* False: neither variable is set, or it is too long. */
bool cubin_cache_folder(char *ret, size_t n);

/* Of that version of the compiler; major -1: of any, the newest. The caller releases `ret`. */
bool cubin_cache_read(const char *folder, struct cubin_key key, int major, int minor,
                      struct buf *ret);
bool cubin_cache_write(const char *folder, struct cubin_key key, int major, int minor,
                       struct str cubin);

/* The folder and those above it are made. */
bool cubin_cache_make_folder(const char *path);

#endif
