/* Finds the names in a directory that match a pattern. (glob(3) of glibc frees memory twice when
 * memory runs out.) */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MATCHING_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_RUNTIME_MATCHING_H

#include <dirent.h>

struct name_matches {
    struct dirent **names;
    int n; /* in alphabetical order; 0 if nothing matches or the directory cannot be read */
};

/* folder: relative to `parent`, a descriptor or AT_FDCWD. pattern: of fnmatch(3); "*" does not
 * match names that begin with a dot. */
struct name_matches matching_find(int parent, const char *folder, const char *pattern);
void matching_release(struct name_matches *matching);

#endif
