/* Common divisors of sums of products.
 *
 * sympy.gcd computes a polynomial gcd. Here the gcd is the integer content, the common powers, and
 * what remains of one side if that divides the other; two sums whose only common factor is a proper
 * one are treated as coprime. */
#include "replay/shape/expr/sym_pool.h"

enum { WIDE_SUM = 20, MAX_DIVISION_STEPS = 200 };

static uint32_t n_terms(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) == SYM_ADD ? node_at(pool, e)->n : 1;
}

static sym_id term_at(const struct sym_pool *pool, sym_id e, uint32_t i)
{
    return kind_at(pool, e) == SYM_ADD ? arg_at(pool, e, i) : e;
}

/* Returns the largest integer that divides every term; 1 where a coefficient is a fraction. */
static sym_id integer_content(struct sym_pool *pool, sym_id e)
{
    sym_id result = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n_terms(pool, e) && result != SYM_NONE; i++) {
        sym_id first = factor_at(pool, term_at(pool, e, i), 0);
        result = is_integer(pool, first) ? number_gcd(pool, result, first) : SYM_ID_ONE;
        if (result == SYM_ID_ONE)
            break;
    }
    return result;
}

static bool has_factor(const struct sym_pool *pool, sym_id e, sym_id factor)
{
    for (uint32_t i = 0; i < n_factors(pool, e); i++)
        if (factor_at(pool, e, i) == factor)
            return true;
    return false;
}

static bool in_every_term(const struct sym_pool *pool, sym_id e, sym_id factor)
{
    for (uint32_t i = 0; i < n_terms(pool, e); i++)
        if (!has_factor(pool, term_at(pool, e, i), factor))
            return false;
    return true;
}

sym_id divide_simple_gcd(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id content_a = integer_content(pool, a), content_b = integer_content(pool, b);
    if (content_a == SYM_NONE || content_b == SYM_NONE)
        return SYM_NONE;
    sym_id gcd = number_gcd(pool, content_a, content_b);
    sym_id p = sym_div(pool, a, gcd), q = sym_div(pool, b, gcd);
    if (p == SYM_NONE || q == SYM_NONE)
        return SYM_NONE;
    for (uint32_t i = 0; i < n_factors(pool, q); i++)
        if (in_every_term(pool, p, factor_at(pool, q, i)))
            gcd = sym_mul(pool, gcd, factor_at(pool, q, i));
    return gcd;
}

/* --- Common powers --- */

/* Returns the exponent of base in a term; 0 when base is no factor of it. */
static int64_t exponent_in(struct sym_pool *pool, sym_id term, sym_id base)
{
    for (uint32_t i = 0; i < n_factors(pool, term); i++) {
        sym_id exponent, b = split_power(pool, factor_at(pool, term, i), &exponent);
        int64_t e;
        if (b == base && sym_to_i64(pool, exponent, &e))
            return e;
    }
    return 0;
}

static int64_t least_exponent(struct sym_pool *pool, sym_id e, sym_id base)
{
    int64_t least = INT64_MAX;
    for (uint32_t i = 0; i < n_terms(pool, e); i++) {
        int64_t exponent = exponent_in(pool, term_at(pool, e, i), base);
        least = exponent < least ? exponent : least;
    }
    return least;
}

/* Returns the product of the powers that divide every term of a and of b (b may be SYM_NONE). */
static sym_id common_powers(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id first = term_at(pool, a, 0), result = SYM_ID_ONE;
    uint32_t n = n_factors(pool, first);
    for (uint32_t i = 0; i < n && result != SYM_NONE; i++) {
        sym_id exponent, base = split_power(pool, factor_at(pool, first, i), &exponent);
        if (is_number(pool, base))
            continue;
        int64_t least = least_exponent(pool, a, base);
        int64_t other = b == SYM_NONE ? least : least_exponent(pool, b, base);
        least = other < least ? other : least;
        if (least > 0)
            result = sym_mul(pool, result, sym_pow(pool, base, sym_integer(pool, least)));
    }
    return result;
}

/* --- Exact division of sums --- */

static sym_id leading_term(struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) != SYM_ADD)
        return e;
    struct list terms;
    list_init(&terms, pool);
    sym_id first = SYM_NONE;
    if (order_terms(pool, e, &terms)) /* str() prints 3 - 2*x, where x leads all the same */
        first = terms.v[is_number(pool, terms.v[0])];
    list_release(&terms);
    return first;
}

