/* The sizes that a program and its guards tell apart.
 *
 * A region is a set of sizes for which the same conditions are asked and answered alike, so that
 * one compile serves them. The first region is that of the recorded sizes. Each of its conditions
 * that some sizes violate leads to another region: the smallest of those sizes are replayed
 * (replay/replay.h), and what is asked there is true in the region. So the regions are disjoint,
 * and when none is left to find, they are all sizes. Where the program's own code branches, its
 * recording ends, and so do the conditions of the region behind.
 *
 * Sizes begin at 0; other numbers may be negative if their recorded range is. */
#ifndef SYMTAPE_PROVE_REGIONS_REGIONS_H
#define SYMTAPE_PROVE_REGIONS_REGIONS_H

#include "prove/conditions/conditions.h"
#include "prove/decide/decide.h"

enum region_kind {
    REGION_RECORDED,    /* that of the recorded sizes */
    REGION_GUARDS,      /* the program takes the same branches; the guards are others */
    REGION_BRANCH,      /* the program takes another branch: its own code asks */
    REGION_REFUSED,     /* PyTorch raises an error for these sizes */
    REGION_SPECIALIZED, /* a size became a number while the program was traced, and is another one
                         * here: what the program does with it was not recorded */
    REGION_UNKNOWN,     /* they could not be replayed */
    REGION_KINDS
};
const char *region_kind_name(enum region_kind kind); /* "recorded", "guards", ... */

/* A condition that is true in a region, and decides something there. */
struct region_condition {
    sym_id expr;
    struct str text;
    struct str file, code; /* of the user line, or "" */
    uint32_t line;
    bool recorded; /* it is a recorded condition; false: its negation, or asked by the replay */
    sym_id symbol; /* the only one in it; SYM_NONE: it has several */
};

enum { REGION_SIZES = 64 };

/* The sizes that a symbol has in a region, as conditions on it alone say. */
struct region_size {
    uint32_t symbol;  /* its index in the conditions */
    struct str words; /* "in {8, 16, 24, ...}", ">= 2" */
};

struct region {
    enum region_kind kind;
    uint32_t parent;    /* the region that it is a neighbor of; of the first one itself */
    uint32_t separator; /* the condition of the parent that is false here */
    const struct region_condition *conditions; /* none follows from those before it */
    size_t n_conditions;
    const sym_id *facts; /* the region: its conditions, and what separates it from others */
    size_t n_facts;
    struct str words;                /* "s27 in {8, 16, 24, ...}, s77 >= 2" */
    const struct region_size *sizes; /* of REGION_SIZES symbols at most */
    size_t n_sizes;
    struct str message; /* of a refused, specialized or unknown region: why */
    int64_t *smallest;  /* by symbol of the conditions: the smallest sizes in the region */
    bool has_smallest;
    uint32_t *calls; /* recorded calls that lie in it: the last attempts of their compiles */
    size_t n_calls;
    uint64_t times; /* how many of the points of regions_add_points() lie in it */
};

struct regions {
    vec_of(struct region)
    list;
    bool complete;      /* every size is in one of them */
    size_t n_undecided; /* neighbors of which it is not known whether they are empty */
    size_t n_unread;    /* recorded conditions that could not be parsed */
    struct arena arena;
};

struct regions_options {
    size_t limit; /* regions; 0: all */
    uint64_t ns;  /* time after which no more are sought */
};

/* Finds the regions of what an attempt, or a program of an archive, relies on. A program is not
 * replayed: its regions are what its range constraints tell apart. Fails when memory ran out;
 * regions_release() is required then, too. The result refers to the conditions and the trace. */
bool regions_make(struct regions *ret, struct trace *trace, struct conditions *conditions,
                  const struct regions_options *options, struct err *err);
/* Finds in which regions the calls lie for which the same function was compiled (recorded_calls.c),
 * those of its first 64 compiles. A call in which the source of a symbol has no size is left out,
 * and one whose other sizes are not those of the conditions: they lie in no region. Fails when
 * memory ran out. */
bool regions_add_calls(struct regions *regions, struct trace *trace, struct conditions *conditions,
                       struct err *err);
/* A point, and how often it occurs. */
struct region_point {
    const int64_t *values; /* by symbol of the conditions; those without a hint are ignored */
    uint64_t times;
};
/* Counts in which regions points lie. Fails when memory ran out. */
bool regions_add_points(struct regions *regions, const struct conditions *conditions,
                        const struct region_point *points, size_t n, struct err *err);
void regions_release(struct regions *regions);

#endif
