/* A question as SMT-LIB2 text, and its answer, for the files of prove/decide only. */
#ifndef SYMTAPE_PROVE_DECIDE_SMTLIB_H
#define SYMTAPE_PROVE_DECIDE_SMTLIB_H

#include "prove/decide/decider.h"
#include "trace/base/buf.h"

/* Writes that all relevant facts are true and that a row, the goal's own or a divisor, is 0; then
 * the command that asks for the values of the question's symbols. narrow: with what intervals know
 * of them; else with the ranges that were given. box: more bounds, by d->symbols, or NULL. False:
 * out of memory. */
bool smtlib_write(struct decider *d, uint32_t row, bool narrow, const struct span *box,
                  struct buf *question, struct buf *values);
/* Returns whether the question says anything about the row. */
bool smtlib_knows(const struct decider *d, uint32_t row);

enum smtlib_answer {
    SMTLIB_UNKNOWN, /* or a text that is no answer, or values that are too large */
    SMTLIB_UNSAT,
    SMTLIB_SAT /* values[i] is that of symbol d->symbols.v[i] */
};
enum smtlib_answer smtlib_read(const struct decider *d, struct str text, int64_t *values);

#endif
