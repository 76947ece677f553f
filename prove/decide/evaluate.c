/* The value of a row at a point, as Python computes it. */
#include <math.h>

#include "prove/decide/formula.h"
#include "replay/shape/expr/sym_pool.h"

static const double EXACT = 9007199254740992.0; /* doubles below it hold every integer: 2**53 */

static struct decide_result whole(int64_t value)
{
    return (struct decide_result){ .kind = DECIDE_INTEGER, .integer = value };
}

static struct decide_result no_value(void)
{
    return (struct decide_result){ .kind = DECIDE_NO_VALUE };
}

static struct decide_result raises(void)
{
    return (struct decide_result){ .kind = DECIDE_RAISES };
}

static struct decide_result real(double value)
{
    if (!isfinite(value))
        return no_value();
    return (struct decide_result){ .kind = DECIDE_FLOAT, .real = value };
}

static bool as_real(struct decide_result a, double *ret)
{
    *ret = a.kind == DECIDE_INTEGER ? (double)a.integer : a.real;
    return a.kind == DECIDE_FLOAT || (a.kind == DECIDE_INTEGER && fabs(*ret) < EXACT);
}

/* Returns whether a value is a number; else *ret is what an operation on it gives. */
static bool is_value(struct decide_result a, struct decide_result *ret)
{
    if (a.kind == DECIDE_INTEGER || a.kind == DECIDE_FLOAT)
        return true;
    *ret = a;
    return false;
}

/* Floats that are almost equal may differ by rounding alone. */
static bool compare(struct decide_result a, struct decide_result b, int *ret)
{
    double x, y;
    if (a.kind == DECIDE_INTEGER && b.kind == DECIDE_INTEGER) {
        *ret = (a.integer > b.integer) - (a.integer < b.integer);
        return true;
    }
    if (!as_real(a, &x) || !as_real(b, &y))
        return false;
    *ret = (x > y) - (x < y);
    return *ret == 0 || fabs(x - y) > 1e-9 * fmax(fabs(x), fabs(y));
}

static struct decide_result relation(enum sym_kind kind, struct decide_result a,
                                     struct decide_result b)
{
    int order;
    if (!compare(a, b, &order))
        return no_value();
    switch (kind) {
    case SYM_EQ: return whole(order == 0);
    case SYM_NE: return whole(order != 0);
    case SYM_LT: return whole(order < 0);
    default: return whole(order <= 0);
    }
}

static struct decide_result divided(enum sym_kind kind, struct decide_result a,
                                    struct decide_result b)
{
    if (a.kind != DECIDE_INTEGER || b.kind != DECIDE_INTEGER)
        return no_value();
    if (b.integer == 0)
        return raises();
    if (a.integer == INT64_MIN)
        return no_value();
    int64_t quotient = a.integer / b.integer, rest = a.integer % b.integer;
    if (rest && (rest < 0) != (b.integer < 0)) {
        quotient--;
        rest += b.integer;
    }
    return whole(kind == SYM_MOD ? rest : quotient);
}

static struct decide_result true_quotient(struct decide_result a, struct decide_result b)
{
    double x, y;
    if (!as_real(a, &x) || !as_real(b, &y))
        return no_value();
    return y == 0 ? raises() : real(x / y);
}

static struct decide_result power(struct decide_result a, struct decide_result b)
{
    double x, y;
    if (a.kind != DECIDE_INTEGER || b.kind != DECIDE_INTEGER || b.integer < 0)
        return as_real(a, &x) && as_real(b, &y) ? real(pow(x, y)) : no_value();
    int64_t value = 1;
    if (a.integer == 0 || a.integer == 1)
        return whole(a.integer == 1 || b.integer == 0);
    for (int64_t i = 0; i < b.integer; i++)
        if (i >= 64 || __builtin_mul_overflow(value, a.integer, &value))
            return no_value();
    return whole(value);
}

static struct decide_result sum_or_product(enum sym_kind kind, struct decide_result a,
                                           struct decide_result b)
{
    double x, y;
    int64_t value;
    if (a.kind == DECIDE_INTEGER && b.kind == DECIDE_INTEGER)
        return (kind == SYM_ADD ? __builtin_add_overflow(a.integer, b.integer, &value)
                                : __builtin_mul_overflow(a.integer, b.integer, &value))
                   ? no_value()
                   : whole(value);
    if (!as_real(a, &x) || !as_real(b, &y))
        return no_value();
    return real(kind == SYM_ADD ? x + y : x * y);
}

static struct decide_result binary(enum sym_kind kind, struct decide_result a,
                                   struct decide_result b)
{
    int order;
    struct decide_result ret;
    if (!is_value(a, &ret) || !is_value(b, &ret))
        return ret;
    switch (kind) {
    case SYM_ADD:
    case SYM_MUL: return sum_or_product(kind, a, b);
    case SYM_MAX:
    case SYM_MIN:
        if (!compare(a, b, &order))
            return no_value();
        return (order < 0) == (kind == SYM_MIN) ? a : b;
    case SYM_EQ:
    case SYM_NE:
    case SYM_LT:
    case SYM_LE: return relation(kind, a, b);
    case SYM_FLOORDIV:
    case SYM_MOD: return divided(kind, a, b);
    case SYM_INT_TRUE_DIV:
    case SYM_FLOAT_TRUE_DIV: return true_quotient(a, b);
    case SYM_POW:
    case SYM_FLOAT_POW: return power(a, b);
    default: return no_value();
    }
}

