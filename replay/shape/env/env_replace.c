/* Symbols that were replaced by expressions (ShapeEnv.replace, _find, _set_replacement). */
#include <stdlib.h>

#include "replay/shape/env/env_inside.h"
#include "replay/shape/expr/solve.h"

/* _update_version_counter: invalidates results that were computed from the old state. */
void env_update_version(struct shape_env *env)
{
    const size_t key[3] = { env->replacements.n, env->divisible.n, env->asserts.n };
    if (key[1] != env->key[1])
        env->axioms_stale = true;
    if (memcmp(key, env->key, sizeof key) == 0)
        return;
    memcpy(env->key, key, sizeof key);
    env->version++;
    env->static_version++;
}

/* ShapeEnv._find. */
sym_id env_find(struct shape_env *env, sym_id e)
{
    struct env_symbol *s = env_symbol(env, e);
    if (!s || s->to == SYM_NONE)
        return e;
    if (s->found_at == env->version)
        return s->found;
    if (env->depth >= ENV_MAX_DEPTH)
        return env_raise(env, ENV_RAISED_OTHER, "RecursionError",
                         "maximum recursion depth exceeded"),
               SYM_NONE;
    uint32_t version = env->version;
    const struct expr_info *k = env_known(env, s->to);
    if (!k)
        return SYM_NONE;
    uint32_t n = k->n_symbols;
    struct sym_pair few[8], *pairs = n <= 8 ? few : malloc(n * sizeof *pairs);
    bool ok = pairs || env_no_memory(env), changed = false;
    env->depth++;
    for (uint32_t i = 0; ok && i < n; i++) {
        sym_id from = env_symbol_of(env, env_known(env, env_symbol(env, e)->to), i)->id;
        pairs[i] = (struct sym_pair){ from, env_find(env, from) };
        ok = pairs[i].to != SYM_NONE;
        changed |= pairs[i].to != from;
    }
    env->depth--;
    sym_id to = !ok ? SYM_NONE : env_symbol(env, e)->to;
    if (ok && changed)
        to = sym_replace(env->pool, to, pairs, n);
    if (pairs != few)
        free(pairs);
    if (to == SYM_NONE || (changed && !env_put_replacement(env, e, to, "find")))
        return env_ok(env), SYM_NONE;
    s = env_symbol(env, e);
    s->found = s->to;
    s->found_at = version;
    return s->found;
}

static sym_id replace_symbols(struct shape_env *env, sym_id e, uint32_t n)
{
    struct sym_pair few[16], *pairs = n <= 16 ? few : malloc(n * sizeof *pairs);
    if (!pairs)
        return env_no_memory(env), SYM_NONE;
    uint32_t n_pairs = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++) {
        sym_id from = env_symbol_of(env, env_known(env, e), i)->id, to = env_find(env, from);
        ok = to != SYM_NONE;
        if (to != from)
            pairs[n_pairs++] = (struct sym_pair){ from, to };
    }
    sym_id result = ok ? e : SYM_NONE;
    if (ok && n_pairs)
        result = env_expand(env->pool, sym_replace(env->pool, e, pairs, n_pairs));
    if (pairs != few)
        free(pairs);
    return result;
}

sym_id env_replace(struct shape_env *env, sym_id e)
{
    if (e < env->n_known && env->known[e].replaced.at == env->version)
        return env->known[e].replaced.result;
    if (e == SYM_NONE || e <= SYM_ID_TRUE || is_number(env->pool, e) || !env->replacements.n)
        return e;
    const struct expr_info *k = env_known(env, e);
    uint32_t version = env->version;
    sym_id result = k ? replace_symbols(env, e, k->n_symbols) : SYM_NONE;
    if (result == SYM_NONE)
        return env_ok(env), SYM_NONE;
    env->known[e].replaced = (struct remembered){ version, result };
    return result;
}

/* _is_supported_equivalence: returns whether e is a symbol times an integer plus an integer. */
static bool is_linear(const struct sym_pool *pool, sym_id e)
{
    for (unsigned depth = 0; depth < 64; depth++) {
        enum sym_kind kind = kind_at(pool, e);
        if (kind == SYM_SYMBOL)
            return true;
        if ((kind != SYM_ADD && kind != SYM_MUL) || sym_n_args(pool, e) != 2)
            return false;
        sym_id a = arg_at(pool, e, 0), b = arg_at(pool, e, 1);
        if (is_integer(pool, a))
            e = b;
        else if (is_integer(pool, b))
            e = a;
        else
            return false;
    }
    return false;
}

/* Computes the range of `to`'s only symbol that follows from the range of a. */
static bool narrow_target(struct shape_env *env, sym_id a, sym_id to, struct sym_range *bound,
                          struct sym_range source)
{
    struct sym_pool *pool = env->pool;
    sym_id b = env_symbol_of(env, env_known(env, to), 0)->id;
    sym_id solved = sym_solve(pool, sym_eq(pool, a, to), b, false);
    if (solved == SYM_NONE)
        return env_ok(env);
    struct sym_range exact = env_bound(env, arg_at(pool, solved, 1));
    if (!sym_range_ok(exact))
        return env_ok(env);
    struct sym_range whole = sym_range(pool, sym_unary(pool, SYM_CEIL_TO_INT, exact.lower),
                                       sym_unary(pool, SYM_FLOOR_TO_INT, exact.upper));
    struct source_location lower = env_symbol(env, a)->lower, upper = env_symbol(env, a)->upper;
    if (!sym_range_ok(whole) || !env_update_range(env, b, whole, &lower, &upper, false))
        return env_ok(env);
    *bound = env_bound(env, to);
    if (!sym_range_ok(*bound))
        return env_ok(env);
    if (!sym_range_is_subset(pool, *bound, source))
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError", "tgt_bound not a subset");
    return true;
}

