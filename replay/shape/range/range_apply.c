/* The range of each operation's result: SymPyValueRangeAnalysis. */
#include <math.h>

#include "replay/shape/expr/sym_pool.h"
#include "replay/shape/range/range.h"

typedef struct sym_range apply_fn(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n);
typedef sym_id binary_fn(struct sym_pool *pool, sym_id a, sym_id b);

static int compare_bounds(struct sym_pool *pool, sym_id a, sym_id b)
{
    return sym_number_compare(pool, a, b);
}

static int bound_sign(const struct sym_pool *pool, sym_id a)
{
    return number_sign(pool, a);
}

static bool has_zero(const struct sym_pool *pool, struct sym_range r)
{
    return bound_sign(pool, r.lower) <= 0 && bound_sign(pool, r.upper) >= 0;
}

static bool has_boolean_bounds(struct sym_range r)
{
    return r.lower <= SYM_ID_TRUE;
}

static struct sym_range assertion(struct sym_pool *pool)
{
    pool_fail(pool, "AssertionError: a range of a boolean where a number was expected");
    return SYM_RANGE_FAILED;
}

/* _keep_float: makes the result a Float when an operand is one. */
static sym_id keep_float(struct sym_pool *pool, sym_id a, sym_id b, sym_id result)
{
    bool is_float = kind_at(pool, a) == SYM_FLOAT || kind_at(pool, b) == SYM_FLOAT;
    if (result == SYM_NONE || !is_float || kind_at(pool, result) == SYM_FLOAT)
        return result;
    return sym_float(pool, sym_to_double(pool, result));
}

/* Returns the range from the least to the greatest value at the four corners. */
static struct sym_range corners(struct sym_pool *pool, struct sym_range a, struct sym_range b,
                                binary_fn *fn)
{
    sym_id lower = SYM_NONE, upper = SYM_NONE;
    for (int i = 0; i < 4; i++) {
        sym_id corner = fn(pool, i & 2 ? a.upper : a.lower, i & 1 ? b.upper : b.lower);
        if (corner == SYM_NONE)
            return SYM_RANGE_FAILED;
        if (lower == SYM_NONE || compare_bounds(pool, corner, lower) < 0)
            lower = corner;
        if (upper == SYM_NONE || compare_bounds(pool, corner, upper) > 0)
            upper = corner;
    }
    return sym_range(pool, lower, upper);
}

/* --- Arithmetic --- */

static struct sym_range apply_add(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range a = args[0], b = args[1];
    if (has_boolean_bounds(a) || has_boolean_bounds(b))
        return assertion(pool);
    return sym_range(pool, keep_float(pool, a.lower, b.lower, number_add(pool, a.lower, b.lower)),
                     keep_float(pool, a.upper, b.upper, number_add(pool, a.upper, b.upper)));
}

/* Multiplies; 0 times an infinity is 0, so that unknown * 0 is 0. */
static sym_id safe_mul(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id product = bound_sign(pool, a) == 0   ? a
                     : bound_sign(pool, b) == 0 ? b
                                                : number_mul(pool, a, b);
    return keep_float(pool, a, b, product);
}

static struct sym_range apply_mul(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    if (has_boolean_bounds(args[0]) || has_boolean_bounds(args[1]))
        return assertion(pool);
    return corners(pool, args[0], args[1], safe_mul);
}

static sym_id divide_corner(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id quotient = sym_floordiv(pool, a, b);
    if (quotient != SYM_ID_NAN)
        return quotient;
    return bound_sign(pool, a) * bound_sign(pool, b) > 0 ? SYM_ID_INT_OO : SYM_ID_MINUS_INT_OO;
}

