/* Relations: is_eq and is_ge of sympy/core/relational.py. A relation that assumptions decide
 * becomes true or false; the others stay as they were written. */
#include "replay/shape/expr/sym_pool.h"

enum sym_kind relation_mirrored(enum sym_kind kind)
{
    switch (kind) {
    case SYM_LT: return SYM_GT;
    case SYM_GT: return SYM_LT;
    case SYM_LE: return SYM_GE;
    case SYM_GE: return SYM_LE;
    default: return kind;
    }
}

static enum sym_kind negated_kind(enum sym_kind kind)
{
    switch (kind) {
    case SYM_EQ: return SYM_NE;
    case SYM_NE: return SYM_EQ;
    case SYM_LT: return SYM_GE;
    case SYM_GE: return SYM_LT;
    case SYM_GT: return SYM_LE;
    default: return SYM_GT;
    }
}

/* Relational.negated, which never evaluates. */
sym_id relation_negated(struct sym_pool *pool, sym_id e)
{
    return pool_node2(pool, negated_kind(kind_at(pool, e)), arg_at(pool, e, 0), arg_at(pool, e, 1));
}

static sym_id swapped(struct sym_pool *pool, sym_id e)
{
    return pool_node2(pool, relation_mirrored(kind_at(pool, e)), arg_at(pool, e, 1),
                      arg_at(pool, e, 0));
}

static sym_id signs_changed(struct sym_pool *pool, sym_id e)
{
    return pool_node2(pool, relation_mirrored(kind_at(pool, e)), sym_neg(pool, arg_at(pool, e, 0)),
                      sym_neg(pool, arg_at(pool, e, 1)));
}

/* Relational.canonical: puts numbers on the right, else sorts by `ordered`, then prefers fewer
 * minus signs. */
sym_id relation_canonical(struct sym_pool *pool, sym_id e)
{
    if (e == SYM_NONE)
        return SYM_NONE;
    sym_id a = arg_at(pool, e, 0), b = arg_at(pool, e, 1);
    bool swap = false;
    if (facts_at(pool, b) & FACT_CONSTANT)
        swap = is_number(pool, a) && is_number(pool, b) && sym_number_compare(pool, a, b) > 0;
    else
        swap = (facts_at(pool, a) & FACT_CONSTANT) || order_ordered(pool, a, b) > 0;
    if (swap)
        e = swapped(pool, e);
    if (e == SYM_NONE || (facts_at(pool, a) | facts_at(pool, b)) & FACT_BOOLEAN)
        return e;
    a = arg_at(pool, e, 0);
    b = arg_at(pool, e, 1);
    if (could_extract_minus_sign(pool, a))
        return signs_changed(pool, e);
    if ((facts_at(pool, b) & FACT_CONSTANT) || !could_extract_minus_sign(pool, b))
        return e;
    sym_id minus_b = sym_neg(pool, b);
    if (minus_b == SYM_NONE || order_ordered(pool, a, minus_b) <= 0)
        return minus_b == SYM_NONE ? SYM_NONE : e;
    sym_id turned = swapped(pool, e);
    return turned == SYM_NONE ? SYM_NONE : signs_changed(pool, turned);
}

static bool has_boolean_fact(const struct sym_pool *pool, sym_id e)
{
    return facts_at(pool, e) & FACT_BOOLEAN;
}

static bool is_boolean_atom(sym_id e)
{
    return e == SYM_ID_FALSE || e == SYM_ID_TRUE;
}

/* Returns the least common denominator of a sum's coefficients. */
static sym_id common_denominator(struct sym_pool *pool, sym_id e)
{
    bool sum = kind_at(pool, e) == SYM_ADD;
    uint32_t n = sum ? node_at(pool, e)->n : 1;
    sym_id result = SYM_ID_ONE;
    for (uint32_t i = 0; i < n; i++) {
        sym_id rest, c = split_coefficient(pool, sum ? arg_at(pool, e, i) : e, &rest);
        if (c == SYM_NONE || !is_rational(pool, c))
            return c == SYM_NONE ? SYM_NONE : SYM_ID_ONE;
        sym_id q = number_denominator(pool, c), gcd = number_gcd(pool, result, q);
        if (gcd == SYM_NONE)
            return SYM_NONE;
        result = number_mul(pool, result, number_floordiv(pool, q, gcd));
        if (result == SYM_NONE)
            return SYM_NONE;
    }
    return result;
}

