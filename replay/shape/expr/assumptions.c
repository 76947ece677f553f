/* Derives what holds for an expression's value from what holds for its arguments.
 *
 * The results are those of sympy's assumption handlers (Add, Mul and Pow._eval_is_*, and the class
 * attributes of torch.utils._sympy.functions), not all that could be proved: PyTorch adds a guard
 * where sympy has no answer. Since signs are stored as the set of the possible ones, deductions
 * such as "nonnegative and not zero is positive" need no code of their own. */
#include "replay/shape/expr/sym_pool.h"

enum { NOTHING = FACT_SIGNS | FACT_PARITY };

/* sympy's _fuzzy_group over two facts that exclude each other: returns `yes` when all arguments
 * have it, `no` when one argument has `no` and the rest have `yes`. */
static uint32_t fuzzy_group(const struct sym_pool *pool, const sym_id *args, uint32_t n,
                            uint32_t yes, uint32_t no)
{
    uint32_t noes = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = facts_at(pool, args[i]);
        if (f & no)
            noes++;
        else if (!(f & yes))
            return 0;
    }
    return noes == 0 ? yes : noes == 1 ? no : 0;
}

static bool all_have(const struct sym_pool *pool, const sym_id *args, uint32_t n, uint32_t fact)
{
    for (uint32_t i = 0; i < n; i++)
        if (!(facts_at(pool, args[i]) & fact))
            return false;
    return true;
}

/* --- Sums --- */

/* The result of _monotonic_sign of sympy/core/exprtools.py: the value nearest to zero that a term
 * of known sign can take, or only a sign. */
struct term_bound {
    bool known;
    bool tiny; /* as near to zero as can be, on the side of `sign` */
    sym_id value;
};

static struct term_bound bound_value(int64_t value)
{
    sym_id ids[] = { SYM_ID_MINUS_ONE, SYM_ID_ZERO, SYM_ID_ONE, SYM_ID_TWO };
    return (struct term_bound){ .known = true, .value = ids[value + 1] };
}

/* Returns whether e - 1 is positive. */
static bool model_one(struct sym_pool *pool, sym_id e)
{
    sym_id below = sym_add(pool, e, SYM_ID_MINUS_ONE);
    return below != SYM_NONE && known_positive(facts_at(pool, below));
}

/* Returns whether e is a product of whole numbers of which two are above 1, or such a power. */
static bool is_composite(struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) == SYM_POW)
        return (facts_at(pool, e) & FACT_INTEGER) && model_one(pool, arg_at(pool, e, 0)) &&
               model_one(pool, arg_at(pool, e, 1));
    if (kind_at(pool, e) != SYM_MUL)
        return false;
    uint32_t above = 0;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++) {
        uint32_t f = facts_at(pool, arg_at(pool, e, i));
        if (!(f & FACT_INTEGER) || !known_positive(f))
            return false;
        above += model_one(pool, arg_at(pool, e, i));
    }
    return above > 1;
}

static struct term_bound term_bound(struct sym_pool *pool, sym_id e)
{
    uint32_t f = facts_at(pool, e);
    if (!(f & FACT_REAL))
        return (struct term_bound){ 0 };
    if (known_positive(f) && is_composite(pool, e))
        return (struct term_bound){ .known = true,
                                    .value = sym_integer(pool, known_odd(f) ? 9 : 4) };
    if (known_positive(f))
        return known_even(f) ? bound_value(2)
               : (f & FACT_INTEGER)
                   ? bound_value(1)
                   : (struct term_bound){ .known = true, .tiny = true, .value = SYM_ID_ZERO };
    if (known_negative(f)) {
        struct term_bound minus_two = { .known = true, .value = sym_integer(pool, -2) };
        return known_even(f) ? minus_two
               : (f & FACT_INTEGER)
                   ? bound_value(-1)
                   : (struct term_bound){ .known = true, .tiny = true, .value = SYM_ID_ZERO };
    }
    if (known_nonnegative(f) || known_nonpositive(f))
        return bound_value(0);
    return (struct term_bound){ 0 };
}

