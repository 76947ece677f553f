/* The value of an expression at a point, without making expressions. */
#include <math.h>

#include "replay/shape/expr/solve.h"
#include "replay/shape/expr/sym_pool.h"

enum { MAX_WEIGHT = 1 << 12 };                  /* subexpressions count as often as they occur */
static const double EXACT = 9007199254740992.0; /* doubles below it hold every integer: 2**53 */

struct point {
    const struct sym_pool *pool;
    const struct sym_value *values;
    uint32_t n;
};

static bool value_at(const struct point *point, sym_id e, struct sym_number *ret);

static struct sym_number whole(int64_t value)
{
    return (struct sym_number){ .whole = true, .integer = value };
}

/* Converts to a double, exactly. */
static bool as_real(struct sym_number a, double *ret)
{
    *ret = a.whole ? (double)a.integer : a.real;
    return !a.whole || fabs(*ret) < EXACT;
}

static bool put_real(double value, struct sym_number *ret)
{
    *ret = (struct sym_number){ .real = value };
    return value - value == 0;
}

/* Sets *ret to less than 0, 0 or more. Floats that are almost equal may differ by rounding alone.
 */
static bool compare(struct sym_number a, struct sym_number b, int *ret)
{
    double x, y;
    if (a.whole && b.whole) {
        *ret = (a.integer > b.integer) - (a.integer < b.integer);
        return true;
    }
    if (!as_real(a, &x) || !as_real(b, &y))
        return false;
    *ret = (x > y) - (x < y);
    return *ret == 0 || fabs(x - y) > 1e-9 * fmax(fabs(x), fabs(y));
}

static bool relation_value(enum sym_kind kind, struct sym_number a, struct sym_number b,
                           struct sym_number *ret)
{
    int order;
    if (!compare(a, b, &order))
        return false;
    switch (kind) {
    case SYM_EQ: *ret = whole(order == 0); break;
    case SYM_NE: *ret = whole(order != 0); break;
    case SYM_GT: *ret = whole(order > 0); break;
    case SYM_LT: *ret = whole(order < 0); break;
    case SYM_GE: *ret = whole(order >= 0); break;
    default: *ret = whole(order <= 0); break;
    }
    return true;
}

static bool power_value(int64_t base, int64_t exponent, int64_t *ret)
{
    *ret = 1;
    for (int64_t i = 0; i < exponent; i++)
        if (__builtin_mul_overflow(*ret, base, ret))
            return false;
    return true;
}

/* b is positive. A quotient that is exact by definition has no value where it is not. */
static bool quotient_value(enum sym_kind kind, int64_t a, int64_t b, struct sym_number *ret)
{
    int64_t rest = a % b;
    rest += rest < 0 ? b : 0;
    if ((kind == SYM_CLEANDIV && rest) || (kind == SYM_MOD && a < 0))
        return false;
    *ret = whole(kind == SYM_MOD || kind == SYM_PYTHON_MOD ? rest : a / b - (a % b < 0));
    return true;
}

static bool true_quotient(struct sym_number a, struct sym_number b, struct sym_number *ret)
{
    double x, y;
    return as_real(a, &x) && as_real(b, &y) && y != 0 && put_real(x / y, ret);
}

/* Divisors that may be negative or 0 have rules of their own. */
static bool binary_value(const struct point *point, sym_id e, enum sym_kind kind,
                         struct sym_number *ret)
{
    struct sym_number a, b;
    sym_id left = arg_at(point->pool, e, 0), right = arg_at(point->pool, e, 1);
    if ((facts_at(point->pool, left) ^ facts_at(point->pool, right)) & FACT_BOOLEAN ||
        !value_at(point, left, &a) || !value_at(point, right, &b))
        return false;
    if (is_relational(kind))
        return relation_value(kind, a, b, ret);
    if (kind == SYM_INT_TRUE_DIV || kind == SYM_FLOAT_TRUE_DIV)
        return true_quotient(a, b, ret);
    if (!a.whole || !b.whole || b.integer <= 0)
        return false;
    if (kind != SYM_POW)
        return known_positive(facts_at(point->pool, right)) &&
               quotient_value(kind, a.integer, b.integer, ret);
    *ret = whole(0);
    return is_integer(point->pool, right) && b.integer < 64 &&
           power_value(a.integer, b.integer, &ret->integer);
}

