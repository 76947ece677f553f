/* FloorDiv, CleanDiv, Mod, PythonMod, ModularIndexing: torch/utils/_sympy/functions.py. */
#include <math.h>

#include "replay/shape/expr/sym_pool.h"

static sym_id divide_infinite(struct sym_pool *pool, sym_id a, sym_id b)
{
    double r = sym_to_double(pool, a) / sym_to_double(pool, b);
    if (r - r != 0)
        return r > 0 ? SYM_ID_INT_OO : r < 0 ? SYM_ID_MINUS_INT_OO : SYM_ID_NAN;
    return number_of_double(pool, floor(r));
}

/* Returns whether every rational in e has denominator 1; this prevents wrong answers of
 * is_integer. */
static bool only_whole_rationals(struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) == SYM_RATIONAL)
        return false;
    if (pool_seen(pool, e))
        return true;
    for (uint32_t i = 0; i < sym_n_args(pool, e); i++)
        if (!only_whole_rationals(pool, arg_at(pool, e, i)))
            return false;
    return true;
}

static bool divides_evenly(struct sym_pool *pool, sym_id quotient)
{
    if (!(facts_at(pool, quotient) & FACT_INTEGER))
        return false;
    return kind_at(pool, quotient) != SYM_MUL ||
           (pool_walk(pool) && only_whole_rationals(pool, quotient));
}

/* (x + y)//b is x/b + y//b when x/b is whole: sets *result to that, or to SYM_NONE when no term is
 * divisible. */
static bool split_whole_terms(struct sym_pool *pool, sym_id a, sym_id b, sym_id *result)
{
    struct list whole, rest;
    list_init(&whole, pool);
    list_init(&rest, pool);
    bool sum = kind_at(pool, a) == SYM_ADD, ok = true;
    uint32_t n = sum ? node_at(pool, a)->n : 1;
    for (uint32_t i = 0; ok && i < n; i++) {
        sym_id term = sum ? arg_at(pool, a, i) : a, quotient = sym_div(pool, term, b);
        bool even = quotient != SYM_NONE && divides_evenly(pool, quotient);
        ok = quotient != SYM_NONE && list_push(even ? &whole : &rest, even ? quotient : term);
    }
    *result = SYM_NONE;
    if (ok && whole.n) {
        sym_id left = sym_floordiv(pool, sym_make(pool, SYM_ADD, rest.v, rest.n), b);
        *result = list_push(&whole, left) ? sym_make(pool, SYM_ADD, whole.v, whole.n) : SYM_NONE;
        ok = *result != SYM_NONE;
    }
    list_release(&whole);
    list_release(&rest);
    return ok;
}

/* Returns a//b after dividing both by their common divisor. */
static sym_id cancel(struct sym_pool *pool, sym_id a, sym_id b, sym_id gcd)
{
    sym_id left = divide_simplify(pool, a, gcd), right = divide_simplify(pool, b, gcd);
    return sym_floordiv(pool, left, right);
}

static sym_id floordiv_simple(struct sym_pool *pool, sym_id a, sym_id b, bool *done)
{
    uint32_t fa = facts_at(pool, a), fb = facts_at(pool, b);
    *done = true;
    if (known_zero(fb))
        return pool_fail(pool, "ZeroDivisionError: division by zero");
    if ((is_infinity(a) && is_infinity(b)) || a == SYM_ID_NAN || b == SYM_ID_NAN)
        return SYM_ID_NAN;
    if (known_zero(fa))
        return SYM_ID_ZERO;
    bool number = is_number(pool, b);
    if ((fa & FACT_INTEGER) && number && sym_number_compare(pool, b, SYM_ID_ONE) == 0)
        return a;
    if ((fa & FACT_INTEGER) && number && sym_number_compare(pool, b, SYM_ID_MINUS_ONE) == 0)
        return sym_neg(pool, a);
    if (a == b)
        return SYM_ID_ONE;
    if (is_number(pool, a) && number && (is_infinity(a) || is_infinity(b)))
        return divide_infinite(pool, a, b);
    if (is_integer(pool, a) && is_integer(pool, b))
        return number_floordiv(pool, a, b);
    enum sym_kind inner = kind_at(pool, a);
    if (inner == SYM_FLOORDIV || inner == SYM_CLEANDIV)
        return sym_floordiv(pool, arg_at(pool, a, 0), sym_mul(pool, arg_at(pool, a, 1), b));
    *done = false;
    return SYM_NONE;
}

sym_id build_floordiv(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id a = args[0], b = args[1], taken;
    bool done;
    sym_id result = floordiv_simple(pool, a, b, &done);
    if (done)
        return result;
    if (is_integer(pool, b)) {
        if (!split_whole_terms(pool, a, b, &taken))
            return SYM_NONE;
        if (taken != SYM_NONE)
            return taken;
    }
    sym_id gcd = divide_simple_gcd(pool, a, b);
    if (gcd == SYM_ID_ONE && kind_at(pool, b) == SYM_ADD)
        gcd = divide_gcd(pool, a, b);
    if (gcd == SYM_NONE)
        return SYM_NONE;
    return gcd == SYM_ID_ONE ? pool_node2(pool, kind, a, b) : cancel(pool, a, b, gcd);
}

