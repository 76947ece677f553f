/* What the guards that others imply cost when a call is looked up: the leaves of the recorded guard
 * tree that evaluate them, and their share of "Guard latency". For the files of cmd/validate only.
 *
 * Dynamo writes a leaf for each guard on sizes that it does not find trivial, with simpler
 * expressions than those that were recorded. A guard and a leaf are paired if they are the same
 * condition after both were brought into one form. A guard without a leaf costs nothing if each
 * leaf of its user line is that of another guard; otherwise its cost is not known. */
#ifndef SYMTAPE_CMD_VALIDATE_REDUNDANT_COSTS_H
#define SYMTAPE_CMD_VALIDATE_REDUNDANT_COSTS_H

#include "prove/validate/validate.h"

enum guard_leaf {
    GUARD_LEAF_UNKNOWN, /* the attempt made no entry, or a leaf may be its, which is written
                           otherwise */
    GUARD_LEAF_NONE, /* no leaf of its own: another one says the same, or PyTorch found that it is
                      * always true */
    GUARD_LEAF_OWN
};

struct attempt_costs {
    bool has_tree;           /* the attempt made the entry whose guards are on the tape */
    uint32_t leaves;         /* of the entry */
    uint32_t all;            /* leaves and accessors, which a call that passes evaluates */
    double latency_us;       /* of the entry; 0 or less: it was not recorded */
    enum guard_leaf *guards; /* by redundant guard */
    uint32_t own;            /* of these: how many have a leaf */
    uint32_t unknown;
};

struct redundant_costs {
    struct attempt_costs *attempts; /* by attempt of the validation */
    struct arena arena;
};

/* Zero-initialize *ret. Fails when memory ran out or the tape cannot be read;
 * redundant_costs_release() is required then, too. */
bool redundant_costs_make(struct redundant_costs *ret, struct trace *trace,
                          const struct validation *v, struct err *err);
void redundant_costs_release(struct redundant_costs *costs);

/* Returns the microseconds of n leaves by their share; less than 0 if it is not known. */
static inline double attempt_leaf_us(const struct attempt_costs *a, uint32_t n)
{
    return a->has_tree && a->latency_us > 0 && a->all ? a->latency_us * n / a->all : -1;
}

#endif
