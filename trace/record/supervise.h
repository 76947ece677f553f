/* Runs a program as if the caller were that program.
 *
 *     struct held_signals held;
 *     signals_hold(&held);
 *     if (supervise(argv, environment, &held, &end, err))
 *         ...                                   what has to happen although the user pressed Ctrl-C
 *     signals_release(&held);
 *     exit(end.status);
 *
 * The program stays in the caller's process group, so it keeps the terminal, and has the caller's
 * standard streams, working directory and signal dispositions.
 *
 * Signals. What the terminal sends (Ctrl-C, Ctrl-\, a new window size) reaches the whole foreground
 * group, so the program had it already: the caller survives it and waits for the program to end.
 * What another process sends to the caller alone with kill() is passed on to the program. Sent
 * twice, SIGTERM ends the waiting as well: the program is left running (`abandoned`). When the
 * program was stopped, the caller stops too, so that a job-control shell gets its prompt back and
 * `fg` continues both; where no such shell is there to continue it, the caller keeps waiting. */
#ifndef SYMTAPE_TRACE_RECORD_SUPERVISE_H
#define SYMTAPE_TRACE_RECORD_SUPERVISE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "trace/base/err.h"

/* Signals that are blocked and so do not end the process. They are blocked and not handled, so
 * no handler and no global state is needed. Call this from the only thread, or before others are
 * started. */
struct held_signals {
    sigset_t set;         /* the blocked ones */
    sigset_t mask_before; /* the program runs with this mask */
    struct sigaction
        children_before; /* disposition of SIGCHLD: ignored children cannot be waited for */
};

void signals_hold(struct held_signals *held);
/* Unblocks the signals. Those that arrived meanwhile to end the process are dropped, because
 * what they ask for is done: the recording was kept. */
void signals_release(const struct held_signals *held);
/* Sleeps; returns true at once when a signal to end arrived. */
bool signals_pause(const struct held_signals *held, unsigned milliseconds);

struct supervise_end {
    int status;     /* as a shell reports it: exit status, or 128 + signal; 127 no such program, */
                    /* 126 not executable */
    int signal;     /* the signal that killed the program; 0 when it exited */
    bool abandoned; /* the caller got SIGTERM twice; the program is still running */
    uint64_t wall_ns; /* time from start to end */
    uint64_t cpu_ns;  /* user and system time, including that of the children it waited for */
};

/* Runs argv[0], which is searched in PATH, and waits for its end. It returns false when the
 * program could not be started (then end->status is 127 or 126, and 4 when the system lacks
 * memory or processes) or waited for. */
bool supervise(const char *const *argv, char *const *environment, const struct held_signals *held,
               struct supervise_end *end, struct err *err);

#endif
