/* The recorder: runs a program so that PyTorch logs its compiles, and gathers the logs.
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
 * From record_run() to record_finish() signals to end the caller are held back, so a second Ctrl-C
 * does not lose what was recorded. A caller that is killed by SIGKILL leaves the folder. */
#ifndef SYMTAPE_TRACE_RECORD_RECORD_H
#define SYMTAPE_TRACE_RECORD_RECORD_H

#include <stddef.h>

#include "trace/base/buf.h"
#include "trace/base/file/scratch.h"
#include "trace/record/supervise.h"

enum { RECORD_GRACE_MS = 2000 };

struct record_options {
    bool expensive;    /* set TORCH_DTRACE as well: every expression and guard in full, slow */
    bool keep_logs;    /* record_finish() leaves the folder where it is */
    bool redact;       /* gather what a deep recording's processes set in their environment */
    const char *deep;  /* NULL, or the level of a deep recording (trace/record/deep_install.h) */
    unsigned grace_ms; /* for processes that outlive the program; 0 does not wait */
};

/* What a program left. */
struct record_run {
    struct supervise_end end;
    bool replaced;         /* TORCH_TRACE or TORCH_DTRACE named a folder, which got nothing */
    bool expensive;        /* TORCH_DTRACE is set: as asked for, or since it was set already */
    struct scratch folder; /* of the logs; its path is NULL when it could not be made */
    char **logs;           /* paths of those that hold something, ranks in their order */
    size_t n_logs;         /* 0: PyTorch never logged anything */
    size_t n_sides; /* side files of a deep recording; their paths are behind those of the logs */
    char *deep_failure; /* why a process could not load the deep recorder; NULL */
    uint64_t log_bytes;
    struct buf set; /* of options.redact: NAME=VALUE, a NUL behind each */
    size_t writers; /* other processes that had a log open when the grace was over */
    bool disk_full; /* the disk of the folder, when the program had ended: logs may be cut */
    bool keep_logs; /* may be changed until record_finish() */
    struct held_signals held;
};

/* Runs argv[0] with its arguments, NULL-terminated. `options` may be NULL: the usual grace, the
 * rest off. False when the program did not run (run->end.status is what a shell would exit with;
 * 0 when there is no folder for logs), or when its logs cannot be listed (then they are kept). */
bool record_run(const char *const *argv, const struct record_options *options,
                struct record_run *run, struct err *err);

/* Removes the logs (unless they are to be kept), lets signals through, frees; run->end stays. False
 * when something of the folder is left. */
bool record_finish(struct record_run *run, struct err *err);

#endif
