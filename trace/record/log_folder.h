/* Lists the folder that the programs of one recording log into (trace/base/file/scratch.h,
 * SCRATCH_LOGS). */
#ifndef SYMTAPE_TRACE_RECORD_LOG_FOLDER_H
#define SYMTAPE_TRACE_RECORD_LOG_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/file/scratch.h"

struct log_list {
    char **paths;   /* by name, with digits as numbers: rank_10 is after rank_9; logs first */
    size_t n;       /* number of logs */
    size_t n_sides; /* number of side files of deep recordings */
    uint64_t bytes; /* length of the logs */
};

/* Lists the logs and side files in it; empty ones are omitted. */
bool log_folder_list(const struct scratch *folder, struct log_list *ret, struct err *err);
void log_list_release(struct log_list *list);

/* Returns the number of other processes that have a file in the folder open, as far as /proc shows:
 * processes of other users may be hidden. 0 if there is no /proc. */
size_t log_folder_writers(const char *folder);

/* Returns the text of the first file deep-failed-PID.txt, which says why the deep recorder could
 * not be loaded. The caller frees it; NULL when there is no such file, or when it cannot be
 * read. */
char *log_folder_failure(const struct scratch *folder);

/* Returns the path of the Python that was the first to import torch with a recorder (python.txt).
 * The caller frees it; NULL when it is not known. */
char *log_folder_python(const struct scratch *folder);

/* Reads and removes the files environment-PID, which the programs of a recording that is to be
 * redacted leave: NAME=VALUE that they set themselves, each followed by a NUL. */
bool log_folder_environment(const struct scratch *folder, struct buf *ret, struct err *err);

#endif
