/* Compiled kernels kept on disk: $XDG_CACHE_HOME/symtape/cubin, or ~/.cache/symtape/cubin.
 *
 * A file is one compiled program, named by the hash of what it was made of and by the version of
 * the compiler. It holds its name and the SHA-256 of its content; one that is damaged, or that
 * another name was given, is as good as none. Files appear whole, under their name; a folder that
 * cannot be written costs a compile the next time.
 *
 * What is read here runs on the device, in our process's context. So the folder is made for its
 * owner only, and one that is another user's, that others may write to, or that is a symbolic link
 * is not used; nor is a file in it that is not a regular file of ours which only we may write. The
 * hash finds damage; it is these permissions that keep others from planting a file with a hash that
 * is right. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUBIN_CACHE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUBIN_CACHE_H

#include "trace/base/buf.h"
#include "trace/base/err.h"

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

/* A folder of ours as described above, open; with `make` it and those above it are made. The caller
 * closes. -1 with ERR_ENV: it cannot be used, or is not there. */
int cubin_cache_open(const char *path, bool make, struct err *err);
/* A file of that name, whole or as it was. */
bool cubin_cache_keep(int folder, const char *name, struct str bytes);
/* The folder is there and may not be used: why, for the user to be told once. */
bool cubin_cache_refused(struct err *why);

#endif