/* Returns the facts of term + constant that follow from term's bound. */
static uint32_t shift_facts(struct sym_pool *pool, sym_id term, sym_id constant)
{
    uint32_t f = facts_at(pool, term);
    struct term_bound bound = term_bound(pool, term);
    if (!bound.known)
        return FACT_SIGNS;
    sym_id shifted = number_add(pool, bound.value, constant);
    if (shifted == SYM_NONE)
        return FACT_SIGNS;
    int sign = number_sign(pool, shifted);
    if (known_nonnegative(f) && (sign > 0 || (sign == 0 && bound.tiny)))
        return FACT_POSITIVE;
    if (known_nonnegative(f) && sign == 0)
        return FACT_POSITIVE | FACT_ZERO;
    if (known_nonpositive(f) && (sign < 0 || (sign == 0 && bound.tiny)))
        return FACT_NEGATIVE;
    if (known_nonpositive(f) && sign == 0)
        return FACT_NEGATIVE | FACT_ZERO;
    return FACT_SIGNS;
}

/* Returns whether e is a polynomial in one nonnegative symbol whose coefficients have one sign, so
 * that it increases with the symbol. */
static bool rises(const struct sym_pool *pool, sym_id e, sym_id *symbol)
{
    enum sym_kind kind = kind_at(pool, e);
    int64_t exponent;
    if (is_number(pool, e))
        return number_sign(pool, e) >= 0;
    if (kind == SYM_SYMBOL) {
        bool same = *symbol == SYM_NONE || *symbol == e;
        *symbol = e;
        return same && known_nonnegative(facts_at(pool, e));
    }
    if (kind == SYM_POW)
        return sym_to_i64(pool, arg_at(pool, e, 1), &exponent) && exponent > 0 &&
               rises(pool, arg_at(pool, e, 0), symbol);
    bool all = kind == SYM_MUL || kind == SYM_ADD;
    for (uint32_t i = 0; all && i < node_at(pool, e)->n; i++)
        all = rises(pool, arg_at(pool, e, i), symbol);
    return all;
}

/* Returns 1 when every term increases with the symbol, -1 when every term decreases, 0 otherwise.
 */
static int direction(struct sym_pool *pool, const sym_id *args, uint32_t n, sym_id *symbol)
{
    bool rising = true, falling = true;
    for (uint32_t i = 1; i < n && (rising || falling); i++) {
        if (is_heavy(pool, args[i]))
            return 0;
        sym_id rest, coefficient = split_coefficient(pool, args[i], &rest);
        if (coefficient == SYM_NONE || !rises(pool, rest, symbol))
            return 0;
        rising &= number_sign(pool, coefficient) > 0;
        falling &= number_sign(pool, coefficient) < 0;
    }
    return *symbol == SYM_NONE ? 0 : rising ? 1 : falling ? -1 : 0;
}

enum { MAX_DEGREE = 16 };

/* Returns the derivative of a polynomial in one symbol, or SYM_NONE when e is no such polynomial.
 */
