/* The functions that only fold constants: torch/utils/_sympy/functions.py. Floats are folded in
 * double precision, as in Python. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"

static bool to_infinity(sym_id e, sym_id *ret)
{
    if (e == SYM_ID_OO || e == SYM_ID_INT_OO)
        *ret = SYM_ID_INT_OO;
    else if (e == SYM_ID_MINUS_OO || e == SYM_ID_MINUS_INT_OO)
        *ret = SYM_ID_MINUS_INT_OO;
    else
        return false;
    return true;
}

static double apply_to_int(enum sym_kind kind, double x)
{
    switch (kind) {
    case SYM_CEIL_TO_INT: return ceil(x);
    case SYM_FLOOR_TO_INT: return floor(x);
    case SYM_ROUND_TO_INT: return nearbyint(x); /* half to even */
    default: return trunc(x);
    }
}

sym_id build_to_int(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id infinity;
    if (to_infinity(args[0], &infinity))
        return infinity;
    if (kind == SYM_FLOOR_TO_INT && is_integer(pool, args[0]))
        return args[0];
    if (is_number(pool, args[0]))
        return number_of_double(pool, apply_to_int(kind, sym_to_double(pool, args[0])));
    return pool_node1(pool, kind, args[0]);
}

sym_id build_to_float(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id e = args[0];
    if (e == SYM_ID_OO || e == SYM_ID_INT_OO)
        return SYM_ID_OO;
    if (e == SYM_ID_MINUS_OO || e == SYM_ID_MINUS_INT_OO)
        return SYM_ID_MINUS_OO;
    if (is_integer(pool, e))
        return sym_float(pool, sym_to_double(pool, e));
    return pool_node1(pool, kind, e);
}

sym_id build_trunc_to_float(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                            uint32_t n)
{
    (void)n;
    if (args[0] == SYM_ID_OO || args[0] == SYM_ID_MINUS_OO)
        return args[0];
    if (is_number(pool, args[0]))
        return sym_float(pool, trunc(sym_to_double(pool, args[0])));
    return pool_node1(pool, kind, args[0]);
}

sym_id build_true_div(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id a = args[0], b = args[1];
    if (known_zero(facts_at(pool, b)))
        return pool_fail(pool, "ZeroDivisionError: division by zero");
    bool fold = is_number(pool, a) && is_number(pool, b);
    if (kind == SYM_INT_TRUE_DIV)
        fold = fold &&
               ((is_integer(pool, a) && is_integer(pool, b)) || is_infinity(a) || is_infinity(b));
    if (!fold)
        return pool_node2(pool, kind, a, b);
    if (is_integer(pool, a) && is_integer(pool, b)) {
        sym_id exact = number_div(pool, a, b);
        return exact == SYM_NONE ? SYM_NONE : sym_float(pool, sym_to_double(pool, exact));
    }
    return sym_float(pool, sym_to_double(pool, a) / sym_to_double(pool, b));
}

sym_id build_round_decimal(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                           uint32_t n)
{
    (void)n;
    int64_t digits;
    if (!is_number(pool, args[0]) || !sym_to_i64(pool, args[1], &digits))
        return pool_node2(pool, kind, args[0], args[1]);
    double x = sym_to_double(pool, args[0]);
    if (x - x != 0 || digits > 300)
        return sym_float(pool, x);
    if (digits < 0)
        return sym_float(pool, digits < -308 ? 0
                                             : nearbyint(x / pow(10, (double)-digits)) *
                                                   pow(10, (double)-digits));
    char text[700]; /* printf() rounds correctly, as Python's round() does */
    snprintf(text, sizeof text, "%.*f", (int)digits, x);
    return sym_float(pool, strtod(text, NULL));
}

