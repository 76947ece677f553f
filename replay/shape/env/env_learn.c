/* Consequences of a condition that holds: narrower ranges, replacements, divisibility
 * (ShapeEnv._maybe_guard_rel, _refine_ranges). */
#include "replay/shape/env/env_inside.h"
#include "replay/shape/expr/solve.h"

/* --- _refine_ranges --- */

static sym_id shift_bound(struct sym_pool *pool, sym_id bound, sym_id by, bool needed)
{
    return needed ? number_add(pool, bound, by) : bound;
}

/* Narrows the symbol's range by a relation that has the symbol alone on its left. */
static bool refine_by(struct shape_env *env, sym_id symbol, sym_id relation, bool *changed)
{
    struct sym_pool *pool = env->pool;
    enum sym_kind kind = kind_at(pool, relation);
    struct sym_range old = env_symbol(env, symbol)->range;
    struct sym_range right = env_bound(env, arg_at(pool, relation, 1));
    if (!sym_range_ok(old) || !sym_range_ok(right))
        return env_ok(env);
    struct sym_range new = old;
    if (sym_number_compare(pool, old.lower, right.lower) <= 0 &&
        (kind == SYM_EQ || kind == SYM_GE || kind == SYM_GT))
        new.lower = shift_bound(pool, right.lower, SYM_ID_ONE, kind == SYM_GT);
    if (sym_number_compare(pool, old.upper, right.upper) >= 0 &&
        (kind == SYM_EQ || kind == SYM_LE || kind == SYM_LT))
        new.upper = shift_bound(pool, right.upper, SYM_ID_MINUS_ONE, kind == SYM_LT);
    new = sym_range(pool, new.lower, new.upper);
    if (!sym_range_ok(new))
        return env_ok(env);
    if (sym_range_equal(old, new))
        return true;
    *changed = true;
    if (!env_update_range(env, symbol, new, NULL, NULL, false))
        return false;
    new = env_symbol(env, symbol)->range;
    bool single = sym_range_is_singleton(pool, new);
    return !single || env_put_replacement(env, symbol, new.lower, "range_refined_to_singleton");
}

static bool refine_ranges(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    e = env_simplify_way(env, e, ENV_SIMPLIFY_BARE);
    const struct expr_info *k = e == SYM_NONE ? NULL : env_known(env, e);
    if (!k)
        return env_ok(env);
    uint32_t n = k->n_symbols;
    for (uint32_t i = 0; i < n; i++) {
        sym_id symbol = env_symbol_of(env, env_known(env, e), i)->id;
        if (env_symbol(env, symbol)->nested)
            continue;
        sym_id solved = sym_solve(pool, e, symbol, true);
        if (!env_ok(env))
            return false;
        if (solved == SYM_NONE || !(facts_at(pool, symbol) & FACT_INTEGER) ||
            !(facts_at(pool, arg_at(pool, solved, 1)) & FACT_INTEGER))
            continue;
        bool changed = false;
        if (!refine_by(env, symbol, solved, &changed))
            return env_ok(env);
        if (changed)
            env->static_version++; /* PyTorch calls cache_clear() here */
    }
    return true;
}

/* --- Replacements from an equality --- */

/* Returns whether _free_non_source_unbacked_symbols is empty. */
static bool only_inputs(struct shape_env *env, sym_id e)
{
    const struct expr_info *k = env_known(env, e);
    for (uint32_t i = 0; k && i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        if (env_is_unbacked_kind(s->kind) && !s->input)
            return false;
    }
    return k != NULL;
}

static bool is_trivial(struct shape_env *env, sym_id side, sym_id other)
{
    if (kind_at(env->pool, side) != SYM_SYMBOL)
        return false;
    const struct env_symbol *s = env_symbol(env, side);
    return s &&
           ((env_is_unbacked_kind(s->kind) && only_inputs(env, other)) || s->kind == SYMBOL_FLOAT);
}

static bool is_integer_everywhere(struct sym_pool *pool, sym_id e)
{
    if (pool_seen(pool, e))
        return true;
    if (!(facts_at(pool, e) & FACT_INTEGER))
        return false;
    uint32_t n = sym_n_args(pool, e);
    for (uint32_t i = 0; i < n; i++)
        if (!is_integer_everywhere(pool, arg_at(pool, e, i)))
            return false;
    return true;
}

static bool has_division(struct shape_env *env, sym_id e)
{
    struct list found;
    list_init(&found, env->pool);
    bool yes = false;
    if (env_parts(env, e, SYM_FLOORDIV, &found))
        for (uint32_t i = 0; !yes && i < found.n; i++)
            yes = arg_at(env->pool, found.v[i], 1) != SYM_ID_ONE;
    list_release(&found);
    return yes;
}

static sym_id found_or_none(struct shape_env *env, sym_id e)
{
    return kind_at(env->pool, e) == SYM_SYMBOL ? env_find(env, e) : e;
}