static struct sym_range apply_floordiv(struct sym_pool *pool, enum sym_kind kind,
                                       const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range a = args[0], b = args[1];
    if (has_boolean_bounds(a) || has_boolean_bounds(b))
        return assertion(pool);
    if (!has_zero(pool, b))
        return corners(pool, a, b, divide_corner);
    bool b_up = bound_sign(pool, b.lower) >= 0, b_down = bound_sign(pool, b.upper) <= 0;
    bool a_up = bound_sign(pool, a.lower) >= 0, a_down = bound_sign(pool, a.upper) <= 0;
    if ((b_up && a_up) || (b_down && a_down))
        return sym_range(pool, SYM_ID_ZERO, SYM_ID_INT_OO);
    if ((b_down && a_up) || (b_up && a_down))
        return sym_range(pool, SYM_ID_MINUS_INT_OO, SYM_ID_ZERO);
    return SYM_RANGE_UNKNOWN_INT;
}

/* Returns the remainder of C, which has the sign of a. */
static sym_id c_mod(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id rest = number_mod(pool, number_abs(pool, a), number_abs(pool, b));
    return bound_sign(pool, a) < 0 ? number_neg(pool, rest) : rest;
}

/* Returns the quotient of C; the quotient of an infinity is infinite. */
static sym_id c_div(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id quotient = number_div(pool, a, b);
    if (quotient == SYM_NONE || is_infinity(quotient) || quotient == SYM_ID_NAN)
        return quotient;
    sym_id magnitude = number_floor(pool, number_abs(pool, quotient));
    return bound_sign(pool, quotient) < 0 ? number_neg(pool, magnitude) : magnitude;
}

static struct sym_range mod_by(struct sym_pool *pool, struct sym_range x, sym_id y)
{
    sym_id low = c_div(pool, x.lower, y), high = c_div(pool, x.upper, y);
    if (low == SYM_NONE || high == SYM_NONE)
        return SYM_RANGE_FAILED;
    if (low == high && low != SYM_ID_NAN)
        return sym_range(pool, c_mod(pool, x.lower, y), c_mod(pool, x.upper, y));
    sym_id most = number_add(pool, y, SYM_ID_MINUS_ONE), least = number_neg(pool, most);
    if (bound_sign(pool, x.upper) < 0)
        return sym_range(pool, least, SYM_ID_ZERO);
    if (bound_sign(pool, x.lower) > 0)
        return sym_range(pool, SYM_ID_ZERO, most);
    return sym_range(pool, sym_max(pool, least, x.lower), sym_min(pool, most, x.upper));
}

static struct sym_range apply_mod(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range x = args[0], y = args[1];
    if (has_boolean_bounds(x) || has_boolean_bounds(y))
        return assertion(pool);
    if (has_zero(pool, y))
        return SYM_RANGE_UNKNOWN_INT;
    if (y.lower == y.upper)
        return mod_by(pool, x, number_abs(pool, y.lower));
    sym_id low = number_abs(pool, y.lower), high = number_abs(pool, y.upper);
    sym_id greatest = sym_max(pool, low, high);
    sym_id most = number_add(pool, greatest, SYM_ID_MINUS_ONE);
    return sym_range(pool, number_neg(pool, most), most);
}

static struct sym_range apply_python_mod(struct sym_pool *pool, enum sym_kind kind,
                                         const struct sym_range *args, uint32_t n)
{
    struct sym_range x = args[0], y = args[1];
    if (has_boolean_bounds(x) || has_boolean_bounds(y))
        return assertion(pool);
    if (bound_sign(pool, x.lower) >= 0 && bound_sign(pool, y.lower) >= 0)
        return apply_mod(pool, kind, args, n);
    sym_id lower =
        bound_sign(pool, y.lower) < 0 ? number_add(pool, y.lower, SYM_ID_ONE) : SYM_ID_ZERO;
    sym_id upper =
        bound_sign(pool, y.upper) > 0 ? number_add(pool, y.upper, SYM_ID_MINUS_ONE) : SYM_ID_ZERO;
    return sym_range(pool, lower, upper);
}

static struct sym_range apply_modular_indexing(struct sym_pool *pool, enum sym_kind kind,
                                               const struct sym_range *args, uint32_t n)
{
    struct sym_range pair[] = { apply_floordiv(pool, kind, args, n), args[2] };
    return sym_range_ok(pair[0]) ? apply_mod(pool, kind, pair, 2) : SYM_RANGE_FAILED;
}

