/* Value ranges: the possible values of an expression for given ranges of its symbols
 * (torch/utils/_sympy/value_ranges.py: ValueRanges, SymPyValueRangeAnalysis, bound_sympy).
 *
 * Both bounds are numbers of the pool, or both booleans, and belong to the range. An integer
 * range has integers or -int_oo and int_oo as bounds; every other range of numbers counts as one
 * of floats, -oo and oo included. Bounds are computed without correlation: x - x is not known to
 * be 0. A failure (a lower bound above the upper one: ValueRangeError) is one of the pool. */
#ifndef SYMTAPE_REPLAY_SHAPE_RANGE_RANGE_H
#define SYMTAPE_REPLAY_SHAPE_RANGE_RANGE_H

#include "replay/shape/expr/sym.h"

struct sym_range {
    sym_id lower, upper; /* both SYM_NONE after a failure */
};

#define SYM_RANGE_FAILED       ((struct sym_range){ SYM_NONE, SYM_NONE })
#define SYM_RANGE_UNKNOWN      ((struct sym_range){ SYM_ID_MINUS_OO, SYM_ID_OO })
#define SYM_RANGE_UNKNOWN_INT  ((struct sym_range){ SYM_ID_MINUS_INT_OO, SYM_ID_INT_OO })
#define SYM_RANGE_UNKNOWN_BOOL ((struct sym_range){ SYM_ID_FALSE, SYM_ID_TRUE })

enum sym_range_kind { SYM_RANGE_BOOL, SYM_RANGE_INT, SYM_RANGE_FLOAT };

/* Checks the order of the bounds; +-oo beside an integer becomes +-int_oo. */
struct sym_range sym_range(struct sym_pool *pool, sym_id lower, sym_id upper);
enum sym_range_kind sym_range_kind_of(const struct sym_pool *pool, struct sym_range range);

static inline bool sym_range_ok(struct sym_range range)
{
    return range.lower != SYM_NONE;
}
static inline bool sym_range_equal(struct sym_range a, struct sym_range b)
{
    return a.lower == b.lower && a.upper == b.upper;
}
bool sym_range_is_singleton(struct sym_pool *pool, struct sym_range range);
/* Returns whether every value of `inner` is in `outer`. */
bool sym_range_is_subset(struct sym_pool *pool, struct sym_range inner, struct sym_range outer);
bool sym_range_contains(struct sym_pool *pool, struct sym_range range, sym_id number);
/* & and | of ValueRanges; ranges of different kinds fail (AssertionError), except unknown ones. */
struct sym_range sym_range_intersect(struct sym_pool *pool, struct sym_range a, struct sym_range b);
struct sym_range sym_range_union(struct sym_pool *pool, struct sym_range a, struct sym_range b);
void sym_range_print(struct sym_pool *pool, struct sym_range range,
                     struct buf *out); /* prints VR[2, int_oo] */

/* Returns the range of a symbol; false when nothing but its assumptions is known. */
typedef bool sym_ranger(void *user, sym_id symbol, struct sym_range *ret);
/* Returns the range of an operation over ranges; n is the number that the kind takes. */
struct sym_range sym_range_apply(struct sym_pool *pool, enum sym_kind kind,
                                 const struct sym_range *args, uint32_t n);
/* bound_sympy: computes the range of e. `ranges` may be NULL. */
struct sym_range sym_bound(struct sym_pool *pool, sym_id e, sym_ranger *ranges, void *user);
/* Returns whether the bounds of a condition decide it: SYM_YES, SYM_NO, or SYM_UNKNOWN. */
enum sym_answer sym_known(struct sym_pool *pool, sym_id condition, sym_ranger *ranges, void *user);

#endif