static struct decide_result rounded(enum sym_kind kind, double x)
{
    x = kind == SYM_TRUNC_TO_INT   ? trunc(x)
        : kind == SYM_FLOOR_TO_INT ? floor(x)
        : kind == SYM_CEIL_TO_INT  ? ceil(x)
                                   : nearbyint(x);
    return fabs(x) < EXACT ? whole((int64_t)x) : no_value();
}

static struct decide_result unary(enum sym_kind kind, struct decide_result a)
{
    struct decide_result ret;
    double x;
    if (!is_value(a, &ret))
        return ret;
    switch (kind) {
    case SYM_NOT: return whole(!a.integer);
    case SYM_TO_FLOAT: return as_real(a, &x) ? real(x) : no_value();
    case SYM_SQRT: return as_real(a, &x) && x >= 0 ? real(sqrt(x)) : no_value();
    case SYM_ABS:
        if (a.kind == DECIDE_FLOAT)
            return real(fabs(a.real));
        return a.integer == INT64_MIN ? no_value() : whole(llabs(a.integer));
    case SYM_TRUNC_TO_INT:
    case SYM_FLOOR_TO_INT:
    case SYM_CEIL_TO_INT:
    case SYM_ROUND_TO_INT: return a.kind == DECIDE_INTEGER ? a : rounded(kind, a.real);
    default: return no_value();
    }
}

/* And and Or stop at the first argument that decides them, as Python's do. */
static struct decide_result connective(struct point *point, uint32_t number, bool stops_at)
{
    for (uint32_t i = 0; i < point->f->rows.v[number].n; i++) {
        uint32_t arg = row_arg(point->f, &point->f->rows.v[number], i);
        struct decide_result value = point_value(point, arg), ret;
        if (!is_value(value, &ret))
            return ret;
        if ((value.integer != 0) == stops_at)
            return whole(stops_at);
    }
    return whole(!stops_at);
}

/* A product of integers and rationals is an integer where the denominators divide it. */
static struct decide_result product(struct point *point, uint32_t number)
{
    const struct formula *f = point->f;
    struct decide_result ret = whole(1), denominator = whole(1);
    for (uint32_t i = 0; i < f->rows.v[number].n; i++) {
        const struct row *arg = &f->rows.v[row_arg(f, &f->rows.v[number], i)];
        struct decide_result value;
        int64_t above, below;
        if (arg->kind == SYM_RATIONAL &&
            sym_to_i64(f->pool, arg_at(f->pool, arg->expr, 0), &above) &&
            sym_to_i64(f->pool, arg_at(f->pool, arg->expr, 1), &below)) {
            value = whole(above);
            denominator = binary(SYM_MUL, denominator, whole(below));
        } else {
            value = point_value(point, row_arg(f, &f->rows.v[number], i));
        }
        ret = binary(SYM_MUL, ret, value);
    }
    struct decide_result rest;
    if (!is_value(ret, &rest) || !is_value(denominator, &rest))
        return rest;
    if (denominator.integer == 1)
        return ret;
    rest = ret.kind == DECIDE_INTEGER ? divided(SYM_MOD, ret, denominator) : whole(1);
    if (rest.kind == DECIDE_INTEGER && rest.integer == 0)
        return divided(SYM_FLOORDIV, ret, denominator);
    return true_quotient(ret, denominator);
}

static struct decide_result computed(struct point *point, uint32_t number)
{
    const struct row *row = &point->f->rows.v[number];
    switch (row->kind) {
    case SYM_INTEGER:
    case SYM_TRUE:
    case SYM_FALSE: return whole(row->integer_value);
    case SYM_FLOAT:
    case SYM_RATIONAL: return real(row->real_value);
    case SYM_SYMBOL:
        return row->integer && point->known[row->symbol] ? whole(point->values[row->symbol])
                                                         : no_value();
    case SYM_AND: return connective(point, number, false);
    case SYM_OR: return connective(point, number, true);
    case SYM_MUL: return product(point, number);
    default: break;
    }
    if (row->n == 0)
        return no_value();
    struct decide_result ret = point_value(point, row_arg(point->f, row, 0));
    if (row->n == 1)
        return unary(row->kind, ret);
    for (uint32_t i = 1; i < row->n; i++) {
        if (i > 1 && row->kind != SYM_ADD && row->kind != SYM_MAX && row->kind != SYM_MIN)
            return no_value();
        ret = binary(row->kind, ret,
                     point_value(point, row_arg(point->f, &point->f->rows.v[number], i)));
    }
    return ret;
}

bool point_start(struct point *point)
{
    size_t n = point->f->rows.n;
    if (!vec_reserve(&point->results, n > point->results.n ? n - point->results.n : 0))
        return false;
    if (n > point->results.n)
        point->results.n = n;
    point->walk = ++point->f->walk;
    return true;
}

struct decide_result point_value(struct point *point, uint32_t number)
{
    struct row *row = &point->f->rows.v[number];
    if (row->visited == point->walk)
        return point->results.v[number];
    point->steps++;
    struct decide_result ret = computed(point, number);
    point->f->rows.v[number].visited = point->walk;
    point->results.v[number] = ret;
    return ret;
}

void point_release(struct point *point)
{
    vec_release(&point->results);
}