static sym_id true_div_corner(struct sym_pool *pool, sym_id a, sym_id b)
{
    return keep_float(pool, a, b, sym_binary(pool, SYM_INT_TRUE_DIV, a, b));
}

static sym_id float_div_corner(struct sym_pool *pool, sym_id a, sym_id b)
{
    return keep_float(pool, a, b, sym_binary(pool, SYM_FLOAT_TRUE_DIV, a, b));
}

static bool reaches_infinity(struct sym_range r)
{
    return is_infinity(r.lower) || is_infinity(r.upper);
}

static struct sym_range apply_true_div(struct sym_pool *pool, enum sym_kind kind,
                                       const struct sym_range *args, uint32_t n)
{
    (void)n;
    struct sym_range a = args[0], b = args[1];
    if (has_boolean_bounds(a) || has_boolean_bounds(b))
        return assertion(pool);
    if (has_zero(pool, b) || (reaches_infinity(a) && reaches_infinity(b)))
        return SYM_RANGE_UNKNOWN;
    return corners(pool, a, b, kind == SYM_INT_TRUE_DIV ? true_div_corner : float_div_corner);
}

static sym_id safe_power(struct sym_pool *pool, sym_id base, sym_id exponent)
{
    if (!is_infinity(base) && !is_infinity(exponent))
        return sym_binary(pool, SYM_POW_BY_NATURAL, base, exponent);
    if (exponent == SYM_ID_ZERO)
        return SYM_ID_ONE;
    bool odd = known_odd(facts_at(pool, exponent));
    return bound_sign(pool, base) < 0 && odd ? SYM_ID_MINUS_INT_OO : SYM_ID_INT_OO;
}

static struct sym_range power_of_unknown_sign(struct sym_pool *pool, struct sym_range a,
                                              struct sym_range b)
{
    sym_id greatest = sym_max(pool, a.upper, number_neg(pool, a.lower));
    sym_id power = greatest == SYM_NONE ? SYM_NONE : safe_power(pool, greatest, b.upper);
    return sym_range(pool, number_neg(pool, power), power);
}

static struct sym_range even_power(struct sym_pool *pool, struct sym_range a, sym_id exponent)
{
    sym_id low = safe_power(pool, a.lower, exponent), high = safe_power(pool, a.upper, exponent);
    if (low == SYM_NONE || high == SYM_NONE)
        return SYM_RANGE_FAILED;
    if (has_zero(pool, a))
        return sym_range(pool, SYM_ID_ZERO, sym_max(pool, low, high));
    return sym_range(pool, sym_min(pool, low, high), sym_max(pool, low, high));
}

static struct sym_range apply_power(struct sym_pool *pool, enum sym_kind kind,
                                    const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range a = args[0], b = args[1];
    if (has_boolean_bounds(a) || has_boolean_bounds(b))
        return assertion(pool);
    if (a.lower == a.upper && b.lower == b.upper) {
        sym_id power = safe_power(pool, a.lower, b.lower);
        return sym_range(pool, power, power);
    }
    if (compare_bounds(pool, a.lower, SYM_ID_ONE) >= 0) {
        b = sym_range_intersect(pool, b, (struct sym_range){ SYM_ID_ZERO, SYM_ID_INT_OO });
        if (!sym_range_ok(b))
            return SYM_RANGE_FAILED;
        return sym_range(pool, safe_power(pool, a.lower, b.lower),
                         safe_power(pool, a.upper, b.upper));
    }
    if (b.lower != b.upper)
        return power_of_unknown_sign(pool, a, b);
    if (known_even(facts_at(pool, b.lower)))
        return even_power(pool, a, b.lower);
    return sym_range(pool, safe_power(pool, a.lower, b.lower), safe_power(pool, a.upper, b.lower));
}

