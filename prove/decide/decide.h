/* Decides whether facts about integers imply a condition.
 *
 *     struct decider *d = decider_new(pool, &err);
 *     decider_symbol(d, s0, (struct decide_range){ 2, 4096 });
 *     decider_fact(d, sym_eq(pool, sym_mod(pool, s0, eight), zero));
 *     struct decide_answer answer;
 *     if (!decide(d, sym_ne(pool, s0, nine), &DECIDE_LIMITS, &answer)) ... // out of memory
 *     switch (answer.verdict) { case DECIDE_PROVED: ... }
 *     decider_free(d);
 *
 * The verdict is exact. PROVED: the goal is true for all integer values of the symbols that are
 * within the ranges and make all facts true. REFUTED: there are such values for which the goal is
 * false, or for which computing it divides by 0. UNDECIDED: neither was found within the limits.
 * Expressions have the values that Python computes from the text of a guard: `//` rounds down and
 * `%` has the sign of the divisor, for negative numbers, too. A fact that divides by 0 is not
 * true. A quotient that is rounded to an integer at once (int(a / b)) is computed exactly, as
 * Python does below 2**53. Other floats are computed at points, and nothing is derived from them.
 *
 * To find the smallest values that satisfy the facts, ask for the goal SYM_ID_FALSE. To find those
 * that satisfy another condition, too, ask for its negation; sym_not() makes it.
 *
 * Methods, in this order: the goal is a fact (the canonical forms are equal); intervals and
 * congruences that are propagated through all expressions; linear arithmetic over the integers
 * with case splits; a search for values that divides the ranges, smallest values first; Z3
 * (prove/z3) if it is given. Values that Z3 finds are computed like others before they are
 * believed; that it finds none is believed.
 *
 * A decider holds ids of the pool, which must outlive it, and makes expressions in it. It is for
 * one thread at a time. */
#ifndef SYMTAPE_PROVE_DECIDE_DECIDE_H
#define SYMTAPE_PROVE_DECIDE_DECIDE_H

#include "prove/z3/z3.h"
#include "replay/shape/expr/sym.h"

struct decider;

struct decider *decider_new(struct sym_pool *pool, struct err *err);
void decider_free(struct decider *d); /* NULL is fine */

/* Both bounds are inclusive. */
struct decide_range {
    int64_t lower, upper;
};
/* No bound. Finite bounds lie between -DECIDE_MOST and DECIDE_MOST. */
#define DECIDE_NO_LOWER  INT64_MIN
#define DECIDE_NO_UPPER  INT64_MAX
#define DECIDE_MOST      (INT64_C(1) << 61)
#define DECIDE_RANGE_ANY ((struct decide_range){ DECIDE_NO_LOWER, DECIDE_NO_UPPER })

/* Each returns false when out of memory. A symbol without a range may be any integer that its
 * assumptions allow (positive: from 1); a second range is intersected with the first. A symbol
 * that is no integer makes the conditions that contain it undecidable. */
bool decider_symbol(struct decider *d, sym_id symbol, struct decide_range range);
/* And is taken as several facts. */
bool decider_fact(struct decider *d, sym_id condition);
/* Says that there are values, floats included, which make all facts true, as those are that a
 * program was traced with. Otherwise a question that is refuted searches such values once; it stays
 * UNDECIDED if none are found, as where a fact is about floats. */
void decider_trust_facts(struct decider *d);
/* Facts that were added after a mark can be removed again; ranges stay as they are. */
uint32_t decider_mark(const struct decider *d);
void decider_forget(struct decider *d, uint32_t mark);

/* Limits of one question. With 0 steps only what follows from intervals without assuming anything
 * is found, or that the goal is a fact, in a time that does not depend on the number of facts. */
struct decide_limits {
    uint64_t steps; /* expressions that are visited, rows that are combined */
    uint64_t ns;
    struct z3 *z3; /* asked where the other methods do not decide; NULL: not */
    bool only_z3;  /* instead of the other methods, except equality with a fact */
};
/* Who asks many questions does not give Z3 to them any more after so many that it left undecided,
 * each of which may have taken all of its time. */
enum { DECIDE_MAX_Z3_UNDECIDED = 8 };
#define DECIDE_LIMITS ((struct decide_limits){ .steps = 1000000, .ns = 10000000000 })

enum decide_verdict { DECIDE_PROVED, DECIDE_REFUTED, DECIDE_UNDECIDED };
const char *decide_verdict_name(enum decide_verdict verdict); /* "proved", ... */
enum decide_method {
    DECIDE_BY_FACT,      /* the goal is a fact, or a constant */
    DECIDE_BY_INTERVALS, /* and congruences */
    DECIDE_BY_LINEAR,
    DECIDE_BY_SEARCH,
    DECIDE_BY_Z3,
    DECIDE_METHODS
};
const char *decide_method_name(enum decide_method method); /* "fact", "intervals" ... */

struct decide_value {
    sym_id symbol;
    int64_t value;
};
struct decide_answer {
    enum decide_verdict verdict;
    enum decide_method method; /* that decided it, or that was tried last */
    /* Of REFUTED: the values of the symbols that the goal and the facts connected to it contain,
     * in the order in which the symbols were added. Other symbols do not matter. They are valid
     * until the next question. The order of counterexamples: first by the largest absolute value,
     * then by the symbols in their order, where values that are not negative come before negative
     * ones and smaller absolute values first. */
    const struct decide_value *values;
    uint32_t n_values;
    bool smallest;  /* no counterexample comes before it */
    bool raises;    /* the goal divides by 0 there */
    bool no_values; /* what kept it UNDECIDED has no exact value: floats, large numbers */
    enum z3_end z3; /* what became of the last question to Z3 */
    uint64_t points, steps, ns; /* points: at which the conditions were computed */
};
bool decide(struct decider *d, sym_id goal, const struct decide_limits *limits,
            struct decide_answer *ret);

/* The value of an expression at a point, as Python computes it. */
enum decide_value_kind { DECIDE_INTEGER, DECIDE_FLOAT, DECIDE_RAISES, DECIDE_NO_VALUE };
struct decide_result {
    enum decide_value_kind kind;
    int64_t integer; /* 0 or 1 of a condition */
    double real;
};
/* Symbols that are missing in `values` have no value. False: out of memory. */
bool decider_evaluate(struct decider *d, sym_id e, const struct decide_value *values, uint32_t n,
                      struct decide_result *ret);

#endif
