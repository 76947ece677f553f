/* The guard printers: PythonPrinter and CppPrinter of torch/utils/_sympy/printers.py. They print
 * arguments in the order in which they are stored, and repeat factors instead of printing powers.
 */
#include <inttypes.h>
#include <stdio.h>

#include "replay/shape/expr/float_text.h"
#include "replay/shape/expr/sym_pool.h"

struct guard_printer {
    struct sym_pool *pool;
    struct buf *out;
    size_t from; /* the offset in `out` at which the text starts */
    sym_namer *name;
    void *user;
    bool cpp, repr; /* repr: prints floats like Python's repr() */
};

enum { BELOW_ATOM = 999, MAX_FACTORS = 4096 };

static void guard_expr(struct guard_printer *p, sym_id e);

static sym_id guard_arg(const struct guard_printer *p, sym_id e, uint32_t i)
{
    return arg_at(p->pool, e, i);
}

static void guard_parenthesize(struct guard_printer *p, sym_id e, unsigned level)
{
    bool parens = print_precedence(p->pool, e) <= level;
    if (parens)
        buf_putc(p->out, '(');
    guard_expr(p, e);
    if (parens)
        buf_putc(p->out, ')');
}

static void guard_joined(struct guard_printer *p, sym_id e, const char *separator, unsigned level)
{
    for (uint32_t i = 0; i < node_at(p->pool, e)->n; i++) {
        if (i)
            buf_puts(p->out, separator);
        guard_parenthesize(p, guard_arg(p, e, i), level);
    }
}

/* Prints two arguments between three texts. */
static void guard_around(struct guard_printer *p, sym_id e, const char *before, const char *between,
                         const char *after)
{
    buf_puts(p->out, before);
    guard_expr(p, guard_arg(p, e, 0));
    buf_puts(p->out, between);
    if (node_at(p->pool, e)->n > 1)
        guard_expr(p, guard_arg(p, e, 1));
    buf_puts(p->out, after);
}

static void guard_call(struct guard_printer *p, sym_id e, const char *name)
{
    buf_puts(p->out, name);
    buf_putc(p->out, '(');
    guard_joined(p, e, ", ", 0);
    buf_putc(p->out, ')');
}

/* --- The name of each kind: NULL when it is refused or printed by a function of its own --- */

struct call_name {
    enum sym_kind kind;
    const char *python, *cpp;
};

static const struct call_name call_names[] = {
    { SYM_TO_FLOAT, "torch.sym_float", "static_cast<double>" },
    { SYM_FLOOR_TO_INT, "math.floor", NULL },
    { SYM_CEIL_TO_INT, "math.ceil", NULL },
    { SYM_TRUNC_TO_INT, "math.trunc", NULL },
    { SYM_ROUND_TO_INT, "round", "std::lrint" },
    { SYM_ROUND_DECIMAL, "round", NULL },
    { SYM_ABS, "abs", "std::abs" },
    { SYM_MAX, "max", NULL },
    { SYM_MIN, "min", NULL },
    { SYM_SQRT, "torch._sym_sqrt", "std::sqrt" },
    { SYM_COS, "math.cos", "std::cos" },
    { SYM_COSH, "math.cosh", "std::cosh" },
    { SYM_SIN, "math.sin", "math.sin" },
    { SYM_SINH, "math.sinh", "std::sinh" },
    { SYM_TAN, "math.tan", "std::tan" },
    { SYM_TANH, "math.tanh", "std::tanh" },
    { SYM_ASIN, "math.asin", "std::asin" },
    { SYM_ACOS, "math.acos", "std::acos" },
    { SYM_ATAN, "math.atan", "std::atan" },
    { SYM_LOG2, "math.log2", "std::log2" },
};

static const char *call_name(const struct guard_printer *p, enum sym_kind kind)
{
    for (size_t i = 0; i < sizeof call_names / sizeof *call_names; i++)
        if (call_names[i].kind == kind)
            return p->cpp ? call_names[i].cpp : call_names[i].python;
    return NULL;
}

static void guard_refuse(struct guard_printer *p, sym_id e)
{
    pool_fail(p->pool, "NotImplementedError: _print_%s not implemented for %s",
              sym_classes[kind_at(p->pool, e)].name, p->cpp ? "CppPrinter" : "PythonPrinter");
}

/* --- Numbers and names --- */

static void guard_cpp_integer(struct guard_printer *p, sym_id e)
{
    int64_t value;
    if (!sym_to_i64(p->pool, e, &value))
        pool_fail(p->pool, "OverflowError: integer too big to convert to int64_t");
    else if (value == INT64_MIN)
        buf_puts(p->out, "(-1L << 63)");
    else
        buf_printf(p->out, "%" PRId64 "L", value);
}