static struct sym_range apply_abs(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range x = args[0];
    if (has_boolean_bounds(x))
        return assertion(pool);
    sym_id low = number_abs(pool, x.lower), high = number_abs(pool, x.upper);
    sym_id least = sym_min(pool, low, high), most = sym_max(pool, low, high);
    if (!has_zero(pool, x))
        return sym_range(pool, least, most);
    bool is_float = most != SYM_NONE && (kind_at(pool, most) == SYM_FLOAT || most == SYM_ID_OO);
    return sym_range(pool, is_float ? sym_float(pool, 0) : SYM_ID_ZERO, most);
}

static struct sym_range apply_min_max(struct sym_pool *pool, enum sym_kind kind,
                                      const struct sym_range *args, uint32_t n)
{
    (void)n;
    if (has_boolean_bounds(args[0]) || has_boolean_bounds(args[1]))
        return assertion(pool);
    return sym_range(pool, sym_binary(pool, kind, args[0].lower, args[1].lower),
                     sym_binary(pool, kind, args[0].upper, args[1].upper));
}

/* --- Conditions --- */

static struct sym_range boolean_range(bool may_be_false, bool may_be_true)
{
    return (struct sym_range){ may_be_false ? SYM_ID_FALSE : SYM_ID_TRUE,
                               may_be_true ? SYM_ID_TRUE : SYM_ID_FALSE };
}

static struct sym_range negate(struct sym_range r)
{
    return boolean_range(r.upper == SYM_ID_TRUE, r.lower == SYM_ID_FALSE);
}

static struct sym_range ranges_equal(struct sym_pool *pool, struct sym_range a, struct sym_range b)
{
    bool booleans = has_boolean_bounds(a) && has_boolean_bounds(b);
    if (has_boolean_bounds(a) != has_boolean_bounds(b))
        return assertion(pool);
    if (a.lower == a.upper && b.lower == b.upper && a.lower == b.lower)
        return boolean_range(false, true);
    if (booleans ? a.lower > b.upper || b.lower > a.upper
                 : compare_bounds(pool, a.lower, b.upper) > 0 ||
                       compare_bounds(pool, b.lower, a.upper) > 0)
        return boolean_range(true, false);
    return SYM_RANGE_UNKNOWN_BOOL;
}

static struct sym_range ranges_less(struct sym_pool *pool, struct sym_range a, struct sym_range b)
{
    if (has_boolean_bounds(a) || has_boolean_bounds(b))
        return assertion(pool);
    if (compare_bounds(pool, a.upper, b.lower) < 0)
        return boolean_range(false, true);
    if (compare_bounds(pool, a.lower, b.upper) >= 0)
        return boolean_range(true, false);
    return SYM_RANGE_UNKNOWN_BOOL;
}

static struct sym_range apply_relation(struct sym_pool *pool, enum sym_kind kind,
                                       const struct sym_range *args, uint32_t n)
{
    (void)n;
    struct sym_range a = args[0], b = args[1], r;
    switch (kind) {
    case SYM_EQ:
    case SYM_NE: r = ranges_equal(pool, a, b); break;
    case SYM_LT:
    case SYM_GE: r = ranges_less(pool, a, b); break;
    default: r = ranges_less(pool, b, a); break;
    }
    bool turned = kind == SYM_NE || kind == SYM_GE || kind == SYM_LE;
    return sym_range_ok(r) && turned ? negate(r) : r;
}

static struct sym_range apply_logic(struct sym_pool *pool, enum sym_kind kind,
                                    const struct sym_range *args, uint32_t n)
{
    (void)n;
    struct sym_range a = args[0], b = args[1];
    if (!has_boolean_bounds(a) || !has_boolean_bounds(b))
        return assertion(pool);
    bool both = kind == SYM_AND || kind == SYM_BITWISE_AND;
    return (struct sym_range){ both == (a.lower < b.lower) ? a.lower : b.lower,
                               both == (a.upper < b.upper) ? a.upper : b.upper };
}

