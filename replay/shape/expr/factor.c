/* What the terms of a sum have in common, as sympy takes it out of them: as_content_primitive of
 * sympy/core/add.py and mul.py, gcd_terms and factor_terms of sympy/core/exprtools.py.
 *
 * A number in front of a sum is not distributed over it here: such a hollow product, 2*(x + 1), is
 * what sympy calls unevaluated. */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"

/* --- Contents: as_content_primitive, primitive, _keep_coeff --- */

/* Multiplies by a number without distributing it over a sum. With `sign`, not even -1 is. */
static sym_id keep_coefficient(struct sym_pool *pool, sym_id number, sym_id e, bool sign)
{
    if (number == SYM_NONE || e == SYM_NONE)
        return SYM_NONE;
    if (is_number(pool, e))
        return number_mul(pool, number, e);
    if (number == SYM_ID_ONE)
        return e;
    if (number == SYM_ID_MINUS_ONE && !sign)
        return sym_neg(pool, e);
    if (kind_at(pool, e) == SYM_ADD)
        return pool_node2(pool, SYM_MUL, number, e);
    if (kind_at(pool, e) != SYM_MUL)
        return sym_mul(pool, number, e);
    sym_id rest, own = split_coefficient(pool, e, &rest);
    sym_id both = own == SYM_NONE ? SYM_NONE : number_mul(pool, number, own);
    if (both == SYM_NONE || both == SYM_ID_ONE)
        return both == SYM_NONE ? SYM_NONE : rest;
    struct list factors;
    list_init(&factors, pool);
    bool ok = list_push(&factors, both);
    for (uint32_t i = 0; ok && i < n_factors(pool, rest); i++)
        ok = list_push(&factors, factor_at(pool, rest, i));
    sym_id result = ok ? pool_node(pool, SYM_MUL, factors.v, factors.n) : SYM_NONE;
    list_release(&factors);
    return result;
}

/* Splits off the sign and size of a number or product: -2*x is 2 and -x. */
static sym_id positive_coefficient(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    sym_id number = split_coefficient(pool, e, rest);
    if (number == SYM_NONE || number_sign(pool, number) >= 0)
        return number;
    *rest = sym_neg(pool, *rest);
    return number_neg(pool, number);
}

static sym_id sum_gcd(struct sym_pool *pool, sym_id sum)
{
    sym_id gcd = SYM_ID_ZERO, rest;
    for (uint32_t i = 0; i < node_at(pool, sum)->n && gcd != SYM_NONE && gcd != SYM_ID_ONE; i++) {
        sym_id number = split_coefficient(pool, arg_at(pool, sum, i), &rest);
        if (number == SYM_NONE)
            return SYM_NONE;
        gcd = is_integer(pool, number) ? number_gcd(pool, gcd, number) : SYM_ID_ONE;
    }
    return gcd;
}

/* Add.primitive: the greatest integer that divides every term, and the sum divided by it. */
static sym_id primitive(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    *rest = e;
    if (e == SYM_NONE || kind_at(pool, e) != SYM_ADD)
        return e == SYM_NONE ? SYM_NONE : positive_coefficient(pool, e, rest);
    sym_id gcd = sum_gcd(pool, e);
    if (gcd == SYM_NONE || gcd == SYM_ID_ONE)
        return gcd;
    struct list terms;
    list_init(&terms, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id term, number = split_coefficient(pool, arg_at(pool, e, i), &term);
        ok = number != SYM_NONE &&
             list_push(&terms, keep_coefficient(pool, number_div(pool, number, gcd), term, false));
    }
    uint32_t fixed = ok && is_number(pool, terms.v[0]);
    ok = ok && order_sort(pool, terms.v + fixed, terms.n - fixed, order_arguments);
    *rest = ok ? pool_node(pool, SYM_ADD, terms.v, terms.n) : SYM_NONE;
    list_release(&terms);
    return *rest == SYM_NONE ? SYM_NONE : gcd;
}

static sym_id keep_content(struct sym_pool *pool, sym_id e)
{
    sym_id rest, number = factor_content(pool, e, &rest);
    return keep_coefficient(pool, number, rest, false);
}

static sym_id content_of_product(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    struct list factors;
    list_init(&factors, pool);
    sym_id number = SYM_ID_ONE;
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id factor, own = factor_content(pool, arg_at(pool, e, i), &factor);
        number = own == SYM_NONE ? SYM_NONE : number_mul(pool, number, own);
        ok = number != SYM_NONE && list_push(&factors, factor);
    }
    *rest = ok ? sym_make(pool, SYM_MUL, factors.v, factors.n) : SYM_NONE;
    list_release(&factors);
    return *rest == SYM_NONE ? SYM_NONE : number;
}

static sym_id content_of_power(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    int64_t exponent;
    sym_id base = arg_at(pool, e, 0), number;
    *rest = e;
    if (!sym_to_i64(pool, arg_at(pool, e, 1), &exponent))
        return SYM_ID_ONE;
    number = factor_content(pool, base, &base);
    if (number == SYM_NONE || number == SYM_ID_ONE)
        return number;
    *rest = sym_pow(pool, base, arg_at(pool, e, 1));
    return *rest == SYM_NONE ? SYM_NONE : number_pow(pool, number, exponent);
}

