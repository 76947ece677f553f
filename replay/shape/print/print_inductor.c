/* sympy_str of torch/_inductor/utils.py, in Inductor's graphs: "1 + FloorDiv(-1 + s53, 2)".
 * Arguments in the order in which they are kept, few parentheses; what it does not know is printed
 * by str(). */
#include "replay/shape/expr/sym_pool.h"

struct printer {
    struct sym_pool *pool;
    struct buf *out;
    size_t from; /* where in `out` it starts */
};

static void print_sum(struct printer *p, sym_id e);

/* -1 * x */
static bool is_minus(const struct printer *p, sym_id e)
{
    return kind_at(p->pool, e) == SYM_MUL && node_at(p->pool, e)->n == 2 &&
           arg_at(p->pool, e, 0) == SYM_ID_MINUS_ONE;
}

static void print_call(struct printer *p, sym_id e)
{
    buf_puts(p->out, sym_classes[kind_at(p->pool, e)].name);
    buf_putc(p->out, '(');
    for (uint32_t i = 0; i < node_at(p->pool, e)->n; i++) {
        buf_puts(p->out, i ? ", " : "");
        print_sum(p, arg_at(p->pool, e, i));
    }
    buf_putc(p->out, ')');
}

static void print_atom(struct printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_ADD:
    case SYM_MUL:
        buf_putc(p->out, '(');
        print_sum(p, e);
        buf_putc(p->out, ')');
        break;
    case SYM_MODULAR_INDEXING:
    case SYM_CLEANDIV:
    case SYM_FLOORDIV:
    case SYM_IDENTITY: print_call(p, e); break;
    default: sym_print(p->pool, e, p->out);
    }
}

static void print_product(struct printer *p, sym_id e)
{
    if (kind_at(p->pool, e) != SYM_MUL) {
        print_atom(p, e);
        return;
    }
    if (is_minus(p, e)) {
        buf_putc(p->out, '-');
        print_atom(p, arg_at(p->pool, e, 1));
        return;
    }
    for (uint32_t i = 0; i < node_at(p->pool, e)->n; i++) {
        buf_puts(p->out, i ? " * " : "");
        print_atom(p, arg_at(p->pool, e, i));
    }
}

static void print_sum(struct printer *p, sym_id e)
{
    if (pool_failed(p->pool))
        return;
    if (p->out->n - p->from > SYM_MAX_TEXT) {
        pool_fail(p->pool, "an expression's text is longer than %d bytes", SYM_MAX_TEXT);
        return;
    }
    if (kind_at(p->pool, e) != SYM_ADD) {
        print_product(p, e);
        return;
    }
    uint32_t n = node_at(p->pool, e)->n;
    if (n == 2 && is_minus(p, arg_at(p->pool, e, 1))) {
        print_product(p, arg_at(p->pool, e, 0));
        buf_puts(p->out, " - ");
        print_product(p, arg_at(p->pool, arg_at(p->pool, e, 1), 1));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(p->out, i ? " + " : "");
        print_product(p, arg_at(p->pool, e, i));
    }
}

void sym_print_inductor(struct sym_pool *pool, sym_id e, struct buf *out)
{
    struct printer p = { pool, out, out->n };
    if (e != SYM_NONE)
        print_sum(&p, e);
}
