/* Static evaluation with axioms and ranges of the caller's (_maybe_evaluate_static with axioms and
 * var_to_range, torch/_inductor/sizevars.py). */
#include "replay/shape/env/env_inside.h"
#include "replay/shape/expr/solve.h"

/* Conditions and their values; a later entry replaces an earlier one, as in a Python dict. */
struct condition_values {
    struct shape_env *env;
    struct list conditions, values;
};

static void add_condition(void *user, sym_id condition, bool value)
{
    struct condition_values *values = user;
    if (!list_push(&values->conditions, condition) ||
        !list_push(&values->values, sym_boolean(value)))
        env_ok(values->env);
}

static bool is_subset(struct shape_env *env, sym_id inner, sym_id outer)
{
    const struct expr_info *k = env_known(env, inner);
    if (!k || !env_known(env, outer))
        return false;
    k = &env->known[inner];
    for (uint32_t i = 0; i < k->n_symbols; i++)
        if (!env_holds_symbol(env, outer, env_symbol_of(env, &env->known[inner], i)->id))
            return false;
    return true;
}

static bool gather_conditions(struct condition_values *values, sym_id e,
                              const struct env_assumptions *assumptions)
{
    struct shape_env *env = values->env;
    for (uint32_t i = 0; i < assumptions->n_axioms; i++) {
        sym_id axiom = assumptions->axioms[i];
        if (axiom == SYM_NONE || !is_subset(env, axiom, e))
            continue;
        sym_id simple = env_simplify_way(env, axiom, ENV_SIMPLIFY_BARE);
        if (simple == SYM_NONE || !sym_implications(env->pool, simple, add_condition, values))
            return env_ok(env);
    }
    if (!env->axioms_stale)
        return env_ok(env);
    env->axioms_stale = false;
    uint32_t n = values->conditions.n;
    for (uint32_t i = 0; i < n && i < values->values.n; i++) {
        const struct expr_info *k = env_known(env, values->conditions.v[i]);
        if (k && (k->holds & HOLDS_FLOORDIV))
            add_condition(values, env_simplify_way(env, values->conditions.v[i], ENV_SIMPLIFY_BARE),
                          values->values.v[i] == SYM_ID_TRUE);
    }
    return env_ok(env);
}

static sym_id substitute_values(struct condition_values *values, sym_id e, unsigned depth)
{
    struct shape_env *env = values->env;
    struct sym_pool *pool = env->pool;
    for (uint32_t i = values->values.n; i > 0; i--)
        if (values->conditions.v[i - 1] == e)
            return values->values.v[i - 1];
    const struct expr_info *k = env_known(env, e);
    if (!k || !(k->holds & HOLDS_CONDITION) || depth > ENV_MAX_DEPTH)
        return k ? e : SYM_NONE;
    struct list args;
    list_init(&args, pool);
    bool ok = true, changed = false;
    for (uint32_t i = 0; ok && i < sym_n_args(pool, e); i++) {
        sym_id arg = arg_at(pool, e, i), now = substitute_values(values, arg, depth + 1);
        changed |= now != arg;
        ok = now != SYM_NONE && list_push(&args, now);
    }
    sym_id result = !ok ? SYM_NONE : changed ? sym_make(pool, kind_at(pool, e), args.v, args.n) : e;
    list_release(&args);
    return result;
}

static sym_id evaluate_with(struct condition_values *values, sym_id e, enum env_static way,
                            const struct env_assumptions *assumptions)
{
    struct shape_env *env = values->env;
    e = env_simplify_way(
        env, e, way == ENV_STATIC_OBLIVIOUS ? ENV_SIMPLIFY_OBLIVIOUS : ENV_SIMPLIFY_STATIC);
    if (way == ENV_STATIC_HINT && e != SYM_NONE)
        e = env_put_hints(env, e);
    e = sym_canonical(env->pool, e);
    if (e == SYM_NONE || !(assumptions->axioms ? gather_conditions(values, e, assumptions)
                                               : env_refresh_axioms(env)))
        return SYM_NONE;
    e = assumptions->axioms ? substitute_values(values, e, 0) : env_put_axioms(env, e, 0);
    const struct expr_info *k = e == SYM_NONE ? NULL : env_known(env, e);
    if (!k)
        return SYM_NONE;
    if (!k->n_symbols && (e <= SYM_ID_TRUE || !is_relational(kind_at(env->pool, e))))
        return e;
    return env_work(env, e, way, assumptions);
}

sym_id env_evaluate_static_with(struct shape_env *env, sym_id e, enum env_static way,
                                const struct env_assumptions *assumptions)
{
    if (e == SYM_NONE || (unsigned)way >= ENV_STATIC_WAYS)
        return SYM_NONE;
    struct condition_values values = { .env = env };
    list_init(&values.conditions, env->pool);
    list_init(&values.values, env->pool);
    env->counts.static_evaluations++;
    sym_id result = evaluate_with(&values, e, way, assumptions);
    list_release(&values.conditions);
    list_release(&values.values);
    return env_ok(env) ? result : SYM_NONE;
}
