/* sympy.simplify (sympy/simplify/simplify.py) of a quotient by a common divisor, which FloorDiv and
 * ModularIndexing call.
 *
 * It makes several forms of the expression (the factors that its terms have in common taken out,
 * the expanded form) and returns the one with the fewest operations. Only polynomials are
 * rewritten, in symbols and function calls. */
#include "replay/shape/expr/sym_pool.h"

enum { MOST_EXPANDED_TERMS = 512 };

/* --- count_ops (sympy/core/function.py) --- */

static uint32_t count_ops(const struct sym_pool *pool, sym_id e);

static uint32_t count_args(const struct sym_pool *pool, sym_id e, uint32_t from)
{
    uint32_t ops = 0;
    for (uint32_t i = from; i < sym_n_args(pool, e); i++)
        ops += count_ops(pool, arg_at(pool, e, i));
    return ops;
}

/* Counts -e for an e that has a minus. */
static uint32_t count_negated(const struct sym_pool *pool, sym_id e)
{
    if (is_number(pool, e))
        return kind_at(pool, e) == SYM_RATIONAL;
    uint32_t n = node_at(pool, e)->n, from = arg_at(pool, e, 0) == SYM_ID_MINUS_ONE;
    return n - 1 - from + count_args(pool, e, 1);
}

static uint32_t count_sum(const struct sym_pool *pool, sym_id e)
{
    uint32_t n = node_at(pool, e)->n, ops = n - 1, negative = 0;
    for (uint32_t i = 0; i < n; i++) {
        sym_id term = arg_at(pool, e, i);
        bool minus = has_minus(pool, term);
        negative += minus;
        ops += minus ? count_negated(pool, term) : count_ops(pool, term);
    }
    return ops + (negative == n);
}

static uint32_t count_product(const struct sym_pool *pool, sym_id e)
{
    uint32_t n = node_at(pool, e)->n;
    if (!has_minus(pool, e))
        return n - 1 + count_args(pool, e, 0);
    sym_id last = arg_at(pool, e, 1);
    bool hollow = n == 2 && arg_at(pool, e, 0) == SYM_ID_MINUS_ONE;
    if (hollow && kind_at(pool, last) == SYM_ADD)
        return 1 + count_args(pool, last, 0); /* sympy forgets the sum's own operations */
    return 1 + count_negated(pool, e);
}

static uint32_t count_ops(const struct sym_pool *pool, sym_id e)
{
    if (is_rational(pool, e))
        return (number_sign(pool, e) < 0) + (kind_at(pool, e) == SYM_RATIONAL);
    uint32_t n = sym_n_args(pool, e);
    if (n == 0)
        return 0;
    switch (kind_at(pool, e)) {
    case SYM_ADD: return count_sum(pool, e);
    case SYM_MUL: return count_product(pool, e);
    case SYM_MAX:
    case SYM_MIN: return n - 1 + count_args(pool, e, 0);
    default: return 1 + count_args(pool, e, 0);
    }
}

/* Returns b where it has fewer operations than a. b may be SYM_NONE. */
static sym_id shorter(const struct sym_pool *pool, sym_id a, sym_id b)
{
    return b != SYM_NONE && b != a && count_ops(pool, b) < count_ops(pool, a) ? b : a;
}

/* --- Whole expressions, from the arguments up --- */

/* Evaluates what was left unevaluated (doit). */
static sym_id evaluate(struct sym_pool *pool, sym_id e)
{
    return has_args(kind_at(pool, e)) ? rewrite_args(pool, e, evaluate, true) : e;
}

static bool is_hollow(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) == SYM_MUL && node_at(pool, e)->n == 2 &&
           is_number(pool, arg_at(pool, e, 0)) && kind_at(pool, arg_at(pool, e, 1)) == SYM_ADD;
}

/* Distributes the number of each outermost hollow product. */
static sym_id distribute_hollow(struct sym_pool *pool, sym_id e)
{
    if (is_hollow(pool, e))
        return sym_mul(pool, arg_at(pool, e, 0), arg_at(pool, e, 1));
    return has_args(kind_at(pool, e)) ? rewrite_args(pool, e, distribute_hollow, false) : e;
}