static sym_id derivative(struct sym_pool *pool, sym_id e, sym_id *symbol, unsigned depth)
{
    enum { MAX_NESTED = 8 };
    enum sym_kind kind = kind_at(pool, e);
    if (is_number(pool, e))
        return SYM_ID_ZERO;
    if (kind == SYM_SYMBOL) {
        bool same = *symbol == SYM_NONE || *symbol == e;
        *symbol = e;
        return same ? SYM_ID_ONE : SYM_NONE;
    }
    if (depth > MAX_NESTED || (kind != SYM_POW && kind != SYM_MUL && kind != SYM_ADD))
        return SYM_NONE;
    uint32_t n = node_at(pool, e)->n;
    if (kind == SYM_POW) {
        int64_t k;
        sym_id base = arg_at(pool, e, 0), inner = derivative(pool, base, symbol, depth + 1);
        if (inner == SYM_NONE || !sym_to_i64(pool, arg_at(pool, e, 1), &k) || k < 1 ||
            k > MAX_DEGREE)
            return SYM_NONE;
        sym_id power = sym_pow(pool, base, sym_integer(pool, k - 1));
        return sym_mul(pool, sym_mul(pool, sym_integer(pool, k), power), inner);
    }
    sym_id sum = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n && n <= MAX_DEGREE; i++) {
        sym_id term = derivative(pool, arg_at(pool, e, i), symbol, depth + 1);
        if (term == SYM_NONE)
            return SYM_NONE;
        for (uint32_t j = 0; kind == SYM_MUL && j < n; j++)
            term = j == i ? term : sym_mul(pool, term, arg_at(pool, e, j));
        sum = sym_add(pool, sum, term);
    }
    return n <= MAX_DEGREE ? sum : SYM_NONE;
}

/* As direction(), for a polynomial with coefficients of both signs: uses the derivative's sign. */
static int slope(struct sym_pool *pool, const sym_id *args, uint32_t n, sym_id *symbol)
{
    *symbol = SYM_NONE;
    sym_id sum = SYM_ID_ZERO;
    for (uint32_t i = 0; i < n && n <= MAX_DEGREE; i++) {
        sym_id term = is_heavy(pool, args[i]) ? SYM_NONE : derivative(pool, args[i], symbol, 0);
        if (term == SYM_NONE)
            return 0;
        sum = sym_add(pool, sum, term);
    }
    if (sum == SYM_NONE || *symbol == SYM_NONE || !known_nonnegative(facts_at(pool, *symbol)))
        return 0;
    return known_positive(facts_at(pool, sum)) ? 1 : known_negative(facts_at(pool, sum)) ? -1 : 0;
}

/* Returns the signs of constant + terms of one nonnegative symbol that all increase or all decrease
 * with it. They follow from the value at the symbol's smallest value. */
static uint32_t monotonic_facts(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    sym_id symbol = SYM_NONE;
    int way = direction(pool, args, n, &symbol);
    if (way == 0)
        way = slope(pool, args, n, &symbol);
    if (way == 0)
        return FACT_SIGNS;
    struct term_bound least = term_bound(pool, symbol);
    sym_id at_least = SYM_ID_ZERO;
    struct sym_pair pair = { symbol, least.value };
    for (uint32_t i = 0; i < n && at_least != SYM_NONE; i++)
        at_least = number_add(pool, at_least, sym_replace(pool, args[i], &pair, 1));
    if (at_least == SYM_NONE)
        return FACT_SIGNS;
    int sign = number_sign(pool, at_least);
    if (way > 0 && sign >= 0)
        return sign ? FACT_POSITIVE : FACT_POSITIVE | FACT_ZERO;
    if (way < 0 && sign <= 0)
        return sign ? FACT_NEGATIVE : FACT_NEGATIVE | FACT_ZERO;
    return FACT_SIGNS;
}

/* Returns the signs of a sum whose terms have one sign. */
static uint32_t term_signs(const struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    uint32_t any = 0;
    bool strict = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = facts_at(pool, args[i]);
        if (!(f & FACT_REAL))
            return FACT_SIGNS;
        any |= f & (FACT_NEGATIVE | FACT_POSITIVE);
        strict |= known_nonzero(f) && (known_positive(f) || known_negative(f));
    }
    if (any == FACT_POSITIVE || any == FACT_NEGATIVE)
        return strict ? any : any | FACT_ZERO;
    return any ? FACT_SIGNS : FACT_ZERO;
}

static uint32_t add_signs(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    uint32_t signs = term_signs(pool, args, n);
    if (!is_number(pool, args[0]))
        return signs;
    if (n == 2)
        signs &= shift_facts(pool, args[1], args[0]);
    uint32_t monotonic = monotonic_facts(pool, args, n);
    return signs & monotonic ? signs & monotonic : signs;
}

