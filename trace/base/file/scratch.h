/* A folder for what a run needs while it runs, below $TMPDIR (or /tmp), where everybody may write.
 *
 *     struct scratch scratch;
 *     if (!scratch_make(&scratch, SCRATCH_QUESTIONS, err))
 *         return false;
 *     folder_write(scratch.fd, "name", bytes);            trace/base/file/folder.h
 *     ... programs are told scratch.path ...
 *     scratch_remove(&scratch);                           or scratch_leave(): it stays
 *
 * mkdtemp() makes it, of mode 0700. It is used and removed by its descriptor: who replaces its name
 * by a symbolic link gains nothing by it.
 *
 * A run that is killed leaves it. The next scratch_make() of the same kind removes it, if it is of
 * a kind that is swept, is ours, is nobody else's to enter, and holds a file `lock` that names this
 * very folder and that no process holds locked. Anything else of such a name stays: we cannot know
 * that we made it. */
#ifndef SYMTAPE_TRACE_BASE_FILE_SCRATCH_H
#define SYMTAPE_TRACE_BASE_FILE_SCRATCH_H

#include "trace/base/err.h"
#include "trace/base/str.h"

enum scratch_kind {
    SCRATCH_LOGS,      /* of a recording: never swept, because they may be its only copy */
    SCRATCH_QUESTIONS, /* of minify's --check */
    SCRATCH_TABLES,    /* a database that export --sqlite writes */
};

struct scratch {
    char *path; /* absolute; NULL: none */
    int fd;
    int parent, lock; /* lock: -1 unless the kind is swept */
};

/* Makes a folder. It fails with ERR_ENV that names TMPDIR; nothing is left then. */
bool scratch_make(struct scratch *ret, enum scratch_kind kind, struct err *err);
/* Removes the folder with its content. It returns false, with errno, when something is left. Its
 * descriptors are closed and its path freed in either case; a scratch that was never made is
 * allowed. */
bool scratch_remove(struct scratch *scratch);
/* Closes and frees the scratch; the folder stays, and is swept later only if its kind is. */
void scratch_leave(struct scratch *scratch);

/* Returns the absolute path of $TMPDIR, the folder that the scratch is in. It is borrowed from
 * it. */
struct str scratch_disk(const struct scratch *scratch);
/* Sets ERR_ENV for an errno of something in the scratch that failed; the error names TMPDIR, and
 * says so where its disk is full. `what`: "cannot write the logs". Returns false. */
bool scratch_errno(const struct scratch *scratch, const char *what, struct err *err);

/* Returns whether less than a mebibyte can be written in it: its disk is full, or a quota
 * exhausted. */
bool scratch_is_full(const struct scratch *scratch);

/* Opens the folder again where a program removed it and another of its processes made one of
 * that name: `fd` is then the new one, provided that it is ours. */
void scratch_reopen(struct scratch *scratch);

/* Returns a file without a name in `folder`, open for reading and writing, which disappears when
 * it is closed; -1 with ERR_ENV. */
int scratch_file(const char *folder, struct err *err);

#endif