/* Returns whether e is a product of whole numbers and natural powers. */
static bool is_monomial(const struct sym_pool *pool, sym_id e)
{
    for (uint32_t i = 0; i < n_factors(pool, e); i++) {
        sym_id factor = factor_at(pool, e, i);
        if (is_number(pool, factor) && !is_integer(pool, factor))
            return false;
        if (kind_at(pool, factor) == SYM_POW &&
            !known_positive(facts_at(pool, arg_at(pool, factor, 1))))
            return false;
    }
    return true;
}

/* Returns whether the division dividend / divisor has no remainder, with the quotient in *result.
 */
static bool divides_polynomial(struct sym_pool *pool, sym_id dividend, sym_id divisor,
                               sym_id *result)
{
    sym_id lead = leading_term(pool, divisor);
    sym_id rest = sym_expand(pool, dividend);
    *result = SYM_ID_ZERO;
    for (int step = 0; step < MAX_DIVISION_STEPS && rest != SYM_NONE && lead != SYM_NONE; step++) {
        if (rest == SYM_ID_ZERO)
            return *result != SYM_NONE;
        sym_id top = leading_term(pool, rest);
        sym_id quotient = top == SYM_NONE ? SYM_NONE : sym_div(pool, top, lead);
        if (quotient == SYM_NONE || !is_monomial(pool, quotient))
            return false;
        *result = sym_add(pool, *result, quotient);
        rest = sym_sub(pool, rest, sym_expand(pool, sym_mul(pool, quotient, divisor)));
    }
    return false;
}

sym_id divide_exactly(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    sym_id quotient;
    if (kind_at(pool, a) != SYM_ADD || is_number(pool, b)) {
        quotient = sym_div(pool, a, b);
        if (quotient == SYM_NONE || kind_at(pool, b) != SYM_ADD ||
            !sym_has(pool, quotient, sym_pow(pool, b, SYM_ID_MINUS_ONE)))
            return quotient;
        a = sym_expand(pool, a); /* for 4*(x + y)*z by 4*x + 4*y, where no factor is the divisor */
        if (a == SYM_NONE || kind_at(pool, a) != SYM_ADD)
            return a == SYM_NONE ? a : quotient;
    }
    if (divides_polynomial(pool, a, b, &quotient))
        return quotient;
    return pool_failed(pool) ? SYM_NONE : sym_div(pool, a, b);
}

static sym_id gcd_of_rest(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (kind_at(pool, a) != SYM_ADD || kind_at(pool, b) != SYM_ADD)
        return SYM_ID_ONE;
    sym_id quotient;
    if (divides_polynomial(pool, a, b, &quotient))
        return b;
    return !pool_failed(pool) && divides_polynomial(pool, b, a, &quotient) ? a : SYM_ID_ONE;
}

/* Changes the sign of e where that makes its leading coefficient positive, as a gcd's is. */
static sym_id positive_lead(struct sym_pool *pool, sym_id e)
{
    sym_id lead = e == SYM_NONE ? SYM_NONE : leading_term(pool, e);
    if (lead == SYM_NONE)
        return SYM_NONE;
    return has_minus(pool, lead) ? sym_neg(pool, e) : e;
}

static sym_id gcd_anew(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_ID_ZERO || b == SYM_ID_ZERO) {
        return positive_lead(pool, a == SYM_ID_ZERO ? b : a);
    }
    if (n_terms(pool, a) > WIDE_SUM || n_terms(pool, b) > WIDE_SUM)
        return divide_simple_gcd(pool, a, b);
    sym_id x = sym_expand(pool, a), y = sym_expand(pool, b);
    if (x == SYM_NONE || y == SYM_NONE)
        return SYM_NONE;
    sym_id content_x = integer_content(pool, x), content_y = integer_content(pool, y);
    sym_id powers_x = common_powers(pool, x, SYM_NONE), powers_y = common_powers(pool, y, SYM_NONE);
    sym_id powers = common_powers(pool, x, y);
    if (content_x == SYM_NONE || content_y == SYM_NONE || powers == SYM_NONE)
        return SYM_NONE;
    sym_id left = divide_exactly(pool, x, sym_mul(pool, content_x, powers_x));
    sym_id right = divide_exactly(pool, y, sym_mul(pool, content_y, powers_y));
    if (left == SYM_NONE || right == SYM_NONE)
        return SYM_NONE;
    sym_id whole = sym_mul(pool, number_gcd(pool, content_x, content_y), powers);
    sym_id gcd = sym_expand(pool, sym_mul(pool, whole, gcd_of_rest(pool, left, right)));
    return positive_lead(pool, gcd);
}

sym_id divide_gcd(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id known = memo_find(pool, MEMO_GCD, a, b);
    return known != SYM_NONE ? known : memo_put(pool, MEMO_GCD, a, b, gcd_anew(pool, a, b));
}
