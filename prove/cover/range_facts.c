#include "prove/cover/range_facts.h"

const struct cover_symbol *cover_range_symbol(const struct cover_range *range, sym_id symbol)
{
    for (size_t i = 0; i < range->n_symbols; i++)
        if (range->symbols[i].symbol == symbol)
            return &range->symbols[i];
    return NULL;
}

/* Returns the condition that a symbol has one of the values of a piece. */
static sym_id piece_condition(struct sym_pool *pool, sym_id symbol, const struct cover_piece *p)
{
    if (p->min == p->max)
        return sym_eq(pool, symbol, sym_integer(pool, p->min));
    sym_id above = sym_ge(pool, symbol, sym_integer(pool, p->min));
    sym_id below = sym_le(pool, symbol, sym_integer(pool, p->max));
    sym_id ret = sym_and(pool, above, below);
    if (p->step == 1)
        return ret;
    sym_id from = sym_sub(pool, symbol, sym_integer(pool, p->min));
    sym_id rest = sym_make(pool, SYM_MOD, (sym_id[]){ from, sym_integer(pool, p->step) }, 2);
    return sym_and(pool, ret, sym_eq(pool, rest, SYM_ID_ZERO));
}

static bool add_fact(struct decider *decider, struct sym_pool *pool, sym_id fact, struct err *err)
{
    if (!sym_ok(pool, err))
        return false;
    return decider_fact(decider, fact) || err_nomem(err);
}

static bool add_range(struct decider *decider, struct sym_pool *pool, const struct cover_symbol *s,
                      struct err *err)
{
    struct decide_range bounds = { INT64_MAX, INT64_MIN };
    sym_id any = SYM_ID_FALSE;
    for (size_t i = 0; i < s->n_pieces; i++) {
        const struct cover_piece *p = &s->pieces[i];
        bounds.lower = p->min < bounds.lower ? p->min : bounds.lower;
        bounds.upper = p->max > bounds.upper ? p->max : bounds.upper;
        any = sym_or(pool, any, piece_condition(pool, s->symbol, p));
    }
    if (!decider_symbol(decider, s->symbol, bounds))
        return err_nomem(err);
    if (s->n_pieces == 1 && s->pieces[0].step == 1)
        return true;
    return add_fact(decider, pool, any, err);
}

bool range_facts_add(struct decider *decider, const struct conditions *conditions,
                     const struct cover_range *range, struct err *err)
{
    for (size_t i = 0; i < range->n_symbols; i++)
        if (!add_range(decider, conditions->pool, &range->symbols[i], err))
            return false;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint || cover_range_symbol(range, s->symbol))
            continue;
        if (!decider_symbol(decider, s->symbol, (struct decide_range){ s->hint, s->hint }))
            return err_nomem(err);
    }
    return add_fact(decider, conditions->pool, range->assume, err);
}
