/* Running a program that may do anything: hang, kill itself, start others, write for ever.
 *
 * It is the leader of a process group of its own, has `input` as standard input, and writes
 * standard output and error into a pipe of which the end is kept. When its time is over or it is
 * cancelled, the group gets SIGTERM and, a moment later, SIGKILL; when it ends by itself, what it
 * left running in its group is killed. May be called by several threads at once. */
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
    int status; /* exit code; 128 and the signal's number */
    int signal;
    bool timed_out, cancelled;
    double seconds;
    size_t n; /* of output: the last bytes that it wrote */
    char output[CHILD_TAIL];
};

/* False when it could not be started: end->status is 127 (not found) or 126 (not executable), or
 * 0 when the system lacks something. */
bool child_run(const struct child *child, struct child_end *end, struct err *err);

/* The last line that holds more than blanks; "" */
struct str child_last_line(const struct child_end *end);

#endif