static struct sym_range apply_not(struct sym_pool *pool, enum sym_kind kind,
                                  const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    return has_boolean_bounds(args[0]) ? negate(args[0]) : assertion(pool);
}

static struct sym_range as_integers(struct sym_range r)
{
    if (!has_boolean_bounds(r))
        return r;
    return (struct sym_range){ r.lower == SYM_ID_TRUE ? SYM_ID_ONE : SYM_ID_ZERO,
                               r.upper == SYM_ID_TRUE ? SYM_ID_ONE : SYM_ID_ZERO };
}

/* Returns the least 2**bits - 1 that is not below n >= 0. */
static sym_id all_ones(struct sym_pool *pool, sym_id n)
{
    int64_t value;
    if (!sym_to_i64(pool, n, &value))
        return SYM_ID_INT_OO;
    int64_t bits = 0;
    while (bits < 63 && value >> bits)
        bits++;
    return number_add(pool, number_pow(pool, SYM_ID_TWO, bits), SYM_ID_MINUS_ONE);
}

static struct sym_range apply_bitwise(struct sym_pool *pool, enum sym_kind kind,
                                      const struct sym_range *args, uint32_t n)
{
    if (has_boolean_bounds(args[0]) && has_boolean_bounds(args[1]) && kind != SYM_BITWISE_XOR)
        return apply_logic(pool, kind, args, n);
    struct sym_range a = as_integers(args[0]), b = as_integers(args[1]);
    sym_id lower = sym_min(pool, a.lower, b.lower), upper = sym_max(pool, a.upper, b.upper);
    if (lower == SYM_NONE || upper == SYM_NONE)
        return SYM_RANGE_FAILED;
    if (kind == SYM_BITWISE_XOR) {
        if (a.lower != a.upper || b.lower != b.upper)
            return SYM_RANGE_UNKNOWN_INT;
        sym_id value = number_bitwise(pool, kind, a.lower, b.lower);
        return sym_range(pool, value, value);
    }
    if (kind == SYM_BITWISE_AND) {
        if (bound_sign(pool, lower) >= 0)
            lower = SYM_ID_ZERO;
        else if (!is_infinity(lower))
            lower =
                number_neg(pool, number_add(pool, SYM_ID_ONE,
                                            all_ones(pool, number_add(pool, number_neg(pool, lower),
                                                                      SYM_ID_MINUS_ONE))));
        else
            lower = SYM_ID_ZERO; /* as in PyTorch, although it is wrong */
        return sym_range(pool, lower, upper);
    }
    if (bound_sign(pool, upper) < 0)
        upper = SYM_ID_MINUS_ONE;
    else if (!is_infinity(upper))
        upper = all_ones(pool, upper);
    return sym_range(pool, lower, upper);
}

/* --- Choices --- */

static struct sym_range apply_where(struct sym_pool *pool, enum sym_kind kind,
                                    const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)n;
    struct sym_range b = args[1], c = args[2];
    if (has_boolean_bounds(b) != has_boolean_bounds(c))
        return assertion(pool);
    if (has_boolean_bounds(b))
        return boolean_range(b.lower == SYM_ID_FALSE || c.lower == SYM_ID_FALSE,
                             b.upper == SYM_ID_TRUE || c.upper == SYM_ID_TRUE);
    return sym_range(pool, sym_min(pool, b.lower, c.lower), sym_max(pool, b.upper, c.upper));
}

/* args: value, condition, value, condition ... */
static struct sym_range apply_piecewise(struct sym_pool *pool, enum sym_kind kind,
                                        const struct sym_range *args, uint32_t n)
{
    (void)kind;
    struct sym_range result = SYM_RANGE_FAILED;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        if (args[i + 1].upper != SYM_ID_TRUE)
            continue;
        result = sym_range_ok(result) ? sym_range_union(pool, result, args[i]) : args[i];
        if (!sym_range_ok(result))
            return result;
    }
    if (!sym_range_ok(result))
        pool_fail(pool, "a Piecewise none of whose arms can be reached");
    return result;
}

/* --- Functions of one number --- */