/* safe_pow: returns int_oo for a result above sys.maxsize. */
static sym_id safe_pow(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    int64_t e;
    if (number_sign(pool, exponent) < 0)
        return pool_fail(pool, "ValueError: Exponent must be non-negative.");
    bool negative = number_sign(pool, base) < 0 && known_odd(facts_at(pool, exponent));
    sym_id magnitude = number_abs(pool, base);
    if (exponent == SYM_ID_ZERO || magnitude == SYM_ID_ONE || magnitude == SYM_ID_ZERO)
        return exponent == SYM_ID_ZERO ? SYM_ID_ONE
               : negative              ? number_neg(pool, magnitude)
                                       : magnitude;
    bool too_large =
        !sym_to_i64(pool, exponent, &e) || e > 63 || kind_at(pool, magnitude) != SYM_INTEGER;
    sym_id power = too_large ? SYM_ID_INT_OO : number_pow(pool, magnitude, e);
    if (power != SYM_NONE && kind_at(pool, power) == SYM_BIG)
        power = SYM_ID_INT_OO;
    return negative ? number_neg(pool, power) : power;
}

sym_id build_pow_by_natural(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                            uint32_t n)
{
    (void)n;
    sym_id base = args[0], exponent = args[1];
    if (is_integer(pool, base) && is_integer(pool, exponent))
        return safe_pow(pool, base, exponent);
    if (is_integer(pool, exponent))
        return sym_pow(pool, base, exponent);
    if (exponent == SYM_ID_INT_OO || exponent == SYM_ID_OO) {
        if (known_nonnegative(facts_at(pool, base)))
            return SYM_ID_INT_OO;
        if (known_negative(facts_at(pool, base)))
            return SYM_ID_ZOO;
    }
    return pool_node2(pool, kind, base, exponent);
}

sym_id build_float_pow(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    if (is_number(pool, args[0]) && is_number(pool, args[1])) {
        double base = sym_to_double(pool, args[0]), exponent = sym_to_double(pool, args[1]);
        double power = pow(base, exponent);
        if (power != power && base == base && exponent == exponent)
            return pool_fail(pool, "TypeError: Cannot convert complex to float");
        return sym_float(pool, power);
    }
    return pool_node2(pool, kind, args[0], args[1]);
}

static sym_id as_integer(sym_id e)
{
    return e == SYM_ID_TRUE ? SYM_ID_ONE : e == SYM_ID_FALSE ? SYM_ID_ZERO : e;
}

sym_id build_bitwise(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    uint32_t both = facts_at(pool, args[0]) & facts_at(pool, args[1]);
    if (both & FACT_BOOLEAN) {
        if (kind != SYM_BITWISE_XOR)
            return sym_binary(pool, kind == SYM_BITWISE_AND ? SYM_AND : SYM_OR, args[0], args[1]);
        if (as_integer(args[0]) != args[0] && as_integer(args[1]) != args[1])
            return sym_boolean(args[0] != args[1]);
    }
    sym_id a = as_integer(args[0]), b = as_integer(args[1]);
    if (is_integer(pool, a) && is_integer(pool, b))
        return number_bitwise(pool, kind, a, b);
    return pool_node2(pool, kind, a, b);
}

static double opaque(enum sym_kind kind, double x)
{
    switch (kind) {
    case SYM_SQRT: return sqrt(x);
    case SYM_COS: return cos(x);
    case SYM_COSH: return cosh(x);
    case SYM_SIN: return sin(x);
    case SYM_SINH: return sinh(x);
    case SYM_TAN: return tan(x);
    case SYM_TANH: return tanh(x);
    case SYM_ASIN: return asin(x);
    case SYM_ACOS: return acos(x);
    case SYM_ATAN: return atan(x);
    case SYM_EXP: return exp(x);
    case SYM_LOG: return log(x);
    case SYM_ASINH: return asinh(x);
    default: return log2(x);
    }
}