/* signsimp: in a product, 1 - x becomes -(x - 1). */
static sym_id sign_simplify(struct sym_pool *pool, sym_id e)
{
    if (!has_args(kind_at(pool, e)))
        return e;
    e = rewrite_args(pool, e, sign_simplify, false);
    if (e == SYM_NONE || kind_at(pool, e) != SYM_MUL || is_hollow(pool, e))
        return e;
    struct list factors;
    list_init(&factors, pool);
    bool negate = false, changed = false, ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id exponent, factor = arg_at(pool, e, i), base = split_power(pool, factor, &exponent);
        if (kind_at(pool, base) == SYM_ADD && is_integer(pool, exponent) &&
            could_extract_minus_sign(pool, base)) {
            factor = sym_pow(pool, sym_neg(pool, base), exponent);
            negate ^= known_odd(facts_at(pool, exponent));
            changed = true;
        }
        ok = list_push(&factors, factor);
    }
    ok = ok && (!negate || list_push(&factors, SYM_ID_MINUS_ONE));
    sym_id result = !ok ? SYM_NONE : changed ? sym_make(pool, SYM_MUL, factors.v, factors.n) : e;
    list_release(&factors);
    return result;
}

/* --- simplify --- */

/* Returns how many terms e has when it is multiplied out, at most MOST_EXPANDED_TERMS + 1. */
static uint64_t count_expanded(const struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    int64_t exponent;
    uint64_t n = kind != SYM_ADD, one;
    if (kind == SYM_ADD)
        for (uint32_t i = 0; i < node_at(pool, e)->n && n <= MOST_EXPANDED_TERMS; i++)
            n += count_expanded(pool, arg_at(pool, e, i));
    if (kind == SYM_MUL)
        for (uint32_t i = 0; i < node_at(pool, e)->n && n <= MOST_EXPANDED_TERMS; i++)
            n *= count_expanded(pool, arg_at(pool, e, i));
    if (kind == SYM_POW && sym_to_i64(pool, arg_at(pool, e, 1), &exponent) &&
        (one = count_expanded(pool, arg_at(pool, e, 0))) > 1)
        for (int64_t i = 0; i < exponent && n <= MOST_EXPANDED_TERMS; i++)
            n *= one;
    return n <= MOST_EXPANDED_TERMS ? n : MOST_EXPANDED_TERMS + 1;
}

/* Returns whether e is a polynomial: a sum of products of natural powers. */
static bool is_polynomial(const struct sym_pool *pool, sym_id e)
{
    switch (kind_at(pool, e)) {
    case SYM_RATIONAL: return false;
    case SYM_ADD:
    case SYM_MUL:
        for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
            if (!is_polynomial(pool, arg_at(pool, e, i)))
                return false;
        return true;
    case SYM_POW:
        return known_positive(facts_at(pool, arg_at(pool, e, 1))) &&
               is_polynomial(pool, arg_at(pool, e, 0));
    default: return true;
    }
}

static bool has_sum(const struct sym_pool *pool, sym_id e)
{
    for (uint32_t i = 0; i < n_factors(pool, e); i++) {
        sym_id factor = factor_at(pool, e, i);
        if (kind_at(pool, factor) == SYM_POW)
            factor = arg_at(pool, factor, 0);
        if (kind_at(pool, factor) == SYM_ADD)
            return true;
    }
    return false;
}

static sym_id simplify(struct sym_pool *pool, sym_id e);

/* Simplifies the arguments of functions, which are the generators of the polynomial. */
static sym_id simplify_calls(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    if (!has_args(kind) || (facts_at(pool, e) & FACT_BOOLEAN))
        return e;
    bool inner = kind == SYM_ADD || kind == SYM_MUL || kind == SYM_POW;
    return rewrite_args(pool, e, inner ? simplify_calls : simplify, false);
}

/* A quotient whose divisor divides the dividend. */
struct quotient {
    sym_id dividend, divisor;
};