/* Add._eval_is_odd: the first term that is not even must be odd, and the other terms decide. */
static uint32_t add_parity(const struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    bool odd = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = facts_at(pool, args[i]);
        if (known_odd(f))
            odd = !odd;
        else if (!known_even(f))
            return FACT_PARITY;
    }
    return odd ? FACT_ODD : FACT_EVEN;
}

static uint32_t add_facts(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    uint32_t f = fuzzy_group(pool, args, n, FACT_INTEGER, FACT_NOT_INTEGER) |
                 fuzzy_group(pool, args, n, FACT_RATIONAL, FACT_NOT_RATIONAL) |
                 fuzzy_group(pool, args, n, FACT_FINITE, FACT_INFINITE) |
                 fuzzy_group(pool, args, n, FACT_REAL, 0);
    f |= f & FACT_REAL ? add_signs(pool, args, n) : FACT_SIGNS;
    return f | (f & FACT_INTEGER ? add_parity(pool, args, n) : FACT_PARITY);
}

/* --- Products --- */

/* What Mul._eval_is_integer collects of a product's numerators and denominators. */
struct mul_fraction {
    bool unknown, give_up;
    bool all_odd_above, all_even_above, any_even_above, any_above;
    int64_t even_powers_above; /* the sum of the exponents of even numerators */
    bool any_below, any_even_below, all_odd_below, all_above_one_below;
    uint32_t n_below;
    sym_id below;
};

static void add_numerator(struct mul_fraction *in, uint32_t f)
{
    in->any_above = true;
    in->all_odd_above &= known_odd(f);
    in->all_even_above &= known_even(f);
    in->any_even_above |= known_even(f);
    in->even_powers_above += known_even(f);
}

static void add_denominator(const struct sym_pool *pool, struct mul_fraction *in, sym_id e)
{
    uint32_t f = facts_at(pool, e);
    in->n_below++;
    in->below = e;
    in->any_below = true;
    in->any_even_below |= known_even(f);
    in->all_odd_below &= known_odd(f);
    in->all_above_one_below &= is_integer(pool, e) && number_sign(pool, e) > 0;
}

static void add_factor(struct sym_pool *pool, struct mul_fraction *in, sym_id e)
{
    uint32_t f = facts_at(pool, e);
    if (f & FACT_INTEGER) {
        if (e != SYM_ID_ONE && e != SYM_ID_MINUS_ONE)
            add_numerator(in, f);
    } else if (kind_at(pool, e) == SYM_RATIONAL) {
        sym_id p = arg_at(pool, e, 0);
        if (p != SYM_ID_ONE && p != SYM_ID_MINUS_ONE)
            add_numerator(in, facts_at(pool, p));
        add_denominator(pool, in, arg_at(pool, e, 1));
    } else if (kind_at(pool, e) == SYM_POW && known_negative(facts_at(pool, arg_at(pool, e, 1)))) {
        in->unknown |= !(facts_at(pool, arg_at(pool, e, 0)) & FACT_INTEGER) ||
                       !(facts_at(pool, arg_at(pool, e, 1)) & FACT_INTEGER);
        add_denominator(pool, in, arg_at(pool, e, 0));
    } else {
        in->give_up = true;
    }
}

static uint32_t mul_integer(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    struct mul_fraction in = { .all_odd_above = true,
                               .all_even_above = true,
                               .all_odd_below = true,
                               .all_above_one_below = true };
    for (uint32_t i = 0; i < n && !in.give_up; i++)
        add_factor(pool, &in, args[i]);
    if (in.give_up)
        return 0;
    if (!in.any_below && !in.unknown)
        return FACT_INTEGER;
    if (!in.any_above && in.any_below && in.all_above_one_below)
        return FACT_NOT_INTEGER;
    if (in.unknown)
        return 0;
    if (in.all_odd_above && in.any_even_below)
        return FACT_NOT_INTEGER;
    if (in.any_even_above && in.n_below == 1 && in.below == SYM_ID_TWO)
        return FACT_INTEGER;
    if (in.all_even_above && in.all_odd_below && in.all_above_one_below)
        return FACT_NOT_INTEGER;
    /* sympy counts powers of 2 only, so it takes even/6 to be whole (its issue 28442) */
    int64_t below;
    if (in.n_below == 1 && sym_to_i64(pool, in.below, &below) && below > 0 && below % 2 == 0 &&
        in.even_powers_above >= __builtin_ctzll((unsigned long long)below))
        return FACT_INTEGER;
    return 0;
}

