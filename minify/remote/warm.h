/* A warm PyTorch process of a worker (minify/process/torch_worker.h): a job that is `warm` names
 * its script by its first word, and its input is a question. The process stays until a job comes
 * that has other files, so that PyTorch is imported once, and a question costs a fork.
 *
 *     struct warm warm = { .folder = -1 };
 *     warm_run(&warm, &job, &scratch, &end, &err);
 *     warm_release(&warm, &scratch); */
#ifndef SYMTAPE_MINIFY_REMOTE_WARM_H
#define SYMTAPE_MINIFY_REMOTE_WARM_H

#include "minify/process/torch_worker.h"
#include "minify/remote/job.h"

struct warm {
    struct torch_worker *worker; /* NULL: none */
    struct buf files;            /* what it was started with */
    int folder;                  /* of its files; -1: none */
};

/* Asks. The output of `end` is the answer, a line. A process that cannot start says why in that
 * line, with the outcome "start"; one that died ends with status 1. Returns false with ERR_ENV if
 * the files cannot be written. */
bool warm_run(struct warm *warm, const struct job *job, const struct scratch *scratch,
              struct child_end *end, struct err *err);
void warm_release(struct warm *warm, const struct scratch *scratch);

#endif
