/* Runs a program that may hang, kill itself, start others or write without end.
 *
 * It is the leader of a process group of its own, has `input` as standard input, and writes
 * standard output and error into a pipe, whose last bytes are stored. When its time is over or it
 * is cancelled, the group gets SIGTERM and, a moment later, SIGKILL; when it ends by itself, the
 * remaining processes of its group are killed. Several threads may run programs at the same
 * time. */
#ifndef SYMTAPE_MINIFY_PROCESS_CHILD_H
#define SYMTAPE_MINIFY_PROCESS_CHILD_H

#include <stdatomic.h>

#include "trace/base/err.h"
#include "trace/base/str.h"

enum { CHILD_TAIL = 4096, CHILD_GRACE_MS = 500 };

struct child {
    const char *const *argv; /* argv[0] is searched in PATH */
    char *const *environment;
    const char *input; /* path; NULL: /dev/null */
    double timeout;    /* seconds; 0: none */
    const atomic_bool *cancel;
};

struct child_end {
    int status; /* the exit code, or 128 plus the number of the signal */
    int signal;
    bool timed_out, cancelled;
    double seconds;
    size_t n; /* of `output`, the last bytes that it wrote */
    char output[CHILD_TAIL];
};

/* Runs a program. Returns false if it could not be started: end->status is 127 (not found) or 126
 * (not executable), or 0 if the system has no resources. */
bool child_run(const struct child *child, struct child_end *end, struct err *err);

/* Returns the last line that is not blank, or "". */
struct str child_last_line(const struct child_end *end);

#endif
