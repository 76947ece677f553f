/* The cached properties of an expression by its id: its symbols and kinds of subexpressions. */
#include <stdlib.h>

#include "replay/shape/env/env_inside.h"

static bool grow_infos(struct shape_env *env, sym_id e)
{
    size_t n = env->n_known + env->n_known / 2; /* twice as many would mostly stay unused */
    n = n > e ? n : (size_t)e + 256;
    struct expr_info *known = realloc(env->known, n * sizeof *known);
    if (!known)
        return env_no_memory(env);
    memset(known + env->n_known, 0, (n - env->n_known) * sizeof *known);
    env->known = known;
    env->n_known = n;
    return true;
}

enum symbol_kind env_symbol_kind(struct str name)
{
    if (str_starts(name, STR("zuf")))
        return SYMBOL_UNBACKED_FLOAT;
    if (str_starts(name, STR("zf")))
        return SYMBOL_FLOAT;
    if (str_starts(name, STR("u")))
        return SYMBOL_UNBACKED_INT;
    return str_starts(name, STR("s")) ? SYMBOL_SIZE : SYMBOL_OTHER;
}

uint32_t env_symbol_index(struct shape_env *env, sym_id e)
{
    if (e >= env->n_known && !grow_infos(env, e))
        return UINT32_MAX;
    if (env->known[e].symbol_plus_1)
        return env->known[e].symbol_plus_1 - 1;
    struct env_symbol symbol = { .id = e,
                                 .kind = env_symbol_kind(sym_name(env->pool, e)),
                                 .hint = SYM_NONE,
                                 .range = SYM_RANGE_FAILED,
                                 .to = SYM_NONE,
                                 .lower = env_place(env),
                                 .upper = env_place(env),
                                 .changed_at = ++env->time,
                                 .first_source = UINT32_MAX };
    if (!vec_push(&env->symbols, symbol))
        return env_no_memory(env), UINT32_MAX;
    env->known[e].symbol_plus_1 = (uint32_t)env->symbols.n;
    return (uint32_t)env->symbols.n - 1;
}

static uint8_t holds_of_kind(enum sym_kind kind)
{
    switch (kind) {
    case SYM_MAX: return HOLDS_MAX;
    case SYM_MIN: return HOLDS_MIN;
    case SYM_TRUNC_TO_INT: return HOLDS_TRUNC;
    case SYM_FLOORDIV:
    case SYM_CLEANDIV: return HOLDS_FLOORDIV;
    case SYM_MOD: return HOLDS_MOD;
    default: return 0;
    }
}

static bool is_condition(enum sym_kind kind)
{
    return is_relational(kind) || kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT;
}

/* Returns the properties of e if they are known. */
static const struct expr_info *looked_up(const struct shape_env *env, sym_id e)
{
    return e < env->n_known && (env->known[e].holds & HOLDS_LOOKED_AT) ? &env->known[e] : NULL;
}

/* What is being found out about an expression. */
struct properties {
    struct shape_env *env;
    struct list symbols;
    uint8_t holds;
    sym_id widest; /* the part with the most symbols among those whose properties were known */
};

static bool collect_known(struct properties *to, sym_id e, const struct expr_info *k)
{
    to->holds |= k->holds;
    if (to->widest == SYM_NONE || k->n_symbols > to->env->known[to->widest].n_symbols)
        to->widest = e;
    for (uint32_t i = 0; i < k->n_symbols; i++) {
        sym_id symbol = env_symbol_of(to->env, k, i)->id;
        if (!pool_seen(to->env->pool, symbol) && !list_push(&to->symbols, symbol))
            return false;
    }
    return true;
}

static bool collect_properties(struct properties *to, sym_id e, bool top)
{
    struct sym_pool *pool = to->env->pool;
    if (pool_seen(pool, e))
        return true;
    enum sym_kind kind = kind_at(pool, e);
    if (kind == SYM_SYMBOL)
        return list_push(&to->symbols, e);
    to->holds |= holds_of_kind(kind) | (!top && is_condition(kind) ? HOLDS_CONDITION : 0);
    const struct expr_info *known = looked_up(to->env, e);
    if (known)
        return collect_known(to, e, known);
    uint32_t n = sym_n_args(pool, e);
    for (uint32_t i = 0; i < n; i++)
        if (!collect_properties(to, arg_at(pool, e, i), false))
            return false;
    return true;
}

/* Stores the sorted symbols as a list; *first is its place. */
static bool put_symbols(struct shape_env *env, const struct list *symbols, uint32_t *first)
{
    *first = (uint32_t)env->symbol_lists.n;
    for (uint32_t i = 0; i < symbols->n; i++) {
        uint32_t index = env_symbol_index(env, symbols->v[i]);
        if (index == UINT32_MAX)
            return false;
        if (!vec_push(&env->symbol_lists, index))
            return env_no_memory(env);
    }
    return true;
}

struct expr_info *env_known_slow(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    if (e == SYM_NONE || (e >= env->n_known && !grow_infos(env, e)))
        return NULL;
    if (env->known[e].holds)
        return &env->known[e];
    struct properties found = { .env = env, .holds = HOLDS_LOOKED_AT, .widest = SYM_NONE };
    list_init(&found.symbols, pool);
    uint32_t first = 0, n = 0;
    bool ok = pool_walk(pool) && collect_properties(&found, e, true);
    if (ok) {
        const struct expr_info *widest =
            found.widest == SYM_NONE ? NULL : &env->known[found.widest];
        n = found.symbols.n;
        if (widest && widest->n_symbols == n) /* the same symbols, hence the same list */
            first = widest->first_symbol;
        else
            ok = order_sort(pool, found.symbols.v, n, order_arguments) &&
                 put_symbols(env, &found.symbols, &first);
    }
    if (ok) {
        env->known[e].first_symbol = first;
        env->known[e].n_symbols = n;
        env->known[e].holds = found.holds;
    }
    list_release(&found.symbols);
    return ok ? &env->known[e] : (env_ok(env), NULL);
}

