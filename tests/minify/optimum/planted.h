/* Failures that are planted in small random graphs: across operators, sizes, guards and the flow of
 * data. For tests of how near minify comes to the optimum. */
#ifndef SYMTAPE_TESTS_MINIFY_OPTIMUM_PLANTED_H
#define SYMTAPE_TESTS_MINIFY_OPTIMUM_PLANTED_H

#include "minify/oracle/oracle.h"

/* What is needed besides the operators. */
enum planted_kind {
    PLANTED_ANY,      /* two operators */
    PLANTED_THREE,    /* three operators */
    PLANTED_FLOW,     /* one operator reaches another */
    PLANTED_FLOW3,    /* through a third */
    PLANTED_SYMBOLS,  /* a result of the last operator has two symbols */
    PLANTED_SYMBOLIC, /* a result of the last operator has a symbol; it and another operator */
    PLANTED_RANK,     /* a result of the last operator, which comes from another, has three sizes */
    PLANTED_GUARD,    /* a guard names two symbols; and an operator */
    PLANTED_KINDS
};
extern const char *const planted_kind_names[PLANTED_KINDS];

enum { PLANTED_CALLS_MAX = 11, PLANTED_OPS = 3 };

struct planted {
    enum planted_kind kind;
    struct candidate *whole;
    const char *ops[PLANTED_OPS]; /* parts of names; NULL after the last */
    char what[96];                /* the operators as oracle_ops() takes them */
};

/* Makes the graph and a failure of that kind which it has. The same seed gives the same. Returns
 * false, with nothing to release, if memory ran out. */
bool planted_make(enum planted_kind kind, uint64_t seed, struct planted *planted);
void planted_release(struct planted *planted);

/* What each candidate that fails has at least. */
struct planted_least {
    uint64_t calls, guards, symbols;
};
struct planted_least planted_least(const struct planted *planted);

/* Whether a candidate fails. */
bool planted_holds(const struct planted *planted, struct oracle *ops,
                   const struct candidate *candidate);
/* The same as an oracle, of which the parts belong to the caller. */
struct planted_oracle {
    struct oracle oracle; /* first */
    const struct planted *planted;
    struct oracle *ops;
};
void planted_oracle_init(struct planted_oracle *oracle, const struct planted *planted,
                         struct oracle *ops);

#endif