static void share_size_like(struct shape_env *env, sym_id a, sym_id to)
{
    struct env_symbol *from = env_symbol(env, a), *target = env_symbol(env, to);
    if (!target || kind_at(env->pool, to) != SYM_SYMBOL || from->size_like == target->size_like)
        return;
    struct env_symbol *learns = from->size_like ? target : from;
    learns->size_like = true;
    env_touch(env, learns);
}

/* Returns whether replacing a by `to` keeps a's range, also that of size-oblivious evaluation. */
static bool keeps_range(struct shape_env *env, sym_id a, sym_id to, struct sym_range bound,
                        struct sym_range source)
{
    struct sym_pool *pool = env->pool;
    if (!sym_range_is_subset(pool, bound, source))
        return false;
    if (!env_symbol(env, a)->size_like)
        return true;
    struct sym_range oblivious = sym_bound(pool, to, env_oblivious_ranger, env);
    struct sym_range of_a = sym_bound(pool, a, env_oblivious_ranger, env);
    return sym_range_ok(oblivious) && sym_range_ok(of_a) &&
           sym_range_is_subset(pool, oblivious, of_a);
}

static bool note_specialization(struct shape_env *env, sym_id a, sym_id to, const char *reason)
{
    struct env_specialization special = { .symbol = a,
                                          .value = to,
                                          .reason = reason,
                                          .origin = env->origin,
                                          .backtrace = backtrace_capture(&env->backtraces) };
    return vec_push(&env->specializations, special) || env_no_memory(env);
}

static bool store_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason)
{
    struct env_symbol *s = env_symbol(env, a);
    env->counts.replacements++;
    if (s->to != SYM_NONE) {
        /* The origin is that of the first replacement (replacements_slocs). */
        s->to = env->replacements.v[s->replacement].to = to;
        return env_add_event(env, ENV_EVENT_REPLACEMENT, a, to);
    }
    struct env_replacement new = { .symbol = a,
                                   .to = to,
                                   .reason = reason,
                                   .origin = env->origin,
                                   .backtrace = backtrace_capture(&env->backtraces) };
    if (!vec_push(&env->replacements, new))
        return env_no_memory(env);
    s->replacement = (uint32_t)env->replacements.n - 1;
    s->to = to;
    env_update_version(env);
    return env_add_event(env, ENV_EVENT_REPLACEMENT, a, to);
}

/* ShapeEnv._set_replacement. */
bool env_put_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason)
{
    struct sym_pool *pool = env->pool;
    if (a == SYM_NONE || to == SYM_NONE)
        return env_ok(env);
    if (kind_at(pool, a) != SYM_SYMBOL)
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError", "Expected sympy.Symbol");
    const struct expr_info *k = env_known(env, to);
    if (!k || env_symbol_index(env, a) == UINT32_MAX)
        return false;
    if (env_symbol(env, a)->to == to || env_holds_symbol(env, to, a))
        return true;
    if (env->settings.prefer_deferred_runtime_asserts_over_guards && !is_linear(pool, to))
        return true;
    struct sym_range source = env_symbol(env, a)->range;
    if (sym_range_ok(source)) {
        struct sym_range bound = env_bound(env, to);
        if (!sym_range_ok(bound) || !env_update_range(env, a, bound, NULL, NULL, false))
            return env_ok(env);
        if (!sym_range_is_subset(pool, bound, source) && env_known(env, to)->n_symbols == 1 &&
            !narrow_target(env, a, to, &bound, source))
            return false;
        share_size_like(env, a, to);
        if (!keeps_range(env, a, to, bound, source))
            return env_ok(env);
    }
    enum sym_kind kind = kind_at(pool, to);
    if ((is_int_kind(kind) || kind == SYM_FLOAT) && !note_specialization(env, a, to, reason))
        return false;
    return store_replacement(env, a, to, reason);
}

bool env_set_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason)
{
    return env_put_replacement(env, a, to, reason) && env_ok(env);
}

bool env_rename_unbacked(struct shape_env *env, sym_id from, sym_id to)
{
    struct sym_pool *pool = env->pool;
    if (from == SYM_NONE || to == SYM_NONE || kind_at(pool, from) != SYM_SYMBOL ||
        kind_at(pool, to) != SYM_SYMBOL)
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError", "Expected sympy.Symbol");
    if (!env_is_unbacked(env, from) || !env_is_unbacked(env, to))
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError",
                         "Expected to have free unbacked symbols");
    if (env_symbol_index(env, from) == UINT32_MAX || env_symbol_index(env, to) == UINT32_MAX)
        return false;
    sym_id dest = env_symbol(env, from)->to;
    if (dest != SYM_NONE && env_has_unbacked(env, dest)) {
        struct str name = sym_name(pool, from);
        return env_raise(env, ENV_RAISED_OTHER, "AssertionError", "%.*s is already replaced",
                         STR_ARG(name));
    }
    return env_put_replacement(env, from, to, "rename_unbacked_to") &&
           (dest == SYM_NONE || env_put_replacement(env, to, dest, "rename_unbacked_to_dest")) &&
           env_ok(env);
}

bool env_eliminate_unbacked(struct shape_env *env, sym_id from, sym_id to)
{
    return env_put_replacement(env, from, to, "eliminate_unbacked") && env_ok(env);
}
