/* Arithmetic of Python's numbers and of SymInt, SymFloat and SymBool: the SymNode method that an
 * operator calls in the end, and the promotions and guards before it (torch/__init__.py, class
 * SymInt and SymFloat; _make_user_magic of torch/fx/experimental/sym_node.py). */
#include "replay/ops/python/python_internal.h"

#include <math.h>

enum how {
    UNARY,
    ARITHMETIC,
    LOGIC,
    ROUNDING,
    COMPARE,
    TO_FLOAT,
    TO_INT,
    FLOORDIV,
    SHIFT,
    POW,
    ITE,
    MIN_MAX,
    NOT,
    FUNCTION,
    TRUEDIV,
    ROUND
};

struct number_method {
    const char *name;
    enum how how;
    enum node_method method;
};

static const struct number_method numbers[] = {
#define NUMBER(name, how, method) { name, how, NODE_METHOD_##method },
#include "replay/ops/python/python_numbers.def"
#undef NUMBER
};

enum number_type value_number_type(struct value value)
{
    if (value.kind == VALUE_FLOAT)
        return NUMBER_FLOAT;
    return value.kind == VALUE_BOOL ? NUMBER_BOOL : NUMBER_INT;
}

struct value value_of_type(enum number_type type, sym_id e)
{
    enum value_kind kind = type == NUMBER_FLOAT  ? VALUE_FLOAT
                           : type == NUMBER_BOOL ? VALUE_BOOL
                                                 : VALUE_INT;
    return value_sym(kind, e);
}

/* Calls a method; `types` are those of the operands after promotion. */
static struct value method(struct call *c, enum node_method m, const struct value *args, uint32_t n)
{
    sym_id operands[3] = { 0 };
    enum number_type types[3], type = NUMBER_INT;
    for (uint32_t i = 0; i < n && i < 3; i++) {
        operands[i] = args[i].u.sym;
        types[i] = value_number_type(args[i]);
    }
    sym_id e = node_method(c->env, m, operands, types, n, &type);
    if (e == SYM_NONE)
        call_raised(c);
    return value_of_type(type, e);
}

static struct value method1(struct call *c, enum node_method m, struct value a)
{
    return method(c, m, &a, 1);
}

static struct value method2(struct call *c, enum node_method m, struct value a, struct value b)
{
    return method(c, m, (struct value[]){ a, b }, 2);
}

static bool is_constant_value(const struct call *c, struct value value)
{
    return value.u.sym == SYM_ID_TRUE || value.u.sym == SYM_ID_FALSE ||
           sym_is_number(c->pool, value.u.sym);
}

/* int(x) of a boolean; a symbolic one is guarded on. */
static struct value from_bool(struct call *c, struct value value)
{
    if (value.kind != VALUE_BOOL)
        return value;
    return value_int(guard_bool(c, value.u.sym) ? SYM_ID_ONE : SYM_ID_ZERO);
}

static struct value value_to_float(struct call *c, struct value value)
{
    if (value.kind == VALUE_FLOAT)
        return value;
    value = from_bool(c, value);
    if (is_constant_value(c, value))
        return value_sym(VALUE_FLOAT, sym_float(c->pool, sym_to_double(c->pool, value.u.sym)));
    return method1(c, NODE_METHOD_SYM_FLOAT, value);
}

/* Converts both to floats when one is a float. */
static void promote2(struct call *c, struct value *a, struct value *b)
{
    if (a->kind != VALUE_FLOAT && b->kind != VALUE_FLOAT)
        return;
    *a = value_to_float(c, *a);
    *b = value_to_float(c, *b);
}

static struct value value_truediv(struct call *c, struct value a, struct value b)
{
    a = from_bool(c, a);
    b = from_bool(c, b);
    bool floats = a.kind == VALUE_FLOAT || b.kind == VALUE_FLOAT;
    promote2(c, &a, &b);
    return method2(c, floats ? NODE_METHOD_FLOAT_TRUEDIV : NODE_METHOD_INT_TRUEDIV, a, b);
}

