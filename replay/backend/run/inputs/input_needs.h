/* What the operators of a graph need of the values of its inputs, so that random values lead to
 * results that can be compared: indices are within the table that they index, variances are
 * positive, and sums of products are about as large as their terms.
 *
 * The needs are found by one walk over the steps, from the last to the first: an operator's rows
 * (input_needs.def) say what it needs of its arguments, and which arguments its result's needs are
 * propagated to. Sizes are those of the recorded metas at the sizes of the run. Private to
 * ../run*.c.
 */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_INPUT_NEEDS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_INPUT_NEEDS_H

#include "replay/program/program.h"

/* Of two needs of one value, the later kind counts. */
enum need_kind {
    NEED_NOTHING,   /* numbers of mean 0 and variance 1; integers 0 and 1 */
    NEED_SMALL,     /* a tenth of these */
    NEED_FACTOR,    /* near 1 */
    NEED_TERMS,     /* variance 1 / number, the number of terms in a sum of products */
    NEED_FRACTION,  /* between 0 and 1 */
    NEED_LOGARITHM, /* negative */
    NEED_POSITIVE,
    NEED_SORTED,   /* ascending along the last dimension */
    NEED_INDEX,    /* integers from 0 to number - 1 */
    NEED_DISTINCT, /* the same; all differ if there are not more of them than `number` */
    NEED_OFFSETS,  /* ascending integers from 0 to number */
};

struct input_need {
    enum need_kind kind;
    int64_t number; /* -1: not known */
};

/* Sets needs[node] for each node of the program. False: out of memory. */
bool input_needs_find(const struct program *program, struct input_need *needs);

#endif
