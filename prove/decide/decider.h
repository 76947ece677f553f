/* The inside of a decider, for the files of prove/decide only. */
#ifndef SYMTAPE_PROVE_DECIDE_DECIDER_H
#define SYMTAPE_PROVE_DECIDE_DECIDER_H

#include "prove/decide/formula.h"

struct fact {
    sym_id condition;
    uint32_t row;
    uint32_t first, n; /* the numbers of its symbols, in decider.fact_symbols */
};

struct given_range {
    uint32_t row;
    struct span span;
};

struct decider {
    struct sym_pool *pool;
    struct formula formula;
    struct propagation propagation;
    struct point point;
    vec_of(struct fact)
    facts;
    vec_of(uint32_t)
    fact_symbols;
    vec_of(sym_id)
    canonical; /* the canonical forms of the facts, by fact */
    struct hash_index by_canonical;
    vec_of(struct given_range)
    ranges;
    uint32_t n_propagated; /* facts that were assumed */
    size_t n_assumed_rows; /* rows that there were then */
    bool again;            /* facts were removed: everything is propagated again */
    bool contradictory;    /* no values satisfy the facts */
    bool grouped;          /* `group` is up to date */
    bool satisfiable;      /* there are values that make all facts true */
    vec_of(uint32_t)
    group; /* by symbol: a representative of the symbols that facts connect with it */
    vec_of(uint32_t)
    equal;           /* by symbol: a symbol that facts make equal to it, or itself */
    size_t n_joined; /* facts that `equal` takes into account */

    /* The question at hand. */
    uint32_t goal; /* its row */
    vec_of(uint32_t)
    symbols; /* the numbers of the symbols that may matter, in their order */
    vec_of(uint32_t)
    relevant; /* the facts that may matter */
    vec_of(bool)
    asked; /* by symbol: the goal contains it */
    vec_of(bool)
    known; /* by symbol */
    vec_of(int64_t)
    values; /* by symbol */
    vec_of(struct decide_value)
    found; /* by the last search */
    vec_of(struct decide_value)
    best;                          /* of the question */
    bool exact;                    /* each part of the question was searched to the end */
    uint64_t steps, points, until; /* until: when time is over */
    struct decide_limits limits;
    bool no_values;
    bool failed; /* out of memory */
};

/* Returns whether a limit of the question is reached. */
bool decider_is_over(struct decider *d);

/* equalities.c: returns whether a goal without divisions by 0 is true because symbols are equal. */
bool decider_equal(struct decider *d, sym_id goal);
void decider_forget_equalities(struct decider *d); /* facts were removed */

/* linear.c: returns whether linear arithmetic shows that a row, the goal's own or a divisor, cannot
 * be 0 where the relevant facts are true. */
bool decider_linear(struct decider *d, uint32_t row);

/* search.c: values of the symbols within the spans that make all relevant facts true, and the goal
 * false. `found` and `smallest` are set as decide_answer says. */
enum search_result { SEARCH_FOUND, SEARCH_NONE, SEARCH_UNDECIDED };
enum search_result decider_search(struct decider *d, bool *smallest, bool *raises);
/* Returns whether `values` make all relevant facts true, and the goal false. inexact: this could
 * not be computed. raises: the goal divides by 0. */
bool decider_is_counterexample(struct decider *d, bool *inexact, bool *raises);
/* Makes `values` those that are found; returns the largest absolute value. */
int64_t decider_keep_values(struct decider *d);

/* ask_z3.c: the same as the search, with Z3; smallest: NULL if any values will do. `end` is set if
 * Z3 is asked. */
enum search_result decider_ask_z3(struct decider *d, uint32_t row, bool *smallest, bool *raises,
                                  enum z3_end *end);

/* Returns the representative of the disjoint set that x is in, and halves the path to it. */
static inline uint32_t disjoint_set_find(uint32_t *parents, uint32_t x)
{
    while (parents[x] != x)
        x = parents[x] = parents[parents[x]];
    return x;
}

#endif
