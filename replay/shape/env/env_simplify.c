/* Simplification with the environment's ranges and axioms (ShapeEnv.simplify). */
#include "replay/shape/env/behavior.h"
#include "replay/shape/env/env_inside.h"

enum { MAX_REPLACED = 4096 };

/* --- Divisibility --- */

bool env_add_divisible(struct shape_env *env, sym_id mod)
{
    struct expr_info *k = env_known(env, mod);
    if (!k)
        return false;
    if (!k->divisible && !vec_push(&env->divisible, mod))
        return env_no_memory(env);
    k->divisible = true;
    env_update_version(env);
    return true;
}

/* _update_divisible: drops those that became numbers. */
static bool update_divisible(struct shape_env *env)
{
    if (env->divisible_at == env->version)
        return true;
    uint32_t version = env->version;
    size_t kept = 0;
    for (size_t i = 0; i < env->divisible.n; i++) {
        sym_id mod = env->divisible.v[i], now = env_replace(env, mod);
        if (now == SYM_NONE)
            return false;
        bool keep = !(facts_at(env->pool, now) & FACT_CONSTANT);
        env->known[mod].divisible = keep;
        if (keep)
            env->divisible.v[kept++] = mod;
    }
    env->divisible.n = kept;
    env->divisible_at = version;
    env_update_version(env);
    return true;
}

static bool is_divisible(struct shape_env *env, sym_id base, sym_id divisor)
{
    sym_id mod = env_replace(env, sym_mod(env->pool, base, divisor));
    return mod != SYM_NONE && mod < env->n_known && env->known[mod].divisible;
}

/* --- Rules: each matches subexpressions and returns their replacements --- */

typedef sym_id part_rule(struct shape_env *env, sym_id part);

/* Max(1, x) becomes x where x >= 1 is known, and Max(0, x) where x >= 0 is. */
static sym_id simplify_max(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    if (sym_n_args(pool, part) != 2)
        return SYM_NONE;
    sym_id a = arg_at(pool, part, 0), b = arg_at(pool, part, 1);
    if (b == SYM_ID_ONE || b == SYM_ID_ZERO) {
        sym_id swap = a;
        a = b;
        b = swap;
    }
    if (a != SYM_ID_ONE && a != SYM_ID_ZERO)
        return SYM_NONE;
    return env_static(env, sym_ge(pool, b, a), ENV_STATIC_BARE) == SYM_ID_TRUE ? b : SYM_NONE;
}

/* definitely_le of ShapeEnv.simplify: by the range of the difference. Its cheaper tests find
 * nothing that the range does not tell. `fallback`: by all that is known. */
static bool definitely_le(struct shape_env *env, sym_id a, sym_id b, bool fallback)
{
    struct sym_pool *pool = env->pool;
    if (a == b)
        return true;
    struct sym_range range = env_bound(env, env_expand(pool, sym_sub(pool, b, a)));
    if (sym_range_ok(range) && sym_ge(pool, range.lower, SYM_ID_ZERO) == SYM_ID_TRUE)
        return true;
    return fallback && env_static(env, sym_le(pool, a, b), ENV_STATIC_BARE) == SYM_ID_TRUE;
}

static bool is_zero_or_one(sym_id e)
{
    return e == SYM_ID_ZERO || e == SYM_ID_ONE;
}

enum { MAX_EXTREMES = 16 }; /* arguments of a Min or Max that are compared with each other */

/* Min and Max without the arguments that another one bounds. */
static sym_id simplify_extremes(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    uint32_t n = sym_n_args(pool, part), kept = 0;
    enum sym_kind kind = kind_at(pool, part);
    bool least = kind == SYM_MIN, fallback = !least && n == 2, dropped[MAX_EXTREMES] = { false };
    sym_id list[MAX_EXTREMES], result = SYM_NONE;
    if (n < 2 || n > MAX_EXTREMES)
        return SYM_NONE;
    for (uint32_t i = 0; i < n; i++)
        list[i] = arg_at(pool, part, i);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i + 1; j < n && !dropped[i]; j++) {
            if (dropped[j])
                continue;
            if (definitely_le(env, list[i], list[j], fallback && is_zero_or_one(list[i])))
                dropped[least ? j : i] = true;
            else if (definitely_le(env, list[j], list[i], fallback && is_zero_or_one(list[j])))
                dropped[least ? i : j] = true;
        }
    for (uint32_t i = 0; i < n; i++)
        if (!dropped[i])
            result = kept++ ? sym_binary(pool, kind, result, list[i]) : list[i];
    return kept < n ? result : SYM_NONE;
}

