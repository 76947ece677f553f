/* Prints recorded expressions as Python: sympy's functions become operators. */
#include "minify/repro/repro_inside.h"

#include "minify/candidate/sizes.h"

enum { NESTING_MAX = 90 }; /* of brackets; Python's limit is 200 */

static const struct {
    const char *function, *sign;
} signs[] = {
    { "Eq", "==" },          { "Ne", "!=" },       { "Mod", "%" },           { "PythonMod", "%" },
    { "FloorDiv", "//" },    { "CleanDiv", "//" }, { "PowByNatural", "**" }, { "IntTrueDiv", "/" },
    { "FloatTrueDiv", "/" }, { "And", "and" },     { "Or", "or" },
};

static const struct {
    const char *function, *python;
} calls[] = {
    { "Max", "torch.sym_max" },   { "Min", "torch.sym_min" },     { "ToFloat", "torch.sym_float" },
    { "CeilToInt", "math.ceil" }, { "FloorToInt", "math.floor" }, { "TruncToInt", "math.trunc" },
    { "ceiling", "math.ceil" },   { "floor", "math.floor" },      { "Abs", "abs" },
    { "RoundToInt", "round" },
};

/* The operators that have the same spelling in Python. */
static const char *const infix[] = {
    "+", "-",  "*", "/",  "//", "%",  "**", "==",  "!=",
    "<", "<=", ">", ">=", "<<", ">>", "^",  "and", "or",
};

static bool put_operands(struct repro *r, const struct expr_pool *pool, expr_id expr,
                         const char *sign, struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    bool good = r->nesting < NESTING_MAX && e->n_children > 0;
    r->nesting++;
    buf_putc(out, '(');
    for (uint32_t i = 0; i < e->n_children && good; i++) {
        if (i)
            buf_printf(out, " %s ", sign);
        good = repro_put_expr(r, pool, expr_child(pool, expr, i), out);
    }
    buf_putc(out, ')');
    r->nesting--;
    return good;
}

static bool put_expr_call(struct repro *r, const struct expr_pool *pool, expr_id expr,
                          struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (str_is(e->text, signs[i].function))
            return put_operands(r, pool, expr, signs[i].sign, out);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (str_is(e->text, calls[i].function)) {
            buf_puts(out, calls[i].python);
            return put_operands(r, pool, expr, ",", out);
        }
    return false;
}

static bool put_expr_operator(struct repro *r, const struct expr_pool *pool, expr_id expr,
                              struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    const char *sign = str_is(e->text, "&") ? "and" : str_is(e->text, "|") ? "or" : NULL;
    if (e->n_children == 1) {
        bool inverted = str_is(e->text, "~");
        if (!inverted && !str_is(e->text, "neg"))
            return false;
        buf_puts(out, inverted ? "(not " : "-");
        if (!repro_put_expr(r, pool, expr_child(pool, expr, 0), out))
            return false;
        buf_puts(out, inverted ? ")" : "");
        return true;
    }
    for (size_t i = 0; i < sizeof infix / sizeof *infix && !sign; i++)
        if (str_is(e->text, infix[i]))
            sign = infix[i];
    return sign && put_operands(r, pool, expr, sign, out);
}

bool repro_put_expr(struct repro *r, const struct expr_pool *pool, expr_id expr, struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    uint32_t symbol;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT: return python_put_number(out, e->text);
    case EXPR_BOOL: buf_puts(out, e->value ? "True" : "False"); return true;
    case EXPR_SYMBOL:
        if (!repro_bare_symbol(r, pool, expr, &symbol) || !r->spelled[symbol].n)
            return false;
        repro_put_name(r, out, r->spelled[symbol]);
        return true;
    case EXPR_OP: return put_expr_operator(r, pool, expr, out);
    case EXPR_CALL: return put_expr_call(r, pool, expr, out);
    default: return false;
    }
}

struct str repro_bare(struct str text)
{
    if (!text.n || text.p[0] != '(')
        return text;
    size_t depth = 0;
    for (size_t i = 0; i + 1 < text.n; i++) {
        depth += (size_t)(text.p[i] == '(') - (size_t)(text.p[i] == ')');
        if (depth == 0)
            return text;
    }
    return (struct str){ text.p + 1, text.n - 2 };
}

/* Returns whether a guard is the data-dependent branch at which a compile failed: a check of it
 * would hide the failure. */
static bool is_data_dependent_branch(const struct repro *r, const struct cand_guard *guard,
                                     const struct expr_pool *pool)
{
    uint32_t symbol;
    if (guard->deferred || r->what->check != REPRO_RAISES)
        return false;
    for (size_t i = 0; i < pool->exprs.n; i++)
        if (repro_bare_symbol(r, pool, (expr_id)i, &symbol) &&
            !r->candidate->symbols[symbol].backed)
            return true;
    return false;
}

void repro_put_guards(struct repro *r, node_id before)
{
    for (uint32_t i = 0; i < r->candidate->n_guards; i++) {
        const struct cand_guard *guard = &r->candidate->guards[i];
        struct expr_pool pool = { 0 };
        struct err err = { 0 };
        struct buf text = BUF_INIT;
        if (guard->node != before)
            continue;
        expr_id expr = expr_parse(&pool, guard->expr, &err);
        if (expr != EXPR_NONE && repro_put_expr(r, &pool, expr, &text)) {
            bool question = is_data_dependent_branch(r, guard, &pool);
            buf_puts(r->out, question ? "    if " : "    torch._check(");
            buf_put(r->out, repro_bare(buf_str(&text)));
            buf_puts(r->out, question ? ":\n        pass\n" : ")\n");
        }
        r->failed |= text.failed;
        buf_release(&text);
        expr_pool_release(&pool);
    }
}
