/* Recorded expressions as Python: sympy's functions become operators. */
#include "minify/repro_inside.h"

#include "minify/sizes.h"

static const struct {
    const char *function, *sign;
} signs[] = {
    { "Eq", "==" },       { "Ne", "!=" },       { "Mod", "%" },      { "PythonMod", "%" },
    { "FloorDiv", "//" }, { "CleanDiv", "//" }, { "PowByNatural", "**" },
    { "IntTrueDiv", "/" }, { "FloatTrueDiv", "/" }, { "And", "and" }, { "Or", "or" },
};

static const struct {
    const char *function, *python;
} calls[] = {
    { "Max", "torch.sym_max" },         { "Min", "torch.sym_min" },
    { "ToFloat", "torch.sym_float" },   { "CeilToInt", "math.ceil" },
    { "FloorToInt", "math.floor" },     { "TruncToInt", "math.trunc" },
    { "ceiling", "math.ceil" },         { "floor", "math.floor" },
    { "Abs", "abs" },                   { "RoundToInt", "round" },
};

static bool put_operands(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                         const char *sign, struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    buf_putc(out, '(');
    for (uint32_t i = 0; i < e->n_children; i++) {
        if (i)
            buf_printf(out, " %s ", sign);
        if (!repro_put_expr(r, pool, expr_child(pool, expr, i), out))
            return false;
    }
    buf_putc(out, ')');
    return true;
}

static bool put_call(const struct repro *r, const struct expr_pool *pool, expr_id expr,
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

static bool put_op(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                   struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    const char *sign = str_is(e->text, "&") ? "and" : str_is(e->text, "|") ? "or" : NULL;
    char text[8];
    if (e->n_children == 1) {
        buf_puts(out, str_is(e->text, "~") ? "(not " : "-");
        if (!repro_put_expr(r, pool, expr_child(pool, expr, 0), out))
            return false;
        buf_puts(out, str_is(e->text, "~") ? ")" : "");
        return true;
    }
    snprintf(text, sizeof text, "%.*s", STR_ARG(e->text));
    return put_operands(r, pool, expr, sign ? sign : text, out);
}

bool repro_put_expr(const struct repro *r, const struct expr_pool *pool, expr_id expr,
                    struct buf *out)
{
    const struct expr *e = expr_at(pool, expr);
    uint32_t symbol;
    switch (e->kind) {
    case EXPR_INT:
    case EXPR_FLOAT: buf_put(out, e->text); return true;
    case EXPR_BOOL: buf_puts(out, e->value ? "True" : "False"); return true;
    case EXPR_SYMBOL:
        if (!repro_bare_symbol(r, pool, expr, &symbol) || !r->spelled[symbol].n)
            return false;
        buf_put(out, r->spelled[symbol]);
        return true;
    case EXPR_OP: return put_op(r, pool, expr, out);
    case EXPR_CALL: return put_call(r, pool, expr, out);
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

/* Of a compile that failed: a branch over what nobody knows, which a check would take away. */
static bool is_question(const struct repro *r, const struct cand_fact *fact,
                        const struct expr_pool *pool)
{
    uint32_t symbol;
    if (fact->deferred || r->what->check != REPRO_RAISES)
        return false;
    for (size_t i = 0; i < pool->exprs.n; i++)
        if (repro_bare_symbol(r, pool, (expr_id)i, &symbol) &&
            !r->candidate->symbols[symbol].backed)
            return true;
    return false;
}

void repro_put_facts(struct repro *r, node_id before)
{
    for (uint32_t i = 0; i < r->candidate->n_facts; i++) {
        const struct cand_fact *fact = &r->candidate->facts[i];
        struct expr_pool pool = { 0 };
        struct err err = { 0 };
        struct buf text = BUF_INIT;
        if (fact->node != before)
            continue;
        expr_id expr = expr_parse(&pool, fact->expr, &err);
        if (expr != EXPR_NONE && repro_put_expr(r, &pool, expr, &text))
            buf_printf(r->out, "    %s%.*s%s\n",
                       is_question(r, fact, &pool) ? "if " : "torch._check(",
                       STR_ARG(repro_bare(buf_str(&text))),
                       is_question(r, fact, &pool) ? ":\n        pass" : ")");
        r->failed |= text.failed;
        buf_release(&text);
        expr_pool_release(&pool);
    }
}
