/* SymNode arithmetic for rules. Numbers, the most frequent operands, never reach the environment.
 */
#include "replay/ops/dispatch/context.h"

/* Returns whether both are integers that fit 64 bits. */
static bool both_integers(const struct call *c, sym_id a, sym_id b, int64_t *x, int64_t *y)
{
    return sym_to_i64(c->pool, a, x) && sym_to_i64(c->pool, b, y);
}

sym_id num(struct call *c, int64_t value)
{
    return sym_integer(c->pool, value);
}

/* Returns the result of a method. A SYM_NONE among the operands was reported before; for one that
 * the method returns, the environment's exception becomes the call's refusal. */
static sym_id apply_method(struct call *c, enum node_method method, sym_id a, sym_id b)
{
    if (c->failed || a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    sym_id result = node_int(c->env, method, a, b);
    if (result == SYM_NONE)
        guard_bool(c, SYM_NONE);
    return result;
}

sym_id add(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y, z;
    if (both_integers(c, a, b, &x, &y) && !__builtin_add_overflow(x, y, &z))
        return num(c, z);
    return apply_method(c, NODE_METHOD_ADD, a, b);
}

sym_id sub(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y, z;
    if (both_integers(c, a, b, &x, &y) && !__builtin_sub_overflow(x, y, &z))
        return num(c, z);
    return apply_method(c, NODE_METHOD_SUB, a, b);
}

sym_id mul(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y, z;
    if (both_integers(c, a, b, &x, &y) && !__builtin_mul_overflow(x, y, &z))
        return num(c, z);
    return apply_method(c, NODE_METHOD_MUL, a, b);
}

/* Python's floor division, which rounds down; the remainder has the divisor's sign. */
sym_id floordiv(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y;
    if (both_integers(c, a, b, &x, &y) && y != 0 && !(x == INT64_MIN && y == -1))
        return num(c, x / y - (x % y != 0 && (x < 0) != (y < 0)));
    if (sym_to_i64(c->pool, b, &y) && y == 0)
        refuse(c, "ZeroDivisionError", "division by zero");
    return apply_method(c, NODE_METHOD_INT_FLOORDIV, a, b);
}

sym_id mod(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y;
    if (both_integers(c, a, b, &x, &y) && y != 0 && y != -1)
        return num(c, x % y + (x % y != 0 && (x < 0) != (y < 0) ? y : 0));
    if (sym_to_i64(c->pool, b, &y) && y == 0)
        refuse(c, "ZeroDivisionError", "integer modulo by zero");
    return apply_method(c, NODE_METHOD_MOD, a, b);
}

sym_id sym_max2(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y;
    if (both_integers(c, a, b, &x, &y))
        return x > y ? a : b;
    return apply_method(c, NODE_METHOD_MAX, a, b);
}

sym_id sym_min2(struct call *c, sym_id a, sym_id b)
{
    int64_t x, y;
    if (both_integers(c, a, b, &x, &y))
        return x < y ? a : b;
    return apply_method(c, NODE_METHOD_MIN, a, b);
}

#define COMPARISON(name, method, operation)                 \
    sym_id name(struct call *c, sym_id a, sym_id b)         \
    {                                                       \
        int64_t x, y;                                       \
        if (both_integers(c, a, b, &x, &y))                 \
            return sym_boolean(x operation y);              \
        return apply_method(c, NODE_METHOD_##method, a, b); \
    }
COMPARISON(eq, EQ, ==)
COMPARISON(ne, NE, !=)
COMPARISON(lt, LT, <)
COMPARISON(le, LE, <=)
COMPARISON(gt, GT, >)
COMPARISON(ge, GE, >=)
#undef COMPARISON

/* --- Comparisons as in Python --- */

/* A SymInt that a guard made a number is a plain int when C++ returns it (SymInt::maybe_as_int). */
static bool is_plain(const struct call *c, sym_id e)
{
    return is_number(c, e) || is_number(c, env_replace(c->env, e));
}

static bool turns_round(const struct call *c, sym_id a, sym_id b)
{
    return !is_number(c, b) && is_plain(c, a) && !is_plain(c, b);
}

sym_id py_eq(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? eq(c, b, a) : eq(c, a, b);
}

sym_id py_ne(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? ne(c, b, a) : ne(c, a, b);
}

sym_id py_lt(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? gt(c, b, a) : lt(c, a, b);
}

sym_id py_le(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? ge(c, b, a) : le(c, a, b);
}

sym_id py_gt(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? lt(c, b, a) : gt(c, a, b);
}

sym_id py_min(struct call *c, sym_id a, sym_id b)
{
    if (exporting(c) && !(is_number(c, a) && is_number(c, b)))
        return sym_min2(c, a, b);
    return guard_bool(c, py_lt(c, b, a)) ? b : a;
}

sym_id py_ge(struct call *c, sym_id a, sym_id b)
{
    return turns_round(c, a, b) ? le(c, b, a) : ge(c, a, b);
}

sym_id eq_int(struct call *c, sym_id a, int64_t b)
{
    return eq(c, a, num(c, b));
}

bool is_number(const struct call *c, sym_id e)
{
    return e != SYM_NONE && sym_is_number(c->pool, e);
}

bool is_int(const struct call *c, sym_id e, int64_t value)
{
    int64_t n;
    return e != SYM_NONE && sym_to_i64(c->pool, e, &n) && n == value;
}

sym_id product(struct call *c, const sym_id *sizes, uint32_t n)
{
    sym_id result = SYM_ID_ONE;
    for (uint32_t i = 0; i < n; i++)
        result = mul(c, result, sizes[i]);
    return result;
}

sym_id numel(struct call *c, struct tensor x)
{
    return x.meta ? product(c, x.meta->size, x.meta->ndim) : SYM_ID_ZERO;
}

uint32_t wrap_dim(struct call *c, int64_t dim, uint32_t ndim)
{
    int64_t n = ndim ? ndim : 1;
    if (dim < -n || dim >= n) {
        refuse(c, "IndexError",
               "Dimension out of range (expected to be in range of [%lld, %lld], but got %lld)",
               (long long)-n, (long long)n - 1, (long long)dim);
        return 0;
    }
    return (uint32_t)(dim < 0 ? dim + n : dim);
}

static enum number_type type_of(struct value x)
{
    return x.kind == VALUE_FLOAT ? NUMBER_FLOAT : NUMBER_INT;
}

static sym_id as_float(struct call *c, struct value x)
{
    enum number_type type = type_of(x);
    if (type == NUMBER_FLOAT || c->failed)
        return x.u.sym;
    if (is_number(c, x.u.sym))
        return sym_float(c->pool, sym_to_double(c->pool, x.u.sym));
    return node_method(c->env, NODE_METHOD_SYM_FLOAT, &x.u.sym, &type, 1, &type);
}

struct value promoted_method(struct call *c, enum node_method method, struct value a,
                             struct value b)
{
    enum number_type types[] = { type_of(a), type_of(b) }, type = NUMBER_INT;
    sym_id args[] = { a.u.sym, b.u.sym };
    if (types[0] != types[1]) {
        args[0] = as_float(c, a);
        args[1] = as_float(c, b);
        types[0] = types[1] = NUMBER_FLOAT;
    }
    sym_id e = SYM_NONE;
    if (!c->failed && args[0] != SYM_NONE && args[1] != SYM_NONE)
        e = node_method(c->env, method, args, types, 2, &type);
    if (e == SYM_NONE)
        guard_bool(c, SYM_NONE); /* it raised */
    return value_sym(type == NUMBER_FLOAT  ? VALUE_FLOAT
                     : type == NUMBER_BOOL ? VALUE_BOOL
                                           : VALUE_INT,
                     e);
}
