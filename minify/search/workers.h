/* Asking the oracle: by threads, one question each, or in the caller's own thread.
 *
 * The threads only ask; what to ask and what to make of answers is the search's
 * (minify/search/search.c), which alone starts, looks at and takes back tasks. */
#ifndef SYMTAPE_MINIFY_SEARCH_WORKERS_H
#define SYMTAPE_MINIFY_SEARCH_WORKERS_H

#include "minify/oracle/oracle.h"
#include "trace/base/buf.h"

/* Parameters of a question to the oracle. */
struct ask_how {
    uint32_t clean; /* a "no" has to be heard this often; 1 for oracles that do not waver */
    double timeout; /* seconds a call */
};

enum task_state { TASK_FREE, TASK_ASKING, TASK_DONE };

/* One question that one worker asks. */
struct task {
    enum task_state state;
    const struct candidate *candidate;
    struct candidate *owned; /* the same, or NULL: it is lent */
    struct cand_hash hash;
    struct buf edits;        /* for the journal */
    bool again;              /* to confirm an answer */
    const atomic_bool *stop; /* asked in the caller's thread: ends it too; else NULL */
    struct ask_how how;
    uint64_t call;
    uint32_t worker;
    atomic_bool cancel;
    struct answer answer; /* when TASK_DONE: released by task_free() */
    uint32_t attempts;
};

/* Asks until the answer is interesting or `clean` times have passed; fills answer and attempts. */
void task_ask(struct task *task, struct oracle *oracle);
void task_free(struct task *task); /* what it holds; it is TASK_FREE then */

struct workers;

struct workers *workers_start(struct oracle *oracle, uint32_t n, struct err *err);
uint32_t workers_n(const struct workers *workers);
/* The task of worker i. Its state is read and changed by the two calls below only. */
struct task *workers_task(struct workers *workers, uint32_t i);
enum task_state workers_state(struct workers *workers, uint32_t i);
void workers_ask(struct workers *workers, uint32_t i); /* task filled in: TASK_FREE -> ASKING */
/* Sleeps until a task is TASK_DONE that was not before, at most `seconds`. */
void workers_wait(struct workers *workers, double seconds);
/* Cancels what is being asked, waits for it. NULL is fine. */
void workers_stop(struct workers *workers);

#endif