static bool combine_whole(enum sym_kind kind, int64_t a, int64_t b, struct sym_number *ret)
{
    int64_t value;
    if (kind == SYM_ADD ? __builtin_add_overflow(a, b, &value)
                        : __builtin_mul_overflow(a, b, &value))
        return false;
    *ret = whole(value);
    return true;
}

static bool combine(enum sym_kind kind, struct sym_number a, struct sym_number b,
                    struct sym_number *ret)
{
    double x, y;
    int order;
    if (kind != SYM_ADD && kind != SYM_MUL) {
        bool least = kind == SYM_AND || kind == SYM_MIN;
        if (!compare(a, b, &order))
            return false;
        *ret = (order < 0) == least ? a : b;
        return true;
    }
    if (a.whole && b.whole)
        return combine_whole(kind, a.integer, b.integer, ret);
    return as_real(a, &x) && as_real(b, &y) && put_real(kind == SYM_ADD ? x + y : x * y, ret);
}

static bool value_of_all(const struct point *point, sym_id e, enum sym_kind kind,
                         struct sym_number *ret)
{
    uint32_t n = node_at(point->pool, e)->n;
    if (n == 0 || !value_at(point, arg_at(point->pool, e, 0), ret))
        return false;
    for (uint32_t i = 1; i < n; i++) {
        struct sym_number value;
        if (!value_at(point, arg_at(point->pool, e, i), &value) || !combine(kind, *ret, value, ret))
            return false;
    }
    return true;
}

static bool unary_value(const struct point *point, sym_id e, enum sym_kind kind,
                        struct sym_number *ret)
{
    struct sym_number a;
    double x;
    if (!value_at(point, arg_at(point->pool, e, 0), &a) || !as_real(a, &x))
        return false;
    if (kind == SYM_TO_FLOAT)
        return put_real(x, ret);
    if (a.whole) {
        *ret = kind == SYM_NOT ? whole(!a.integer) : a;
        return true;
    }
    x = kind == SYM_TRUNC_TO_INT ? trunc(x) : kind == SYM_FLOOR_TO_INT ? floor(x) : ceil(x);
    if (fabs(x) >= EXACT)
        return false;
    *ret = whole((int64_t)x);
    return true;
}

static bool symbol_value(const struct point *point, sym_id symbol, struct sym_number *ret)
{
    for (uint32_t i = 0; i < point->n; i++)
        if (point->values[i].symbol == symbol) {
            *ret = point->values[i].value;
            return true;
        }
    return false;
}

static bool value_at(const struct point *point, sym_id e, struct sym_number *ret)
{
    enum sym_kind kind = kind_at(point->pool, e);
    switch (kind) {
    case SYM_INTEGER: *ret = whole(node_at(point->pool, e)->integer); return true;
    case SYM_FLOAT: return put_real(node_at(point->pool, e)->real, ret);
    case SYM_FALSE:
    case SYM_TRUE: *ret = whole(kind == SYM_TRUE); return true;
    case SYM_SYMBOL: return symbol_value(point, e, ret);
    case SYM_ADD:
    case SYM_MUL:
    case SYM_AND:
    case SYM_OR:
    case SYM_MAX:
    case SYM_MIN: return value_of_all(point, e, kind, ret);
    case SYM_EQ:
    case SYM_NE:
    case SYM_GT:
    case SYM_LT:
    case SYM_GE:
    case SYM_LE:
    case SYM_POW:
    case SYM_FLOORDIV:
    case SYM_CLEANDIV:
    case SYM_MOD:
    case SYM_PYTHON_MOD:
    case SYM_INT_TRUE_DIV:
    case SYM_FLOAT_TRUE_DIV: return binary_value(point, e, kind, ret);
    case SYM_NOT:
    case SYM_TO_FLOAT:
    case SYM_TRUNC_TO_INT:
    case SYM_FLOOR_TO_INT:
    case SYM_CEIL_TO_INT: return unary_value(point, e, kind, ret);
    default: return false;
    }
}

bool sym_value_at(const struct sym_pool *pool, sym_id e, const struct sym_value *values, uint32_t n,
                  struct sym_number *ret)
{
    struct point point = { pool, values, n };
    return e != SYM_NONE && node_at(pool, e)->weight <= MAX_WEIGHT && value_at(&point, e, ret);
}
