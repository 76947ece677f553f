/* Converts recorded syntax trees into expressions of a pool. */
#include <math.h>
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "trace/graph/expr.h"

struct sym_reader {
    struct sym_pool *pool;
    const struct expr_pool *exprs;
    sym_resolver *symbol;
    void *user;
};

static sym_id expr_node(struct sym_reader *r, expr_id e);

/* Names that differ from the class's own, as str() or the guard printers write them. */
static const struct {
    const char *name;
    enum sym_kind kind;
} other_names[] = {
    { "Eq", SYM_EQ },
    { "Ne", SYM_NE },
    { "Lt", SYM_LT },
    { "Le", SYM_LE },
    { "Gt", SYM_GT },
    { "Ge", SYM_GE },
    { "max", SYM_MAX },
    { "min", SYM_MIN },
    { "abs", SYM_ABS },
    { "math.floor", SYM_FLOOR_TO_INT },
    { "math.ceil", SYM_CEIL_TO_INT },
    { "math.trunc", SYM_TRUNC_TO_INT },
    { "math.sqrt", SYM_SQRT },
    { "torch._sym_sqrt", SYM_SQRT },
    { "torch.sym_float", SYM_TO_FLOAT },
    { "round", SYM_ROUND_TO_INT },
};

static const struct {
    const char *text;
    enum sym_kind kind;
} operators[] = {
    { "+", SYM_ADD },        { "*", SYM_MUL },         { "**", SYM_POW }, { "//", SYM_FLOORDIV },
    { "%", SYM_PYTHON_MOD }, { "==", SYM_EQ },         { "!=", SYM_NE },  { "<", SYM_LT },
    { "<=", SYM_LE },        { ">", SYM_GT },          { ">=", SYM_GE },  { "&", SYM_AND },
    { "|", SYM_OR },         { "^", SYM_BITWISE_XOR }, { "~", SYM_NOT },
};

static const struct {
    const char *name;
    sym_id id;
} constants[] = {
    { "int_oo", SYM_ID_INT_OO }, { "-int_oo", SYM_ID_MINUS_INT_OO },
    { "oo", SYM_ID_OO },         { "-oo", SYM_ID_MINUS_OO },
    { "nan", SYM_ID_NAN },       { "zoo", SYM_ID_ZOO },
    { "math.inf", SYM_ID_OO },   { "-math.inf", SYM_ID_MINUS_OO },
};

sym_id sym_by_name(void *user, struct sym_pool *pool, struct str name)
{
    (void)user;
    sym_id known = sym_symbol_find(pool, name);
    if (known != SYM_NONE)
        return known;
    bool numbered = name.n > 1 && is_digit(name.p[1]);
    unsigned assumptions = 0;
    if (numbered && name.p[0] == 's')
        assumptions = SYM_IS_INTEGER | SYM_IS_POSITIVE;
    else if (numbered && name.p[0] == 'u')
        assumptions = SYM_IS_INTEGER;
    else if (str_starts(name, STR("zf")))
        assumptions = SYM_IS_REAL;
    return sym_symbol(pool, name, assumptions);
}

static sym_id float_node(struct sym_reader *r, struct str text)
{
    char digits[64];
    if (text.n >= sizeof digits)
        return pool_fail(r->pool, "a float has more than %zu digits", sizeof digits - 1);
    memcpy(digits, text.p, text.n);
    digits[text.n] = 0;
    return sym_float(r->pool, strtod(digits, NULL));
}

static sym_id symbol_node(struct sym_reader *r, struct str name)
{
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (str_is(name, constants[i].name))
            return constants[i].id;
    return r->symbol(r->user, r->pool, name);
}

static bool is_operator(const struct expr *e, const char *op)
{
    return e->kind == EXPR_OP && str_is(e->text, op);
}

/* Collects the terms of a chain of + and -, or the factors of one of * and /, from left to right.
 */
static bool flatten_chain(struct sym_reader *r, expr_id e, bool sum, bool inverse, struct list *out)
{
    const struct expr *node = expr_at(r->exprs, e);
    bool minus = is_operator(node, "-") && node->n_children == 2, over = is_operator(node, "/");
    if (sum ? minus || is_operator(node, "+") : over || is_operator(node, "*")) {
        bool turn = (sum ? minus : over) != inverse;
        return flatten_chain(r, expr_child(r->exprs, e, 0), sum, inverse, out) &&
               flatten_chain(r, expr_child(r->exprs, e, 1), sum, turn, out);
    }
    if (!sum && is_operator(node, "neg"))
        return list_push(out, SYM_ID_MINUS_ONE) &&
               flatten_chain(r, expr_child(r->exprs, e, 0), sum, inverse, out);
    sym_id value = expr_node(r, e);
    if (inverse)
        value = sum ? sym_neg(r->pool, value) : sym_pow(r->pool, value, SYM_ID_MINUS_ONE);
    return list_push(out, value);
}

