/* str(): sympy's StrPrinter with the _sympystr methods of torch.utils._sympy.functions. */
#include "replay/shape/expr/float_text.h"
#include "replay/shape/expr/sym_pool.h"

enum {
    PRECEDENCE_ADD = 40,
    PRECEDENCE_MUL = 50,
    PRECEDENCE_POW = 60,
    PRECEDENCE_NOT = 100,
    BELOW_ATOM = 999
};

struct str_printer {
    struct sym_pool *pool;
    struct buf *out;
    size_t from;    /* the offset in `out` at which the text starts */
    unsigned level; /* nesting level: a Float on the outermost keeps its zeros */
};

static void str_expr(struct str_printer *p, sym_id e);

bool could_extract_minus_sign(struct sym_pool *pool, sym_id e)
{
    if (is_number(pool, e))
        return number_sign(pool, e) < 0;
    if (kind_at(pool, e) == SYM_MUL)
        return is_number(pool, arg_at(pool, e, 0)) && number_sign(pool, arg_at(pool, e, 0)) < 0;
    if (kind_at(pool, e) != SYM_ADD)
        return false;
    uint32_t n = node_at(pool, e)->n, negative = 0;
    for (uint32_t i = 0; i < n; i++)
        negative += could_extract_minus_sign(pool, arg_at(pool, e, i));
    if (negative * 2 != n)
        return negative * 2 > n;
    sym_id minus = sym_neg(pool, e);
    return minus != SYM_NONE && order_sort_key(pool, e, minus) < 0;
}

/* Returns the precedence of sympy.printing.precedence. */
unsigned print_precedence(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    if (is_number(pool, e) && !is_infinity(e) && e != SYM_ID_NAN && number_sign(pool, e) < 0)
        return PRECEDENCE_ADD;
    if (kind != SYM_MUL)
        return sym_classes[kind].precedence;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++) {
        enum sym_kind factor = kind_at(pool, arg_at(pool, e, i));
        if (sym_classes[factor].key == 4 && sym_classes[factor].precedence < PRECEDENCE_MUL)
            return PRECEDENCE_MUL;
    }
    return could_extract_minus_sign(pool, e) ? PRECEDENCE_ADD : PRECEDENCE_MUL;
}

static void str_parenthesize(struct str_printer *p, sym_id e, unsigned level)
{
    if (e == SYM_NONE)
        return;
    bool parens = print_precedence(p->pool, e) <= level;
    if (parens)
        buf_putc(p->out, '(');
    str_expr(p, e);
    if (parens)
        buf_putc(p->out, ')');
}

static void str_joined(struct str_printer *p, const sym_id *v, uint32_t n, const char *separator,
                       unsigned level)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(p->out, separator);
        str_parenthesize(p, v[i], level);
    }
}

/* Prints a term, then turns its leading minus, if any, into the operator before it. */
static void str_term(struct str_printer *p, sym_id term, bool first)
{
    struct buf *out = p->out;
    struct buf text = BUF_INIT;
    size_t from = p->from;
    p->out = &text;
    p->from = 0;
    str_expr(p, term);
    p->out = out;
    p->from = from;
    struct str t = buf_str(&text);
    bool sum = kind_at(p->pool, term) == SYM_ADD;
    bool minus = t.n && t.p[0] == '-' && !sum;
    bool parens = sum || print_precedence(p->pool, term) < PRECEDENCE_ADD;
    if (first)
        buf_puts(out, minus ? "-" : "");
    else
        buf_puts(out, minus ? " - " : " + ");
    buf_puts(out, parens ? "(" : "");
    buf_put(out, str_from(t, minus));
    buf_puts(out, parens ? ")" : "");
    out->failed |= text.failed;
    buf_release(&text);
}

static void str_add(struct str_printer *p, sym_id e)
{
    struct list terms;
    list_init(&terms, p->pool);
    if (order_terms(p->pool, e, &terms))
        for (uint32_t i = 0; i < terms.n; i++)
            str_term(p, terms.v[i], i == 0);
    list_release(&terms);
}

/* The factors of numerator and denominator. */
struct printed_fraction {
    struct list above, below;
};

static bool is_negative_power(struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) != SYM_POW)
        return false;
    sym_id rest, coefficient = split_coefficient(pool, arg_at(pool, e, 1), &rest);
    return coefficient != SYM_NONE && number_sign(pool, coefficient) < 0;
}