/* Returns e multiplied out, or SYM_NONE where that is too large or no polynomial. */
static sym_id expanded_form(struct sym_pool *pool, sym_id e, const struct quotient *quotient)
{
    if (!is_polynomial(pool, e))
        e = divide_exactly(pool, quotient->dividend, quotient->divisor);
    if (e == SYM_NONE || count_expanded(pool, e) > MOST_EXPANDED_TERMS)
        return SYM_NONE;
    e = sym_expand(pool, e);
    return e != SYM_NONE && is_polynomial(pool, e) ? e : SYM_NONE;
}

/* Returns the shortest one of the forms of e, which is the quotient. */
static sym_id shortest_form(struct sym_pool *pool, sym_id e, const struct quotient *quotient)
{
    sym_id whole = factor_together(pool, e);
    if (whole == SYM_NONE)
        return SYM_NONE;
    sym_id expanded = expanded_form(pool, whole, quotient);
    if (pool_failed(pool) || expanded == SYM_NONE)
        return pool_failed(pool) ? SYM_NONE : whole;
    if (!is_polynomial(pool, whole))
        whole = expanded;
    sym_id result = shorter(pool, whole, factor_together(pool, expanded));
    result = shorter(pool, result, expanded);
    return is_polynomial(pool, e) ? shorter(pool, result, e) : result;
}

static sym_id shorten(struct sym_pool *pool, sym_id e)
{
    e = factor_terms(pool, e, false);
    sym_id evaluated = e == SYM_NONE ? SYM_NONE : evaluate(pool, e);
    if (evaluated == SYM_NONE)
        return SYM_NONE;
    e = shorter(pool, evaluated, e);
    if (is_polynomial(pool, e) && count_expanded(pool, e) <= MOST_EXPANDED_TERMS)
        e = shorter(pool, e, sym_expand(pool, e));
    e = shorter(pool, e, factor_terms(pool, e, true));
    e = pool_failed(pool) ? SYM_NONE : distribute_hollow(pool, e);
    if (e != SYM_NONE && could_extract_minus_sign(pool, e))
        e = sign_simplify(pool, e);
    return e == SYM_NONE ? SYM_NONE : evaluate(pool, e);
}

static sym_id simplify_anew(struct sym_pool *pool, sym_id original, const struct quotient *quotient)
{
    sym_id e = sign_simplify(pool, original), rest;
    e = e == SYM_NONE ? SYM_NONE : simplify_calls(pool, e);
    if (e == SYM_NONE || !has_sum(pool, e))
        return e;
    sym_id number = factor_content(pool, e, &rest);
    e = number == SYM_NONE ? SYM_NONE : sym_mul(pool, number, rest);
    e = e == SYM_NONE ? SYM_NONE : shortest_form(pool, e, quotient);
    e = e == SYM_NONE ? SYM_NONE : shorten(pool, e);
    if (e == SYM_NONE)
        return SYM_NONE;
    bool longer = is_polynomial(pool, original) &&
                  (uint64_t)count_ops(pool, e) * 10 > (uint64_t)count_ops(pool, original) * 17;
    return longer ? original : e;
}

static bool holds_piecewise(struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) == SYM_PIECEWISE)
        return true;
    if (!has_args(kind_at(pool, e)) || pool_seen(pool, e))
        return false;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
        if (holds_piecewise(pool, arg_at(pool, e, i)))
            return true;
    return false;
}

static sym_id simplify(struct sym_pool *pool, sym_id e)
{
    return divide_simplify(pool, e, SYM_ID_ONE);
}

sym_id divide_simplify(struct sym_pool *pool, sym_id e, sym_id divisor)
{
    if (e == SYM_NONE || divisor == SYM_NONE)
        return SYM_NONE;
    sym_id known = memo_find(pool, MEMO_SIMPLIFY, e, divisor);
    if (known != SYM_NONE)
        return known;
    if (is_heavy(pool, e) || !pool_walk(pool) || holds_piecewise(pool, e))
        return divide_exactly(pool, e, divisor);
    const struct quotient quotient = { e, divisor };
    sym_id original = sym_div(pool, e, divisor);
    return original == SYM_NONE ? SYM_NONE
                                : memo_put(pool, MEMO_SIMPLIFY, e, divisor,
                                           simplify_anew(pool, original, &quotient));
}
