#include "minify/oracle/guard_match.h"

#include "trace/base/hash.h"

enum { MAX_SYMBOLS = 5 };

bool guard_match_check(struct str what, struct err *err)
{
    struct sym_pool *pool = sym_pool_new(err);
    struct err why = { 0 };
    if (!pool)
        return false;
    sym_id e = sym_parse(pool, what, NULL, NULL);
    bool ok = sym_ok(pool, &why) && e != SYM_NONE;
    sym_pool_free(pool);
    return ok || err_set(err, ERR_USAGE, "--guard: \"%.*s\" is not an expression: %s",
                         STR_ARG(what), why.text);
}

void guard_match_begin(struct guard_match *match, struct str what)
{
    *match = (struct guard_match){ .what = what };
}

void guard_match_end(struct guard_match *match)
{
    match->pool = NULL;
}

/* Hashes kinds and numbers. The order of a sum's terms may depend on names, so the hashes of
 * children are added. */
static uint64_t hash_structure(const struct sym_pool *pool, sym_id e)
{
    uint64_t hash = (uint64_t)sym_kind_of(pool, e) * UINT64_C(0x9E3779B97F4A7C15) + 1, sum = 0;
    if (sym_is_number(pool, e) || e <= SYM_ID_TRUE)
        return hash_mix(hash, e);
    for (uint32_t i = 0; i < sym_n_args(pool, e); i++)
        sum += hash_structure(pool, sym_arg(pool, e, i));
    return hash_mix(hash, sum);
}

static sym_id canonical_of(struct sym_pool *pool, sym_id e)
{
    struct err ignored = { 0 };
    sym_id flat = sym_expand(pool, e);
    sym_id ret = flat == SYM_NONE ? SYM_NONE : sym_canonical(pool, flat);
    sym_ok(pool, &ignored);
    return ret == SYM_NONE ? e : ret;
}

void guard_match_pool(struct guard_match *match, struct sym_pool *pool)
{
    struct err ignored = { 0 };
    if (match->pool == pool)
        return;
    match->pool = pool;
    match->expr = sym_parse(pool, match->what, NULL, NULL);
    sym_ok(pool, &ignored);
    match->canonical = match->expr == SYM_NONE ? SYM_NONE : canonical_of(pool, match->expr);
    if (match->expr == SYM_NONE)
        return;
    match->shape = hash_structure(pool, match->expr);
    match->canonical_shape = hash_structure(pool, match->canonical);
}

struct names {
    sym_id symbol[MAX_SYMBOLS];
    uint32_t n;
};

static void collect_name(void *user, sym_id symbol)
{
    struct names *names = user;
    if (names->n < MAX_SYMBOLS)
        names->symbol[names->n] = symbol;
    names->n++;
}

/* Returns whether some assignment of the names of one guard to those of the other makes them
 * equal. */
static bool same_renamed(struct guard_match *match, sym_id guard, const struct names *from,
                         const struct names *to, struct sym_pair *pairs, uint32_t at)
{
    struct err ignored = { 0 };
    if (at == from->n) {
        sym_id renamed = sym_replace(match->pool, match->expr, pairs, at);
        bool ok = sym_ok(match->pool, &ignored) && renamed != SYM_NONE;
        return ok && (renamed == guard || canonical_of(match->pool, renamed) == guard);
    }
    for (uint32_t i = 0; i < to->n; i++) {
        bool used = false;
        for (uint32_t k = 0; k < at; k++)
            used |= pairs[k].to == to->symbol[i];
        pairs[at] = (struct sym_pair){ from->symbol[at], to->symbol[i] };
        if (!used && same_renamed(match, guard, from, to, pairs, at + 1))
            return true;
    }
    return false;
}

bool guard_matches(struct guard_match *match, sym_id guard)
{
    struct names from = { .n = 0 }, to = { .n = 0 };
    struct sym_pair pairs[MAX_SYMBOLS];
    if (match->expr == SYM_NONE)
        return false;
    if (guard == match->expr || guard == match->canonical)
        return true;
    uint64_t shape = hash_structure(match->pool, guard);
    if (shape != match->shape && shape != match->canonical_shape)
        return false;
    sym_free_symbols(match->pool, match->expr, collect_name, &from);
    sym_free_symbols(match->pool, guard, collect_name, &to);
    if (from.n != to.n || from.n > MAX_SYMBOLS)
        return false;
    return same_renamed(match, guard, &from, &to, pairs, 0) ||
           same_renamed(match, canonical_of(match->pool, guard), &from, &to, pairs, 0);
}
