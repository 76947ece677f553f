/* Numbers that a graph reads from the elements of an integer input, such as the lengths of jagged
 * rows: item(sum(lengths)) is the number of all rows, which the size of another input determines
 * (an equation among the recorded asserts). Random lengths would not add up to it. Private to
 * run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_INPUT_SUMS_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_INPUT_SUMS_H

#include "replay/backend/run/run.h"

/* Elements of an input, and the number that the graph reads from them. */
struct input_sum {
    node_id input;
    int64_t row;   /* the elements of that row; of an input with one dimension, 0 */
    bool single;   /* one element instead: number `row` */
    int64_t total; /* their sum */
};

/* Finds the sums of a run that reads such numbers, and gives symbols that only occur together in an
 * equation equal shares. False: out of memory. */
bool input_sums_find(struct run *run, struct err *err);
/* Changes the random values of an input, so that its sums are those. row: elements of a row. */
void input_sums_apply(const struct run *run, node_id input, enum dtype dtype, void *p, size_t n,
                      size_t row);

#endif
