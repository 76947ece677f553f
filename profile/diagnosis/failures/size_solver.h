/* Which values of one size satisfy the guards that were recorded about it: "a multiple of 4, from 8
 * to 64". The guards are evaluated at the values of a range, so that what is found holds for each
 * value that was tried; guards with several symbols are left out. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_SIZE_SOLVER_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_SIZE_SOLVER_H

#include "profile/diagnosis/failures/symbol_names.h"

#define SIZE_UNLIMITED INT64_MAX

struct size_range {
    int64_t lower, upper; /* SIZE_UNLIMITED: no bound */
};
/* Parses "[2, int_oo]", and "8 <= length <= 64" of a message; false for other texts. A size is not
 * negative: without a lower bound it is 0. */
bool size_range_parse(struct str text, struct size_range *ret);

struct size_solution {
    bool complete;               /* all values of the range satisfy all guards */
    bool none;                   /* no value that was tried does */
    struct size_range range;     /* of the values that do */
    int64_t multiple, remainder; /* they are remainder modulo multiple; 1 and 0: all of the range */
    bool regular;                /* they are all of the range of this remainder */
    const struct guard *guard;   /* the first guard that refuses a value of the given range; NULL */
    int64_t refused;             /* such a value */
};

/* Solves the guards on a symbol that are within [first, end) of the guards' records, in the scope's
 * attempt. False: memory ran out, and d->err is set. */
bool size_solve(struct finder *d, const struct symbol_scope *scope, const struct symbol *symbol,
                uint32_t end, struct size_range range, struct size_solution *ret);

/* Appends "a multiple of 4", "at least 5 and at most 96". */
void size_solution_print(const struct size_solution *s, struct size_range given, struct buf *out);

#endif
