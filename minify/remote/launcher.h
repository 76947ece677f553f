/* Workers that a command starts, on this machine or on others: `srun -N1 -n1`, `ssh HOST`.
 *
 *     struct launcher *launcher = launcher_open(&options, &err);
 *     bool started = launcher_run(launcher, &job, &end, &err);
 *     launcher_close(launcher);
 *
 * Each worker is the command, the path of this program, and the word `worker`. It is started when
 * it gets its first job, and speaks as minify/remote/message.h says. One that ends, writes
 * something else, or is silent for longer than its job may take is killed and replaced by another,
 * which gets the same job. Several threads may run jobs at once, each by a worker of its own.
 *
 * A worker ends when its input does, and removes its files first. It gets a time for that: 2
 * seconds if it is replaced, and all together 10 seconds at the end. Then it is killed. */
#ifndef SYMTAPE_MINIFY_REMOTE_LAUNCHER_H
#define SYMTAPE_MINIFY_REMOTE_LAUNCHER_H

#include "minify/remote/job.h"

struct launcher;

struct launcher_options {
    struct str command; /* split as a shell would */
    uint32_t n;         /* workers */
};

/* Returns NULL with ERR_USAGE (the command cannot be split) or ERR_ENV. No worker is started. */
struct launcher *launcher_open(const struct launcher_options *options, struct err *err);
/* Ends the workers, and returns how many of all that were started had to be killed: their files may
 * be left on their machines. NULL is fine. */
uint64_t launcher_close(struct launcher *launcher);
/* What commands print for that number and for launcher_lost(), as unsigned long long. */
#define LAUNCHER_LOST                                                                              \
    "--launcher: %llu times a worker was lost or did not start; its question went to another, at " \
    "most three times"
#define LAUNCHER_KILLED                                                                   \
    "--launcher: %llu workers did not end in time and were killed; files may be left in " \
    "TMPDIR of their machines"

/* Runs a job by worker job->worker, as job_run() does. A job that lost three workers ends like one
 * that a signal killed. Returns false with ERR_ENV if no worker can be started (end->status is 0),
 * or if a worker cannot start the job, and with ERR_USAGE, before anything is sent, if the job is
 * larger than the protocol allows. */
bool launcher_run(struct launcher *launcher, const struct job *job, struct child_end *end,
                  struct err *err);
/* How often a worker was lost or did not start so far; 0 of NULL. */
uint64_t launcher_lost(const struct launcher *launcher);

#endif
