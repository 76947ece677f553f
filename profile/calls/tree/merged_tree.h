/* The guard trees of a code object's entries, merged into one: what the entries share is there
 * once, and each part knows which entries have it. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_MERGED_TREE_H
#define SYMTAPE_PROFILE_CALLS_TREE_MERGED_TREE_H

#include "trace/base/buf.h"
#include "trace/base/intern.h"

#define TREE_NONE UINT32_MAX

/* One guard. Guards of two entries are one if they are of one kind, at one place of the tree, and
 * have the same code; the numbers of objects and classes in it differ between processes, and are
 * left out of it for trees of several processes. */
struct merged_leaf {
    uint32_t node, next;
    struct str kind, code, comment; /* point into the trees */
    uint32_t owner;     /* the guard of PyTorch that made it (guard_owner.h); INTERN_NONE: it is
                           about the process, or about sizes */
    uint32_t n_entries; /* that have it */
    uint32_t first_use, last_use; /* in merged_tree.uses */
};

/* A manager: a value that accessors lead to. 0 is the root, 1 the outermost level. */
struct merged_node {
    uint32_t parent, depth;
    uint32_t first_child, last_child, next;
    uint32_t first_leaf, last_leaf;
    struct str source, accessor; /* "L['x']"; "FrameLocalsGuardAccessor", or "" */
    uint32_t n_entries, last_entry;
};

struct leaf_use {
    uint32_t leaf, entry, next; /* the next use of the same leaf */
};

struct merged_entry {
    struct str compile;           /* "0/3" */
    uint64_t number;              /* 3 */
    uint32_t first_use, n_leaves; /* in merged_tree.uses, in the order of the tree */
    uint32_t n_accessors;
    double
        latency_us;  /* "Guard latency": measured by PyTorch when it compiled; < 0: not recorded */
    double usual_us; /* that, or less where it is out of proportion (usual_latency.h) */
};

struct merged_tree {
    bool several_processes; /* the numbers of objects do not count */
    struct intern keys;
    vec_of(struct merged_node)
    nodes;
    vec_of(struct merged_leaf)
    leaves;
    vec_of(struct leaf_use)
    uses;
    vec_of(struct merged_entry)
    entries;
    vec_of(uint32_t)
    key_rows; /* by key: a node, or a leaf */
};

/* Merges the tree of one more entry, whose text must outlive the merged tree. `owners` numbers the
 * owners of guards. Returns false with err set when memory ran out. */
bool merged_tree_add(struct merged_tree *merged, struct str compile, uint64_t number,
                     struct str text, struct intern *owners, struct err *err);
/* Returns the entry whose compile has this number; entries are added in the order of their numbers.
 * TREE_NONE if there is none. */
uint32_t merged_tree_entry(const struct merged_tree *merged, uint64_t number);
void merged_tree_release(struct merged_tree *merged);

/* Returns whether all entries have a guard. */
static inline bool merged_leaf_shared(const struct merged_tree *merged,
                                      const struct merged_leaf *leaf)
{
    return leaf->n_entries == merged->entries.n;
}

/* Appends the code of a guard without the numbers of objects: "___check_obj_id(G['f'])". */
void put_without_ids(struct str code, struct buf *out);

#endif
