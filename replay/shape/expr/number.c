/* Arithmetic on numbers: integers of any length, rationals, doubles and the infinities.
 *
 * Sums and products of integers that fit 64 bits are computed directly; everything else goes
 * through BIGNUM. The infinities follow torch/utils/_sympy/numbers.py. */
#include <math.h>
#include <openssl/bn.h>

#include "replay/shape/expr/sym_pool.h"

static BIGNUM *to_bn(const struct sym_pool *pool, sym_id a)
{
    const struct sym_node *node = node_at(pool, a);
    BIGNUM *bn = BN_new();
    if (!bn)
        return NULL;
    if (node->kind == SYM_BIG) {
        const struct big_bytes *big = &pool->bigs.v[node->integer];
        if (!BN_bin2bn(big->p, (int)big->n, bn)) {
            BN_free(bn);
            return NULL;
        }
        BN_set_negative(bn, big->negative);
        return bn;
    }
    uint64_t magnitude = node->integer < 0 ? -(uint64_t)node->integer : (uint64_t)node->integer;
    if (!BN_set_word(bn, magnitude)) {
        BN_free(bn);
        return NULL;
    }
    BN_set_negative(bn, node->integer < 0);
    return bn;
}

static sym_id of_bn(struct sym_pool *pool, const BIGNUM *bn)
{
    int bits = BN_num_bits(bn);
    if (bits <= 63) {
        int64_t value = (int64_t)BN_get_word(bn);
        return sym_integer(pool, BN_is_negative(bn) ? -value : value);
    }
    if (bits > SYM_MAX_BITS)
        return pool_fail(pool, "an integer has more than %d bits", SYM_MAX_BITS);
    unsigned char bytes[SYM_MAX_BITS / 8];
    int n = BN_bn2bin(bn, bytes);
    if (bits == 64 && BN_is_negative(bn) && BN_get_word(bn) == UINT64_C(1) << 63)
        return sym_integer(pool, INT64_MIN);
    return pool_big(pool, bytes, (uint32_t)n, BN_is_negative(bn));
}

/* The operations of BIGNUM on two integers. */
enum big_op { BIG_ADD, BIG_MUL, BIG_FLOORDIV, BIG_MOD, BIG_GCD };

/* Python's // and %, which round down; BN_div rounds towards zero. */
static bool big_divide(BIGNUM *quotient, BIGNUM *rest, const BIGNUM *a, const BIGNUM *b,
                       BN_CTX *ctx)
{
    if (!BN_div(quotient, rest, a, b, ctx))
        return false;
    if (BN_is_zero(rest) || BN_is_negative(rest) == BN_is_negative(b))
        return true;
    return BN_sub_word(quotient, 1) && BN_add(rest, rest, b);
}

static bool big_apply(enum big_op op, BIGNUM *r, BIGNUM *spare, const BIGNUM *a, const BIGNUM *b,
                      BN_CTX *ctx)
{
    switch (op) {
    case BIG_ADD: return BN_add(r, a, b);
    case BIG_MUL: return BN_mul(r, a, b, ctx);
    case BIG_FLOORDIV: return big_divide(r, spare, a, b, ctx);
    case BIG_MOD: return big_divide(spare, r, a, b, ctx);
    case BIG_GCD: return BN_gcd(r, a, b, ctx);
    }
    return false;
}

static sym_id big_binary(struct sym_pool *pool, enum big_op op, sym_id a, sym_id b)
{
    BIGNUM *x = to_bn(pool, a), *y = to_bn(pool, b), *r = BN_new(), *spare = BN_new();
    BN_CTX *ctx = BN_CTX_new();
    sym_id result = SYM_NONE;
    if (x && y && r && spare && ctx && big_apply(op, r, spare, x, y, ctx))
        result = of_bn(pool, r);
    else
        pool_nomem(pool);
    BN_free(x);
    BN_free(y);
    BN_free(r);
    BN_free(spare);
    BN_CTX_free(ctx);
    return result;
}

sym_id sym_integer_text(struct sym_pool *pool, struct str digits)
{
    int64_t small;
    if (str_to_i64(digits, &small))
        return sym_integer(pool, small);
    char text[SYM_MAX_BITS / 3];
    if (digits.n >= sizeof text || digits.n == 0)
        return pool_fail(pool, "an integer has more than %d bits", SYM_MAX_BITS);
    memcpy(text, digits.p, digits.n);
    text[digits.n] = 0;
    BIGNUM *bn = NULL;
    int used = BN_dec2bn(&bn, text);
    sym_id result = used == 0                  ? pool_nomem(pool)
                    : (size_t)used != digits.n ? pool_fail(pool, "not an integer: %.40s", text)
                                               : of_bn(pool, bn);
    BN_free(bn);
    return result;
}

