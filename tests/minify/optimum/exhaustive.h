/* The smallest candidate that edits can make of a graph, by trying all of them. */
#ifndef SYMTAPE_TESTS_MINIFY_OPTIMUM_EXHAUSTIVE_H
#define SYMTAPE_TESTS_MINIFY_OPTIMUM_EXHAUSTIVE_H

#include "tests/minify/optimum/planted.h"

struct exhaustive {
    uint64_t calls;           /* of the smallest one that fails */
    uint64_t guards, symbols; /* of those with so few calls, compared in this order */
    size_t candidates;        /* that were looked at */
    bool whole;               /* none is smaller: it did not end because there were too many */
};

/* Makes every candidate that edits of calls lead to (each call replaced by an input, by a value
 * that it was computed from or by an earlier one of the same sizes; outputs removed), whether those
 * on the way fail or not, if they have the operators; and, of the smallest that fail, every one
 * that edits of guards and symbols lead to. It ends early with one that is as small as any can be
 * (planted_least()), or when there are `most`. Returns false if memory ran out. */
bool exhaustive_run(const struct planted *planted, size_t most, struct exhaustive *ret);

#endif
