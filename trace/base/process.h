/* Child processes: starting one, asking for its state, reaping it, and killing its process group.
 *
 *     pid_t pid;
 *     int code = process_start(&(struct process_start){ .argv = argv, .environment = environ,
 *                                                       .own_group = true }, &pid);
 *     ...
 *     process_kill_group(pid);
 *     process_reap(pid, &end);
 *
 * The users decide about time limits, output, and signals that are passed on. All functions may be
 * called by several threads at the same time. */
#ifndef SYMTAPE_TRACE_BASE_PROCESS_H
#define SYMTAPE_TRACE_BASE_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A descriptor of the program: a copy of one of ours, or a file that is opened. */
struct process_file {
    int number;
    const char *path; /* NULL: a copy of `copied` */
    int flags;        /* of open() */
    int copied;
};

struct process_start {
    const char *program;     /* searched in PATH; NULL: argv[0] */
    const char *const *argv; /* ends with NULL, as environment does */
    char *const *environment;
    const struct process_file *files;
    size_t n_files;
    bool own_group;       /* it leads a process group of its own */
    bool default_signals; /* its signals have their default actions */
    const sigset_t *mask; /* the signals that it blocks; NULL: the caller's */
};

/* Returns 0 and sets *ret, or returns an errno. */
int process_start(const struct process_start *start, pid_t *ret);

enum process_state {
    PROCESS_RUNNING,
    PROCESS_STOPPED,
    PROCESS_ENDED, /* but not reaped: no other process can have its number */
    PROCESS_LOST   /* there is no such child */
};

/* Returns the state, and changes nothing. */
enum process_state process_state(pid_t pid);
/* Returns whether the process is stopped; once for each time that it is. */
bool process_take_stop(pid_t pid);

struct process_end {
    int status;      /* exit code, or 128 and the number of the signal */
    int signal;      /* what killed it; 0 if it exited */
    uint64_t cpu_ns; /* user and system time, with that of the children that it waited for */
};

/* Waits for the end of the process and reaps it. Returns false, with errno, if it cannot be waited
 * for. */
bool process_reap(pid_t pid, struct process_end *ret);

/* Kills a process that is not reaped yet, and all of the group that it leads. */
void process_kill_group(pid_t pid);

#endif
