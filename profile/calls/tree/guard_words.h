/* Words that the reports on guard trees share. Private to this room. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARD_WORDS_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARD_WORDS_H

#include "profile/calls/tree/guard_trees.h"
#include "profile/report/table.h"
#include "trace/base/text/json_write.h"

/* Appends the code of a guard in the form that people read: without the numbers of objects, and of
 * a TENSOR_MATCH what calls may differ in. */
void put_guard(const struct merged_leaf *leaf, struct buf *out);

/* Appends that as a cell. */
void put_guard_cell(struct table *table, const struct merged_leaf *leaf);
/* Appends "train.py:17 in forward". */
void put_function_name(const struct guard_function *function, struct buf *out);
/* Appends the entries that have a guard: "0/0 0/2", "all", "0/0 0/1 0/2 0/3 and 4 more". */
void put_guard_entries(const struct merged_tree *tree, const struct merged_leaf *leaf,
                       struct buf *out);
void put_entries_json(struct json_writer *w, const char *key, const struct merged_tree *tree,
                      const struct merged_leaf *leaf);

/* Counts guards by kind: leaves, then accessors. */
struct guard_kind_row {
    struct str name;
    uint32_t n_merged; /* in the merged trees */
    uint64_t n_all;    /* in all entries */
    bool accessor;
};
struct guard_kinds {
    struct intern names;
    vec_of(struct guard_kind_row)
    rows; /* leaves before accessors, the most frequent first */
};
bool guard_kinds_count(struct guard_kinds *kinds, const struct guard_trees *trees,
                       struct str function);
void guard_kinds_release(struct guard_kinds *kinds);

/* Sums over the functions of that name ("": all). */
struct guard_totals {
    uint32_t functions, entries, recompiles, merged, telling, removed, accessors;
    uint64_t leaves; /* of all entries */
    uint32_t lookups, checks;
    struct lookup_cost cost, filtered_cost;
    uint32_t n_latencies; /* entries of which "Guard latency" is known */
};
struct guard_totals guard_totals_of(const struct guard_trees *trees, struct str function);

/* The guards that told calls apart, those that did it most often first. */
struct telling_guard {
    const struct guard_function *function;
    uint32_t leaf;
    uint32_t times; /* turned away by the calls, or logged where there are no calls */
};
struct telling_guards {
    vec_of(struct telling_guard)
    rows;
};
bool telling_guards_find(struct telling_guards *ret, const struct guard_trees *trees,
                         struct str function);

#endif