void number_print_integer(const struct sym_pool *pool, sym_id a, struct buf *out)
{
    if (kind_at(pool, a) == SYM_INTEGER) {
        buf_i64(out, node_at(pool, a)->integer);
        return;
    }
    BIGNUM *bn = to_bn(pool, a);
    char *text = bn ? BN_bn2dec(bn) : NULL;
    if (text)
        buf_puts(out, text);
    else
        out->failed = true;
    OPENSSL_free(text);
    BN_free(bn);
}

/* --- Integers --- */

static bool both_small(const struct sym_pool *pool, sym_id a, sym_id b)
{
    return kind_at(pool, a) == SYM_INTEGER && kind_at(pool, b) == SYM_INTEGER;
}

static sym_id integer_add(struct sym_pool *pool, sym_id a, sym_id b)
{
    int64_t r;
    if (both_small(pool, a, b) &&
        !__builtin_add_overflow(node_at(pool, a)->integer, node_at(pool, b)->integer, &r))
        return sym_integer(pool, r);
    return big_binary(pool, BIG_ADD, a, b);
}

static sym_id integer_mul(struct sym_pool *pool, sym_id a, sym_id b)
{
    int64_t r;
    if (both_small(pool, a, b) &&
        !__builtin_mul_overflow(node_at(pool, a)->integer, node_at(pool, b)->integer, &r))
        return sym_integer(pool, r);
    return big_binary(pool, BIG_MUL, a, b);
}

static bool small_division(const struct sym_pool *pool, sym_id a, sym_id b)
{
    return both_small(pool, a, b) && node_at(pool, a)->integer != INT64_MIN;
}

sym_id number_floordiv(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (!small_division(pool, a, b))
        return big_binary(pool, BIG_FLOORDIV, a, b);
    int64_t x = node_at(pool, a)->integer, y = node_at(pool, b)->integer;
    int64_t q = x / y;
    return sym_integer(pool, x % y != 0 && (x < 0) != (y < 0) ? q - 1 : q);
}

sym_id number_gcd(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (!small_division(pool, a, b) || node_at(pool, b)->integer == INT64_MIN) {
        sym_id r = big_binary(pool, BIG_GCD, a, b);
        return r == SYM_NONE ? r : number_abs(pool, r);
    }
    int64_t x = llabs(node_at(pool, a)->integer), y = llabs(node_at(pool, b)->integer);
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return sym_integer(pool, x);
}

/* --- Rationals --- */

sym_id number_numerator(const struct sym_pool *pool, sym_id a)
{
    return kind_at(pool, a) == SYM_RATIONAL ? arg_at(pool, a, 0) : a;
}

sym_id number_denominator(const struct sym_pool *pool, sym_id a)
{
    return kind_at(pool, a) == SYM_RATIONAL ? arg_at(pool, a, 1) : SYM_ID_ONE;
}

/* Returns p/q in lowest terms; q is not 0. */
static sym_id make_rational(struct sym_pool *pool, sym_id p, sym_id q)
{
    if (p == SYM_NONE || q == SYM_NONE)
        return SYM_NONE;
    if (number_sign(pool, q) < 0) {
        p = number_neg(pool, p);
        q = number_neg(pool, q);
    }
    sym_id gcd = p == SYM_NONE || q == SYM_NONE ? SYM_NONE : number_gcd(pool, p, q);
    if (gcd == SYM_NONE)
        return SYM_NONE;
    if (gcd != SYM_ID_ONE) {
        p = number_floordiv(pool, p, gcd);
        q = number_floordiv(pool, q, gcd);
    }
    return q == SYM_ID_ONE ? p : pool_rational(pool, p, q);
}

static sym_id integer_mul_checked(struct sym_pool *pool, sym_id a, sym_id b)
{
    return a == SYM_NONE || b == SYM_NONE ? SYM_NONE : integer_mul(pool, a, b);
}

/* --- Any number --- */

static double big_to_double(const struct big_bytes *big)
{
    double x = 0;
    for (uint32_t i = 0; i < big->n; i++)
        x = x * 256 + big->p[i];
    return big->negative ? -x : x;
}

double sym_to_double(const struct sym_pool *pool, sym_id e)
{
    switch (kind_at(pool, e)) {
    case SYM_INTEGER: return (double)node_at(pool, e)->integer;
    case SYM_BIG: return big_to_double(&pool->bigs.v[node_at(pool, e)->integer]);
    case SYM_RATIONAL:
        return sym_to_double(pool, arg_at(pool, e, 0)) / sym_to_double(pool, arg_at(pool, e, 1));
    case SYM_FLOAT: return node_at(pool, e)->real;
    case SYM_INT_OO:
    case SYM_OO: return INFINITY;
    case SYM_NEG_INT_OO:
    case SYM_NEG_OO: return -INFINITY;
    default: return NAN;
    }
}

