/* Queries about expressions that make no new expressions. */
#include <math.h>

#include "replay/shape/expr/sym_pool.h"

enum sym_kind sym_kind_of(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e);
}

uint32_t sym_n_args(const struct sym_pool *pool, sym_id e)
{
    return has_args(kind_at(pool, e)) ? node_at(pool, e)->n : 0;
}

sym_id sym_arg(const struct sym_pool *pool, sym_id e, uint32_t i)
{
    return arg_at(pool, e, i);
}

struct str sym_name(const struct sym_pool *pool, sym_id symbol)
{
    return intern_text(&pool->names, node_at(pool, symbol)->first);
}

bool sym_is_number(const struct sym_pool *pool, sym_id e)
{
    return e != SYM_NONE && is_number(pool, e);
}

bool sym_is_relational(const struct sym_pool *pool, sym_id e)
{
    return e != SYM_NONE && is_relational(kind_at(pool, e));
}

bool sym_to_i64(const struct sym_pool *pool, sym_id e, int64_t *ret)
{
    if (e == SYM_NONE || kind_at(pool, e) != SYM_INTEGER)
        return false;
    *ret = node_at(pool, e)->integer;
    return true;
}

static enum sym_answer sym_answer_of(bool yes, bool no)
{
    return yes ? SYM_YES : no ? SYM_NO : SYM_UNKNOWN;
}

enum sym_answer sym_ask(const struct sym_pool *pool, sym_id e, enum sym_question question)
{
    uint32_t f = facts_at(pool, e);
    bool real = f & FACT_REAL;
    switch (question) {
    case SYM_ASK_INTEGER: return sym_answer_of(f & FACT_INTEGER, f & FACT_NOT_INTEGER);
    case SYM_ASK_REAL: return sym_answer_of(real && (f & FACT_FINITE), f & FACT_INFINITE);
    case SYM_ASK_FINITE: return sym_answer_of(f & FACT_FINITE, f & FACT_INFINITE);
    case SYM_ASK_ZERO: return sym_answer_of(known_zero(f), known_nonzero(f));
    case SYM_ASK_POSITIVE: return sym_answer_of(known_positive(f), !(f & FACT_POSITIVE));
    case SYM_ASK_NEGATIVE: return sym_answer_of(known_negative(f), !(f & FACT_NEGATIVE));
    case SYM_ASK_NONNEGATIVE: return sym_answer_of(known_nonnegative(f), known_negative(f));
    case SYM_ASK_NONPOSITIVE: return sym_answer_of(known_nonpositive(f), known_positive(f));
    case SYM_ASK_EVEN: return sym_answer_of(known_even(f), known_odd(f) || (f & FACT_NOT_INTEGER));
    case SYM_ASK_ODD: return sym_answer_of(known_odd(f), known_even(f) || (f & FACT_NOT_INTEGER));
    }
    return SYM_UNKNOWN;
}

static bool contains_expr(struct sym_pool *pool, sym_id e, sym_id part)
{
    if (e == part)
        return true;
    if (!has_args(kind_at(pool, e)) || pool_seen(pool, e))
        return false;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
        if (contains_expr(pool, arg_at(pool, e, i), part))
            return true;
    return false;
}

bool sym_has(struct sym_pool *pool, sym_id e, sym_id part)
{
    return e != SYM_NONE && part != SYM_NONE && pool_walk(pool) && contains_expr(pool, e, part);
}

static bool push_symbols(struct sym_pool *pool, sym_id e, struct list *out)
{
    if (pool_seen(pool, e))
        return true;
    if (kind_at(pool, e) == SYM_SYMBOL)
        return list_push(out, e);
    uint32_t n = sym_n_args(pool, e);
    for (uint32_t i = 0; i < n; i++)
        if (!push_symbols(pool, arg_at(pool, e, i), out))
            return false;
    return true;
}

bool sym_free_symbols(struct sym_pool *pool, sym_id e, void (*fn)(void *user, sym_id symbol),
                      void *user)
{
    struct list found;
    list_init(&found, pool);
    bool ok = e != SYM_NONE && pool_walk(pool) && push_symbols(pool, e, &found) &&
              order_sort(pool, found.v, found.n, order_arguments);
    for (uint32_t i = 0; ok && i < found.n; i++)
        fn(user, found.v[i]);
    list_release(&found);
    return ok;
}
