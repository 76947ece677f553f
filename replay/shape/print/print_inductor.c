/* sympy_str of torch/_inductor/utils.py, in Inductor's graphs: "1 + FloorDiv(-1 + s53, 2)".
 * Arguments are printed in the order in which they are stored, with few parentheses; kinds that
 * sympy_str does not handle are printed as by str(). */
#include "replay/shape/expr/sym_pool.h"

struct inductor_printer {
    struct sym_pool *pool;
    struct buf *out;
    size_t from; /* the offset in `out` at which the text starts */
};

static void inductor_sum(struct inductor_printer *p, sym_id e);

/* Returns whether e is -1 * x. */
static bool is_minus(const struct inductor_printer *p, sym_id e)
{
    return kind_at(p->pool, e) == SYM_MUL && node_at(p->pool, e)->n == 2 &&
           arg_at(p->pool, e, 0) == SYM_ID_MINUS_ONE;
}

static void inductor_call(struct inductor_printer *p, sym_id e)
{
    buf_puts(p->out, sym_classes[kind_at(p->pool, e)].name);
    buf_putc(p->out, '(');
    for (uint32_t i = 0; i < node_at(p->pool, e)->n; i++) {
        buf_puts(p->out, i ? ", " : "");
        inductor_sum(p, arg_at(p->pool, e, i));
    }
    buf_putc(p->out, ')');
}

static void inductor_atom(struct inductor_printer *p, sym_id e)
{
    switch (kind_at(p->pool, e)) {
    case SYM_ADD:
    case SYM_MUL:
        buf_putc(p->out, '(');
        inductor_sum(p, e);
        buf_putc(p->out, ')');
        break;
    case SYM_MODULAR_INDEXING:
    case SYM_CLEANDIV:
    case SYM_FLOORDIV:
    case SYM_IDENTITY: inductor_call(p, e); break;
    default: sym_print(p->pool, e, p->out);
    }
}

static void inductor_product(struct inductor_printer *p, sym_id e)
{
    if (kind_at(p->pool, e) != SYM_MUL) {
        inductor_atom(p, e);
        return;
    }
    if (is_minus(p, e)) {
        buf_putc(p->out, '-');
        inductor_atom(p, arg_at(p->pool, e, 1));
        return;
    }
    for (uint32_t i = 0; i < node_at(p->pool, e)->n; i++) {
        buf_puts(p->out, i ? " * " : "");
        inductor_atom(p, arg_at(p->pool, e, i));
    }
}

static void inductor_sum(struct inductor_printer *p, sym_id e)
{
    if (pool_failed(p->pool))
        return;
    if (p->out->n - p->from > SYM_MAX_TEXT) {
        pool_fail(p->pool, "an expression's text is longer than %d bytes", SYM_MAX_TEXT);
        return;
    }
    if (kind_at(p->pool, e) != SYM_ADD) {
        inductor_product(p, e);
        return;
    }
    uint32_t n = node_at(p->pool, e)->n;
    if (n == 2 && is_minus(p, arg_at(p->pool, e, 1))) {
        inductor_product(p, arg_at(p->pool, e, 0));
        buf_puts(p->out, " - ");
        inductor_product(p, arg_at(p->pool, arg_at(p->pool, e, 1), 1));
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        buf_puts(p->out, i ? " + " : "");
        inductor_product(p, arg_at(p->pool, e, i));
    }
}

void sym_print_inductor(struct sym_pool *pool, sym_id e, struct buf *out)
{
    struct inductor_printer p = { pool, out, out->n };
    if (e != SYM_NONE)
        inductor_sum(&p, e);
}