bool sym_numbers_near(const struct sym_pool *pool, sym_id a, sym_id b)
{
    double x = sym_to_double(pool, a), y = sym_to_double(pool, b);
    double size = x < 0 ? -x : x, error = x < y ? y - x : x - y;
    return a == b || error <= 1e-14 * size;
}

int number_sign(const struct sym_pool *pool, sym_id a)
{
    uint32_t signs = facts_at(pool, a) & FACT_SIGNS;
    return signs == FACT_POSITIVE ? 1 : signs == FACT_NEGATIVE ? -1 : 0;
}

bool has_minus(const struct sym_pool *pool, sym_id e)
{
    sym_id first = factor_at(pool, e, 0);
    return is_number(pool, first) && number_sign(pool, first) < 0;
}

/* Returns the sum where at least one operand is infinite: oo prevails over int_oo, opposite
 * infinities give nan, and -int_oo prevails over a -oo on its right (NegativeIntInfinity.__add__).
 */
static sym_id infinite_add(sym_id a, sym_id b)
{
    if (!is_infinity(a))
        return b;
    if (!is_infinity(b) || a == b)
        return a;
    if (a == SYM_ID_MINUS_INT_OO && b == SYM_ID_MINUS_OO)
        return a;
    bool a_is_int = a <= SYM_ID_MINUS_INT_OO, b_is_int = b <= SYM_ID_MINUS_INT_OO;
    if (a_is_int != b_is_int)
        return a_is_int ? b : a;
    return SYM_ID_NAN;
}

static sym_id infinite_mul(const struct sym_pool *pool, sym_id a, sym_id b)
{
    int sign = number_sign(pool, a) * number_sign(pool, b);
    if (sign == 0)
        return SYM_ID_NAN;
    bool stays_integer = (!is_infinity(a) || a <= SYM_ID_MINUS_INT_OO) &&
                         (!is_infinity(b) || b <= SYM_ID_MINUS_INT_OO);
    if (stays_integer)
        return sign > 0 ? SYM_ID_INT_OO : SYM_ID_MINUS_INT_OO;
    return sign > 0 ? SYM_ID_OO : SYM_ID_MINUS_OO;
}