sym_id factor_content(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    *rest = e;
    if (e == SYM_NONE)
        return SYM_NONE;
    if (is_number(pool, e))
        return is_rational(pool, e) && e != SYM_ID_ZERO ? positive_coefficient(pool, e, rest)
                                                        : SYM_ID_ONE;
    switch (kind_at(pool, e)) {
    case SYM_ADD: return primitive(pool, rewrite_args(pool, e, keep_content, true), rest);
    case SYM_MUL: return content_of_product(pool, e, rest);
    case SYM_POW: return content_of_power(pool, e, rest);
    default: return SYM_ID_ONE;
    }
}

/* --- gcd_terms (sympy/core/exprtools.py) --- */

struct power {
    sym_id base;
    int64_t exponent;
};

/* A term of a sum: a number times powers with distinct bases. */
struct term {
    sym_id coefficient;
    uint32_t first, n; /* in powers */
};

struct sum_terms {
    struct sym_pool *pool;
    vec_of(struct term)
    terms;
    vec_of(struct power)
    powers;
    vec_of(struct power)
    common;
    sym_id gcd; /* of the coefficients */
};

static int compare_powers(const void *a, const void *b)
{
    sym_id x = ((const struct power *)a)->base, y = ((const struct power *)b)->base;
    return (x > y) - (x < y);
}

static struct power *find_power(struct sum_terms *in, const struct term *term, sym_id base)
{
    struct power key = { base, 0 };
    return bsearch(&key, in->powers.v + term->first, term->n, sizeof key, compare_powers);
}

/* Sorts the powers of the newest term and adds the exponents of equal bases up. */
static void collect_powers(struct sum_terms *in, struct term *term)
{
    struct power *v = in->powers.v + term->first;
    size_t n = in->powers.n - term->first;
    if (n > 1)
        qsort(v, n, sizeof *v, compare_powers);
    for (size_t i = 0; i < n; i++)
        if (term->n && v[term->n - 1].base == v[i].base)
            v[term->n - 1].exponent += v[i].exponent;
        else
            v[term->n++] = v[i];
    in->powers.n = term->first + term->n;
}

static bool put_power(struct sum_terms *in, struct term *term, sym_id factor)
{
    struct sym_pool *pool = in->pool;
    struct power power = { factor, 1 };
    sym_id exponent, base = split_power(pool, factor, &exponent);
    if (sym_to_i64(pool, exponent, &power.exponent))
        power.base = base;
    else
        power.exponent = 1;
    if (kind_at(pool, power.base) == SYM_ADD) {
        sym_id number = primitive(pool, power.base, &power.base);
        if (number == SYM_NONE)
            return false;
        if (number != SYM_ID_ONE) {
            number = number_pow(pool, number, power.exponent);
            term->coefficient =
                number == SYM_NONE ? SYM_NONE : number_mul(pool, term->coefficient, number);
        }
    }
    return term->coefficient != SYM_NONE &&
           (vec_push(&in->powers, power) || (pool_nomem(pool), false));
}

static bool put_term(struct sum_terms *in, sym_id e)
{
    struct sym_pool *pool = in->pool;
    struct term term = { .first = (uint32_t)in->powers.n };
    sym_id rest;
    term.coefficient = split_coefficient(pool, e, &rest);
    bool ok = term.coefficient != SYM_NONE;
    for (uint32_t i = 0; ok && rest != SYM_ID_ONE && i < n_factors(pool, rest); i++)
        ok = put_power(in, &term, factor_at(pool, rest, i));
    if (ok)
        collect_powers(in, &term);
    return ok && (vec_push(&in->terms, term) || (pool_nomem(pool), false));
}

/* Finds the powers and the number that every term has. */
static bool find_common(struct sum_terms *in)
{
    const struct term *first = &in->terms.v[0];
    in->gcd = SYM_ID_ZERO;
    for (size_t i = 0; i < in->terms.n && in->gcd != SYM_NONE; i++)
        in->gcd = is_integer(in->pool, in->terms.v[i].coefficient)
                      ? number_gcd(in->pool, in->gcd, in->terms.v[i].coefficient)
                      : SYM_ID_ONE;
    for (uint32_t i = 0; in->gcd != SYM_NONE && i < first->n; i++) {
        struct power power = in->powers.v[first->first + i];
        for (size_t j = 1; j < in->terms.n && power.exponent; j++) {
            const struct power *own = find_power(in, &in->terms.v[j], power.base);
            int64_t exponent = own ? own->exponent : 0;
            power.exponent = exponent < power.exponent ? exponent : power.exponent;
        }
        if (power.exponent > 0 && !vec_push(&in->common, power))
            return pool_nomem(in->pool), false;
    }
    return in->gcd != SYM_NONE;
}

static sym_id product_of(struct sym_pool *pool, const struct power *powers, size_t n)
{
    struct list factors;
    list_init(&factors, pool);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        ok = list_push(&factors,
                       sym_pow(pool, powers[i].base, sym_integer(pool, powers[i].exponent)));
    sym_id result = ok ? sym_make(pool, SYM_MUL, factors.v, factors.n) : SYM_NONE;
    list_release(&factors);
    return result;
}

