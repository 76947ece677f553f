#include "replay/shape/range/range.h"

#include "replay/shape/expr/float_text.h"
#include "replay/shape/expr/sym_pool.h"

static bool is_boolean_range(struct sym_range r)
{
    return r.lower == SYM_ID_FALSE || r.lower == SYM_ID_TRUE;
}

static bool is_integer_bound(const struct sym_pool *pool, sym_id bound)
{
    return is_integer(pool, bound) || bound == SYM_ID_INT_OO || bound == SYM_ID_MINUS_INT_OO;
}

enum sym_range_kind sym_range_kind_of(const struct sym_pool *pool, struct sym_range range)
{
    if (is_boolean_range(range))
        return SYM_RANGE_BOOL;
    return is_integer_bound(pool, range.lower) && is_integer_bound(pool, range.upper)
               ? SYM_RANGE_INT
               : SYM_RANGE_FLOAT;
}

struct sym_range sym_range(struct sym_pool *pool, sym_id lower, sym_id upper)
{
    if (lower == SYM_NONE || upper == SYM_NONE)
        return SYM_RANGE_FAILED;
    struct sym_range r = { lower, upper };
    bool booleans = is_boolean_range(r);
    if (booleans != (upper == SYM_ID_FALSE || upper == SYM_ID_TRUE) ||
        (!booleans && (!is_number(pool, lower) || !is_number(pool, upper))) ||
        lower == SYM_ID_NAN || upper == SYM_ID_NAN)
        return pool_fail(pool, "AssertionError: a range of what are no numbers"), SYM_RANGE_FAILED;
    if (booleans ? lower > upper : sym_number_compare(pool, lower, upper) > 0)
        return pool_fail(pool, "ValueRangeError: Invalid ranges"), SYM_RANGE_FAILED;
    if (is_integer(pool, lower) && upper == SYM_ID_OO)
        r.upper = SYM_ID_INT_OO;
    if (is_integer(pool, upper) && lower == SYM_ID_MINUS_OO)
        r.lower = SYM_ID_MINUS_INT_OO;
    return r;
}

bool sym_range_is_singleton(struct sym_pool *pool, struct sym_range range)
{
    (void)pool;
    return range.lower == range.upper;
}

bool sym_range_is_subset(struct sym_pool *pool, struct sym_range inner, struct sym_range outer)
{
    if (sym_range_equal(outer, SYM_RANGE_UNKNOWN_INT))
        return true;
    if (is_boolean_range(inner) || is_boolean_range(outer))
        return outer.lower <= inner.lower && inner.upper <= outer.upper;
    return sym_number_compare(pool, outer.lower, inner.lower) <= 0 &&
           sym_number_compare(pool, inner.upper, outer.upper) <= 0;
}

bool sym_range_contains(struct sym_pool *pool, struct sym_range range, sym_id number)
{
    return sym_range_is_subset(pool, (struct sym_range){ number, number }, range);
}

static bool is_unknown_range(struct sym_range r)
{
    return sym_range_equal(r, SYM_RANGE_UNKNOWN) || sym_range_equal(r, SYM_RANGE_UNKNOWN_INT);
}

static bool same_kind(struct sym_pool *pool, struct sym_range a, struct sym_range b)
{
    if (sym_range_kind_of(pool, a) == sym_range_kind_of(pool, b))
        return true;
    pool_fail(pool, "AssertionError: ranges of different kinds");
    return false;
}

struct sym_range sym_range_intersect(struct sym_pool *pool, struct sym_range a, struct sym_range b)
{
    if (!sym_range_ok(a) || !sym_range_ok(b))
        return SYM_RANGE_FAILED;
    if (is_unknown_range(b))
        return a;
    if (is_unknown_range(a))
        return b;
    if (!same_kind(pool, a, b))
        return SYM_RANGE_FAILED;
    if (is_boolean_range(a))
        return sym_range(pool, a.lower > b.lower ? a.lower : b.lower,
                         a.upper < b.upper ? a.upper : b.upper);
    return sym_range(pool, sym_max(pool, a.lower, b.lower), sym_min(pool, a.upper, b.upper));
}

struct sym_range sym_range_union(struct sym_pool *pool, struct sym_range a, struct sym_range b)
{
    if (!sym_range_ok(a) || !sym_range_ok(b))
        return SYM_RANGE_FAILED;
    if (sym_range_equal(a, SYM_RANGE_UNKNOWN) || sym_range_equal(b, SYM_RANGE_UNKNOWN))
        return SYM_RANGE_UNKNOWN;
    if (!same_kind(pool, a, b))
        return SYM_RANGE_FAILED;
    if (is_boolean_range(a))
        return sym_range(pool, a.lower < b.lower ? a.lower : b.lower,
                         a.upper > b.upper ? a.upper : b.upper);
    return sym_range(pool, sym_min(pool, a.lower, b.lower), sym_max(pool, a.upper, b.upper));
}

static void print_bound(struct sym_pool *pool, sym_id bound, struct buf *out)
{
    if (kind_at(pool, bound) == SYM_FLOAT)
        float_text_of_range(node_at(pool, bound)->real, out);
    else
        sym_print(pool, bound, out);
}

void sym_range_print(struct sym_pool *pool, struct sym_range range, struct buf *out)
{
    if (!sym_range_ok(range))
        return;
    buf_puts(out, "VR[");
    print_bound(pool, range.lower, out);
    buf_puts(out, ", ");
    print_bound(pool, range.upper, out);
    buf_puts(out, "]");
}