static struct value round_number_value(struct call *c, enum node_method m, struct value a)
{
    a = from_bool(c, a);
    return a.kind == VALUE_INT && is_constant_value(c, a) ? a : method1(c, m, a);
}

static struct value value_floordiv(struct call *c, struct value a, struct value b)
{
    a = from_bool(c, a);
    b = from_bool(c, b);
    if (a.kind != VALUE_FLOAT && b.kind != VALUE_FLOAT)
        return method2(c, NODE_METHOD_INT_FLOORDIV, a, b);
    return value_to_float(c, round_number_value(c, NODE_METHOD_FLOOR, value_truediv(c, a, b)));
}

static bool not_negative(struct call *c, struct value value)
{
    sym_id zero = value.kind == VALUE_FLOAT ? sym_float(c->pool, 0) : SYM_ID_ZERO;
    struct value ge =
        method2(c, NODE_METHOD_GE, value, value_of_type(value_number_type(value), zero));
    return !c->failed && guard_bool(c, ge.u.sym);
}

static struct value value_pow(struct call *c, struct value a, struct value b)
{
    a = from_bool(c, a);
    b = from_bool(c, b);
    if (a.kind != VALUE_FLOAT && b.kind != VALUE_FLOAT && not_negative(c, b))
        return method2(c, NODE_METHOD_POW_BY_NATURAL, a, b);
    a = value_to_float(c, a);
    b = value_to_float(c, b);
    if (c->failed)
        return value_none();
    if (!is_constant_value(c, a)) {
        struct value zero = value_sym(VALUE_FLOAT, sym_float(c->pool, 0));
        check(c, method2(c, NODE_METHOD_GE, a, zero).u.sym, "RuntimeError",
              "Expected cond to be True, but got False");
    }
    return method2(c, NODE_METHOD_FLOAT_POW, a, b);
}

/* and, or, xor: logical on booleans, bitwise on integers. */
static struct value value_logic(struct call *c, enum node_method m, struct value a, struct value b)
{
    bool booleans = a.kind == VALUE_BOOL && b.kind == VALUE_BOOL;
    if (booleans && m != NODE_METHOD_BITWISE_XOR)
        return method2(c, m, a, b);
    if (booleans)
        return value_sym(VALUE_BOOL, sym_boolean(guard_bool(c, a.u.sym) != guard_bool(c, b.u.sym)));
    enum node_method bits = m == NODE_METHOD_AND  ? NODE_METHOD_BITWISE_AND
                            : m == NODE_METHOD_OR ? NODE_METHOD_BITWISE_OR
                                                  : m;
    return method2(c, bits, from_bool(c, a), from_bool(c, b));
}

static struct value value_to_int(struct call *c, struct value value)
{
    value = from_bool(c, value);
    return value.kind == VALUE_INT ? value : method1(c, NODE_METHOD_TRUNC, value);
}

/* round(x[, ndigits]): returns an integer, or a float with that many digits. */
static struct value rounded(struct call *c, struct value a, struct value digits)
{
    a = from_bool(c, a);
    if (a.kind == VALUE_INT)
        return a;
    if (digits.kind != VALUE_INT)
        return method1(c, NODE_METHOD_ROUND, a);
    return method2(c, NODE_METHOD_ROUND, a, digits);
}

static struct value unary_number(struct call *c, const struct number_method *number, struct value a)
{
    switch (number->how) {
    case UNARY: return method1(c, number->method, from_bool(c, a));
    case ROUNDING: return round_number_value(c, number->method, a);
    case TO_FLOAT: return value_to_float(c, a);
    case TO_INT: return value_to_int(c, a);
    case FUNCTION: return method1(c, number->method, value_to_float(c, a));
    case ROUND: return rounded(c, a, value_none());
    case NOT:
        return a.kind == VALUE_BOOL ? method1(c, NODE_METHOD_NOT, a)
                                    : value_sym(VALUE_BOOL, sym_boolean(!py_truth(c, a)));
    default: refuse(c, "TypeError", "%s expected 2 arguments, got 1", number->name);
    }
    return value_none();
}