/* Returns the signs that a product of two factors can have. */
static uint32_t sign_product(uint32_t a, uint32_t b)
{
    uint32_t signs = (a | b) & FACT_ZERO;
    if ((a & FACT_POSITIVE && b & FACT_POSITIVE) || (a & FACT_NEGATIVE && b & FACT_NEGATIVE))
        signs |= FACT_POSITIVE;
    if ((a & FACT_POSITIVE && b & FACT_NEGATIVE) || (a & FACT_NEGATIVE && b & FACT_POSITIVE))
        signs |= FACT_NEGATIVE;
    return signs;
}

/* Returns whether a + b is known to be odd. It makes the sum only where one of them is a sum. */
static bool sum_is_odd(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (kind_at(pool, a) != SYM_ADD && kind_at(pool, b) != SYM_ADD)
        return false;
    sym_id sum = sym_add(pool, a, b);
    return sum != SYM_NONE && known_odd(facts_at(pool, sum));
}

/* Mul._eval_is_odd. For example, s0*(s0 + 1) is even. */
static uint32_t mul_parity(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    enum { IS_ODD, UNKNOWN, IS_EVEN } result = IS_ODD;
    sym_id before = SYM_ID_ONE;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t f = facts_at(pool, args[i]);
        if (args[i] == SYM_ID_MINUS_ONE)
            continue;
        if (known_even(f))
            return FACT_EVEN;
        if (result != IS_EVEN && before != SYM_ID_ONE && sum_is_odd(pool, before, args[i]))
            result = IS_EVEN;
        else if (result != IS_EVEN && !known_odd(f))
            result = UNKNOWN;
        before = args[i];
    }
    return result == IS_ODD ? FACT_ODD : result == IS_EVEN ? FACT_EVEN : FACT_PARITY;
}

static uint32_t mul_facts(struct sym_pool *pool, const sym_id *args, uint32_t n)
{
    uint32_t f = mul_integer(pool, args, n);
    if (all_have(pool, args, n, FACT_RATIONAL) || (f & FACT_INTEGER))
        f |= FACT_RATIONAL;
    if (all_have(pool, args, n, FACT_REAL))
        f |= FACT_REAL;
    bool finite = all_have(pool, args, n, FACT_FINITE);
    if (finite)
        f |= FACT_FINITE;
    uint32_t signs = FACT_POSITIVE;
    for (uint32_t i = 0; i < n; i++)
        signs = sign_product(signs, facts_at(pool, args[i]));
    f |= (f & FACT_REAL) && (finite || !(signs & FACT_ZERO)) ? signs : FACT_SIGNS;
    if (known_zero(f))
        return FACT_INTEGER | FACT_RATIONAL | FACT_REAL | FACT_FINITE | FACT_ZERO | FACT_EVEN;
    return f | (f & FACT_INTEGER ? mul_parity(pool, args, n) : FACT_PARITY);
}

/* --- Powers --- */

static uint32_t pow_signs(uint32_t base, uint32_t exponent)
{
    if (!(base & FACT_REAL) || !(exponent & FACT_REAL))
        return FACT_SIGNS;
    if (known_positive(base))
        return FACT_POSITIVE;
    if (!(exponent & FACT_INTEGER))
        return FACT_SIGNS;
    uint32_t zero = base & FACT_ZERO;
    if (known_even(exponent))
        return FACT_POSITIVE | zero;
    if (known_odd(exponent))
        return (base & (FACT_NEGATIVE | FACT_POSITIVE)) | zero;
    return known_nonnegative(base) ? FACT_POSITIVE | zero : FACT_SIGNS;
}

