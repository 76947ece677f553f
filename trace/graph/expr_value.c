#include "trace/graph/expr_value.h"

struct expr_evaluator {
    const struct expr_pool *pool;
    expr_symbol_fn symbol;
    void *user;
};

static bool eval_expr(const struct expr_evaluator *in, expr_id expr, int64_t *ret, unsigned depth);

static bool checked_floor_div(int64_t a, int64_t b, int64_t *ret)
{
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *ret = a / b - (a % b != 0 && (a < 0) != (b < 0));
    return true;
}

/* Computes Python's modulo, which has the sign of b. */
static bool python_modulo(int64_t a, int64_t b, int64_t *ret)
{
    int64_t q;
    if (!checked_floor_div(a, b, &q))
        return false;
    *ret = (int64_t)((uint64_t)a - (uint64_t)q * (uint64_t)b);
    return true;
}

static bool integer_power(int64_t a, int64_t n, int64_t *ret)
{
    bool small = a >= -1 && a <= 1;
    *ret = 1;
    if (n < 0 || (!small && n > 63))
        return false;
    if (small && n > 2)
        n = 2 - n % 2; /* only the parity matters: 3, 5 ... become 1; 4, 6 ... become 2 */
    for (; n; n--)
        if (__builtin_mul_overflow(*ret, a, ret))
            return false;
    return true;
}

static bool exact_div(int64_t a, int64_t b, int64_t *ret)
{
    int64_t rest;
    return python_modulo(a, b, &rest) && rest == 0 && checked_floor_div(a, b, ret);
}

static bool min_value(int64_t a, int64_t b, int64_t *ret)
{
    *ret = a < b ? a : b;
    return true;
}

static bool most(int64_t a, int64_t b, int64_t *ret)
{
    *ret = a > b ? a : b;
    return true;
}

static bool checked_ceil_div(int64_t a, int64_t b, int64_t *ret)
{
    int64_t rest;
    if (!checked_floor_div(a, b, ret) || !python_modulo(a, b, &rest))
        return false;
    *ret += rest != 0;
    return true;
}

static bool sum(int64_t a, int64_t b, int64_t *ret)
{
    return !__builtin_add_overflow(a, b, ret);
}

static bool difference(int64_t a, int64_t b, int64_t *ret)
{
    return !__builtin_sub_overflow(a, b, ret);
}

static bool checked_product(int64_t a, int64_t b, int64_t *ret)
{
    return !__builtin_mul_overflow(a, b, ret);
}

#define COMPARE(name, op)                                \
    static bool name(int64_t a, int64_t b, int64_t *ret) \
    {                                                    \
        *ret = a op b;                                   \
        return true;                                     \
    }
COMPARE(equal, ==)
COMPARE(unequal, !=)
COMPARE(below, <)
COMPARE(at_most, <=)
COMPARE(above, >)
COMPARE(at_least, >=)
COMPARE(both, &&)
COMPARE(either, ||)

/* Operators and functions of two integers; the functions are those of
 * torch/utils/_sympy/functions.py. */
static const struct {
    const char *name;
    bool (*fn)(int64_t, int64_t, int64_t *);
} twos[] = {
    { "+", sum },
    { "-", difference },
    { "*", checked_product },
    { "/", exact_div },
    { "//", checked_floor_div },
    { "%", python_modulo },
    { "**", integer_power },
    { "==", equal },
    { "!=", unequal },
    { "<", below },
    { "<=", at_most },
    { ">", above },
    { ">=", at_least },
    { "&", both },
    { "|", either },
    { "Eq", equal },
    { "Ne", unequal },
    { "FloorDiv", checked_floor_div },
    { "CleanDiv", exact_div },
    { "CeilDiv", checked_ceil_div },
    { "Mod", python_modulo },
    { "PythonMod", python_modulo },
    { "IntTrueDiv", exact_div },
    { "Max", most },
    { "Min", min_value },
    { "PowByNatural", integer_power },
};

static bool rounds_up(struct str name)
{
    return str_is(name, "CeilToInt") || str_is(name, "ceiling");
}

/* Returns whether the expression rounds a quotient, as CeilToInt(IntTrueDiv(a, b)) and
 * floor(a/b) do; the quotient need not be an integer. */
static bool is_rounded_quotient(const struct expr_evaluator *in, expr_id expr)
{
    const struct expr *e = expr_at(in->pool, expr);
    if (e->n_children != 1 ||
        !(rounds_up(e->text) || str_is(e->text, "FloorToInt") || str_is(e->text, "floor")))
        return false;
    const struct expr *of = expr_at(in->pool, expr_child(in->pool, expr, 0));
    return of->n_children == 2 && (str_is(of->text, "IntTrueDiv") || str_is(of->text, "/"));
}

static bool eval_rounded(const struct expr_evaluator *in, expr_id expr, int64_t *ret,
                         unsigned depth)
{
    expr_id of = expr_child(in->pool, expr, 0);
    bool up = rounds_up(expr_at(in->pool, expr)->text);
    int64_t a, b;
    return eval_expr(in, expr_child(in->pool, of, 0), &a, depth + 2) &&
           eval_expr(in, expr_child(in->pool, of, 1), &b, depth + 2) &&
           (up ? checked_ceil_div : checked_floor_div)(a, b, ret);
}

static bool eval_children(const struct expr_evaluator *in, expr_id expr, int64_t *ret,
                          unsigned depth)
{
    const struct expr *e = expr_at(in->pool, expr);
    int64_t b;
    if (is_rounded_quotient(in, expr))
        return eval_rounded(in, expr, ret, depth);
    if (e->n_children == 0 || !eval_expr(in, expr_child(in->pool, expr, 0), ret, depth + 1))
        return false;
    if (e->n_children == 1) {
        if (str_is(e->text, "neg"))
            return difference(0, *ret, ret);
        if (str_is(e->text, "~"))
            return *ret = !*ret, true;
        /* The argument of these is an integer already. */
        return str_ends(e->text, STR("ToInt")) || str_is(e->text, "Identity") ||
               str_is(e->text, "Max") || str_is(e->text, "Min") || str_is(e->text, "ceiling") ||
               str_is(e->text, "floor");
    }
    for (size_t k = 0; k < sizeof twos / sizeof *twos; k++) {
        if (!str_is(e->text, twos[k].name))
            continue;
        for (uint32_t i = 1; i < e->n_children; i++)
            if (!eval_expr(in, expr_child(in->pool, expr, i), &b, depth + 1) ||
                !twos[k].fn(*ret, b, ret))
                return false;
        return true;
    }
    return false;
}

static bool eval_expr(const struct expr_evaluator *in, expr_id expr, int64_t *ret, unsigned depth)
{
    const struct expr *e = expr_at(in->pool, expr);
    if (depth > EXPR_MAX_DEPTH)
        return false;
    switch (e->kind) {
    case EXPR_INT: *ret = e->value; return e->fits;
    case EXPR_BOOL: *ret = e->value; return true;
    case EXPR_SYMBOL: return in->symbol(in->user, e->text, ret);
    case EXPR_OP:
    case EXPR_CALL: return eval_children(in, expr, ret, depth);
    default: return false;
    }
}

bool expr_value(const struct expr_pool *pool, expr_id expr, expr_symbol_fn symbol, void *user,
                int64_t *ret)
{
    const struct expr_evaluator in = { pool, symbol, user };
    return expr < pool->exprs.n && eval_expr(&in, expr, ret, 0);
}
