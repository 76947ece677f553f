/* Symbols that facts make equal. A long chain of such facts has more steps than linear arithmetic
 * takes, and needs none: each symbol of the goal is replaced by the first one of its class. */
#include "prove/decide/decider.h"
#include "replay/shape/expr/sym_pool.h"

enum { MAX_REPLACED = 16 };

static uint32_t symbol_number(const struct decider *d, sym_id e)
{
    const struct formula *f = &d->formula;
    if (e >= f->row_of.n || !f->row_of.v[e])
        return ROW_NONE;
    const struct row *row = &f->rows.v[f->row_of.v[e] - 1];
    return row->integer ? row->symbol : ROW_NONE;
}

/* Takes the facts that are new into account. */
static bool join_classes(struct decider *d)
{
    for (uint32_t i = (uint32_t)d->equal.n; i < d->formula.symbols.n; i++)
        if (!vec_push(&d->equal, i))
            return false;
    for (; d->n_joined < d->facts.n; d->n_joined++) {
        sym_id e = d->facts.v[d->n_joined].condition;
        if (kind_at(d->pool, e) != SYM_EQ)
            continue;
        uint32_t a = symbol_number(d, sym_arg(d->pool, e, 0));
        uint32_t b = symbol_number(d, sym_arg(d->pool, e, 1));
        if (a == ROW_NONE || b == ROW_NONE)
            continue;
        a = disjoint_set_find(d->equal.v, a);
        b = disjoint_set_find(d->equal.v, b);
        d->equal.v[a > b ? a : b] = a > b ? b : a;
    }
    return true;
}

void decider_forget_equalities(struct decider *d)
{
    d->equal.n = d->n_joined = 0;
}

struct replaced {
    struct decider *d;
    struct sym_pair pairs[MAX_REPLACED];
    uint32_t n;
    bool full;
};

static void add_pair(void *user, sym_id symbol)
{
    struct replaced *r = user;
    uint32_t number = symbol_number(r->d, symbol);
    uint32_t first = number == ROW_NONE ? number : disjoint_set_find(r->d->equal.v, number);
    if (first == number)
        return;
    r->full |= r->n == MAX_REPLACED;
    if (!r->full)
        r->pairs[r->n++] = (struct sym_pair){ symbol, r->d->formula.symbols.v[first].symbol };
}

bool decider_equal(struct decider *d, sym_id goal)
{
    struct replaced r = { .d = d };
    struct err ignored = { 0 };
    if (!join_classes(d) || !sym_free_symbols(d->pool, goal, add_pair, &r)) {
        d->failed = true;
        return false;
    }
    sym_id ret = r.n && !r.full ? sym_replace(d->pool, goal, r.pairs, r.n) : goal;
    d->steps += r.n;
    sym_ok(d->pool, &ignored);
    d->failed |= sym_short_of_memory(d->pool);
    return ret == SYM_ID_TRUE;
}