sym_id build_opaque(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    if (!is_number(pool, args[0]) || kind_at(pool, args[0]) == SYM_RATIONAL)
        return pool_node1(pool, kind, args[0]);
    double x = sym_to_double(pool, args[0]), y = opaque(kind, x);
    if ((y != y && x == x) || (y - y != 0 && x - x == 0 && (kind == SYM_LOG || kind == SYM_LOG2)))
        return pool_fail(pool, "ValueError: math domain error");
    return sym_float(pool, y);
}

/* Moves the factors whose absolute value is known out of Abs(). */
static sym_id abs_of_product(struct sym_pool *pool, sym_id e)
{
    struct list known, unknown;
    list_init(&known, pool);
    list_init(&unknown, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id magnitude = sym_unary(pool, SYM_ABS, arg_at(pool, e, i));
        bool open = magnitude != SYM_NONE && kind_at(pool, magnitude) == SYM_ABS;
        ok = open ? list_push(&unknown, arg_at(pool, magnitude, 0)) : list_push(&known, magnitude);
    }
    sym_id result = SYM_NONE;
    if (ok && known.n == 0)
        result = pool_node1(pool, SYM_ABS, e);
    else if (ok && unknown.n == 0)
        result = sym_make(pool, SYM_MUL, known.v, known.n);
    else if (ok && list_push(&known, sym_unary(pool, SYM_ABS,
                                               sym_make(pool, SYM_MUL, unknown.v, unknown.n))))
        result = sym_make(pool, SYM_MUL, known.v, known.n);
    list_release(&known);
    list_release(&unknown);
    return result;
}

sym_id build_abs(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    uint32_t f = facts_at(pool, args[0]);
    if (known_nonnegative(f))
        return args[0];
    if (known_nonpositive(f))
        return sym_neg(pool, args[0]);
    if (could_extract_minus_sign(pool, args[0]))
        return sym_unary(pool, kind, sym_neg(pool, args[0]));
    return kind_at(pool, args[0]) == SYM_MUL ? abs_of_product(pool, args[0])
                                             : pool_node1(pool, kind, args[0]);
}

sym_id build_identity(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    return pool_node1(pool, kind, args[0]);
}

sym_id build_where(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    if (args[0] == SYM_ID_TRUE)
        return args[1];
    if (args[0] == SYM_ID_FALSE)
        return args[2];
    return pool_node(pool, kind, args, n);
}

sym_id build_pair(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    return pool_node2(pool, kind, args[0], args[1]);
}

/* Piecewise rewrites its relations so that the symbol stands alone on the left where that is
 * possible (_canonical_coeff): 8 - s2 < 0 becomes s2 > 8. */
static sym_id symbol_first(struct sym_pool *pool, sym_id e)
{
    sym_id relation = relation_canonical(pool, e), rest, alone;
    if (relation == SYM_NONE || !is_relational(kind_at(pool, relation)))
        return relation;
    sym_id left = arg_at(pool, relation, 0), right = arg_at(pool, relation, 1);
    if ((facts_at(pool, left) | facts_at(pool, right)) & FACT_BOOLEAN)
        return relation;
    sym_id constant = split_constant(pool, left, &rest);
    sym_id factor = constant == SYM_NONE ? SYM_NONE : split_coefficient(pool, rest, &alone);
    if (factor == SYM_NONE || !is_rational(pool, constant) || !is_rational(pool, factor))
        return factor == SYM_NONE ? SYM_NONE : relation;
    enum sym_kind kind = kind_at(pool, relation);
    if (number_sign(pool, factor) < 0)
        kind = relation_mirrored(kind);
    return sym_binary(pool, kind, alone, sym_div(pool, sym_sub(pool, right, constant), factor));
}

/* Makes every relation in e canonical, from the leaves up. */
static sym_id canonical_condition(struct sym_pool *pool, sym_id e)
{
    if (!has_args(kind_at(pool, e)) || is_heavy(pool, e))
        return e;
    sym_id result = rewrite_args(pool, e, canonical_condition, false);
    return result != SYM_NONE && is_relational(kind_at(pool, result)) ? symbol_first(pool, result)
                                                                      : result;
}