/* Returns whether a finite difference is zero. */
static enum sym_answer difference_is_zero(struct sym_pool *pool, sym_id difference)
{
    uint32_t f = facts_at(pool, difference);
    if (known_zero(f))
        return SYM_YES;
    if (known_nonzero(f))
        return SYM_NO;
    sym_id denominator = common_denominator(pool, difference);
    if (denominator == SYM_NONE || denominator == SYM_ID_ONE)
        return SYM_UNKNOWN;
    sym_id numerator = sym_mul(pool, difference, denominator);
    return numerator != SYM_NONE && known_nonzero(facts_at(pool, numerator)) ? SYM_NO : SYM_UNKNOWN;
}

static enum sym_answer is_equal(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_NO;
    if (a == b)
        return SYM_YES;
    if (is_boolean_atom(a) && is_boolean_atom(b))
        return SYM_NO;
    bool symbol = kind_at(pool, a) == SYM_SYMBOL || kind_at(pool, b) == SYM_SYMBOL;
    if (has_boolean_fact(pool, a) != has_boolean_fact(pool, b) && !symbol)
        return SYM_NO;
    if (has_boolean_fact(pool, a) || has_boolean_fact(pool, b))
        return SYM_UNKNOWN;
    if (is_number(pool, a) && is_number(pool, b))
        return sym_number_compare(pool, a, b) == 0 ? SYM_YES : SYM_NO;
    if ((facts_at(pool, a) ^ facts_at(pool, b)) & FACT_INFINITE &&
        (facts_at(pool, a) | facts_at(pool, b)) & FACT_FINITE)
        return SYM_NO;
    sym_id difference = sym_sub(pool, a, b);
    if (difference == SYM_NONE || difference == SYM_ID_NAN)
        return SYM_UNKNOWN;
    return difference_is_zero(pool, difference);
}

/* Returns whether a >= b, from the sign of the difference alone. */
static enum sym_answer is_at_least(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (is_number(pool, a) && is_number(pool, b))
        return sym_number_compare(pool, a, b) >= 0 ? SYM_YES : SYM_NO;
    uint32_t fa = facts_at(pool, a), fb = facts_at(pool, b);
    if (!(fa & FACT_REAL) || !(fb & FACT_REAL))
        return SYM_UNKNOWN;
    if (a == SYM_ID_OO || b == SYM_ID_MINUS_OO)
        return SYM_YES;
    sym_id difference = sym_sub(pool, a, b);
    if (difference == SYM_NONE || difference == SYM_ID_NAN)
        return SYM_UNKNOWN;
    uint32_t f = facts_at(pool, difference);
    return known_nonnegative(f) ? SYM_YES : known_negative(f) ? SYM_NO : SYM_UNKNOWN;
}

static enum sym_answer opposite(enum sym_answer answer)
{
    return answer == SYM_YES ? SYM_NO : answer == SYM_NO ? SYM_YES : SYM_UNKNOWN;
}

static enum sym_answer decide_relation(struct sym_pool *pool, enum sym_kind kind, sym_id a,
                                       sym_id b)
{
    switch (kind) {
    case SYM_EQ: return is_equal(pool, a, b);
    case SYM_NE: return opposite(is_equal(pool, a, b));
    case SYM_GE: return is_at_least(pool, a, b);
    case SYM_LE: return is_at_least(pool, b, a);
    case SYM_LT: return opposite(is_at_least(pool, a, b));
    default: return opposite(is_at_least(pool, b, a));
    }
}

sym_id build_relation(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id a = args[0], b = args[1];
    bool order = kind != SYM_EQ && kind != SYM_NE;
    if (order && (has_boolean_fact(pool, a) || has_boolean_fact(pool, b)))
        return pool_fail(pool, "TypeError: A Boolean argument can only be used in Eq and Ne");
    if (order && (a == SYM_ID_NAN || b == SYM_ID_NAN))
        return pool_fail(pool, "TypeError: Invalid NaN comparison");
    enum sym_answer answer = decide_relation(pool, kind, a, b);
    if (pool_failed(pool))
        return SYM_NONE;
    return answer == SYM_UNKNOWN ? pool_node2(pool, kind, a, b) : sym_boolean(answer == SYM_YES);
}
