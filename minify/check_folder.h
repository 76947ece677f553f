/* The folder that a run keeps its questions in, below $TMPDIR (or /tmp).
 *
 * It holds a locked file as long as the run lives, so that what a run left that was killed is told
 * from what another is using, and removed by the next. */
#ifndef SYMTAPE_MINIFY_CHECK_FOLDER_H
#define SYMTAPE_MINIFY_CHECK_FOLDER_H

#include "trace/base/err.h"

struct check_folder {
    char *path; /* absolute; NULL: there is none */
    int lock;
};

bool check_folder_make(struct check_folder *folder, struct err *err);
void check_folder_release(struct check_folder *folder); /* with all in it */

/* Any folder, whatever somebody did to its permissions; best effort. */
void folder_remove(const char *path);

#endif
