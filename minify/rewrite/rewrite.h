/* Rewrites boolean masks of a graph as where().
 *
 *     struct rewrite rewrite;
 *     if (rewrite_masks(candidate, &options, &rewrite, &err)) use(rewrite.result, rewrite.calls);
 *     rewrite_release(&rewrite);
 *
 * x[mask] has a size that depends on values. The following calls do not need it:
 *
 *     x[mask] = v         becomes where(mask, v, x), if v is a number, has one element, or is
 *                         broadcast along the rows that the mask selects
 *     x[mask].sum()       becomes where(mask, x, 0).sum(); other reductions by their own number
 *     y[mask] = f(x[mask])  becomes where(mask, f(x), y), if each row of f depends on the same row
 *                         of its argument (mask_rules.def)
 *
 * Calls that lead from one mask to such ends are rewritten together or not at all. Where the mask
 * has several dimensions, they are merged into one of all rows, so that the calls between keep
 * their arguments. The rows that the mask leaves out are computed from 1. */
#ifndef SYMTAPE_MINIFY_REWRITE_REWRITE_H
#define SYMTAPE_MINIFY_REWRITE_REWRITE_H

#include "minify/candidate/candidate.h"

enum mask_status {
    MASK_REWRITTEN,
    MASK_KEPT, /* `why` says why */
    MASK_STATUSES
};
const char *mask_status_name(enum mask_status status); /* "rewritten", "kept" */

/* A call of the original graph that has a boolean mask, or counts the elements of one. */
struct mask_call {
    node_id node; /* in the original */
    struct str op;
    struct str mask; /* the name of the mask's node; "" where it is not a node */
    enum mask_status status;
    struct str why; /* what it became, or why it is kept */
    /* For a call that is kept: how much the symbol of its size reaches. */
    struct str symbol; /* "u0"; "" */
    uint32_t calls, outputs, guards;
};

struct rewrite_options {
    bool differentiated; /* autograd differentiates the graph later */
};

struct rewrite {
    const struct candidate *whole;
    struct candidate *result; /* NULL: nothing was rewritten */
    struct mask_call *calls;  /* in the order of the graph */
    uint32_t n_calls, n_rewritten;
    const node_id *masks; /* masks of rewritten calls, by node of the original */
    const node_id *same;  /* of each, the first mask with the same values */
    uint32_t n_masks;
    uint32_t unbacked_before, unbacked_after; /* symbols whose values depend on data */
    uint32_t calls_before, calls_after;
    struct arena arena;
};

/* Returns false when memory ran out, or with ERR_USAGE when the rewritten graph cannot be
 * walked. */
bool rewrite_masks(const struct candidate *whole, const struct rewrite_options *options,
                   struct rewrite *ret, struct err *err);
void rewrite_release(struct rewrite *rewrite);

#endif