static bool replace_by_equality(struct shape_env *env, sym_id e, sym_id first)
{
    struct sym_pool *pool = env->pool;
    sym_id left = arg_at(pool, e, 0), right = arg_at(pool, e, 1);
    if (has_division(env, e))
        return env_ok(env);
    if (is_trivial(env, left, right))
        return env_put_replacement(env, left, found_or_none(env, right), "trivial_lhs");
    if (is_trivial(env, right, left))
        return env_put_replacement(env, right, found_or_none(env, left), "trivial_rhs");
    sym_id solved = sym_solve(pool, e, first, false);
    if (solved == SYM_NONE)
        return env_ok(env);
    sym_id to = arg_at(pool, solved, 1);
    if (!pool_walk(pool) || !is_integer_everywhere(pool, to))
        return env_ok(env);
    to = found_or_none(env, to);
    if (to == SYM_NONE || env_has_unbacked(env, to))
        return env_ok(env);
    return env_put_replacement(env, first, to, "solve");
}

/* Returns the bit of inner_mods for a Mod. */
static bool choice_number(struct shape_env *env, sym_id outermost, unsigned *ret)
{
    enum { LAST = 63 };
    for (*ret = 0; *ret < env->chosen.n; ++*ret)
        if (env->chosen.v[*ret] == outermost)
            return true;
    if (*ret == LAST) {
        env->counts.choices = LAST + 1;
        return true;
    }
    env->counts.choices++;
    return vec_push(&env->chosen, outermost) || env_no_memory(env);
}

/* Picks one of the Mods as next(iter(expr.atoms(Mod))) does: see inner_mods of env_settings. */
static bool learn_divisible(struct shape_env *env, sym_id e)
{
    struct list found;
    list_init(&found, env->pool);
    unsigned choice = 0;
    bool ok = env_parts(env, e, SYM_MOD, &found);
    ok = ok && (found.n < 2 || choice_number(env, found.v[0], &choice));
    uint32_t which = found.n > 1 && env->settings.inner_mods >> choice & 1 ? found.n - 1 : 0;
    sym_id mod = ok && found.n ? found.v[which] : SYM_NONE;
    list_release(&found);
    sym_id solved = mod == SYM_NONE ? SYM_NONE : sym_solve(env->pool, e, mod, false);
    if (solved != SYM_NONE && arg_at(env->pool, solved, 1) == SYM_ID_ZERO)
        return env_add_divisible(env, mod);
    return env_ok(env);
}

/* --- _maybe_guard_rel --- */

static bool only_ephemeral(const struct shape_env *env, const struct env_symbol *s)
{
    if (s->hint == SYM_NONE && s->first_source == UINT32_MAX)
        return false;
    for (uint32_t i = s->first_source; i != UINT32_MAX; i = env->sources.v[i].next)
        if (!env->sources.v[i].ephemeral)
            return false;
    return true;
}

static int64_t sort_weight(struct shape_env *env, const struct env_symbol *s)
{
    int64_t hint;
    return s->kind == SYMBOL_SIZE && sym_to_i64(env->pool, s->hint, &hint) ? hint : INT64_MAX;
}

/* Returns whether a comes before b in _smart_symbol_sort, which sorts the greatest first. */
static bool goes_first(struct shape_env *env, const struct env_symbol *a,
                       const struct env_symbol *b)
{
    bool x = only_ephemeral(env, a), y = only_ephemeral(env, b);
    if (x != y)
        return x;
    int64_t p = sort_weight(env, a), q = sort_weight(env, b);
    if (p != q)
        return p > q;
    return str_cmp(sym_name(env->pool, a->id), sym_name(env->pool, b->id)) > 0;
}

static sym_id first_symbol(struct shape_env *env, const struct expr_info *k)
{
    const struct env_symbol *first = env_symbol_of(env, k, 0);
    for (uint32_t i = 1; i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        if (goes_first(env, s, first))
            first = s;
    }
    return first->id;
}

static bool learn_from(struct shape_env *env, sym_id e, unsigned depth);

static bool learn_once(struct shape_env *env, sym_id e, unsigned depth)
{
    struct sym_pool *pool = env->pool;
    enum { MANY = 5 }; /* PyTorch does not examine expressions with more symbols */
    enum sym_kind kind = kind_at(pool, e);
    if (kind == SYM_AND) {
        for (uint32_t i = 0; i < sym_n_args(pool, e); i++)
            if (!learn_from(env, arg_at(pool, e, i), depth + 1))
                return false;
        return true;
    }
    if (!is_relational(kind) || kind == SYM_NE)
        return true;
    const struct expr_info *k = env_known(env, e);
    if (!k)
        return false;
    if (!k->n_symbols)
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError",
                         "The expression should not be static by this point");
    if (k->n_symbols > MANY)
        return true;
    sym_id first = first_symbol(env, k);
    if (!refine_ranges(env, e))
        return false;
    if (kind != SYM_EQ || env->level > 1)
        return true;
    return env_known(env, e)->holds & HOLDS_MOD ? learn_divisible(env, e)
                                                : replace_by_equality(env, e, first);
}

static bool learn_from(struct shape_env *env, sym_id e, unsigned depth)
{
    uint32_t done;
    if (depth > ENV_MAX_DEPTH || env_lru_find(&env->learn_memo, e, 0, &done))
        return true;
    if (!learn_once(env, e, depth))
        return false;
    return env_lru_put(&env->learn_memo, e, 0, 0) || env_no_memory(env);
}

bool env_learn(struct shape_env *env, sym_id e)
{
    return e != SYM_NONE && learn_from(env, e, 0) && env_ok(env);
}