/* Returns the term with index `at` divided by what all have in common. */
static sym_id divide_common(struct sum_terms *in, size_t at)
{
    struct sym_pool *pool = in->pool;
    struct term *term = &in->terms.v[at];
    struct power *powers = in->powers.v + term->first;
    for (size_t i = 0; i < in->common.n; i++)
        find_power(in, term, in->common.v[i].base)->exponent -= in->common.v[i].exponent;
    sym_id number = number_div(pool, term->coefficient, in->gcd);
    sym_id rest = product_of(pool, powers, term->n);
    return number == SYM_NONE || rest == SYM_NONE ? SYM_NONE : sym_mul(pool, number, rest);
}

static sym_id put_together(struct sum_terms *in, bool is_primitive)
{
    struct sym_pool *pool = in->pool;
    struct list terms;
    list_init(&terms, pool);
    bool ok = true;
    for (size_t i = 0; ok && i < in->terms.n; i++)
        ok = list_push(&terms, divide_common(in, i));
    sym_id sum = ok ? sym_make(pool, SYM_ADD, terms.v, terms.n) : SYM_NONE;
    list_release(&terms);
    sym_id common = product_of(pool, in->common.v, in->common.n);
    if (sum == SYM_NONE || common == SYM_NONE)
        return SYM_NONE;
    common = sym_mul(pool, in->gcd, common);
    if (!is_primitive && kind_at(pool, sum) == SYM_ADD) {
        sym_id number = primitive(pool, sum, &sum);
        common =
            number == SYM_NONE || common == SYM_NONE ? SYM_NONE : sym_mul(pool, common, number);
    }
    sym_id rest, number = common == SYM_NONE ? SYM_NONE : split_coefficient(pool, common, &rest);
    return number == SYM_NONE ? SYM_NONE
                              : keep_coefficient(pool, number, sym_mul(pool, rest, sum), false);
}

/* Takes out of a sum what all of its terms, each rewritten first, have in common. */
static sym_id factor_sum(struct sym_pool *pool, const sym_id *terms, uint32_t n, bool is_primitive)
{
    struct sum_terms in = { .pool = pool };
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = terms[i] == SYM_ID_ZERO || put_term(&in, terms[i]);
    sym_id result = SYM_NONE;
    if (ok && in.terms.n < 2)
        result = sym_make(pool, SYM_ADD, terms, n);
    else if (ok && find_common(&in))
        result = put_together(&in, is_primitive);
    vec_release(&in.terms);
    vec_release(&in.powers);
    vec_release(&in.common);
    return result;
}

/* together, of what has no fractions within its sums. */
sym_id factor_together(struct sym_pool *pool, sym_id e)
{
    if (!has_args(kind_at(pool, e)))
        return e;
    if (kind_at(pool, e) != SYM_ADD)
        return rewrite_args(pool, e, factor_together, false);
    struct list terms;
    list_init(&terms, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = list_push(&terms, factor_together(pool, arg_at(pool, e, i)));
    sym_id result = ok ? factor_sum(pool, terms.v, terms.n, false) : SYM_NONE;
    list_release(&terms);
    return result;
}

static sym_id factor_terms_sign(struct sym_pool *pool, sym_id e)
{
    return factor_terms(pool, e, true);
}

static sym_id factor_terms_no_sign(struct sym_pool *pool, sym_id e)
{
    return factor_terms(pool, e, false);
}

static sym_id factor_terms_of_sum(struct sym_pool *pool, sym_id *number, sym_id e, bool sign)
{
    struct list terms;
    list_init(&terms, pool);
    bool ok = true, all_negative = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        ok = list_push(&terms, factor_terms(pool, arg_at(pool, e, i), sign));
        all_negative &= ok && has_minus(pool, terms.v[i]);
    }
    for (uint32_t i = 0; ok && all_negative && i < terms.n; i++)
        ok = (terms.v[i] = sym_neg(pool, terms.v[i])) != SYM_NONE;
    if (ok && all_negative)
        *number = number_neg(pool, *number);
    sym_id result = ok ? factor_sum(pool, terms.v, terms.n, true) : SYM_NONE;
    list_release(&terms);
    return result;
}

sym_id factor_terms(struct sym_pool *pool, sym_id e, bool sign)
{
    rewrite_fn *rewrite = sign ? factor_terms_sign : factor_terms_no_sign;
    enum sym_kind kind = kind_at(pool, e);
    if (!has_args(kind))
        return e;
    if (kind != SYM_ADD && kind != SYM_MUL)
        return rewrite_args(pool, e, rewrite, false);
    sym_id rest, number = factor_content(pool, e, &rest);
    if (number == SYM_NONE)
        return SYM_NONE;
    if (kind_at(pool, rest) == SYM_ADD)
        rest = factor_terms_of_sum(pool, &number, rest, sign);
    else if (has_args(kind_at(pool, rest)))
        rest = rewrite_args(pool, rest, rewrite, true);
    return keep_coefficient(pool, number, rest, sign);
}
