/* Questions to Z3, a solver that is a library of its own (Debian's libz3-4).
 *
 *     struct z3 *z3 = z3_start(NULL, &err);   // before threads are started
 *     struct z3_answer answer = { .text = BUF_INIT };
 *     struct z3_question question = { .text = script, .values = "(get-value (x))", .ms = 1000 };
 *     if (!z3_ask(z3, &question, &answer)) ... // out of memory
 *     if (answer.end == Z3_ANSWERED) read(buf_str(&answer.text));
 *     buf_release(&answer.text);
 *     z3_stop(z3);
 *
 * z3_start() forks a process that waits for questions, which are SMT-LIB2 text. It opens the
 * library at the first question (dlopen), and forks a process for each question, with limits on
 * time and memory. So each question is answered as if it were the first one, and a solver that
 * hangs or dies ends only that process. What it answers is not checked here.
 *
 * Questions may be asked by several threads; they are answered one after the other. */
#ifndef SYMTAPE_PROVE_Z3_Z3_H
#define SYMTAPE_PROVE_Z3_Z3_H

#include "trace/base/buf.h"

struct z3;

/* What the process of a question runs: it writes an answer to `out`, and returns or ends. */
typedef void (*z3_solver)(struct str text, struct str values, int out);

/* solver: NULL for Z3. The caller must have no other threads: the process is forked. Returns NULL
 * if no process can be started. */
struct z3 *z3_start(z3_solver solver, struct err *err);
void z3_stop(struct z3 *z3); /* NULL is fine */

/* Returns whether Z3 can be used; if not, the error says what is missing. */
bool z3_check(struct z3 *z3, struct err *err);

enum { Z3_MEGABYTES = 1024, Z3_MOST_ANSWER = 1 << 20 };

struct z3_question {
    struct str text;   /* ends with (check-sat) */
    struct str values; /* evaluated after it if the answer is "sat", or "" */
    uint32_t ms;       /* for this question; starting takes no part of it */
};

enum z3_end {
    Z3_NOT_ASKED,
    Z3_ANSWERED,   /* `text` holds what it printed */
    Z3_TOO_LONG,   /* it did not end in time */
    Z3_DIED,       /* or printed nothing, or too much */
    Z3_NO_LIBRARY, /* `text` says why */
    Z3_LOST        /* the process that waits for questions is gone */
};
const char *z3_end_text(enum z3_end end); /* "Z3 did not end in time", ... */

struct z3_answer {
    enum z3_end end;
    struct buf text;
};

/* Returns false when out of memory. `text` is cleared first. */
bool z3_ask(struct z3 *z3, const struct z3_question *question, struct z3_answer *ret);

#endif
