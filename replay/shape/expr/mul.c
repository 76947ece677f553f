/* Products and powers: Mul.flatten of sympy/core/mul.py and Pow.__new__ of sympy/core/power.py, for
 * the expressions that sizes consist of: commuting factors and whole exponents. Other exponents
 * stay as they are, apart from collecting powers of equal bases. */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"

struct factor {
    sym_id base, exponent;
    uint32_t seen_at; /* Python's dicts keep insertion order */
};

struct mul_product {
    struct sym_pool *pool;
    sym_id coefficient;
    vec_of(struct factor)
    factors;
};

sym_id split_power(struct sym_pool *pool, sym_id e, sym_id *exponent)
{
    *exponent = SYM_ID_ONE;
    if (kind_at(pool, e) != SYM_POW)
        return e;
    *exponent = arg_at(pool, e, 1);
    return arg_at(pool, e, 0);
}

static bool product_put(struct mul_product *product, sym_id e)
{
    struct sym_pool *pool = product->pool;
    if (is_number(pool, e)) {
        product->coefficient = number_mul(pool, product->coefficient, e);
        return product->coefficient != SYM_NONE;
    }
    if (kind_at(pool, e) == SYM_MUL) {
        for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
            if (!product_put(product, arg_at(pool, e, i)))
                return false;
        return true;
    }
    struct factor factor = { .seen_at = (uint32_t)product->factors.n };
    factor.base = split_power(pool, e, &factor.exponent);
    if (product->factors.n >= SYM_MAX_TERMS)
        return pool_fail(pool, "an expression has more than %d factors", SYM_MAX_TERMS), false;
    return vec_push(&product->factors, factor) || (pool_nomem(pool), false);
}

static int compare_base(const void *a, const void *b)
{
    const struct factor *x = a, *y = b;
    if (x->base != y->base)
        return x->base < y->base ? -1 : 1;
    return (x->seen_at > y->seen_at) - (x->seen_at < y->seen_at);
}

/* Combines exponents unless their sum would be an Add: x**a * x**b stays. */
static bool combine_exponents(struct mul_product *product, struct factor *into,
                              const struct factor *from, bool *done)
{
    sym_id sum = sym_add(product->pool, into->exponent, from->exponent);
    if (sum == SYM_NONE)
        return false;
    *done = kind_at(product->pool, sum) != SYM_ADD;
    if (*done)
        into->exponent = sum;
    return true;
}

static bool product_collect(struct mul_product *product)
{
    struct factor *v = product->factors.v;
    size_t n = 0;
    if (product->factors.n > 1)
        qsort(v, product->factors.n, sizeof *v, compare_base);
    for (size_t i = 0; i < product->factors.n; i++) {
        bool done = false;
        for (size_t j = n; j-- > 0 && v[j].base == v[i].base && !done;)
            if (!combine_exponents(product, &v[j], &v[i], &done))
                return false;
        if (!done)
            v[n++] = v[i];
    }
    product->factors.n = n;
    return true;
}

/* Puts the powers into `out` as factors; a number among them goes into the coefficient. */
static bool product_powers(struct mul_product *product, struct list *out)
{
    struct sym_pool *pool = product->pool;
    for (size_t i = 0; i < product->factors.n; i++) {
        struct factor factor = product->factors.v[i];
        sym_id power = sym_pow(pool, factor.base, factor.exponent);
        if (power == SYM_NONE)
            return false;
        if (is_number(pool, power)) {
            product->coefficient = number_mul(pool, product->coefficient, power);
            if (product->coefficient == SYM_NONE)
                return false;
        } else if (!list_push(out, power)) {
            return false;
        }
    }
    return order_sort(pool, out->v, out->n, order_arguments);
}

/* Multiplies out number * (a + b), and nothing else. */
static sym_id distribute(struct sym_pool *pool, sym_id number, sym_id add)
{
    struct list terms;
    list_init(&terms, pool);
    bool ok = list_push_args(&terms, add);
    for (uint32_t i = 0; ok && i < terms.n; i++) {
        terms.v[i] = sym_mul(pool, number, terms.v[i]);
        ok = terms.v[i] != SYM_NONE;
    }
    sym_id sum = ok ? sym_make(pool, SYM_ADD, terms.v, terms.n) : SYM_NONE;
    list_release(&terms);
    return sum;
}

/* An infinite coefficient absorbs factors of known sign: 3*s0*oo is oo. int_oo does not do so. */
static void absorb_signed_factors(struct mul_product *product, struct list *out)
{
    if (product->coefficient != SYM_ID_OO && product->coefficient != SYM_ID_MINUS_OO)
        return;
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t f = facts_at(product->pool, out->v[i]);
        if (known_negative(f))
            product->coefficient = number_neg(product->pool, product->coefficient);
        else if (!known_positive(f))
            out->v[n++] = out->v[i];
    }
    out->n = n;
}