/* NUMBER < x is x > NUMBER: the method of an int or a float does not know torch.SymInt, so Python
 * calls the reflected one. */
static struct value compared(struct call *c, enum node_method m, struct value a, struct value b)
{
    static const struct {
        enum node_method written, reflected;
    } pairs[] = { { NODE_METHOD_LT, NODE_METHOD_GT },
                  { NODE_METHOD_LE, NODE_METHOD_GE },
                  { NODE_METHOD_GT, NODE_METHOD_LT },
                  { NODE_METHOD_GE, NODE_METHOD_LE } };
    if (!is_constant_value(c, a) || is_constant_value(c, b))
        return method2(c, m, a, b);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (m == pairs[i].written) {
            m = pairs[i].reflected;
            break;
        }
    return method2(c, m, b, a);
}

static struct value binary_number(struct call *c, const struct number_method *number,
                                  struct value a, struct value b)
{
    switch (number->how) {
    case ARITHMETIC:
        a = from_bool(c, a);
        b = from_bool(c, b);
        promote2(c, &a, &b);
        return method2(c, number->method, a, b);
    case COMPARE:
        if (a.kind != b.kind) {
            a = from_bool(c, a);
            b = from_bool(c, b);
        }
        promote2(c, &a, &b);
        return compared(c, number->method, a, b);
    case MIN_MAX:
        a = from_bool(c, a);
        b = from_bool(c, b);
        promote2(c, &a, &b);
        return method2(c, number->method, a, b);
    case ROUND: return rounded(c, a, b);
    case TRUEDIV: return value_truediv(c, a, b);
    case FLOORDIV: return value_floordiv(c, a, b);
    case POW: return value_pow(c, a, b);
    case LOGIC: return value_logic(c, number->method, a, b);
    case SHIFT: return method2(c, number->method, from_bool(c, a), from_bool(c, b));
    default: refuse(c, "TypeError", "%s expected 1 argument, got 2", number->name);
    }
    return value_none();
}

/* math.log(x, base): x is asked about before the base. */
static struct value log_to_base(struct call *c, const struct number_method *log,
                                const struct value *args)
{
    struct value x = unary_number(c, log, args[0]);
    struct value base = unary_number(c, log, args[1]);
    return value_truediv(c, x, base);
}

static struct value value_ite(struct call *c, const struct value *args)
{
    struct value yes = args[1], no = args[2];
    if (is_constant_value(c, args[0]))
        return args[0].u.sym == SYM_ID_TRUE ? yes : no;
    promote2(c, &yes, &no);
    return method(c, NODE_METHOD_ITE, (struct value[]){ args[0], yes, no }, 3);
}

struct value python_number(struct call *c, struct str name, const struct value *args, uint32_t n,
                           bool *found)
{
    const struct number_method *number = NULL;
    if (name.n > 2 && name.p[name.n - 1] == '_') /* and_, or_ */
        name = str_first(name, name.n - 1);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !number; i++)
        if (str_is(name, numbers[i].name))
            number = &numbers[i];
    *found = number != NULL;
    if (!number)
        return value_none();
    for (uint32_t i = 0; i < n; i++)
        if (!value_is_number(args[i]) && number->how != NOT) {
            refuse(c, "TypeError", "unsupported operand type(s) for %s", number->name);
            return value_none();
        }
    if (number->how == ITE && n == 3)
        return value_ite(c, args);
    if (n == 1)
        return unary_number(c, number, args[0]);
    if (n == 2 && str_is(name, "log"))
        return log_to_base(c, number, args);
    if (n == 2)
        return binary_number(c, number, args[0], args[1]);
    refuse(c, "TypeError", "%s got %u arguments", number->name, n);
    return value_none();
}
