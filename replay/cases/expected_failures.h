/* Expected failures of operators: a JSON file that is committed beside the code and updates itself.
 *
 *     {
 *      "schema": "symtape.opcheck.xfail/1",
 *      "expected": [
 *       {"op": "mylib.blur.default", "check": "fake", "reason": "issue 12"}
 *      ]
 *     }
 *
 * One failure a line, sorted, so that an update changes as few lines as possible. Reasons are the
 * user's and stay as they are. */
#ifndef SYMTAPE_REPLAY_CASES_EXPECTED_FAILURES_H
#define SYMTAPE_REPLAY_CASES_EXPECTED_FAILURES_H

#include "trace/base/arena.h"
#include "trace/base/buf.h"
#include "trace/base/err.h"
#include "trace/base/vec.h"

#define EXPECTED_FAILURES_SCHEMA "symtape.opcheck.xfail/1"

struct expected_failure {
    struct str op, check, reason;
};

struct expected_failures {
    vec_of(struct expected_failure)
    list; /* sorted by operator and check, each once */
    struct arena arena;
};

/* Reads a file's text; false with ERR_INPUT ("offset 17: ..."), or when memory ran out. The list is
 * to be released in either case. */
bool expected_failures_read(struct expected_failures *list, struct str text, struct err *err);
void expected_failures_write(const struct expected_failures *list, struct buf *out);
void expected_failures_release(struct expected_failures *list);

/* Returns the row of an operator and a check, or NULL. */
const struct expected_failure *expected_failures_find(const struct expected_failures *list,
                                                      struct str op, struct str check);
/* Adds a row without a reason unless it is there; the texts are copied. False: out of memory. */
bool expected_failures_add(struct expected_failures *list, struct str op, struct str check);
void expected_failures_remove(struct expected_failures *list, struct str op, struct str check);

#endif