static sym_id product_finish(struct mul_product *product, struct list *out)
{
    struct sym_pool *pool = product->pool;
    absorb_signed_factors(product, out);
    sym_id coefficient = product->coefficient;
    if (coefficient == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (number_sign(pool, coefficient) == 0)
        return SYM_ID_ZERO;
    if (out->n == 0)
        return coefficient;
    if (coefficient == SYM_ID_ONE)
        return out->n == 1 ? out->v[0] : pool_node(pool, SYM_MUL, out->v, out->n);
    if (out->n == 1 && kind_at(pool, out->v[0]) == SYM_ADD && !is_infinity(coefficient))
        return distribute(pool, coefficient, out->v[0]);
    if (!list_push(out, coefficient))
        return SYM_NONE;
    memmove(out->v + 1, out->v, (out->n - 1) * sizeof *out->v);
    out->v[0] = coefficient;
    return pool_node(pool, SYM_MUL, out->v, out->n);
}

/* number * (number * sum) leaves the sum as it is: 2*(3*(a + b)) is 6*(a + b). */
static bool nested_sum(struct sym_pool *pool, const sym_id *args, uint32_t n, sym_id *result)
{
    if (n != 2)
        return false;
    bool swap = is_rational(pool, args[1]);
    sym_id number = args[swap], other = args[!swap], rest;
    if (!is_rational(pool, number) || number == SYM_ID_ZERO || is_number(pool, other))
        return false;
    sym_id coefficient = split_coefficient(pool, other, &rest);
    if (coefficient == SYM_NONE || kind_at(pool, rest) != SYM_ADD)
        return false;
    if (coefficient == SYM_ID_ONE) {
        *result = number == SYM_ID_ONE ? rest : distribute(pool, number, rest);
        return true;
    }
    sym_id both = number_mul(pool, number, coefficient);
    *result = both == SYM_NONE     ? SYM_NONE
              : both == SYM_ID_ONE ? rest
                                   : pool_node2(pool, SYM_MUL, both, rest);
    return true;
}

sym_id build_mul(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)kind;
    sym_id result = SYM_NONE;
    if (nested_sum(pool, args, n, &result))
        return result;
    struct mul_product product = { .pool = pool, .coefficient = SYM_ID_ONE };
    bool ok = true, zoo = false;
    for (uint32_t i = 0; ok && i < n; i++) {
        zoo |= args[i] == SYM_ID_ZOO;
        ok = args[i] == SYM_ID_ZOO || product_put(&product, args[i]);
    }
    struct list out;
    list_init(&out, pool);
    if (ok && zoo)
        result = product.coefficient == SYM_ID_ZERO ? SYM_ID_NAN : SYM_ID_ZOO;
    else if (ok && product_collect(&product) && product_powers(&product, &out))
        result = product_finish(&product, &out);
    list_release(&out);
    vec_release(&product.factors);
    return result;
}

/* --- Powers --- */

/* Distributes the exponent: (2*x*y)**n is 2**n * x**n * y**n. */
static sym_id power_of_product(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    struct list factors;
    list_init(&factors, pool);
    bool ok = list_push_args(&factors, base);
    for (uint32_t i = 0; ok && i < factors.n; i++) {
        factors.v[i] = sym_pow(pool, factors.v[i], exponent);
        ok = factors.v[i] != SYM_NONE;
    }
    sym_id result = ok ? sym_make(pool, SYM_MUL, factors.v, factors.n) : SYM_NONE;
    list_release(&factors);
    return result;
}

static sym_id power_of_abs(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    sym_id e = arg_at(pool, base, 0);
    if (!(facts_at(pool, e) & FACT_REAL))
        return pool_node2(pool, SYM_POW, base, exponent);
    if (known_even(facts_at(pool, exponent)))
        return sym_pow(pool, e, exponent);
    sym_id even = sym_pow(pool, e, number_add(pool, exponent, SYM_ID_MINUS_ONE));
    return sym_mul(pool, even, base);
}

static sym_id power_of_piecewise(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    struct list arms;
    list_init(&arms, pool);
    bool ok = list_push_args(&arms, base);
    for (uint32_t i = 0; ok && i < arms.n; i++) {
        sym_id value = sym_pow(pool, arg_at(pool, arms.v[i], 0), exponent);
        arms.v[i] = sym_binary(pool, SYM_EXPR_COND_PAIR, value, arg_at(pool, arms.v[i], 1));
        ok = arms.v[i] != SYM_NONE;
    }
    sym_id result = ok ? sym_make(pool, SYM_PIECEWISE, arms.v, arms.n) : SYM_NONE;
    list_release(&arms);
    return result;
}

static sym_id power_of_number(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    int64_t e;
    if (base == SYM_ID_ONE)
        return SYM_ID_ONE;
    if (base == SYM_ID_NAN || exponent == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (is_infinity(base))
        return number_sign(pool, exponent) < 0 ? SYM_ID_ZERO : base;
    if (number_sign(pool, base) == 0 && number_sign(pool, exponent) < 0)
        return SYM_ID_ZOO;
    if (sym_to_i64(pool, exponent, &e))
        return number_pow(pool, base, e);
    if (kind_at(pool, base) == SYM_FLOAT || kind_at(pool, exponent) == SYM_FLOAT)
        return sym_binary(pool, SYM_FLOAT_POW, base, exponent);
    return pool_node2(pool, SYM_POW, base, exponent);
}

sym_id build_pow(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)kind;
    (void)n;
    sym_id base = args[0], exponent = args[1];
    if (exponent == SYM_ID_ZERO)
        return SYM_ID_ONE;
    if (exponent == SYM_ID_ONE || base == SYM_ID_ONE)
        return base;
    if (is_number(pool, base) && is_number(pool, exponent))
        return power_of_number(pool, base, exponent);
    if (kind_at(pool, base) == SYM_MUL && is_integer(pool, exponent))
        return power_of_product(pool, base, exponent);
    if (kind_at(pool, base) == SYM_ABS && is_integer(pool, exponent) &&
        exponent != SYM_ID_MINUS_ONE)
        return power_of_abs(pool, base, exponent);
    if (kind_at(pool, base) == SYM_PIECEWISE && is_integer(pool, exponent))
        return power_of_piecewise(pool, base, exponent);
    if (kind_at(pool, base) == SYM_POW && (facts_at(pool, exponent) & FACT_INTEGER))
        return sym_pow(pool, arg_at(pool, base, 0), sym_mul(pool, arg_at(pool, base, 1), exponent));
    return pool_node2(pool, SYM_POW, base, exponent);
}
