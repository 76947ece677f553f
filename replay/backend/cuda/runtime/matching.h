/* Names in a folder that a pattern matches. (glob(3) of glibc frees twice when memory runs out.) */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MATCHING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MATCHING_H

#include <dirent.h>

struct matching {
    struct dirent **names;
    int n; /* in the order of the alphabet; 0 where nothing matches or can be read */
};

/* folder: from `parent`, a folder's descriptor or AT_FDCWD. pattern: of fnmatch(3); names that
 * begin with a point are not matched by "*". */
struct matching matching_find(int parent, const char *folder, const char *pattern);
void matching_release(struct matching *matching);

#endif