/* x * CleanDiv(a, x) becomes a. */
static sym_id cancel_clean_div(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    uint32_t n = sym_n_args(pool, part);
    for (uint32_t i = 0; i < n; i++) {
        sym_id quotient = arg_at(pool, part, i);
        if (kind_at(pool, quotient) != SYM_CLEANDIV)
            continue;
        sym_id product = arg_at(pool, quotient, 0), divisor = arg_at(pool, quotient, 1);
        bool found = false;
        for (uint32_t j = 0; j < n; j++) {
            bool is_divisor = !found && arg_at(pool, part, j) == divisor;
            found |= is_divisor;
            if (j != i && !is_divisor)
                product = sym_mul(pool, product, arg_at(pool, part, j));
        }
        if (found)
            return product;
    }
    return SYM_NONE;
}

/* int(a / b) becomes a // b. */
static sym_id simplify_trunc(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    sym_id ratio = arg_at(pool, part, 0);
    if (kind_at(pool, ratio) != SYM_INT_TRUE_DIV)
        return SYM_NONE;
    sym_id base = arg_at(pool, ratio, 0), divisor = arg_at(pool, ratio, 1);
    bool clean = sym_mod(pool, base, divisor) == SYM_ID_ZERO;
    return sym_binary(pool, clean ? SYM_CLEANDIV : SYM_FLOORDIV, base, divisor);
}

/* a // (a // b) becomes b, when both divide. */
static sym_id simplify_nested_floordiv(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    sym_id base = arg_at(pool, part, 0), divisor = arg_at(pool, part, 1);
    enum sym_kind kind = kind_at(pool, divisor);
    if (kind != SYM_FLOORDIV && kind != SYM_CLEANDIV)
        return SYM_NONE;
    sym_id inner = arg_at(pool, divisor, 0), by = arg_at(pool, divisor, 1);
    return is_divisible(env, base, divisor) && base == inner && is_divisible(env, inner, by)
               ? by
               : SYM_NONE;
}

static sym_id rule_clean(struct shape_env *env, sym_id part)
{
    struct sym_pool *pool = env->pool;
    sym_id base = arg_at(pool, part, 0), divisor = arg_at(pool, part, 1);
    return is_divisible(env, base, divisor) ? sym_binary(pool, SYM_CLEANDIV, base, divisor)
                                            : SYM_NONE;
}

/* Appends the matches of a rule in e and their replacements. */
static bool find_replacements(struct shape_env *env, sym_id e, enum sym_kind kind, part_rule *rule,
                              struct list *from_to)
{
    struct list found;
    list_init(&found, env->pool);
    bool ok = env_parts(env, e, kind, &found) && found.n < MAX_REPLACED;
    for (uint32_t i = 0; ok && i < found.n; i++) {
        sym_id to = rule(env, found.v[i]);
        ok = env_ok(env);
        if (ok && to != SYM_NONE)
            ok = list_push(from_to, found.v[i]) && list_push(from_to, to);
    }
    list_release(&found);
    return ok;
}

/* Applies a rule to all matches in e of `n` kinds, at once: what replaces a match is not searched
 * again. Returns e itself when nothing changes, SYM_NONE after a failure. */
