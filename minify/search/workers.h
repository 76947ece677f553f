/* Ask the oracle: in threads, one question each, or in the caller's own thread.
 *
 * The threads only ask. The search (minify/search/search.c) decides what to ask and processes
 * answers; it alone starts, reads and takes back tasks. */
#ifndef SYMTAPE_MINIFY_SEARCH_WORKERS_H
#define SYMTAPE_MINIFY_SEARCH_WORKERS_H

#include "minify/oracle/oracle.h"
#include "trace/base/buf.h"

/* Parameters of a question to the oracle. */
struct ask_how {
    uint32_t clean; /* a "no" must be repeated this often; 1 if answers do not vary */
    double timeout; /* seconds for each call */
};

enum task_state { TASK_FREE, TASK_ASKING, TASK_DONE };

/* One question that one worker asks. */
struct task {
    enum task_state state;
    const struct candidate *candidate;
    struct candidate *owned; /* the same, or NULL if it is borrowed */
    struct cand_hash hash;
    struct buf edits;        /* for the journal */
    bool again;              /* asked to confirm an answer */
    const atomic_bool *stop; /* for a question in the caller's thread: ends it, too; else NULL */
    struct ask_how how;
    uint64_t call;
    double began; /* clock_seconds() */
    uint32_t worker;
    atomic_bool cancel;
    struct answer answer; /* when TASK_DONE: released by task_free() */
    uint32_t attempts;
};

/* Asks until the answer is interesting or `clean` answers are not; sets answer and attempts. */
void task_ask(struct task *task, struct oracle *oracle);
void task_free(struct task *task); /* releases its members; it is TASK_FREE then */

struct workers;

struct workers *workers_start(struct oracle *oracle, uint32_t n, struct err *err);
uint32_t workers_n(const struct workers *workers);
/* Returns the task of worker i. Its state is read and changed only by the two calls below. */
struct task *workers_task(struct workers *workers, uint32_t i);
enum task_state workers_state(struct workers *workers, uint32_t i);
void workers_ask(struct workers *workers,
                 uint32_t i);                   /* the task is filled in: TASK_FREE -> ASKING */
bool workers_any_done(struct workers *workers); /* a task is TASK_DONE */
/* Sleeps until another task is TASK_DONE, at most `seconds`. */
void workers_wait(struct workers *workers, double seconds);
/* Cancels all questions and waits for them. NULL is fine. */
void workers_stop(struct workers *workers);

#endif