static uint32_t pow_facts(const struct sym_pool *pool, const sym_id *args)
{
    uint32_t base = facts_at(pool, args[0]), exponent = facts_at(pool, args[1]);
    uint32_t f = pow_signs(base, exponent);
    bool whole = (base & FACT_INTEGER) && (exponent & FACT_INTEGER);
    if (whole && known_nonnegative(exponent))
        f |= FACT_INTEGER | FACT_RATIONAL;
    if (whole && known_negative(exponent) && known_nonzero(base))
        f |= FACT_RATIONAL;
    if ((base & FACT_REAL) && (exponent & FACT_INTEGER) &&
        (known_nonnegative(exponent) || known_nonzero(base)))
        f |= FACT_REAL;
    if (known_positive(base) && (exponent & FACT_REAL))
        f |= FACT_REAL;
    if ((base & FACT_FINITE) && (exponent & FACT_FINITE) &&
        (known_nonnegative(exponent) || known_nonzero(base)))
        f |= FACT_FINITE;
    if ((f & FACT_INTEGER) && known_positive(exponent))
        return f | (base & FACT_PARITY);
    return f | FACT_PARITY;
}

/* --- Functions --- */

/* Max and Min: torch's _torf for every assumption, with fuzzy_or and fuzzy_and for the signs. */
static uint32_t min_max_facts(const struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                              uint32_t n)
{
    static const uint32_t torf[] = { FACT_INTEGER, FACT_NOT_INTEGER, FACT_RATIONAL, FACT_REAL,
                                     FACT_FINITE };
    uint32_t f = 0, any = 0, all = FACT_SIGNS, parity = 0;
    bool one_positive = false, one_nonnegative = false, one_negative = false;
    for (size_t i = 0; i < sizeof torf / sizeof *torf; i++)
        if (all_have(pool, args, n, torf[i]))
            f |= torf[i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t a = facts_at(pool, args[i]);
        any |= a & FACT_SIGNS;
        all &= a;
        parity |= a & FACT_PARITY;
        one_positive |= known_positive(a);
        one_nonnegative |= known_nonnegative(a);
        one_negative |= known_negative(a);
    }
    uint32_t signs = any;
    if (kind == SYM_MAX && one_positive)
        signs = FACT_POSITIVE;
    else if (kind == SYM_MAX && one_nonnegative)
        signs &= ~(uint32_t)FACT_NEGATIVE;
    if (kind == SYM_MIN && one_negative)
        signs = FACT_NEGATIVE;
    else if (kind == SYM_MIN && !(all & FACT_POSITIVE))
        signs &= ~(uint32_t)FACT_POSITIVE;
    if (signs != any) /* only a real number has a known sign */
        f |= FACT_REAL | FACT_FINITE;
    return f | signs | parity;
}

static uint32_t call_signs(const struct sym_pool *pool, enum sym_kind kind, const sym_id *args)
{
    uint32_t a = facts_at(pool, args[0]);
    bool nonnegative = false;
    if (kind == SYM_FLOORDIV || kind == SYM_CLEANDIV) {
        uint32_t b = facts_at(pool, args[1]);
        nonnegative = (a & b & FACT_INTEGER) && known_nonnegative(a) && known_nonnegative(b);
    } else if (kind == SYM_MODULAR_INDEXING) {
        /* fuzzy_eq of the two: the result is negative when exactly one is */
        uint32_t b = facts_at(pool, args[1]);
        nonnegative = (known_nonnegative(a) && known_nonnegative(b)) ||
                      (known_negative(a) && known_negative(b));
        if ((known_negative(a) && known_nonnegative(b)) ||
            (known_nonnegative(a) && known_negative(b)))
            return FACT_NEGATIVE;
    } else if (kind == SYM_PYTHON_MOD) {
        uint32_t b = facts_at(pool, args[1]);
        return known_positive(b)   ? FACT_ZERO | FACT_POSITIVE
               : known_negative(b) ? FACT_ZERO | FACT_NEGATIVE
                                   : FACT_SIGNS;
    }
    return nonnegative ? FACT_ZERO | FACT_POSITIVE : FACT_SIGNS;
}

