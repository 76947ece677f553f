/* The guard trees of a recording: a merged tree for each code object, and what is known of each
 * guard. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARD_TREES_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARD_TREES_H

#include "profile/calls/cache/tape_compiles.h"
#include "profile/calls/tree/merged_tree.h"

/* What the calls say of a guard of a merged tree. */
struct leaf_use_counts {
    uint32_t turned_away; /* checks of the calls that it ended: it was the first guard to fail */
    uint32_t logged; /* the same of the look-ups in front of compiles, as PyTorch logged them */
    bool tells;      /* it failed, or would have failed behind the first that did */
};

/* Sums over look-ups. */
struct lookup_cost {
    uint64_t leaves, accessors; /* that were evaluated */
    double us; /* estimated from "Guard latency", by the share that was evaluated */
};

struct guard_function {
    uint32_t code;   /* in guard_trees.tape.codes */
    struct str name; /* "/home/user/train.py:17:forward" */
    struct str file, function;
    uint32_t line;
    struct merged_tree tree;
    vec_of(struct leaf_use_counts)
    counts; /* by leaf of the tree */
    uint32_t n_recompiles;
    struct intern unexplained;    /* put_reason_key() of reasons that are of no guard here */
    uint32_t n_lookups, n_checks; /* of the calls; a look-up checks entries until one answers */
    struct lookup_cost cost, filtered_cost;
};

enum owner_status {
    OWNER_REMOVABLE,
    OWNER_TELLS,    /* one of its guards told calls apart */
    OWNER_TENSOR,   /* has a tensor's sizes and dtype, other than a parameter's: always kept */
    OWNER_ARGUMENT, /* an argument of the function: kept unless asked for */
    OWNER_NOT_SEEN, /* the calls have no look-up of a function that has its guards */
};
const char *owner_status_name(enum owner_status status);

/* A guard as PyTorch's guard_filter_fn gets it. */
struct guard_owner_row {
    enum owner_status status;
    uint32_t n_leaves; /* of all merged trees */
    bool removed;      /* by the filter */
};

/* Calls that were taken for those of a code object: see struct guessed_calls. */
struct guessed_function {
    struct str function;
    uint32_t code; /* in guard_trees.tape.codes */
};

struct guard_trees {
    struct arena arena;
    struct tape_compiles tape; /* has the texts of the trees */
    struct intern owners;
    vec_of(struct guard_owner_row)
    owner_rows; /* by owner */
    vec_of(struct guard_function)
    functions;                   /* those that have entries */
    struct intern removed_names; /* the same, to be found */
    vec_of(struct str)
    removed;            /* what the filter removes: owners, with all that is below them */
    uint32_t n_removed; /* leaves of the merged trees that this removes */
    bool has_calls;
    uint32_t n_unused;  /* compiles that no call asked for */
    uint32_t n_unknown; /* look-ups whose compile the tape does not have */
    uint32_t n_checks;  /* of entries, by all look-ups */
    uint32_t n_assumed; /* compiles that the tape does not have: their guards are not counted */
    uint32_t n_contradictions; /* compiles for which the tape logged other reasons */
    struct intern
        unlisted; /* sources of values that calls do not list, and that turned them away */
    vec_of(struct guessed_function)
    guessed;
    uint32_t n_lookups;     /* that are replayed with the filter */
    uint32_t n_misanswered; /* checks that pass without the removed guards and did not before */
    uint32_t n_unexplained; /* checks that passed as far as the calls tell, and failed in truth by a
                               guard that is not known */
};

/* Reads the trees of a recording. With `several_processes` they can be compared with those of
 * another recording. Returns false with err set when memory ran out or the tape could not be read.
 */
bool guard_trees_read(struct guard_trees *trees, struct trace *trace, uint32_t recording,
                      bool several_processes, struct err *err);
/* Writes the key of the reason for which an entry did not answer in front of a compile. */
void put_reason_key(struct str compile, struct str entry, struct buf *out);
void guard_trees_release(struct guard_trees *trees);

/* Returns whether a name means a function: "forward", "train.py:17", "train.py:17:forward"; ""
 * means each. */
bool guard_function_is(const struct guard_function *function, struct str name);

#endif
