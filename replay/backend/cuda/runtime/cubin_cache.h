/* The cache of compiled kernels on disk: $XDG_CACHE_HOME/symtape/cubin, or ~/.cache/symtape/cubin.
 *
 * A file is one compiled program; its name is the hash of its source and the version of the
 * compiler. It contains its name and the SHA-256 of its contents; a file that is damaged or was
 * renamed is ignored. Files are renamed into place when they are complete; if the directory cannot
 * be written, the kernel is compiled again by the next run.
 *
 * The programs run on the device, in the context of our process. Therefore the directory is created
 * for its owner only; one of another user, one that others may write to, and a symbolic link are
 * not used, and neither is a file that is not a regular file of ours which only we may write. The
 * hash detects damage; the permissions prevent other users from adding a file with a correct
 * hash. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUBIN_CACHE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_CUBIN_CACHE_H

#include "trace/base/buf.h"
#include "trace/base/err.h"

struct cubin_key {
    uint64_t high, low; /* of the source, options and architecture */
};

/* Returns the path of the directory. False: neither variable is set, or the path is too long. */
bool cubin_cache_folder(char *ret, size_t n);

/* Reads a program compiled by that version of the compiler; major -1: by the newest version in the
 * cache. The caller frees `ret`. */
bool cubin_cache_read(const char *folder, struct cubin_key key, int major, int minor,
                      struct buf *ret);
bool cubin_cache_write(const char *folder, struct cubin_key key, int major, int minor,
                       struct str cubin);

/* Returns whether the directory holds no file named as programs are, which includes recipes
 * (../libraries/plan_choice.c). One that does not exist or cannot be used is empty. */
bool cubin_cache_is_empty(const char *folder);

/* Opens the directory if it fulfils the conditions above; `make` creates it and its parents. The
 * caller closes it. -1 with ERR_ENV: it cannot be used or does not exist. */
int cubin_cache_open(const char *path, bool make, struct err *err);
/* Writes a file of that name; after a failure the file is as before. */
bool cubin_cache_keep(int folder, const char *name, struct str bytes);
/* Returns whether the directory exists and must not be used; the text of the reason is for the
 * user, once. */
bool cubin_cache_refused(struct err *why);

#endif
