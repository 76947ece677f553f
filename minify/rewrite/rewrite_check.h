/* Runs the original graph and the rewritten one on the CPU backend with equal inputs, and compares
 * their outputs, and what they wrote to their inputs. The masks get values that are all true, all
 * false, and mixed, whatever the graphs compute for them. */
#ifndef SYMTAPE_MINIFY_REWRITE_REWRITE_CHECK_H
#define SYMTAPE_MINIFY_REWRITE_REWRITE_CHECK_H

#include "minify/rewrite/rewrite.h"

enum rewrite_verdict {
    REWRITE_UNCHECKED, /* it was not asked for, or `text` says why it cannot be done */
    REWRITE_EQUAL,
    REWRITE_DIFFERS,
    REWRITE_VERDICTS
};
const char *rewrite_verdict_name(enum rewrite_verdict verdict);

struct rewrite_check {
    enum rewrite_verdict verdict;
    uint32_t runs;    /* masks that both graphs ran with */
    uint32_t tensors; /* compared in all */
    char text[512];   /* the first difference, or why nothing was compared; "" */
};

/* How many elements the values of both graphs have together, at the recorded sizes; UINT64_MAX:
 * more than that, or a size is not known. Checking takes time in proportion. */
uint64_t rewrite_check_cost(const struct rewrite *rewrite);
/* Returns false when memory or the backend is missing. */
bool rewrite_check(const struct rewrite *rewrite, struct rewrite_check *ret, struct err *err);

#endif