static void guard_rational(struct guard_printer *p, sym_id e)
{
    number_print_integer(p->pool, guard_arg(p, e, 0), p->out);
    buf_puts(p->out, p->cpp ? ".0/" : "/");
    number_print_integer(p->pool, guard_arg(p, e, 1), p->out);
    buf_puts(p->out, p->cpp ? ".0" : "");
}

static void guard_atom(struct guard_printer *p, sym_id e)
{
    static const char infinity[] = "std::numeric_limits<double>::infinity()";
    switch (kind_at(p->pool, e)) {
    case SYM_INTEGER:
    case SYM_BIG:
        if (p->cpp)
            guard_cpp_integer(p, e);
        else
            number_print_integer(p->pool, e, p->out);
        break;
    case SYM_RATIONAL: guard_rational(p, e); break;
    case SYM_FLOAT:
        if (p->repr)
            float_repr(node_at(p->pool, e)->real, p->out);
        else
            float_text(node_at(p->pool, e)->real, FLOAT_GUARD, false, p->out);
        break;
    case SYM_SYMBOL: buf_put(p->out, p->name ? p->name(p->user, e) : sym_name(p->pool, e)); break;
    case SYM_OO: buf_puts(p->out, p->cpp ? infinity : "math.inf"); break;
    case SYM_NEG_OO: buf_printf(p->out, "-%s", p->cpp ? infinity : "math.inf"); break;
    case SYM_NAN:
        buf_puts(p->out, p->cpp ? "std::numeric_limits<double>::quiet_NaN()" : "math.nan");
        break;
    case SYM_INT_OO: buf_puts(p->out, "IntInfinity()"); break;
    case SYM_NEG_INT_OO: buf_puts(p->out, "NegativeIntInfinity()"); break;
    case SYM_TRUE: buf_puts(p->out, p->cpp ? "true" : "True"); break;
    case SYM_FALSE: buf_puts(p->out, p->cpp ? "false" : "False"); break;
    default: buf_puts(p->out, "zoo");
    }
}

/* --- Powers, divisions, choices --- */

static void guard_repeated(struct guard_printer *p, sym_id base, int64_t times)
{
    for (int64_t i = 0; i < times; i++) {
        if (i)
            buf_putc(p->out, '*');
        guard_parenthesize(p, base, sym_classes[SYM_MUL].precedence);
    }
}

static void guard_pow(struct guard_printer *p, sym_id e)
{
    int64_t exponent;
    bool whole = sym_to_i64(p->pool, guard_arg(p, e, 1), &exponent);
    if (!whole || exponent > MAX_FACTORS || exponent < -MAX_FACTORS || (!p->cpp && exponent < 0)) {
        pool_fail(p->pool, "AssertionError: exponent must be non-negative");
        return;
    }
    bool cast = p->cpp && (facts_at(p->pool, e) & FACT_INTEGER);
    buf_puts(p->out, cast ? "static_cast<int64_t>(" : "");
    if (exponent == -1) {
        buf_puts(p->out, "1.0/");
        guard_expr(p, guard_arg(p, e, 0));
    } else {
        buf_puts(p->out, exponent < 0 ? "1.0/(" : "");
        guard_repeated(p, guard_arg(p, e, 0), exponent < 0 ? -exponent : exponent);
        buf_puts(p->out, exponent < 0 ? ")" : "");
    }
    buf_puts(p->out, cast ? ")" : "");
}

static void guard_floordiv(struct guard_printer *p, sym_id e)
{
    if (!p->cpp)
        guard_joined(p, e, " // ", BELOW_ATOM);
    else
        guard_around(p, e, "c10::div_floor_integer(static_cast<int64_t>(",
                     "), static_cast<int64_t>(", "))");
}

static void print_modular_indexing(struct guard_printer *p, sym_id e)
{
    bool divides = guard_arg(p, e, 1) != SYM_ID_ONE;
    if (!p->cpp) {
        buf_puts(p->out, divides ? "((" : "(");
        guard_parenthesize(p, guard_arg(p, e, 0), BELOW_ATOM);
        if (divides) {
            buf_puts(p->out, " // ");
            guard_parenthesize(p, guard_arg(p, e, 1), BELOW_ATOM);
            buf_putc(p->out, ')');
        }
        buf_puts(p->out, " % ");
        guard_parenthesize(p, guard_arg(p, e, 2), BELOW_ATOM);
        buf_putc(p->out, ')');
        return;
    }
    buf_puts(p->out, "(static_cast<int64_t>(");
    if (divides)
        guard_floordiv(p, e);
    else
        guard_expr(p, guard_arg(p, e, 0));
    buf_puts(p->out, ") % static_cast<int64_t>(");
    guard_expr(p, guard_arg(p, e, 2));
    buf_puts(p->out, "))");
}

