/* The speed of the engine alone: every call of a recording once more, in new environments, with
 * nothing read in between. The expressions are those of the first run, made beforehand. */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "tests/conformance/conform_env.h"

struct copy {
    struct sym_pool *from, *to;
    sym_id *images; /* SYM_NONE: not yet */
    size_t n;
};

static sym_id copy_atom(struct copy *c, sym_id e)
{
    int64_t value;
    switch (sym_kind_of(c->from, e)) {
    case SYM_INTEGER: return sym_to_i64(c->from, e, &value) ? sym_integer(c->to, value) : SYM_NONE;
    case SYM_FLOAT: return sym_float(c->to, sym_to_double(c->from, e));
    case SYM_SYMBOL: {
        unsigned is = 0;
        is |= sym_ask(c->from, e, SYM_ASK_INTEGER) == SYM_YES ? SYM_IS_INTEGER : 0;
        is |= sym_ask(c->from, e, SYM_ASK_POSITIVE) == SYM_YES ? SYM_IS_POSITIVE : 0;
        if (!(is & SYM_IS_POSITIVE) && sym_ask(c->from, e, SYM_ASK_NONNEGATIVE) == SYM_YES)
            is |= SYM_IS_NONNEGATIVE;
        is |= !(is & SYM_IS_INTEGER) && sym_ask(c->from, e, SYM_ASK_REAL) == SYM_YES ? SYM_IS_REAL
                                                                                     : 0;
        return sym_symbol(c->to, sym_name(c->from, e), is);
    }
    default: {
        struct buf text = BUF_INIT;
        sym_print(c->from, e, &text);
        sym_id copy = sym_parse(c->to, buf_str(&text), NULL, NULL);
        buf_release(&text);
        return copy;
    }
    }
}

static sym_id copy_expr(struct copy *c, sym_id e)
{
    if (e == SYM_NONE || e < SYM_ID_FIXED)
        return e;
    if (e < c->n && c->images[e] != SYM_NONE)
        return c->images[e];
    uint32_t n = sym_n_args(c->from, e);
    sym_id image;
    if (n == 0) {
        image = copy_atom(c, e);
    } else {
        struct list args;
        list_init(&args, c->to);
        for (uint32_t i = 0; i < n; i++)
            (void)list_push(&args, copy_expr(c, sym_arg(c->from, e, i)));
        image = sym_unevaluated(c->to, sym_kind_of(c->from, e), args.v, args.n);
        list_release(&args);
    }
    if (e < c->n)
        c->images[e] = image;
    return image;
}

static bool begin_copy(struct copy *c, struct sym_pool *from, struct sym_pool *to)
{
    *c = (struct copy){ .from = from, .to = to, .n = sym_pool_count(from) };
    c->images = malloc((c->n + 1) * sizeof *c->images);
    for (size_t i = 0; c->images && i < c->n; i++)
        c->images[i] = SYM_NONE;
    return c->images != NULL;
}

static bool copy_row(struct copy *c, struct op *op, struct row *row)
{
    op->a = copy_expr(c, op->a);
    op->b = copy_expr(c, op->b);
    op->c = copy_expr(c, op->c);
    row->expected = copy_expr(c, op->result);
    sym_id *axioms = (sym_id *)row->assumptions.axioms; /* ours: read for this row */
    for (uint32_t i = 0; i < row->assumptions.n_axioms; i++)
        axioms[i] = copy_expr(c, axioms[i]);
    struct env_symbol_range *ranges = (struct env_symbol_range *)row->assumptions.ranges;
    for (uint32_t i = 0; i < row->assumptions.n_ranges; i++) {
        ranges[i].symbol = copy_expr(c, ranges[i].symbol);
        ranges[i].range.lower = copy_expr(c, ranges[i].range.lower);
        ranges[i].range.upper = copy_expr(c, ranges[i].range.upper);
    }
    if (row->constraint.kind == CONSTRAINT_STRICT_MIN_MAX) {
        row->constraint.range.lower = copy_expr(c, row->constraint.range.lower);
        row->constraint.range.upper = copy_expr(c, row->constraint.range.upper);
    }
    return true;
}

/* How many answers differ from those of the first run; -1: out of memory. */
static int64_t run_again(struct run *run, struct shape_env **envs)
{
    uint64_t begin = conform_now();
    for (size_t i = 0; i < run->all.n; i++) {
        struct op *op = &run->all.v[i];
        conform_run_op(envs[op->env], op, &run->all_rows.v[i]);
        if (op->result == SYM_NONE)
            env_raised(envs[op->env]); /* what was raised has been heard */
    }
    run->totals->engine_ns += conform_now() - begin;
    int64_t differ = 0;
    for (size_t i = 0; i < run->all.n; i++)
        differ += run->all.v[i].result != run->all_rows.v[i].expected;
    return differ;
}

int64_t conform_time(struct run *run)
{
    size_t n = run->envs.n;
    struct shape_env **envs = calloc(n + 1, sizeof *envs);
    struct copy *copies = calloc(n + 1, sizeof *copies);
    bool ok = envs && copies;
    for (size_t i = 0; ok && i < n; i++) {
        struct err err = { 0 };
        struct shape_env *from = run->envs.v[i].env;
        envs[i] = from ? shape_env_new(env_settings(from), &err) : NULL;
        ok = !from || (envs[i] && begin_copy(&copies[i], env_pool(from), env_pool(envs[i])));
    }
    for (size_t i = 0; ok && i < run->all.n; i++)
        ok = copy_row(&copies[run->all.v[i].env], &run->all.v[i], &run->all_rows.v[i]);
    for (size_t i = 0; ok && i < n; i++) {
        struct err err = { 0 };
        ok = !envs[i] || sym_ok(env_pool(envs[i]), &err);
    }
    int64_t differ = ok ? run_again(run, envs) : -1;
    for (size_t i = 0; i < n; i++) {
        if (envs)
            shape_env_free(envs[i]);
        if (copies)
            free(copies[i].images);
    }
    free(envs);
    free(copies);
    return differ;
}