sym_id sym_ceildiv(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    sym_id gcd = divide_gcd(pool, a, b);
    if (gcd == b)
        return sym_binary(pool, SYM_CLEANDIV, a, b);
    return sym_floordiv(pool, sym_add(pool, a, sym_sub(pool, b, SYM_ID_ONE)), b);
}

/* --- Remainders --- */

/* Returns whether sympy.Mod(p, q), which PythonMod asks last, is 0: it divides both by their gcd.
 */
static bool is_multiple(struct sym_pool *pool, sym_id p, sym_id q)
{
    sym_id gcd = divide_gcd(pool, p, q), whole = sym_expand(pool, q);
    return gcd != SYM_NONE && (gcd == whole || gcd == sym_expand(pool, sym_neg(pool, whole)));
}

sym_id build_mod(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    sym_id p = args[0], q = args[1];
    if (known_zero(facts_at(pool, q)))
        return pool_fail(pool, "ZeroDivisionError: Modulo by zero");
    if (p == SYM_ID_ZERO || p == q || q == SYM_ID_ONE || p == sym_neg(pool, q))
        return SYM_ID_ZERO;
    if (is_number(pool, p) && is_number(pool, q)) {
        if (kind == SYM_MOD && (number_sign(pool, p) < 0 || number_sign(pool, q) <= 0))
            return pool_fail(pool, "AssertionError: Mod of a negative number");
        return number_mod(pool, p, q);
    }
    if (q == SYM_ID_TWO && known_even(facts_at(pool, p)))
        return SYM_ID_ZERO;
    if (q == SYM_ID_TWO && known_odd(facts_at(pool, p)))
        return SYM_ID_ONE;
    sym_id ratio = sym_div(pool, p, q);
    if (ratio == SYM_NONE)
        return SYM_NONE;
    if (facts_at(pool, ratio) & FACT_INTEGER)
        return SYM_ID_ZERO;
    if (known_positive(facts_at(pool, ratio)) && sym_lt(pool, p, q) == SYM_ID_TRUE)
        return p;
    if (kind == SYM_PYTHON_MOD && is_multiple(pool, p, q))
        return SYM_ID_ZERO;
    return pool_node2(pool, kind, p, q);
}

/* In (a//b) % c, terms of a that b*c divides add nothing as long as no other term is negative. */
static sym_id drop_multiples(struct sym_pool *pool, const sym_id *args, bool *dropped)
{
    struct list kept;
    list_init(&kept, pool);
    sym_id whole = sym_mul(pool, args[2], args[1]), result = SYM_NONE;
    bool ok = whole != SYM_NONE, negative = false;
    for (uint32_t i = 0; ok && !negative && i < node_at(pool, args[0])->n; i++) {
        sym_id term = arg_at(pool, args[0], i), rest;
        sym_id coefficient = split_coefficient(pool, term, &rest);
        sym_id gcd = coefficient == SYM_NONE ? SYM_NONE : divide_gcd(pool, term, whole);
        ok = gcd != SYM_NONE;
        if (!ok || gcd == whole)
            continue;
        negative = is_integer(pool, coefficient) && number_sign(pool, coefficient) < 0;
        ok = list_push(&kept, term);
    }
    *dropped = ok && !negative && kept.n != node_at(pool, args[0])->n;
    if (*dropped)
        result =
            sym_make(pool, SYM_MODULAR_INDEXING,
                     (sym_id[]){ sym_make(pool, SYM_ADD, kept.v, kept.n), args[1], args[2] }, 3);
    list_release(&kept);
    return result;
}

enum { WIDE_SUM = 20 }; /* _MAX_ADD_TERMS_FOR_POLY_GCD */

sym_id build_modular_indexing(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                              uint32_t n)
{
    sym_id a = args[0], b = args[1], c = args[2];
    if (a == SYM_ID_ZERO || c == SYM_ID_ONE)
        return SYM_ID_ZERO;
    if (is_integer(pool, a) && is_integer(pool, b) && is_integer(pool, c)) {
        if (b == SYM_ID_ZERO || c == SYM_ID_ZERO)
            return pool_fail(pool, "ZeroDivisionError: division by zero");
        sym_id quotient = number_floordiv(pool, a, b);
        return quotient == SYM_NONE ? SYM_NONE : number_mod(pool, quotient, c);
    }
    if (b != SYM_ID_ONE) {
        sym_id gcd = divide_gcd(pool, a, b);
        if (gcd == SYM_NONE)
            return SYM_NONE;
        if (gcd != SYM_ID_ONE)
            return sym_make(
                pool, kind,
                (sym_id[]){ divide_simplify(pool, a, gcd), divide_simplify(pool, b, gcd), c }, 3);
    }
    if (kind_at(pool, a) == SYM_ADD && node_at(pool, a)->n <= WIDE_SUM) {
        bool dropped;
        sym_id result = drop_multiples(pool, args, &dropped);
        if (dropped || pool_failed(pool))
            return result;
    }
    if (kind_at(pool, a) == SYM_FLOORDIV || kind_at(pool, a) == SYM_CLEANDIV)
        return sym_make(pool, kind,
                        (sym_id[]){ arg_at(pool, a, 0), sym_mul(pool, arg_at(pool, a, 1), b), c },
                        3);
    return pool_node(pool, kind, args, n);
}