static void print_where(struct guard_printer *p, sym_id e)
{
    if (!p->cpp) {
        guard_call(p, e, "Where");
        return;
    }
    guard_parenthesize(p, guard_arg(p, e, 0), BELOW_ATOM);
    buf_puts(p->out, " ? ");
    guard_parenthesize(p, guard_arg(p, e, 1), BELOW_ATOM);
    buf_puts(p->out, " : ");
    guard_parenthesize(p, guard_arg(p, e, 2), BELOW_ATOM);
}

/* Prints nested ternaries from the branch `i` on; the last branch needs no condition. */
static void print_arms(struct guard_printer *p, sym_id e, uint32_t i)
{
    sym_id value = guard_arg(p, guard_arg(p, e, i), 0),
           condition = guard_arg(p, guard_arg(p, e, i), 1);
    unsigned level = p->cpp ? BELOW_ATOM : 0;
    bool last = i + 1 == node_at(p->pool, e)->n || condition == SYM_ID_TRUE;
    if (last) {
        guard_parenthesize(p, value, level);
        return;
    }
    if (p->cpp) {
        guard_parenthesize(p, condition, level);
        buf_puts(p->out, " ? ");
        guard_parenthesize(p, value, level);
        buf_puts(p->out, " : ");
        print_arms(p, e, i + 1);
        return;
    }
    buf_putc(p->out, '(');
    guard_expr(p, value);
    buf_puts(p->out, " if ");
    guard_expr(p, condition);
    buf_puts(p->out, " else ");
    print_arms(p, e, i + 1);
    buf_putc(p->out, ')');
}

static void print_cpp_rounding(struct guard_printer *p, sym_id e, const char *name)
{
    buf_printf(p->out, "static_cast<int64_t>(%s(", name);
    guard_expr(p, guard_arg(p, e, 0));
    buf_puts(p->out, "))");
}

static void print_cpp_min_max(struct guard_printer *p, sym_id e)
{
    const char *name = kind_at(p->pool, e) == SYM_MAX ? "max" : "min";
    const char *type = facts_at(p->pool, e) & FACT_INTEGER ? "int64_t" : "double";
    uint32_t n = node_at(p->pool, e)->n;
    bool whole = facts_at(p->pool, e) & FACT_INTEGER, cast = !whole || n == 2;
    buf_printf(p->out, "std::%s", name);
    if (n != 2)
        buf_printf(p->out, "<%s>", type);
    buf_puts(p->out, n == 2 ? "(" : "({");
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(p->out, i ? ", " : "");
        if (cast)
            buf_printf(p->out, "static_cast<%s>(", type);
        guard_expr(p, guard_arg(p, e, i));
        buf_puts(p->out, cast ? ")" : "");
    }
    buf_puts(p->out, n == 2 ? ")" : "})");
}

/* --- One row for each kind --- */

static void guard_relation(struct guard_printer *p, sym_id e)
{
    static const char *const operators[] = {
        [SYM_EQ - SYM_EQ] = " == ", [SYM_NE - SYM_EQ] = " != ", [SYM_GT - SYM_EQ] = " > ",
        [SYM_LT - SYM_EQ] = " < ",  [SYM_GE - SYM_EQ] = " >= ", [SYM_LE - SYM_EQ] = " <= ",
    };
    enum sym_kind kind = kind_at(p->pool, e);
    guard_joined(p, e, operators[kind - SYM_EQ], sym_classes[kind].precedence);
}

static bool guard_infix(struct guard_printer *p, sym_id e)
{
    enum sym_kind kind = kind_at(p->pool, e);
    unsigned level = print_precedence(p->pool, e);
    switch (kind) {
    case SYM_ADD: guard_joined(p, e, " + ", level); return true;
    case SYM_MUL: guard_joined(p, e, "*", level); return true;
    case SYM_AND: guard_joined(p, e, p->cpp ? " & " : " and ", p->cpp ? 38 : level); return true;
    case SYM_OR: guard_joined(p, e, p->cpp ? " || " : " or ", level); return true;
    case SYM_BITWISE_AND: guard_joined(p, e, " & ", level); return true;
    case SYM_BITWISE_OR: guard_joined(p, e, " | ", level); return true;
    case SYM_BITWISE_XOR: guard_joined(p, e, " ^ ", level); return true;
    case SYM_MOD: guard_joined(p, e, " % ", BELOW_ATOM); return true;
    case SYM_FLOAT_TRUE_DIV:
        buf_putc(p->out, '(');
        guard_joined(p, e, " / ", BELOW_ATOM);
        buf_putc(p->out, ')');
        return true;
    default:
        if (is_relational(kind))
            guard_relation(p, e);
        return is_relational(kind);
    }
}

