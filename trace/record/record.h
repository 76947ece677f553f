/* The recorder: runs a program so that PyTorch logs its compiles, and collects the logs.
 *
 *     struct record_run run;
 *     if (record_run(argv, NULL, &run, err))
 *         ...                                  pack run.logs: trace/log/deep/deep_pack.h
 *     record_finish(&run, err);                after a failure too
 *     exit(run.end.status);
 *
 * The program is run in the caller's place (trace/record/supervise.h) with TORCH_TRACE set to a
 * private folder below $TMPDIR. Every process that logs, rank or compile worker, makes a file of
 * its own there, written out record by record, so a program that crashed or was killed leaves what
 * it had logged (torch/_logging/_internal.py, LazyTraceHandler).
 *
 * Processes that outlive the program (daemons, workers that are still shutting down) may have a log
 * open when it ends. Those are waited for, at most options.grace_ms and until a signal to end; what
 * they log later is lost. A process that opens its first log only then makes the folder again.
 *
 * A deep recording puts the recorder's Python part first on PYTHONPATH; every process that imports
 * torch then leaves a side file as well, if there is something to write.
 *
 * A process that runs already can be recorded if it logs to the folder by itself, as the Python
 * module symtape (trace/record/python) makes its own process do:
 *
 *     if (record_begin(&options, &run, err))
 *         ... tell the process run.folder.path and, of a deep recording, run.library ...
 *         record_wait(pid, fd, &options, &run, err)         and continue as after record_run()
 *
 * From record_run() or record_begin() to record_finish() signals to end the caller are held back,
 * so a second Ctrl-C does not lose what was recorded. A caller that is killed by SIGKILL leaves the
 * folder. */
#ifndef SYMTAPE_TRACE_RECORD_RECORD_H
#define SYMTAPE_TRACE_RECORD_RECORD_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/file/scratch.h"
#include "trace/record/supervise.h"

enum { RECORD_GRACE_MS = 2000 };

struct record_options {
    bool expensive;    /* set TORCH_DTRACE as well: every expression and guard in full, slow */
    bool keep_logs;    /* record_finish() does not remove the folder */
    bool redact;       /* collect what a deep recording's processes set in their environment */
    bool calls;        /* note calls of compiled functions; a deep recording does so, too */
    const char *deep;  /* NULL, or the level of a deep recording (trace/record/deep_install.h) */
    unsigned grace_ms; /* wait this long for processes that outlive the program; 0 does not wait */
};

/* What a program left. */
struct record_run {
    struct supervise_end end;
    bool replaced;         /* TORCH_TRACE or TORCH_DTRACE named a folder, which got no logs */
    bool expensive;        /* TORCH_DTRACE is set: as requested, or because it was set already */
    struct scratch folder; /* of the logs; its path is NULL when it could not be made */
    char **logs;           /* paths of the logs that are not empty, in the order of ranks */
    size_t n_logs;         /* 0: PyTorch never logged anything */
    size_t n_sides;     /* side files of a deep recording; their paths follow those of the logs */
    char *library;      /* path of the C part of a deep recording; NULL */
    char *python;       /* the Python that was the first to import torch, of a deep recording or
                           one of calls; NULL */
    char *deep_failure; /* why a process could not load the recorder; NULL */
    uint64_t log_bytes;
    struct buf set; /* with options.redact: NAME=VALUE, each followed by a NUL */
    size_t writers; /* number of other processes that had a log open after the grace period */
    bool disk_full; /* the folder's disk was full when the program had ended, so logs may be
                       truncated */
    bool keep_logs; /* may be changed until record_finish() */
    struct held_signals held;
};

/* Runs argv[0] with its arguments, NULL-terminated. `options` may be NULL: the default grace
 * period, all else off. It returns false when the program did not run (run->end.status is what a
 * shell would exit with; 0 when there is no folder for logs), or when its logs cannot be listed
 * (then they are kept). */
bool record_run(const char *const *argv, const struct record_options *options,
                struct record_run *run, struct err *err);

/* Makes the folder for logs, with the Python part of a deep recording in it. */
bool record_begin(const struct record_options *options, struct record_run *run, struct err *err);
/* Waits until process `pid` ends or `fd` is at its end, whichever is first, and lists the logs.
 * Processes that still write are waited for only when `pid` has ended. */
bool record_wait(pid_t pid, int fd, const struct record_options *options, struct record_run *run,
                 struct err *err);

/* Removes the logs (unless they are to be kept), unblocks signals and frees the run; run->end
 * stays valid. It returns false when a part of the folder is left. */
bool record_finish(struct record_run *run, struct err *err);

#endif