/* The range of a nondecreasing function: the images of the bounds. */
static struct sym_range apply_nondecreasing(struct sym_pool *pool, enum sym_kind kind,
                                            const struct sym_range *args, uint32_t n)
{
    (void)n;
    if (has_boolean_bounds(args[0]))
        return assertion(pool);
    return sym_range(pool, sym_unary(pool, kind, args[0].lower),
                     sym_unary(pool, kind, args[0].upper));
}

/* Returns floor or ceiling as sympy computes them, exactly. */
static sym_id exact_floor(struct sym_pool *pool, enum sym_kind kind, sym_id e)
{
    sym_id x = e == SYM_ID_OO ? SYM_ID_INT_OO : e == SYM_ID_MINUS_OO ? SYM_ID_MINUS_INT_OO : e;
    if (is_infinity(e))
        return e > SYM_ID_MINUS_INT_OO ? e : x; /* floor(oo) is oo */
    if (kind == SYM_FLOOR_TO_INT)
        return number_floor(pool, e);
    sym_id minus = number_floor(pool, number_neg(pool, e));
    return number_neg(pool, minus);
}

static struct sym_range apply_floor(struct sym_pool *pool, enum sym_kind kind,
                                    const struct sym_range *args, uint32_t n)
{
    (void)n;
    if (has_boolean_bounds(args[0]))
        return assertion(pool);
    return sym_range(pool, exact_floor(pool, kind, args[0].lower),
                     exact_floor(pool, kind, args[0].upper));
}

static struct sym_range apply_positive_only(struct sym_pool *pool, enum sym_kind kind,
                                            const struct sym_range *args, uint32_t n)
{
    if (has_boolean_bounds(args[0]))
        return assertion(pool);
    int sign = bound_sign(pool, args[0].lower);
    if (kind == SYM_SQRT ? sign < 0 : sign <= 0)
        return SYM_RANGE_UNKNOWN;
    return apply_nondecreasing(pool, kind, args, n);
}

static struct sym_range apply_unit(struct sym_pool *pool, enum sym_kind kind,
                                   const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)args;
    (void)n;
    return sym_range(pool, sym_float(pool, -1), sym_float(pool, 1));
}

static struct sym_range apply_cosh(struct sym_pool *pool, enum sym_kind kind,
                                   const struct sym_range *args, uint32_t n)
{
    (void)kind;
    (void)args;
    (void)n;
    return sym_range(pool, sym_float(pool, 0), SYM_ID_OO);
}

static struct sym_range apply_unknown(struct sym_pool *pool, enum sym_kind kind,
                                      const struct sym_range *args, uint32_t n)
{
    (void)pool;
    (void)kind;
    (void)args;
    (void)n;
    return SYM_RANGE_UNKNOWN;
}

static struct sym_range apply_unknown_int(struct sym_pool *pool, enum sym_kind kind,
                                          const struct sym_range *args, uint32_t n)
{
    (void)pool;
    (void)kind;
    (void)args;
    (void)n;
    return SYM_RANGE_UNKNOWN_INT;
}

static struct sym_range apply_identity(struct sym_pool *pool, enum sym_kind kind,
                                       const struct sym_range *args, uint32_t n)
{
    (void)pool;
    (void)kind;
    (void)n;
    return args[0];
}

static struct sym_range apply_round_decimal(struct sym_pool *pool, enum sym_kind kind,
                                            const struct sym_range *args, uint32_t n)
{
    (void)n;
    if (args[1].lower != args[1].upper)
        return SYM_RANGE_UNKNOWN;
    return sym_range(pool, sym_binary(pool, kind, args[0].lower, args[1].lower),
                     sym_binary(pool, kind, args[0].upper, args[1].lower));
}