static bool guard_python_only(struct guard_printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_PYTHON_MOD: guard_joined(p, e, " % ", BELOW_ATOM); return true;
    case SYM_INT_TRUE_DIV: guard_joined(p, e, " / ", BELOW_ATOM); return true;
    case SYM_FLOAT_POW:
    case SYM_POW_BY_NATURAL:
        guard_joined(p, e, " ** ", sym_classes[SYM_POW].precedence);
        return true;
    case SYM_TRUNC_TO_FLOAT: guard_refuse(p, e); return true;
    case SYM_PIECEWISE: print_arms(p, e, 0); return true;
    default: return false;
    }
}

static bool guard_cpp_only(struct guard_printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_PYTHON_MOD: guard_around(p, e, "c10::div_mod(", ", ", ")"); return true;
    case SYM_INT_TRUE_DIV:
        guard_around(p, e, "static_cast<double>(", ") / static_cast<double>(", ")");
        return true;
    case SYM_FLOAT_POW: guard_around(p, e, "std::pow(", ", ", ")"); return true;
    case SYM_POW_BY_NATURAL:
        if (guard_arg(p, e, 0) != SYM_ID_TWO) {
            guard_refuse(p, e);
            return true;
        }
        buf_puts(p->out, "(1 << (");
        guard_expr(p, guard_arg(p, e, 1));
        buf_puts(p->out, "))");
        return true;
    case SYM_TRUNC_TO_FLOAT: guard_call(p, e, "std::trunc"); return true;
    case SYM_FLOOR_TO_INT: print_cpp_rounding(p, e, "std::floor"); return true;
    case SYM_CEIL_TO_INT: print_cpp_rounding(p, e, "std::ceil"); return true;
    case SYM_TRUNC_TO_INT: print_cpp_rounding(p, e, "std::trunc"); return true;
    case SYM_MAX:
    case SYM_MIN: print_cpp_min_max(p, e); return true;
    case SYM_ROUND_DECIMAL: guard_refuse(p, e); return true;
    case SYM_PIECEWISE:
        buf_putc(p->out, '(');
        print_arms(p, e, 0);
        buf_putc(p->out, ')');
        return true;
    default: return false;
    }
}

static void guard_compound(struct guard_printer *p, sym_id e)
{
    if (guard_infix(p, e) || (p->cpp ? guard_cpp_only(p, e) : guard_python_only(p, e)))
        return;
    switch (kind_at(p->pool, e)) {
    case SYM_POW: guard_pow(p, e); return;
    case SYM_NOT: guard_call(p, e, "not "); return;
    case SYM_FLOORDIV:
    case SYM_CLEANDIV: guard_floordiv(p, e); return;
    case SYM_MODULAR_INDEXING: print_modular_indexing(p, e); return;
    case SYM_WHERE: print_where(p, e); return;
    case SYM_IDENTITY: guard_expr(p, guard_arg(p, e, 0)); return;
    default: break;
    }
    const char *name = call_name(p, kind_at(p->pool, e));
    guard_call(p, e, name ? name : sym_classes[kind_at(p->pool, e)].name);
}

static void guard_expr(struct guard_printer *p, sym_id e)
{
    if (pool_failed(p->pool))
        return;
    if (p->out->n - p->from > SYM_MAX_TEXT)
        pool_fail(p->pool, "an expression's text is longer than %d bytes", SYM_MAX_TEXT);
    else if (has_args(kind_at(p->pool, e)))
        guard_compound(p, e);
    else
        guard_atom(p, e);
}

void sym_print_python(struct sym_pool *pool, sym_id e, sym_namer *name, void *user, struct buf *out)
{
    struct guard_printer p = { pool, out, out->n, name, user, false, false };
    if (e != SYM_NONE)
        guard_expr(&p, e);
}

void sym_print_cpp(struct sym_pool *pool, sym_id e, sym_namer *name, void *user, struct buf *out)
{
    struct guard_printer p = { pool, out, out->n, name, user, true, false };
    if (e != SYM_NONE)
        guard_expr(&p, e);
}

void sym_print_shape_guard(struct sym_pool *pool, sym_id e, sym_namer *name, void *user,
                           struct buf *out)
{
    struct guard_printer p = { pool, out, out->n, name, user, false, true };
    if (e != SYM_NONE)
        guard_expr(&p, e);
}
