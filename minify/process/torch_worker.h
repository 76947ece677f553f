/* A Python process that has imported PyTorch and waits for questions
 * (minify/process/torch_worker.py).
 *
 *     const struct program_setup setup = { .allow = STR("torchvision") };
 *     struct torch_worker *worker = torch_worker_start(STR("python3"), &setup, &err);
 *     if (torch_worker_ask(worker, question, source, &how, &reply, &end)) ...
 *     torch_worker_stop(worker);
 *
 * A question takes a fork. Several threads may ask at once: each question has a socket and a
 * process of its own, which checks the program before it runs it (minify/program/program_check.py)
 * and is killed, with all processes that it started, when its time is over or it is cancelled. A
 * worker that died is started again, once for each question. */
#ifndef SYMTAPE_MINIFY_PROCESS_TORCH_WORKER_H
#define SYMTAPE_MINIFY_PROCESS_TORCH_WORKER_H

#include <stdatomic.h>

#include "minify/program/program_setup.h"

struct torch_worker;

/* Starts a worker, which imports and sets what `setup` says. Returns NULL with ERR_ENV: there is no
 * such Python, it has no PyTorch, or it does not answer for minutes; or with ERR_USAGE: something
 * of `setup` does not exist or raises. */
struct torch_worker *torch_worker_start(struct str python, const struct program_setup *setup,
                                        struct err *err);
/* The same with a script of PROGRAM_WORKER (minify/program/program_script.h) and a folder in which
 * its files of --import are. */
struct torch_worker *torch_worker_start_script(struct str python, struct str script,
                                               struct str folder, struct err *err);
void torch_worker_stop(struct torch_worker *worker);                /* NULL is fine */
struct str torch_worker_version(const struct torch_worker *worker); /* "2.13.0+cpu" */

enum torch_end { TORCH_ANSWERED, TORCH_DIED, TORCH_TIMED_OUT, TORCH_CANCELLED };

/* Asks a question: a JSON object without its closing brace, with the fields of
 * minify/process/torch_worker.py except "bytes". `reply` is a line of JSON. Returns false with err
 * set if the worker cannot be started again. */
bool torch_worker_ask(struct torch_worker *worker, struct str question, struct str source,
                      double timeout, const atomic_bool *cancel, struct buf *reply,
                      enum torch_end *end, struct err *err);

/* The same with a question and its program as one text, which torch_question_print() makes. */
void torch_question_print(struct str question, struct str source, struct buf *out);
bool torch_worker_send(struct torch_worker *worker, struct str text, double timeout,
                       const atomic_bool *cancel, struct buf *reply, enum torch_end *end,
                       struct err *err);

#endif