/* Returns the facts of Where's and Piecewise's branches. */
static uint32_t choice_facts(const struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                             uint32_t n)
{
    uint32_t all = ~0u, signs = 0, parity = 0;
    for (uint32_t i = kind == SYM_WHERE; i < n; i++) {
        sym_id arm = kind == SYM_WHERE ? args[i] : arg_at(pool, args[i], 0);
        uint32_t f = facts_at(pool, arm);
        all &= f;
        signs |= f & FACT_SIGNS;
        parity |= f & FACT_PARITY;
    }
    all &= FACT_INTEGER | FACT_RATIONAL | FACT_REAL | FACT_FINITE;
    if (kind == SYM_WHERE) { /* sympy asks only whether its branches are integers and nonnegative */
        all = all & FACT_INTEGER ? all : 0;
        parity = FACT_PARITY;
        signs = signs & FACT_NEGATIVE ? FACT_SIGNS : signs;
    }
    return all | signs | parity;
}

static uint32_t call_facts(const struct sym_pool *pool, enum sym_kind kind, const sym_id *args)
{
    uint32_t declared = sym_classes[kind].facts;
    uint32_t f = declared & ~(uint32_t)DECLARED_NONNEGATIVE;
    uint32_t signs =
        declared & DECLARED_NONNEGATIVE ? FACT_ZERO | FACT_POSITIVE : call_signs(pool, kind, args);
    if (kind == SYM_IDENTITY)
        return (facts_at(pool, args[0]) &
                (FACT_INTEGER | FACT_RATIONAL | FACT_REAL | FACT_FINITE)) |
               NOTHING;
    if (kind == SYM_ABS)
        return (facts_at(pool, args[0]) & ~(uint32_t)FACT_SIGNS) | FACT_POSITIVE | FACT_REAL |
               (facts_at(pool, args[0]) & FACT_ZERO);
    return f | signs | FACT_PARITY;
}

uint32_t facts_of(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    uint32_t constant = n && all_have(pool, args, n, FACT_CONSTANT) ? FACT_CONSTANT : 0;
    switch (kind) {
    case SYM_RATIONAL:
        return FACT_CONSTANT | FACT_NOT_INTEGER | FACT_RATIONAL | FACT_REAL | FACT_FINITE |
               FACT_PARITY | (facts_at(pool, args[0]) & FACT_SIGNS);
    case SYM_ADD: {
        uint32_t f = add_facts(pool, args, n);
        bool nonzero = (f & FACT_NOT_INTEGER) || known_odd(f);
        return (nonzero ? f & ~(uint32_t)FACT_ZERO : f) | constant;
    }
    case SYM_MUL: {
        uint32_t f = mul_facts(pool, args, n);
        bool nonzero = (f & FACT_NOT_INTEGER) || known_odd(f);
        return (nonzero ? f & ~(uint32_t)FACT_ZERO : f) | constant;
    }
    case SYM_POW: return pow_facts(pool, args) | constant;
    case SYM_MAX:
    case SYM_MIN: return min_max_facts(pool, kind, args, n) | constant;
    case SYM_WHERE:
    case SYM_PIECEWISE: return choice_facts(pool, kind, args, n) | constant;
    case SYM_EXPR_COND_PAIR: return NOTHING | constant;
    default:
        if (is_relational(kind) || kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT)
            return FACT_BOOLEAN | NOTHING | constant;
        return call_facts(pool, kind, args) | constant;
    }
}
