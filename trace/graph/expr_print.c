#include "trace/graph/expr.h"

#include "trace/base/buf.h"
#include "trace/graph/expr_build.h"

static void print_expr(const struct expr_pool *pool, expr_id id, enum expr_precedence loosest,
                       struct buf *out);

/* Returns the precedence of an expression. A leaf with a sign has that of a negation: (-2)**x. */
static enum expr_precedence precedence_of(const struct expr *expr)
{
    if (expr->kind == EXPR_OP)
        return expr_op_precedence(expr->text, expr->n_children == 1);
    bool sign = expr->kind != EXPR_STRING && expr->text.n && expr->text.p[0] == '-';
    return sign ? PRECEDENCE_UNARY : PRECEDENCE_ATOM;
}

/* Returns whether a minus before the operand would be read as a part of a number: -2. */
static bool would_fuse(const struct expr *operand)
{
    bool number = operand->kind == EXPR_INT || operand->kind == EXPR_FLOAT;
    return (number && operand->text.n && operand->text.p[0] != '-') ||
           (operand->kind == EXPR_SYMBOL && expr_is_infinity(operand->text));
}

static void print_unary(const struct expr_pool *pool, expr_id id, struct buf *out)
{
    expr_id operand = expr_child(pool, id, 0);
    bool minus = str_is(expr_at(pool, id)->text, "neg");
    buf_putc(out, minus ? '-' : '~');
    bool brackets = minus && would_fuse(expr_at(pool, operand));
    if (brackets)
        buf_putc(out, '(');
    print_expr(pool, operand, brackets ? PRECEDENCE_OR : PRECEDENCE_UNARY, out);
    if (brackets)
        buf_putc(out, ')');
}

static void print_binary(const struct expr_pool *pool, expr_id id, struct buf *out)
{
    const struct expr *expr = expr_at(pool, id);
    enum expr_precedence own = precedence_of(expr);
    bool power = own == PRECEDENCE_POWER, compare = own == PRECEDENCE_COMPARE;
    bool tight = power || own == PRECEDENCE_PRODUCT;
    print_expr(pool, expr_child(pool, id, 0), power || compare ? own + 1 : own, out);
    buf_puts(out, tight ? "" : " ");
    buf_put(out, expr->text);
    buf_puts(out, tight ? "" : " ");
    print_expr(pool, expr_child(pool, id, 1), power ? PRECEDENCE_UNARY : own + 1, out);
}

static void print_expr_items(const struct expr_pool *pool, expr_id id, struct buf *out)
{
    const struct expr *expr = expr_at(pool, id);
    buf_putc(out, '(');
    for (uint32_t i = 0; i < expr->n_children; i++) {
        buf_puts(out, i ? ", " : "");
        print_expr(pool, expr_child(pool, id, i), PRECEDENCE_OR, out);
    }
    buf_puts(out, expr->kind == EXPR_TUPLE && expr->n_children == 1 ? ",)" : ")");
}

static void print_expr(const struct expr_pool *pool, expr_id id, enum expr_precedence loosest,
                       struct buf *out)
{
    const struct expr *expr = expr_at(pool, id);
    bool brackets = precedence_of(expr) < loosest;
    if (brackets)
        buf_putc(out, '(');
    switch (expr->kind) {
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_SYMBOL:
    case EXPR_STRING: buf_put(out, expr->text); break;
    case EXPR_BOOL: buf_puts(out, expr->value ? "True" : "False"); break;
    case EXPR_CALL:
        buf_put(out, expr->text);
        print_expr_items(pool, id, out);
        break;
    case EXPR_TUPLE: print_expr_items(pool, id, out); break;
    case EXPR_OP:
        if (expr->n_children == 1)
            print_unary(pool, id, out);
        else
            print_binary(pool, id, out);
        break;
    }
    if (brackets)
        buf_putc(out, ')');
}

void expr_print(const struct expr_pool *pool, expr_id id, struct buf *out)
{
    print_expr(pool, id, PRECEDENCE_OR, out);
}

static bool leaf_equal(const struct expr *x, const struct expr *y)
{
    if (x->kind == EXPR_BOOL || (x->kind == EXPR_INT && x->fits && y->fits))
        return x->value == y->value;
    return str_eq(x->text, y->text);
}

bool expr_equal(const struct expr_pool *a, expr_id x, const struct expr_pool *b, expr_id y)
{
    const struct expr *left = expr_at(a, x), *right = expr_at(b, y);
    if (left->kind != right->kind || left->n_children != right->n_children ||
        !leaf_equal(left, right))
        return false;
    for (uint32_t i = 0; i < left->n_children; i++)
        if (!expr_equal(a, expr_child(a, x, i), b, expr_child(b, y, i)))
            return false;
    return true;
}
