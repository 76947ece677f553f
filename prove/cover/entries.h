/* Whether every point of a range satisfies what some entry of a function relies on.
 *
 * The entries are compiles of one function. The range gives values to sizes of one of them, the
 * base; sizes that it does not name are as they were when the base was compiled, and those that
 * share a symbol of the base with a named size are equal to it. Sizes are told apart by source: an
 * entry's symbol is the size that it was made for, a static size is an equality. Guards on anything
 * else are assumed to hold, and conditions that contain unbacked symbols are left out. */
#ifndef SYMTAPE_PROVE_COVER_ENTRIES_H
#define SYMTAPE_PROVE_COVER_ENTRIES_H

#include "prove/cover/cover.h"

/* What an entry relies on, over the sizes of the base. */
struct entry_condition {
    enum condition_kind kind;
    sym_id expr;
    struct str text;
    stack_id user_stack;
};

struct entry {
    const struct conditions *conditions;
    struct str unknown; /* a named source that is no size there, or a guard that is no expression,
                           so that it is not known what the entry serves; or "" */
    vec_of(struct entry_condition)
    list;
    bool adds;      /* it serves points that the entries before it do not, */
    bool undecided; /* or if not, it is not known whether it does */
    const struct entry_condition *violated; /* at the counterexample; NULL: it is not known */
};

struct entries_limits {
    struct decide_limits question; /* of each question */
    size_t questions;
    uint64_t ns;
};

struct entries {
    enum decide_verdict verdict; /* refuted: there are points that none serves */
    bool empty;                  /* no point of the range satisfies `assume` */
    vec_of(struct entry)
    list;                              /* as the compiles were given */
    const struct decide_value *values; /* of the smallest point that none is known to serve, */
    uint32_t n_values;                 /* by symbol of the range; 0: there is none */
    bool smallest;                     /* no such point comes before it */
    size_t questions;
    struct arena arena;
};

/* conditions_read_sizes() was called for all of them. The base is a reading of its own, which the
 * symbols of the range belong to. Fails when memory ran out; entries_release() is required then,
 * too. */
bool entries_make(struct entries *ret, struct conditions *base, const struct cover_range *range,
                  const struct conditions *compiles, size_t n, const struct entries_limits *limits,
                  struct err *err);
void entries_release(struct entries *entries);

#endif