static sym_id apply_rules(struct shape_env *env, sym_id e, const enum sym_kind *kinds, uint32_t n,
                          part_rule *rule)
{
    struct list from_to;
    list_init(&from_to, env->pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = find_replacements(env, e, kinds[i], rule, &from_to);
    sym_id result = ok ? e : SYM_NONE;
    if (ok && from_to.n) {
        _Static_assert(sizeof(struct sym_pair) == 2 * sizeof(sym_id), "pairs lie side by side");
        result = sym_replace(env->pool, e, (const struct sym_pair *)from_to.v, from_to.n / 2);
    }
    list_release(&from_to);
    return result;
}

static sym_id apply_rule(struct shape_env *env, sym_id e, enum sym_kind kind, part_rule *rule)
{
    return apply_rules(env, e, &kind, 1, rule);
}

/* Returns whether `after` has powers or fractions that `before` has not: the division remained. */
static bool has_new(struct shape_env *env, sym_id after, sym_id before, enum sym_kind kind)
{
    struct list found;
    list_init(&found, env->pool);
    bool is_new = false;
    if (env_parts(env, after, kind, &found))
        for (uint32_t i = 0; !is_new && i < found.n; i++)
            is_new = !sym_has(env->pool, before, found.v[i]);
    list_release(&found);
    return is_new;
}

/* A product shrinks with each pair that is cancelled. */
static sym_id cancel_clean_divs(struct shape_env *env, sym_id e)
{
    for (sym_id before = SYM_NONE; e != before && e != SYM_NONE;) {
        before = e;
        e = apply_rule(env, e, SYM_MUL, cancel_clean_div);
    }
    return e;
}

static sym_id divide(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    if (!update_divisible(env))
        return SYM_NONE;
    if (!env->divisible.n)
        return e;
    sym_id nested = apply_rule(env, e, SYM_FLOORDIV, simplify_nested_floordiv);
    if (nested != e)
        nested = env_expand(pool, nested);
    if (nested == SYM_NONE)
        return SYM_NONE;
    sym_id clean = apply_rule(env, nested, SYM_FLOORDIV, rule_clean);
    if (clean == nested || clean == SYM_NONE)
        return clean;
    clean = env_expand(pool, clean);
    if (clean == SYM_NONE)
        return SYM_NONE;
    return has_new(env, clean, nested, SYM_POW) || has_new(env, clean, nested, SYM_RATIONAL)
               ? nested
               : clean;
}

static sym_id simplify_once(struct shape_env *env, sym_id e, bool size_oblivious)
{
    e = env_replace(env, env_expand(env->pool, e));
    const struct expr_info *k = env_known(env, e);
    if (!k)
        return SYM_NONE;
    bool extremes = behaves(env, BEHAVIOR_SIMPLIFY_COMPARES_EXTREMES);
    if (!size_oblivious && extremes && (k->holds & (HOLDS_MIN | HOLDS_MAX))) {
        e = apply_rules(env, e, (enum sym_kind[]){ SYM_MIN, SYM_MAX }, 2, simplify_extremes);
        k = env_known(env, e);
    } else if (!size_oblivious && (k->holds & HOLDS_MAX)) {
        e = apply_rule(env, e, SYM_MAX, simplify_max);
        k = env_known(env, e);
    }
    if (k && (k->holds & HOLDS_TRUNC)) {
        e = apply_rule(env, e, SYM_TRUNC_TO_INT, simplify_trunc);
        k = env_known(env, e);
    }
    if (!k || !(k->holds & HOLDS_FLOORDIV))
        return e;
    e = divide(env, e);
    return behaves(env, BEHAVIOR_SIMPLIFY_CANCELS_DIVISIONS) ? cancel_clean_divs(env, e) : e;
}

/* Returns whether simplifying an expression asks nothing, so that its result of another way is this
 * one's, too. */
static bool asks_nothing(struct shape_env *env, sym_id e)
{
    sym_id replaced = env_replace(env, e);
    const struct expr_info *k = replaced == SYM_NONE ? NULL : env_known(env, replaced);
    return k && !(k->holds & (HOLDS_MIN | HOLDS_MAX));
}

sym_id env_simplify_way(struct shape_env *env, sym_id e, enum env_simplify way)
{
    if (e == SYM_NONE || e <= SYM_ID_TRUE || is_number(env->pool, e))
        return e;
    unsigned slot = env->peeking ? ENV_SIMPLIFY_WAYS : (unsigned)way;
    bool size_oblivious = way == ENV_SIMPLIFY_OBLIVIOUS;
    const struct expr_results *known = env_results(env, e);
    if (known && known->simplified[slot].at == env->version)
        return known->simplified[slot].result;
    if (known && slot == ENV_SIMPLIFY_BARE &&
        known->simplified[ENV_SIMPLIFY_STATIC].at == env->version && asks_nothing(env, e))
        return known->simplified[ENV_SIMPLIFY_STATIC].result;
    if (env->depth >= ENV_MAX_DEPTH)
        return env_raise(env, ENV_RAISED_OTHER, "RecursionError",
                         "maximum recursion depth exceeded"),
               SYM_NONE;
    uint32_t version = env->version;
    env->counts.simplifications++;
    env->depth++;
    sym_id result = simplify_once(env, e, size_oblivious);
    env->depth--;
    struct expr_results *results =
        result == SYM_NONE || !env_ok(env) ? NULL : env_results_of(env, e);
    if (!results)
        return SYM_NONE;
    results->simplified[slot] = (struct remembered){ version, result };
    return result;
}

sym_id env_simplify(struct shape_env *env, sym_id e)
{
    sym_id result = env_simplify_way(env, e, ENV_SIMPLIFY_BARE);
    env_ok(env);
    return result;
}