sym_id number_add(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    if (is_integer(pool, a) && is_integer(pool, b))
        return integer_add(pool, a, b);
    if (a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (is_infinity(a) || is_infinity(b))
        return infinite_add(a, b);
    if (kind_at(pool, a) == SYM_FLOAT || kind_at(pool, b) == SYM_FLOAT)
        return sym_float(pool, sym_to_double(pool, a) + sym_to_double(pool, b));
    sym_id qa = number_denominator(pool, a), qb = number_denominator(pool, b);
    sym_id left = integer_mul_checked(pool, number_numerator(pool, a), qb);
    sym_id right = integer_mul_checked(pool, number_numerator(pool, b), qa);
    if (left == SYM_NONE || right == SYM_NONE)
        return SYM_NONE;
    return make_rational(pool, integer_add(pool, left, right), integer_mul_checked(pool, qa, qb));
}

sym_id number_mul(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    if (is_integer(pool, a) && is_integer(pool, b))
        return integer_mul(pool, a, b);
    if (a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (is_infinity(a) || is_infinity(b))
        return infinite_mul(pool, a, b);
    if (a == SYM_ID_ZERO || b == SYM_ID_ZERO)
        return SYM_ID_ZERO; /* for 0 * 2.5, too */
    if (kind_at(pool, a) == SYM_FLOAT || kind_at(pool, b) == SYM_FLOAT)
        return sym_float(pool, sym_to_double(pool, a) * sym_to_double(pool, b));
    sym_id p = integer_mul_checked(pool, number_numerator(pool, a), number_numerator(pool, b));
    sym_id q = integer_mul_checked(pool, number_denominator(pool, a), number_denominator(pool, b));
    return make_rational(pool, p, q);
}

sym_id number_div(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    if (a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (is_infinity(a) || is_infinity(b)) {
        if (is_infinity(a) && is_infinity(b))
            return SYM_ID_NAN;
        if (is_infinity(b))
            return SYM_ID_ZERO;
        return number_sign(pool, a) * (number_sign(pool, b) < 0 ? -1 : 1) > 0 ? SYM_ID_OO
                                                                              : SYM_ID_MINUS_OO;
    }
    if (number_sign(pool, b) == 0)
        return number_sign(pool, a) == 0 ? SYM_ID_NAN : SYM_ID_ZOO;
    if (kind_at(pool, a) == SYM_FLOAT || kind_at(pool, b) == SYM_FLOAT)
        return sym_float(pool, sym_to_double(pool, a) / sym_to_double(pool, b));
    sym_id p = integer_mul_checked(pool, number_numerator(pool, a), number_denominator(pool, b));
    sym_id q = integer_mul_checked(pool, number_denominator(pool, a), number_numerator(pool, b));
    return make_rational(pool, p, q);
}

sym_id number_neg(struct sym_pool *pool, sym_id a)
{
    return a == SYM_NONE ? SYM_NONE : number_mul(pool, a, SYM_ID_MINUS_ONE);
}

sym_id number_abs(struct sym_pool *pool, sym_id a)
{
    return a != SYM_NONE && number_sign(pool, a) < 0 ? number_neg(pool, a) : a;
}

sym_id number_pow(struct sym_pool *pool, sym_id a, int64_t exponent)
{
    if (exponent < 0) {
        sym_id below = number_pow(pool, a, exponent == INT64_MIN ? INT64_MAX : -exponent);
        return number_div(pool, SYM_ID_ONE, below);
    }
    if (kind_at(pool, a) == SYM_FLOAT)
        return sym_float(pool, pow(node_at(pool, a)->real, (double)exponent));
    if (exponent > 0 && (a == SYM_ID_ZERO || a == SYM_ID_ONE))
        return a;
    sym_id result = SYM_ID_ONE;
    for (; exponent && result != SYM_NONE; exponent >>= 1) {
        if (exponent & 1)
            result = number_mul(pool, result, a);
        if (exponent > 1)
            a = number_mul(pool, a, a);
        if (a == SYM_NONE)
            return SYM_NONE;
    }
    return result;
}

sym_id number_floor(struct sym_pool *pool, sym_id a)
{
    if (kind_at(pool, a) == SYM_RATIONAL)
        return number_floordiv(pool, arg_at(pool, a, 0), arg_at(pool, a, 1));
    if (kind_at(pool, a) == SYM_FLOAT)
        return number_of_double(pool, floor(node_at(pool, a)->real));
    return a;
}

sym_id number_mod(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (is_integer(pool, a) && is_integer(pool, b)) {
        if (!small_division(pool, a, b))
            return big_binary(pool, BIG_MOD, a, b);
        int64_t y = node_at(pool, b)->integer;
        int64_t r = node_at(pool, a)->integer % y;
        return sym_integer(pool, r != 0 && (r < 0) != (y < 0) ? r + y : r);
    }
    if (is_infinity(a) || is_infinity(b) || a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_ID_NAN;
    sym_id quotient = number_div(pool, a, b);
    sym_id whole = quotient == SYM_NONE ? SYM_NONE : number_floor(pool, quotient);
    return number_add(pool, a, number_neg(pool, number_mul(pool, b, whole)));
}

sym_id number_of_double(struct sym_pool *pool, double x)
{
    if (x != x)
        return pool_fail(pool, "ValueError: cannot convert float NaN to integer");
    if (x - x != 0)
        return pool_fail(pool, "OverflowError: cannot convert float infinity to integer");
    if (x > -9.2e18 && x < 9.2e18)
        return sym_integer(pool, (int64_t)x);
    char digits[400];
    int n = snprintf(digits, sizeof digits, "%.0f", trunc(x));
    return sym_integer_text(pool, (struct str){ digits, (size_t)n });
}

int sym_number_compare(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == b)
        return 0;
    if (both_small(pool, a, b)) {
        int64_t x = node_at(pool, a)->integer, y = node_at(pool, b)->integer;
        return (x > y) - (x < y);
    }
    double x = sym_to_double(pool, a), y = sym_to_double(pool, b);
    if (is_infinity(a) && is_infinity(b) && x == y) /* int_oo compares less than oo */
        return (a == SYM_ID_OO) - (b == SYM_ID_OO) - (a == SYM_ID_MINUS_OO) +
               (b == SYM_ID_MINUS_OO);
    if (x - y != x - y || fabs(x - y) > 1e-14 * (fabs(x) + fabs(y)))
        return (x > y) - (x < y); /* the distance exceeds any rounding error */
    if (kind_at(pool, a) == SYM_FLOAT || kind_at(pool, b) == SYM_FLOAT)
        return (x > y) - (x < y);
    sym_id difference = number_add(pool, a, number_neg(pool, b));
    return difference == SYM_NONE ? 0 : number_sign(pool, difference);
}

sym_id number_bitwise(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b)
{
    if (!both_small(pool, a, b))
        return pool_fail(pool, "bitwise operation on integers beyond 64 bits");
    int64_t x = node_at(pool, a)->integer, y = node_at(pool, b)->integer;
    return sym_integer(pool, kind == SYM_BITWISE_AND  ? (x & y)
                             : kind == SYM_BITWISE_OR ? (x | y)
                                                      : (x ^ y));
}