/* Reads a product. 2*(a + b) stays as it is, because PyTorch built it without multiplying out. */
static sym_id read_product(struct sym_reader *r, struct list *factors)
{
    sym_id number = SYM_ID_ONE, other = SYM_NONE;
    bool one_sum = true;
    for (uint32_t i = 0; i < factors->n && number != SYM_NONE; i++) {
        if (is_number(r->pool, factors->v[i])) {
            number = number_mul(r->pool, number, factors->v[i]);
        } else {
            one_sum &= other == SYM_NONE && kind_at(r->pool, factors->v[i]) == SYM_ADD;
            other = factors->v[i];
        }
    }
    if (one_sum && other != SYM_NONE && number != SYM_NONE && number != SYM_ID_ONE &&
        number != SYM_ID_ZERO)
        return pool_node2(r->pool, SYM_MUL, number, other);
    return sym_make(r->pool, SYM_MUL, factors->v, factors->n);
}

static sym_id read_arithmetic(struct sym_reader *r, expr_id e, bool sum)
{
    struct list parts;
    list_init(&parts, r->pool);
    sym_id result = SYM_NONE;
    if (flatten_chain(r, e, sum, false, &parts))
        result = sum ? sym_make(r->pool, SYM_ADD, parts.v, parts.n) : read_product(r, &parts);
    list_release(&parts);
    return result;
}

static sym_id make_read_node(struct sym_reader *r, enum sym_kind kind, const struct list *args)
{
    if (is_relational(kind))
        return sym_unevaluated(r->pool, kind, args->v, args->n);
    if (kind == SYM_ROUND_TO_INT && args->n == 2)
        kind = SYM_ROUND_DECIMAL;
    return sym_make(r->pool, kind, args->v, args->n);
}

static sym_id read_args(struct sym_reader *r, expr_id e, enum sym_kind kind)
{
    struct list args;
    list_init(&args, r->pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < expr_at(r->exprs, e)->n_children; i++)
        ok = list_push(&args, expr_node(r, expr_child(r->exprs, e, i)));
    sym_id result = ok ? make_read_node(r, kind, &args) : SYM_NONE;
    list_release(&args);
    return result;
}

static sym_id read_op(struct sym_reader *r, expr_id e)
{
    const struct expr *node = expr_at(r->exprs, e);
    if (is_operator(node, "neg") || is_operator(node, "*") || is_operator(node, "/"))
        return read_arithmetic(r, e, false);
    if (is_operator(node, "+") || is_operator(node, "-"))
        return read_arithmetic(r, e, true);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_is(node->text, operators[i].text))
            return read_args(r, e, operators[i].kind);
    return pool_fail(r->pool, "unknown operator \"%.*s\"", STR_ARG(node->text));
}

static sym_id call_node(struct sym_reader *r, expr_id e)
{
    struct str name = expr_at(r->exprs, e)->text;
    for (int kind = SYM_POW; kind < SYM_KINDS; kind++)
        if (str_is(name, sym_classes[kind].name))
            return read_args(r, e, (enum sym_kind)kind);
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (str_is(name, other_names[i].name))
            return read_args(r, e, other_names[i].kind);
    return pool_fail(r->pool, "unknown function \"%.*s\"", STR_ARG(name));
}

static sym_id expr_node(struct sym_reader *r, expr_id e)
{
    const struct expr *node = expr_at(r->exprs, e);
    switch (node->kind) {
    case EXPR_INT:
        return node->fits ? sym_integer(r->pool, node->value)
                          : sym_integer_text(r->pool, node->text);
    case EXPR_FLOAT: return float_node(r, node->text);
    case EXPR_BOOL: return sym_boolean(node->value != 0);
    case EXPR_SYMBOL: return symbol_node(r, node->text);
    case EXPR_OP: return read_op(r, e);
    case EXPR_CALL: return call_node(r, e);
    case EXPR_TUPLE:
        if (node->n_children == 1)
            return expr_node(r, expr_child(r->exprs, e, 0));
        return read_args(r, e, SYM_EXPR_COND_PAIR);
    case EXPR_STRING: break;
    }
    return pool_fail(r->pool, "a string where a size was expected");
}

sym_id sym_read(struct sym_pool *pool, const struct expr_pool *exprs, uint32_t e,
                sym_resolver *symbol, void *user)
{
    struct sym_reader r = { pool, exprs, symbol ? symbol : sym_by_name, user };
    return expr_node(&r, e);
}

sym_id sym_parse(struct sym_pool *pool, struct str text, sym_resolver *symbol, void *user)
{
    struct expr_pool exprs = pool->parsed; /* a resolver may parse, too */
    struct err err = { .kind = ERR_NONE };
    pool->parsed = (struct expr_pool){ 0 };
    expr_id e = expr_parse(&exprs, text, &err);
    sym_id result = SYM_NONE;
    if (e != EXPR_NONE)
        result = sym_read(pool, &exprs, e, symbol, user);
    else if (!pool_failed(pool))
        pool->failure = err;
    pool->short_of_memory |= err.kind == ERR_ENV;
    exprs.exprs.n = exprs.children.n = 0;
    expr_pool_release(&pool->parsed);
    pool->parsed = exprs;
    return result;
}
