/* Prints expressions in a form that does not depend on the names of symbols.
 *
 * sympy orders the operands of sums, products and relations by their names (StrPrinter,
 * sort_key), so a renamed symbol moves them: here they are sorted by their own new texts. A > B
 * is printed as B < A. */
#include <stdlib.h>

#include "trace/align/outline_build.h"

/* An operand of a chain; all texts are in one buffer. */
struct chain_operand {
    size_t start, end;
    bool minus;
    const struct buf *in;
};
struct chain_operands {
    struct buf text;
    vec_of(struct chain_operand)
    list;
};

struct outline_printer {
    struct outline_build *b;
    struct outline_scope scope;
    const struct expr_pool *pool;
};

static void put_expr_node(const struct outline_printer *p, expr_id id, struct buf *out);

static int by_text(const void *a, const void *b)
{
    const struct chain_operand *x = a, *y = b;
    struct str s = { x->in->p + x->start, x->end - x->start };
    struct str t = { y->in->p + y->start, y->end - y->start };
    int order = str_cmp(s, t);
    return order ? order : x->minus - y->minus;
}

static bool is_operation(const struct expr *expr, const char *op)
{
    return expr->kind == EXPR_OP && str_is(expr->text, op);
}

static void add_chain_operand(const struct outline_printer *p, struct chain_operands *all,
                              expr_id id, bool minus)
{
    size_t start = all->text.n;
    put_expr_node(p, id, &all->text);
    if (!vec_push(&all->list, (struct chain_operand){ start, all->text.n, minus, &all->text }))
        all->text.failed = true;
}

/* Collects the operands of a chain of `op`, which is "+" (with "-" and negations), "*", "&" or
 * "|". */
static void collect_operands(const struct outline_printer *p, struct chain_operands *all,
                             expr_id id, const char *op, bool minus)
{
    const struct expr *expr = expr_at(p->pool, id);
    bool sum = op[0] == '+';
    if (is_operation(expr, op) || (sum && is_operation(expr, "-"))) {
        collect_operands(p, all, expr_child(p->pool, id, 0), op, minus);
        collect_operands(p, all, expr_child(p->pool, id, 1), op, minus != is_operation(expr, "-"));
    } else if (sum && is_operation(expr, "neg")) {
        collect_operands(p, all, expr_child(p->pool, id, 0), op, !minus);
    } else {
        add_chain_operand(p, all, id, minus);
    }
}

static void put_sorted(struct chain_operands *all, const char *between, struct buf *out)
{
    out->failed |= all->text.failed;
    if (!out->failed && all->list.n > 1)
        qsort(all->list.v, all->list.n, sizeof *all->list.v, by_text);
    for (size_t i = 0; i < all->list.n && !out->failed; i++) {
        const struct chain_operand *operand = &all->list.v[i];
        if (i > 0 || operand->minus)
            buf_puts(out, operand->minus ? " - " : between);
        buf_put(out, (struct str){ all->text.p + operand->start, operand->end - operand->start });
    }
    buf_release(&all->text);
    vec_release(&all->list);
}

static void put_chain(const struct outline_printer *p, expr_id id, const char *op, struct buf *out)
{
    struct chain_operands all = { 0 };
    collect_operands(p, &all, id, op, false);
    buf_putc(out, '(');
    put_sorted(&all, op, out);
    buf_putc(out, ')');
}

static void put_children(const struct outline_printer *p, expr_id id, bool sorted, struct buf *out)
{
    const struct expr *expr = expr_at(p->pool, id);
    struct chain_operands all = { 0 };
    buf_putc(out, '(');
    for (uint32_t i = 0; i < expr->n_children && sorted; i++)
        add_chain_operand(p, &all, expr_child(p->pool, id, i), false);
    for (uint32_t i = 0; i < expr->n_children && !sorted; i++) {
        buf_puts(out, i ? ", " : "");
        put_expr_node(p, expr_child(p->pool, id, i), out);
    }
    put_sorted(&all, ", ", out);
    buf_putc(out, ')');
}

static void put_operation(const struct outline_printer *p, expr_id id, struct buf *out)
{
    static const struct {
        const char *op, *turned;
    } TURNED[] = { { ">", "<" }, { ">=", "<=" } };
    const struct expr *expr = expr_at(p->pool, id);
    if (is_operation(expr, "+") || is_operation(expr, "-") || is_operation(expr, "neg")) {
        put_chain(p, id, "+", out);
        return;
    }
    if (is_operation(expr, "*") || is_operation(expr, "&") || is_operation(expr, "|")) {
        char op[] = { expr->text.p[0], '\0' };
        put_chain(p, id, op, out);
        return;
    }
    for (size_t i = 0; i < 2; i++)
        if (is_operation(expr, TURNED[i].op)) {
            buf_puts(out, TURNED[i].turned);
            buf_putc(out, '(');
            put_expr_node(p, expr_child(p->pool, id, 1), out);
            buf_puts(out, ", ");
            put_expr_node(p, expr_child(p->pool, id, 0), out);
            buf_putc(out, ')');
            return;
        }
    buf_put(out, expr->text);
    put_children(p, id, is_operation(expr, "==") || is_operation(expr, "!="), out);
}

static void put_symbol_source(const struct outline_printer *p, struct str name, struct buf *out)
{
    uint32_t text = outline_symbol(p->b, p->scope, name);
    buf_put(out, text == OUTLINE_NONE ? name : outline_text(p->b->outline, text));
}

static void put_expr_node(const struct outline_printer *p, expr_id id, struct buf *out)
{
    static const char *const SYMMETRIC[] = { "Eq", "Ne", "Max", "Min", "And", "Or" };
    const struct expr *expr = expr_at(p->pool, id);
    bool sorted = false;
    switch (expr->kind) {
    case EXPR_SYMBOL: put_symbol_source(p, expr->text, out); break;
    case EXPR_OP: put_operation(p, id, out); break;
    case EXPR_CALL:
        for (size_t i = 0; i < sizeof SYMMETRIC / sizeof *SYMMETRIC; i++)
            sorted = sorted || str_is(expr->text, SYMMETRIC[i]);
        buf_put(out, expr->text);
        put_children(p, id, sorted, out);
        break;
    case EXPR_TUPLE: put_children(p, id, false, out); break;
    case EXPR_BOOL: buf_puts(out, expr->value ? "True" : "False"); break;
    case EXPR_INT:
    case EXPR_FLOAT:
    case EXPR_STRING: buf_put(out, expr->text); break;
    }
}

void outline_put_expr(struct outline_build *b, struct outline_scope scope,
                      const struct expr_pool *pool, expr_id expr, struct buf *out)
{
    const struct outline_printer p = { b, scope, pool };
    put_expr_node(&p, expr, out);
}

void outline_put_expr_text(struct outline_build *b, struct outline_scope scope, struct str text,
                           struct buf *out)
{
    struct err err = { 0 };
    b->exprs.exprs.n = b->exprs.children.n = 0;
    expr_id expr = expr_parse(&b->exprs, text, &err);
    if (expr != EXPR_NONE)
        outline_put_expr(b, scope, &b->exprs, expr, out);
    else if (err.kind == ERR_ENV)
        out->failed = true;
    else
        buf_put(out, text);
}