/* A row for each kind. `pairwise`: more than two arguments are folded from the left. */
static const struct {
    apply_fn *apply;
    bool pairwise;
} rows[SYM_KINDS] = {
    [SYM_ADD] = { apply_add, true },
    [SYM_MUL] = { apply_mul, true },
    [SYM_MAX] = { apply_min_max, true },
    [SYM_MIN] = { apply_min_max, true },
    [SYM_AND] = { apply_logic, true },
    [SYM_OR] = { apply_logic, true },
    [SYM_NOT] = { apply_not, false },
    [SYM_EQ] = { apply_relation, false },
    [SYM_NE] = { apply_relation, false },
    [SYM_LT] = { apply_relation, false },
    [SYM_LE] = { apply_relation, false },
    [SYM_GT] = { apply_relation, false },
    [SYM_GE] = { apply_relation, false },
    [SYM_POW] = { apply_power, false },
    [SYM_POW_BY_NATURAL] = { apply_power, false },
    [SYM_ABS] = { apply_abs, false },
    [SYM_FLOORDIV] = { apply_floordiv, false },
    [SYM_CLEANDIV] = { apply_floordiv, false },
    [SYM_MOD] = { apply_mod, false },
    [SYM_PYTHON_MOD] = { apply_python_mod, false },
    [SYM_MODULAR_INDEXING] = { apply_modular_indexing, false },
    [SYM_WHERE] = { apply_where, false },
    [SYM_PIECEWISE] = { apply_piecewise, false },
    [SYM_INT_TRUE_DIV] = { apply_true_div, false },
    [SYM_FLOAT_TRUE_DIV] = { apply_true_div, false },
    [SYM_TO_FLOAT] = { apply_nondecreasing, false },
    [SYM_TRUNC_TO_INT] = { apply_nondecreasing, false },
    [SYM_ROUND_TO_INT] = { apply_nondecreasing, false },
    [SYM_TRUNC_TO_FLOAT] = { apply_nondecreasing, false },
    [SYM_FLOOR_TO_INT] = { apply_floor, false },
    [SYM_CEIL_TO_INT] = { apply_floor, false },
    [SYM_ROUND_DECIMAL] = { apply_round_decimal, false },
    [SYM_FLOAT_POW] = { apply_unknown, false },
    [SYM_BITWISE_AND] = { apply_bitwise, false },
    [SYM_BITWISE_OR] = { apply_bitwise, false },
    [SYM_BITWISE_XOR] = { apply_bitwise, false },
    [SYM_SQRT] = { apply_positive_only, false },
    [SYM_LOG] = { apply_positive_only, false },
    [SYM_LOG2] = { apply_positive_only, false },
    [SYM_EXP] = { apply_nondecreasing, false },
    [SYM_COS] = { apply_unit, false },
    [SYM_SIN] = { apply_unit, false },
    [SYM_COSH] = { apply_cosh, false },
    [SYM_SINH] = { apply_unknown, false },
    [SYM_TAN] = { apply_unknown, false },
    [SYM_TANH] = { apply_unknown, false },
    [SYM_ASIN] = { apply_unknown, false },
    [SYM_ACOS] = { apply_unknown, false },
    [SYM_ATAN] = { apply_unknown, false },
    [SYM_ASINH] = { apply_unknown, false },
    [SYM_IDENTITY] = { apply_identity, false },
    [SYM_NON_OVERLAPPING] = { apply_unknown_int, false },
};

struct sym_range sym_range_apply(struct sym_pool *pool, enum sym_kind kind,
                                 const struct sym_range *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!sym_range_ok(args[i]))
            return SYM_RANGE_FAILED;
    if ((unsigned)kind >= SYM_KINDS || !rows[kind].apply || n == 0)
        return pool_fail(pool, "no range of %s",
                         (unsigned)kind < SYM_KINDS ? sym_classes[kind].name : "?"),
               SYM_RANGE_FAILED;
    if (!rows[kind].pairwise)
        return rows[kind].apply(pool, kind, args, n);
    struct sym_range result = args[0];
    for (uint32_t i = 1; i < n && sym_range_ok(result); i++)
        result = rows[kind].apply(pool, kind, (struct sym_range[]){ result, args[i] }, 2);
    return result;
}
