/* What the environment's files will replace: an environment without symbols' hints, just enough to
 * link and to answer about numbers. Weak, and last in the library. */
#include "replay/ops/context.h"

#include <stdlib.h>

#define WEAK __attribute__((weak))

struct shape_env {
    struct sym_pool *pool;
    struct env_settings settings;
};

WEAK struct shape_env *shape_env_new(const struct env_settings *settings, struct err *err)
{
    (void)settings;
    struct shape_env *env = calloc(1, sizeof *env);
    if (env)
        env->pool = sym_pool_new(err);
    return env;
}
WEAK void shape_env_free(struct shape_env *env)
{
    if (env)
        sym_pool_free(env->pool);
    free(env);
}
WEAK struct sym_pool *env_pool(const struct shape_env *env)
{
    return env->pool;
}
WEAK const struct env_settings *env_settings(const struct shape_env *env)
{
    return &env->settings;
}
WEAK struct env_raised env_raised(struct shape_env *env)
{
    (void)env;
    return (struct env_raised){ ENV_RAISED_OTHER, "RuntimeError", STR("no environment yet") };
}
WEAK sym_id env_replace(struct shape_env *env, sym_id e)
{
    (void)env;
    return e;
}
WEAK sym_id env_evaluate(struct shape_env *env, sym_id e, sym_id hint, bool oblivious,
                         sym_id fallback)
{
    (void)env, (void)hint, (void)oblivious;
    return e <= SYM_ID_TRUE ? e : fallback;
}
WEAK bool env_guard_bool(struct shape_env *env, sym_id e, bool *ret)
{
    (void)env;
    *ret = e == SYM_ID_TRUE;
    return e <= SYM_ID_TRUE;
}
WEAK bool env_guard_int(struct shape_env *env, sym_id e, int64_t *ret)
{
    return sym_to_i64(env->pool, e, ret);
}
WEAK bool env_guard_or(struct shape_env *env, sym_id e, bool fallback, bool *ret)
{
    (void)env;
    *ret = e <= SYM_ID_TRUE ? e == SYM_ID_TRUE : fallback;
    return true;
}
WEAK bool env_statically_known(struct shape_env *env, sym_id e)
{
    (void)env;
    return e == SYM_ID_TRUE;
}
WEAK bool env_expect_true(struct shape_env *env, sym_id e, struct str message, bool *ret)
{
    (void)message;
    return env_guard_bool(env, e, ret);
}
WEAK sym_id env_create_unbacked_symint(struct shape_env *env)
{
    (void)env;
    return SYM_NONE;
}
WEAK bool env_constrain_range_for_size(struct shape_env *env, sym_id e, sym_id min, sym_id max)
{
    (void)env, (void)e, (void)min, (void)max;
    return false;
}
WEAK sym_id env_adopt_symbol(struct shape_env *env, struct str name, sym_id hint,
                             struct sym_range range, struct str source)
{
    (void)hint, (void)range, (void)source;
    return sym_symbol(env->pool, name, SYM_IS_INTEGER | SYM_IS_POSITIVE);
}
WEAK bool env_set_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason)
{
    (void)env, (void)a, (void)to, (void)reason;
    return true;
}
WEAK uint32_t env_n_guards(const struct shape_env *env)
{
    (void)env;
    return 0;
}
WEAK const struct env_guard *env_guard_at(const struct shape_env *env, uint32_t i)
{
    (void)env, (void)i;
    return NULL;
}
WEAK bool env_range(const struct shape_env *env, sym_id symbol, struct sym_range *ret)
{
    (void)env, (void)symbol, (void)ret;
    return false;
}
WEAK void env_set_origin(struct shape_env *env, struct env_origin origin)
{
    (void)env, (void)origin;
}
WEAK struct env_counts env_counts(const struct shape_env *env)
{
    (void)env;
    return (struct env_counts){ 0 };
}
WEAK sym_id node_int(struct shape_env *env, enum node_method method, sym_id a, sym_id b)
{
    (void)env, (void)method, (void)a, (void)b;
    return SYM_NONE;
}
WEAK bool env_has_unbacked(struct shape_env *env, sym_id e)
{
    (void)env, (void)e;
    return false;
}
WEAK uint32_t env_n_symbols(const struct shape_env *env)
{
    (void)env;
    return 0;
}
WEAK sym_id env_symbol_at(const struct shape_env *env, uint32_t i)
{
    (void)env, (void)i;
    return SYM_NONE;
}
