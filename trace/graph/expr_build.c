#include "trace/graph/expr_build.h"

struct expr_term expr_fail(struct expr_reader *in, const char *what)
{
    err_set(in->err, ERR_INPUT, "offset %zu: %s", (size_t)(in->p - in->start), what);
    return TERM_NONE;
}

void expr_skip_space(struct expr_reader *in)
{
    while (in->p < in->end && (*in->p == ' ' || *in->p == '\t'))
        in->p++;
}

static bool is_name_char(char c)
{
    return is_word_char(c) || c < 0;
}

struct str expr_name(struct expr_reader *in)
{
    const char *from = in->p;
    if (in->p < in->end && is_name_char(*in->p) && !is_digit(*in->p))
        while (in->p < in->end && (is_name_char(*in->p) || *in->p == '.'))
            in->p++;
    return (struct str){ from, (size_t)(in->p - from) };
}

bool expr_is_infinity(struct str name)
{
    return str_is(name, "oo") || str_is(name, "int_oo") || str_is(name, "math.inf");
}

struct str expr_quoted(struct expr_reader *in)
{
    const char *from = in->p;
    char quote = *in->p;
    for (in->p++; in->p < in->end && *in->p != quote; in->p++)
        if (*in->p == '\\' && in->end - in->p > 1)
            in->p++;
    if (in->p == in->end)
        return (struct str){ from, 0 };
    in->p++;
    return (struct str){ from, (size_t)(in->p - from) };
}

static void skip_expr_digits(struct expr_reader *in)
{
    while (in->p < in->end && is_digit(*in->p))
        in->p++;
}

struct expr_term expr_number(struct expr_reader *in, const char *from)
{
    struct expr expr = { .kind = EXPR_INT };
    skip_expr_digits(in);
    if (in->p < in->end && *in->p == '.') {
        expr.kind = EXPR_FLOAT;
        in->p++;
        skip_expr_digits(in);
    }
    if (in->p < in->end && (*in->p == 'e' || *in->p == 'E')) {
        expr.kind = EXPR_FLOAT;
        in->p++;
        if (in->p < in->end && (*in->p == '+' || *in->p == '-'))
            in->p++;
        if (in->p == in->end || !is_digit(*in->p))
            return expr_fail(in, "expected an exponent");
        skip_expr_digits(in);
    }
    if (in->p < in->end && is_name_char(*in->p))
        return expr_fail(in, "a name follows a number without a space");
    expr.text = (struct str){ from, (size_t)(in->p - from) };
    expr.fits = expr.kind == EXPR_INT && str_to_i64(expr.text, &expr.value);
    return expr_leaf(in, expr);
}

struct expr_term expr_leaf(struct expr_reader *in, struct expr expr)
{
    if (in->pool->exprs.n >= EXPR_NONE || !vec_push(&in->pool->exprs, expr)) {
        err_nomem(in->err);
        return TERM_NONE;
    }
    return (struct expr_term){ (expr_id)in->pool->exprs.n - 1, 1 };
}

static struct expr_term add_parent(struct expr_reader *in, struct expr expr,
                                   const struct expr_term *children, uint32_t n)
{
    struct expr_pool *pool = in->pool;
    uint32_t depth = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (children[i].id == EXPR_NONE)
            return TERM_NONE;
        depth = children[i].depth > depth ? children[i].depth : depth;
    }
    if (depth >= EXPR_MAX_DEPTH)
        return expr_fail(in, "nested too deeply");
    if (pool->children.n >= UINT32_MAX - n || !vec_reserve(&pool->children, n)) {
        err_nomem(in->err);
        return TERM_NONE;
    }
    expr.first_child = (uint32_t)pool->children.n;
    expr.n_children = n;
    for (uint32_t i = 0; i < n; i++)
        pool->children.v[pool->children.n++] = children[i].id;
    struct expr_term parent = expr_leaf(in, expr);
    parent.depth = depth + 1;
    return parent;
}

struct expr_term expr_op1(struct expr_reader *in, struct str op, struct expr_term a)
{
    return add_parent(in, (struct expr){ .kind = EXPR_OP, .text = op }, &a, 1);
}

struct expr_term expr_op2(struct expr_reader *in, struct str op, struct expr_term a,
                          struct expr_term b)
{
    return add_parent(in, (struct expr){ .kind = EXPR_OP, .text = op },
                      (struct expr_term[]){ a, b }, 2);
}

struct expr_term expr_group(struct expr_reader *in, enum expr_kind kind, struct str text,
                            size_t mark)
{
    size_t n = in->open.n - mark;
    if (n > UINT32_MAX / 2)
        return expr_fail(in, "too many arguments");
    struct expr expr = { .kind = kind, .text = text };
    struct expr_term group = add_parent(in, expr, n ? &in->open.v[mark] : NULL, (uint32_t)n);
    in->open.n = mark;
    return group;
}

void expr_pool_release(struct expr_pool *pool)
{
    vec_release(&pool->exprs);
    vec_release(&pool->children);
}