struct expr_results *env_results_of(struct shape_env *env, sym_id e)
{
    struct expr_info *k = env_known(env, e);
    if (!k)
        return NULL;
    if (!k->results_plus_1) {
        if (!vec_push(&env->results, (struct expr_results){ .worked = { { 0 } } }))
            return env_no_memory(env), NULL;
        k->results_plus_1 = (uint32_t)env->results.n;
    }
    return &env->results.v[k->results_plus_1 - 1];
}

bool env_holds_symbol(struct shape_env *env, sym_id e, sym_id symbol)
{
    const struct expr_info *k = env_known(env, e);
    for (uint32_t i = 0; k && i < k->n_symbols; i++)
        if (env_symbol_of(env, k, i)->id == symbol)
            return true;
    return false;
}

/* holds: what the properties of an expression with such parts say, or 0. */
static bool collect_parts(struct shape_env *env, sym_id e, enum sym_kind kind, uint8_t holds,
                          struct list *out)
{
    struct sym_pool *pool = env->pool;
    if (pool_seen(pool, e))
        return true;
    const struct expr_info *known = holds ? looked_up(env, e) : NULL;
    if (known && !(known->holds & holds))
        return true;
    enum sym_kind own = kind_at(pool, e);
    if (own == kind || (kind == SYM_FLOORDIV && own == SYM_CLEANDIV))
        if (!list_push(out, e))
            return false;
    uint32_t n = sym_n_args(pool, e);
    for (uint32_t i = 0; i < n; i++)
        if (!collect_parts(env, arg_at(pool, e, i), kind, holds, out))
            return false;
    return true;
}

bool env_parts(struct shape_env *env, sym_id e, enum sym_kind kind, struct list *out)
{
    return (pool_walk(env->pool) && collect_parts(env, e, kind, holds_of_kind(kind), out)) ||
           env_ok(env);
}

bool env_is_hinted(struct shape_env *env, sym_id e)
{
    const struct expr_info *k = env_known(env, e);
    if (!k)
        return false;
    for (uint32_t i = 0; i < k->n_symbols; i++)
        if (env_symbol_of(env, k, i)->hint == SYM_NONE)
            return false;
    return true;
}

bool env_has_unbacked(struct shape_env *env, sym_id e)
{
    const struct expr_info *k = e == SYM_NONE ? NULL : env_known(env, e);
    for (uint32_t i = 0; k && i < k->n_symbols; i++)
        if (env_is_unbacked_kind(env_symbol_of(env, k, i)->kind))
            return true;
    return false;
}

bool env_is_unbacked(const struct shape_env *env, sym_id e)
{
    return e != SYM_NONE && kind_at(env->pool, e) == SYM_SYMBOL &&
           env_is_unbacked_kind(env_symbol_kind(sym_name(env->pool, e)));
}

bool env_range(const struct shape_env *env, sym_id e, struct sym_range *ret)
{
    if (e >= env->n_known || !env->known[e].symbol_plus_1)
        return false;
    const struct env_symbol *s = &env->symbols.v[env->known[e].symbol_plus_1 - 1];
    if (sym_range_ok(s->range))
        *ret = s->range;
    return sym_range_ok(s->range);
}

/* --- Hints --- */

sym_id env_put_hints(struct shape_env *env, sym_id e)
{
    const struct expr_info *k = env_known(env, e);
    if (!k)
        return SYM_NONE;
    struct sym_pair few[16], *pairs = few;
    uint32_t n = 0;
    if (k->n_symbols > 16) {
        pairs = malloc(k->n_symbols * sizeof *pairs);
        if (!pairs)
            return env_no_memory(env), SYM_NONE;
    }
    for (uint32_t i = 0; i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        if (s->hint != SYM_NONE)
            pairs[n++] = (struct sym_pair){ s->id, s->hint };
    }
    sym_id result = n ? sym_replace(env->pool, e, pairs, n) : e;
    if (pairs != few)
        free(pairs);
    return result;
}

sym_id env_hint(struct shape_env *env, sym_id e)
{
    if (e == SYM_NONE || is_number(env->pool, e) || e <= SYM_ID_TRUE)
        return e;
    if (!env_is_hinted(env, e))
        return SYM_NONE;
    sym_id value = env_put_hints(env, e);
    if (value == SYM_NONE) {
        env_ok(env);
        return SYM_NONE;
    }
    return facts_at(env->pool, value) & FACT_CONSTANT || value <= SYM_ID_TRUE ? value : SYM_NONE;
}

size_t env_bytes(const struct shape_env *env)
{
    return sizeof *env + sym_pool_bytes(env->pool) + env->n_known * sizeof *env->known +
           env->results.cap * sizeof *env->results.v + env->symbols.cap * sizeof *env->symbols.v +
           env->symbol_lists.cap * sizeof *env->symbol_lists.v +
           env->guards.cap * sizeof *env->guards.v + env->arena.bytes + env->messages.arena.bytes +
           env->source_names.arena.bytes +
           env->source_names.index.n_slots * sizeof *env->source_names.index.slots;
}

bool env_short_of_memory(const struct shape_env *env)
{
    return env->short_of_memory || sym_short_of_memory(env->pool);
}