static bool add_printed_factor(struct sym_pool *pool, struct printed_fraction *to, sym_id e)
{
    if (is_negative_power(pool, e)) {
        sym_id base = arg_at(pool, e, 0), exponent = sym_neg(pool, arg_at(pool, e, 1));
        return list_push(&to->below,
                         exponent == SYM_ID_ONE ? base : pool_node2(pool, SYM_POW, base, exponent));
    }
    if (!is_rational(pool, e))
        return list_push(&to->above, e);
    sym_id p = number_numerator(pool, e), q = number_denominator(pool, e);
    return (p == SYM_ID_ONE || list_push(&to->above, p)) &&
           (q == SYM_ID_ONE || list_push(&to->below, q));
}

/* Puts the factors into print order and removes the sign of the coefficient. */
static bool printed_factors(struct str_printer *p, sym_id e, struct list *factors, bool *minus)
{
    sym_id rest, coefficient = split_coefficient(p->pool, e, &rest);
    if (coefficient == SYM_NONE)
        return false;
    *minus = number_sign(p->pool, coefficient) < 0;
    if (*minus)
        coefficient = number_neg(p->pool, coefficient);
    bool ok =
        coefficient != SYM_NONE && (coefficient == SYM_ID_ONE || list_push(factors, coefficient));
    ok = ok && (kind_at(p->pool, rest) == SYM_MUL ? list_push_args(factors, rest)
                                                  : list_push(factors, rest));
    return ok && order_sort(p->pool, factors->v, factors->n, order_sort_key);
}

static void str_mul(struct str_printer *p, sym_id e)
{
    struct list factors;
    struct printed_fraction parts;
    list_init(&factors, p->pool);
    list_init(&parts.above, p->pool);
    list_init(&parts.below, p->pool);
    bool minus = false, ok = printed_factors(p, e, &factors, &minus);
    for (uint32_t i = 0; ok && i < factors.n; i++)
        ok = add_printed_factor(p->pool, &parts, factors.v[i]);
    unsigned level = print_precedence(p->pool, e);
    if (ok && (parts.above.n || list_push(&parts.above, SYM_ID_ONE))) {
        buf_puts(p->out, minus ? "-" : "");
        str_joined(p, parts.above.v, parts.above.n, "*", level);
        buf_puts(p->out, parts.below.n == 0 ? "" : parts.below.n == 1 ? "/" : "/(");
        str_joined(p, parts.below.v, parts.below.n, "*", level);
        buf_puts(p->out, parts.below.n > 1 ? ")" : "");
    }
    list_release(&factors);
    list_release(&parts.above);
    list_release(&parts.below);
}

static void str_pow(struct str_printer *p, sym_id e)
{
    sym_id base = arg_at(p->pool, e, 0), exponent = arg_at(p->pool, e, 1);
    bool half = kind_at(p->pool, exponent) == SYM_RATIONAL &&
                arg_at(p->pool, exponent, 0) == SYM_ID_ONE &&
                arg_at(p->pool, exponent, 1) == SYM_ID_TWO;
    if (half) {
        buf_puts(p->out, "sqrt(");
        str_expr(p, base);
        buf_putc(p->out, ')');
        return;
    }
    if (exponent == SYM_ID_MINUS_ONE) {
        buf_puts(p->out, "1/");
        str_parenthesize(p, base, PRECEDENCE_POW);
        return;
    }
    str_parenthesize(p, base, PRECEDENCE_POW);
    buf_puts(p->out, "**");
    str_parenthesize(p, exponent, PRECEDENCE_POW);
}

static void str_call(struct str_printer *p, const char *name, const sym_id *v, uint32_t n)
{
    buf_puts(p->out, name);
    buf_putc(p->out, '(');
    str_joined(p, v, n, ", ", 0);
    buf_putc(p->out, ')');
}

static void str_order_relation(struct str_printer *p, sym_id e, const char *operator)
{
    unsigned level = sym_classes[kind_at(p->pool, e)].precedence;
    str_parenthesize(p, arg_at(p->pool, e, 0), level);
    buf_puts(p->out, operator);
    str_parenthesize(p, arg_at(p->pool, e, 1), level);
}