/* As sympy's Piecewise: drops false branches, ends at a true one, and merges equal neighbours. */
sym_id build_piecewise(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    struct list arms;
    list_init(&arms, pool);
    bool ok = true, closed = false;
    for (uint32_t i = 0; ok && !closed && i < n; i++) {
        sym_id value = arg_at(pool, args[i], 0);
        sym_id condition = canonical_condition(pool, arg_at(pool, args[i], 1));
        closed = condition == SYM_ID_TRUE;
        ok = condition != SYM_NONE;
        if (!ok || condition == SYM_ID_FALSE)
            continue;
        bool merge = arms.n && arg_at(pool, arms.v[arms.n - 1], 0) == value;
        if (!merge) {
            ok = list_push(&arms, pool_node2(pool, SYM_EXPR_COND_PAIR, value, condition));
            continue;
        }
        sym_id either = sym_or(pool, arg_at(pool, arms.v[arms.n - 1], 1), condition);
        arms.v[arms.n - 1] = sym_binary(pool, SYM_EXPR_COND_PAIR, value, either);
        ok = arms.v[arms.n - 1] != SYM_NONE;
    }
    sym_id result = SYM_NONE;
    if (ok && arms.n == 0)
        result = SYM_ID_NAN;
    else if (ok)
        result = arg_at(pool, arms.v[0], 1) == SYM_ID_TRUE ? arg_at(pool, arms.v[0], 0)
                                                           : pool_node(pool, kind, arms.v, arms.n);
    list_release(&arms);
    return result;
}

/* --- IsNonOverlappingAndDenseIndicator(sizes..., strides...) --- */

enum { MAX_RANK = 64 };

/* eval_is_non_overlapping_and_dense of symbolic_shapes.py for known numbers. A size that has no
 * influence on the result is -1. */
static bool is_dense(const int64_t *sizes, const int64_t *strides, uint32_t rank)
{
    uint32_t by_stride[MAX_RANK];
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t at = i;
        for (; at > 0 && strides[by_stride[at - 1]] > strides[i]; at--)
            by_stride[at] = by_stride[at - 1];
        by_stride[at] = i;
    }
    if (rank == 1)
        return strides[0] == 1 || (sizes[0] >= 0 && sizes[0] < 2);
    int64_t expected = 1;
    for (uint32_t i = 0; i < rank; i++) {
        int64_t size = sizes[by_stride[i]];
        if (size == 1)
            continue;
        if (strides[by_stride[i]] != expected)
            return false;
        if (__builtin_mul_overflow(expected, size, &expected))
            return false;
    }
    return true;
}

sym_id build_non_overlapping(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                             uint32_t n)
{
    int64_t sizes[MAX_RANK], strides[MAX_RANK];
    uint32_t rank = n / 2, unknown = 0, largest = 0;
    if (n % 2 || rank > MAX_RANK)
        return pool_fail(pool, "AssertionError: expected an even number of arguments, got %u", n);
    if (rank == 0)
        return SYM_ID_ONE;
    bool strides_known = true;
    for (uint32_t i = 0; i < rank; i++) {
        strides_known &= sym_to_i64(pool, args[rank + i], &strides[i]);
        if (strides_known && strides[i] >= strides[largest])
            largest = i;
    }
    for (uint32_t i = 0; i < rank; i++)
        if (!sym_to_i64(pool, args[i], &sizes[i])) {
            sizes[i] = 42; /* PyTorch's stand-in for the size that has no influence */
            unknown += i != largest ? 2 : 1;
        }
    if (rank == 1 && (args[1] == SYM_ID_ONE || (is_number(pool, args[0]) &&
                                                sym_number_compare(pool, args[0], SYM_ID_TWO) < 0)))
        return SYM_ID_ONE;
    if (!strides_known || unknown > 1)
        return pool_node(pool, kind, args, n);
    return is_dense(sizes, strides, rank) ? SYM_ID_ONE : SYM_ID_ZERO;
}
