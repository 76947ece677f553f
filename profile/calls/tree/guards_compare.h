/* The guards of two recordings compared. Objects have other numbers in each, so guards are one if
 * their kind, their source and their code without those numbers are. Functions are paired by name
 * and file, those of one name in their order, and entries by the number of their compile. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARDS_COMPARE_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARDS_COMPARE_H

#include "profile/calls/tree/guard_trees.h"

struct function_pair {
    const struct guard_function *before, *after; /* NULL: a recording has none */
};

/* A guard that is not in the same entries of both, of those that both have. */
struct guard_change {
    uint32_t pair;
    struct str source, kind, code; /* the code has no numbers of objects */
    uint32_t before, after;        /* leaves; TREE_NONE where a recording has none */
};

struct guards_comparison {
    struct intern texts; /* has the codes */
    vec_of(struct function_pair)
    pairs;
    vec_of(struct guard_change)
    changes; /* by pair, source, kind and code */
    uint32_t n_same;
    uint32_t entries_before, entries_after;
};

/* Compares the functions of that name ("": all). Both were read for several processes. Returns
 * false with err set when memory ran out. */
bool guards_comparison_make(struct guards_comparison *ret, const struct guard_trees *before,
                            const struct guard_trees *after, struct str function, struct err *err);
void guards_comparison_release(struct guards_comparison *comparison);

#endif