static void str_floordiv(struct str_printer *p, sym_id e)
{
    buf_putc(p->out, '(');
    str_parenthesize(p, arg_at(p->pool, e, 0), BELOW_ATOM);
    buf_puts(p->out, "//");
    str_parenthesize(p, arg_at(p->pool, e, 1), BELOW_ATOM);
    buf_putc(p->out, ')');
}

/* Prints a function with its arguments. */
static void str_with_args(struct str_printer *p, sym_id e, struct list *args)
{
    enum sym_kind kind = kind_at(p->pool, e);
    switch (kind) {
    case SYM_EQ: str_call(p, "Eq", args->v, args->n); break;
    case SYM_NE: str_call(p, "Ne", args->v, args->n); break;
    case SYM_AND:
        str_joined(p, args->v, args->n, " & ", sym_classes[SYM_BITWISE_AND].precedence);
        break;
    case SYM_OR:
        str_joined(p, args->v, args->n, " | ", sym_classes[SYM_BITWISE_OR].precedence);
        break;
    case SYM_MAX:
    case SYM_MIN:
        if (order_sort(p->pool, args->v, args->n, order_sort_key))
            str_call(p, sym_classes[kind].name, args->v, args->n);
        break;
    case SYM_EXPR_COND_PAIR: str_call(p, "", args->v, args->n); break;
    case SYM_IDENTITY: str_call(p, "", args->v, args->n); break;
    default: str_call(p, sym_classes[kind].name, args->v, args->n);
    }
}

static void str_compound(struct str_printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_ADD: str_add(p, e); return;
    case SYM_MUL: str_mul(p, e); return;
    case SYM_POW: str_pow(p, e); return;
    case SYM_LT: str_order_relation(p, e, " < "); return;
    case SYM_LE: str_order_relation(p, e, " <= "); return;
    case SYM_GT: str_order_relation(p, e, " > "); return;
    case SYM_GE: str_order_relation(p, e, " >= "); return;
    case SYM_NOT:
        buf_putc(p->out, '~');
        str_parenthesize(p, arg_at(p->pool, e, 0), PRECEDENCE_NOT);
        return;
    case SYM_FLOORDIV:
    case SYM_CLEANDIV: str_floordiv(p, e); return;
    default: break;
    }
    struct list args;
    list_init(&args, p->pool);
    if (list_push_args(&args, e))
        str_with_args(p, e, &args);
    list_release(&args);
}

static void str_atom(struct str_printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_INTEGER:
    case SYM_BIG: number_print_integer(p->pool, e, p->out); break;
    case SYM_RATIONAL:
        number_print_integer(p->pool, arg_at(p->pool, e, 0), p->out);
        buf_putc(p->out, '/');
        number_print_integer(p->pool, arg_at(p->pool, e, 1), p->out);
        break;
    case SYM_FLOAT: float_text(node_at(p->pool, e)->real, FLOAT_STR, p->level > 1, p->out); break;
    case SYM_SYMBOL: buf_put(p->out, sym_name(p->pool, e)); break;
    case SYM_INT_OO: buf_puts(p->out, "int_oo"); break;
    case SYM_NEG_INT_OO: buf_puts(p->out, "-int_oo"); break;
    case SYM_OO: buf_puts(p->out, "oo"); break;
    case SYM_NEG_OO: buf_puts(p->out, "-oo"); break;
    case SYM_NAN: buf_puts(p->out, "nan"); break;
    case SYM_ZOO: buf_puts(p->out, "zoo"); break;
    case SYM_TRUE: buf_puts(p->out, "True"); break;
    default: buf_puts(p->out, "False");
    }
}

static void str_expr(struct str_printer *p, sym_id e)
{
    if (pool_failed(p->pool))
        return;
    if (p->out->n - p->from > SYM_MAX_TEXT) {
        pool_fail(p->pool, "an expression's text is longer than %d bytes", SYM_MAX_TEXT);
        return;
    }
    p->level++;
    if (has_args(kind_at(p->pool, e)))
        str_compound(p, e);
    else
        str_atom(p, e);
    p->level--;
}

void sym_print(struct sym_pool *pool, sym_id e, struct buf *out)
{
    struct str_printer p = { .pool = pool, .out = out, .from = out->n };
    if (e != SYM_NONE)
        str_expr(&p, e);
}
