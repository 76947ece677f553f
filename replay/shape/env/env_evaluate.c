/* Evaluation that may add guards (ShapeEnv.evaluate_expr), and asserts
 * (guard_or_defer_runtime_assert). */
#include "replay/shape/env/env_inside.h"

enum { ASKED_OBLIVIOUS = 1, ASKED_SUPPRESSED = 2 };

/* --- evaluate_expr --- */

/* ShapeEnv.size_hint. */
sym_id env_size_hint(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    sym_id value = env_put_hints(env, env_expand(pool, e));
    if (value == SYM_NONE)
        return env_ok(env), SYM_NONE;
    if (value <= SYM_ID_TRUE || is_number(pool, value))
        return value;
    sym_id known = env_static(env, value, ENV_STATIC_HINT);
    if (known != SYM_NONE || !env_ok(env))
        return known;
    env_data_dependent(env, value, e);
    return SYM_NONE;
}

static bool append_guard(struct shape_env *env, sym_id condition, bool size_oblivious)
{
    struct env_guard guard = { .expr = condition,
                               .size_oblivious = size_oblivious,
                               .origin = env->origin,
                               .backtrace = backtrace_capture(&env->backtraces) };
    if (!vec_push(&env->guards, guard))
        return env_no_memory(env);
    env->counts.guards++;
    return env_add_axioms(env, condition);
}

/* Returns the condition that e has that value. */
static sym_id equality_condition(struct sym_pool *pool, sym_id e, sym_id value)
{
    return value == SYM_ID_TRUE    ? e
           : value == SYM_ID_FALSE ? sym_not(pool, e)
                                   : sym_eq(pool, e, value);
}

void env_inject_flip_equality(struct shape_env *env, uint64_t n)
{
    env->flip_from = n;
}

static bool is_flipped(struct shape_env *env, sym_id e)
{
    enum sym_kind kind = sym_kind_of(env->pool, e);
    return env->flip_from && (kind == SYM_EQ || kind == SYM_NE) &&
           ++env->equalities >= env->flip_from;
}

static sym_id guard_on(struct shape_env *env, sym_id e, sym_id value, bool size_oblivious)
{
    env->counts.ignored += env->frozen;
    if (is_flipped(env, e))
        e = sym_not(env->pool, e);
    sym_id condition = equality_condition(env->pool, e, value);
    if (condition == SYM_NONE)
        return env_ok(env), SYM_NONE;
    if (env->suppressed) {
        env->n_suppressed++;
        return value;
    }
    bool deferred =
        env->settings.exporting && env->settings.prefer_deferred_runtime_asserts_over_guards;
    env->learning_guard = deferred ? UINT32_MAX : (uint32_t)env->guards.n;
    bool learnt = env_learn(env, condition);
    env->learning_guard = UINT32_MAX;
    if (!learnt)
        return SYM_NONE;
    bool ok = deferred ? env_guard_or_defer(env, condition, STR("evaluate_expr"), &deferred)
                       : append_guard(env, condition, size_oblivious);
    return ok && env_ok(env) ? value : SYM_NONE;
}

/* Notes a question that was answered without a guard. */
static sym_id known_answer(struct shape_env *env, sym_id e, sym_id value, bool size_oblivious)
{
    bool listed = !size_oblivious && !env->suppressed && value != SYM_NONE;
    return !listed || env_add_event(env, ENV_EVENT_STATIC, e, value) ? value : SYM_NONE;
}

sym_id env_evaluate_inside(struct shape_env *env, sym_id e, sym_id hint, bool size_oblivious,
                           sym_id fallback)
{
    if (env_known_nonnegative_sum(env, e))
        return known_answer(env, e, SYM_ID_TRUE, size_oblivious);
    sym_id known = env_static(env, e, size_oblivious ? ENV_STATIC_OBLIVIOUS : ENV_STATIC_PLAIN);
    if (known != SYM_NONE || !env_ok(env))
        return known_answer(env, e, known, size_oblivious);
    sym_id asked = e;
    if (!env_is_hinted(env, e)) {
        sym_id rest = env_static(env, e, ENV_STATIC_UNBACKED_ONLY);
        if (rest == SYM_NONE) {
            if (env_ok(env))
                env_raise(env, ENV_RAISED_OTHER, "AssertionError", "new_expr must not be None");
            return SYM_NONE;
        }
        if (!env_is_hinted(env, rest)) {
            if (fallback == SYM_NONE)
                env_data_dependent(env, env_put_hints(env, e), e);
            return fallback;
        }
        e = rest;
    }
    sym_id value = hint != SYM_NONE ? hint : env_size_hint(env, asked);
    if (value == SYM_NONE)
        return SYM_NONE;
    bool listed = !size_oblivious && !env->suppressed;
    return !listed || env_add_event(env, ENV_EVENT_GUARDED, asked, value)
               ? guard_on(env, e, value, size_oblivious)
               : SYM_NONE;
}

sym_id env_evaluate(struct shape_env *env, sym_id e, sym_id hint, bool size_oblivious,
                    sym_id fallback)
{
    if (e == SYM_NONE)
        return env_ok(env), SYM_NONE;
    uint64_t flags =
        (size_oblivious ? ASKED_OBLIVIOUS : 0) | (env->suppressed ? ASKED_SUPPRESSED : 0);
    uint64_t a = (uint64_t)e << 32 | hint, b = (uint64_t)fallback << 32 | flags;
    uint32_t result;
    env->counts.evaluations++;
    if (env_lru_find(&env->evaluate_memo, a, b, &result)) {
        env->counts.remembered++;
        return result;
    }
    if (e <= SYM_ID_TRUE || is_number(env->pool, e))
        result = e;
    else
        result = env_evaluate_inside(env, e, hint, size_oblivious, fallback);
    if (!env_ok(env))
        return SYM_NONE;
    if (!env_lru_put(&env->evaluate_memo, a, b, result))
        return env_no_memory(env), SYM_NONE;
    return result;
}

/* --- Variants of evaluate_expr --- */

bool env_guard_bool(struct shape_env *env, sym_id e, bool *ret)
{
    sym_id value = e <= SYM_ID_TRUE ? e : env_evaluate(env, e, SYM_NONE, false, SYM_NONE);
    if (value == SYM_NONE)
        return false;
    *ret = value != SYM_ID_FALSE && value != SYM_ID_ZERO;
    return true;
}

bool env_guard_int(struct shape_env *env, sym_id e, int64_t *ret)
{
    if (sym_to_i64(env->pool, e, ret))
        return true;
    sym_id value = env_evaluate(env, e, SYM_NONE, false, SYM_NONE);
    if (value == SYM_NONE)
        return false;
    if (value <= SYM_ID_TRUE) {
        *ret = value == SYM_ID_TRUE;
        return true;
    }
    if (sym_to_i64(env->pool, value, ret))
        return true;
    return env_raise(env, ENV_RAISED_OTHER, "OverflowError", "int too large to convert");
}

bool env_guard_or(struct shape_env *env, sym_id e, bool fallback, bool *ret)
{
    sym_id value = e;
    if (e > SYM_ID_TRUE && env->settings.backed_size_oblivious) {
        value = env_static(env, e, ENV_STATIC_BARE);
        if (!env_ok(env))
            env_raised(env); /* _static_eval_sym_bool ignores exceptions */
        if (value == SYM_NONE)
            value = sym_boolean(fallback);
    } else if (e > SYM_ID_TRUE) {
        value = env_evaluate(env, e, SYM_NONE, false, sym_boolean(fallback));
    }
    if (value == SYM_NONE)
        return false;
    *ret = value != SYM_ID_FALSE && value != SYM_ID_ZERO;
    return true;
}

bool env_statically_known(struct shape_env *env, sym_id e)
{
    if (e <= SYM_ID_TRUE)
        return e == SYM_ID_TRUE;
    sym_id value = env_static(env, e, ENV_STATIC_BARE);
    if (!env_ok(env)) {
        if (env->raising != ENV_RAISED_MEMORY)
            env_raised(env);
        return false;
    }
    return value == SYM_ID_TRUE;
}

/* --- guard_or_defer_runtime_assert --- */

/* Returns whether e is u0 >= 0 for a u0 without any bound: PyTorch does not even try to prove it.
 */
static bool is_unbounded_nonnegative(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    enum sym_kind kind = kind_at(pool, e);
    sym_id side = SYM_NONE;
    if (kind == SYM_GE && arg_at(pool, e, 1) == SYM_ID_ZERO)
        side = arg_at(pool, e, 0);
    else if (kind == SYM_LE && arg_at(pool, e, 0) == SYM_ID_ZERO)
        side = arg_at(pool, e, 1);
    const struct env_symbol *s = side == SYM_NONE ? NULL : env_symbol(env, side);
    return s && s->kind == SYMBOL_UNBACKED_INT && sym_range_equal(s->range, SYM_RANGE_UNKNOWN_INT);
}

/* Returns the unbacked symbol that was made last, according to its number. */
static sym_id newest_unbacked(struct shape_env *env, sym_id e)
{
    const struct expr_info *k = env_known(env, e);
    const struct env_symbol *newest = NULL;
    uint64_t newest_number = 0;
    for (uint32_t i = 0; k && i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        uint64_t number = 0;
        if (!env_is_unbacked_kind(s->kind))
            continue;
        size_t prefix = s->kind == SYMBOL_UNBACKED_INT ? 1 : 3;
        str_to_u64(str_from(sym_name(env->pool, s->id), prefix), &number);
        /* Among equal numbers the later prefix counts: "zuf" is after "u". */
        if (!newest || number > newest_number ||
            (number == newest_number && s->kind == SYMBOL_UNBACKED_FLOAT)) {
            newest = s;
            newest_number = number;
        }
    }
    return newest ? newest->id : SYM_NONE;
}

static bool add_assert(struct shape_env *env, sym_id e, struct str message)
{
    env->counts.ignored += env->frozen;
    env->learning_assert = (uint32_t)env->asserts.n;
    bool learnt = env_learn(env, e);
    env->learning_assert = UINT32_MAX;
    if (!learnt)
        return false;
    sym_id condition = sym_canonical(env->pool, e);
    if (condition == SYM_NONE)
        return env_ok(env);
    struct str kept = arena_copy(&env->arena, message);
    struct env_assert new = { .expr = condition,
                              .newest = newest_unbacked(env, condition),
                              .message = kept,
                              .origin = env->origin,
                              .backtrace = backtrace_capture(&env->backtraces) };
    if (!kept.p || !vec_push(&env->asserts, new))
        return env_no_memory(env);
    env->counts.asserts++;
    if (!env_add_event(env, ENV_EVENT_ASSERT, condition, SYM_ID_TRUE))
        return false;
    if (!env_add_axioms(env, condition))
        return false;
    env_update_version(env);
    return true;
}

static bool is_true_value(sym_id value)
{
    return value != SYM_ID_FALSE && value != SYM_ID_ZERO;
}

static bool defer(struct shape_env *env, sym_id e, struct str message, bool *ret)
{
    *ret = true;
    if (env_known_nonnegative_sum(env, e))
        return true;
    sym_id rest = e;
    if (!is_unbounded_nonnegative(env, e)) {
        sym_id known = env_static(env, e, ENV_STATIC_BARE);
        if (!env_ok(env))
            return false;
        if (known != SYM_NONE) {
            *ret = is_true_value(known);
            return true;
        }
        rest = env_static(env, e, ENV_STATIC_UNBACKED_ONLY);
        if (rest == SYM_NONE)
            return env_ok(env) &&
                   env_raise(env, ENV_RAISED_OTHER, "AssertionError", "new_expr must not be None");
    }
    if (!env->settings.prefer_deferred_runtime_asserts_over_guards && env_is_hinted(env, rest)) {
        sym_id value = env_evaluate(env, rest, SYM_NONE, false, SYM_NONE);
        *ret = is_true_value(value);
        return value != SYM_NONE;
    }
    if (!env->suppressed)
        return add_assert(env, e, message);
    env->n_suppressed++;
    return true;
}

bool env_guard_or_defer(struct shape_env *env, sym_id e, struct str message, bool *ret)
{
    if (e == SYM_NONE)
        return env_ok(env), false;
    if (e <= SYM_ID_TRUE) {
        *ret = e == SYM_ID_TRUE;
        return true;
    }
    uint32_t number = message.n ? intern(&env->messages, message) : 0, result;
    if (number == INTERN_NONE)
        return env_no_memory(env);
    if (message.n && env_lru_find(&env->assert_memo, e, number, &result)) {
        *ret = result;
        return true;
    }
    if (!defer(env, e, message, ret) || !env_ok(env))
        return env_ok(env), false;
    return !message.n || env_lru_put(&env->assert_memo, e, number, *ret) || env_no_memory(env);
}

bool env_expect_true(struct shape_env *env, sym_id e, struct str message, bool *ret)
{
    if (e == SYM_NONE || e <= SYM_ID_TRUE ||
        (!env->settings.prefer_deferred_runtime_asserts_over_guards && env_is_hinted(env, e) &&
         !env_has_unbacked(env, e)))
        return env_guard_bool(env, e, ret);
    return env_guard_or_defer(env, e, message, ret);
}

/* --- Ranges that are given, not derived --- */

bool env_constrain_range(struct shape_env *env, sym_id e, sym_id min, sym_id max)
{
    struct sym_pool *pool = env->pool;
    if (e == SYM_NONE)
        return env_ok(env), false;
    struct sym_range range = sym_range(pool, min == SYM_NONE ? SYM_ID_MINUS_INT_OO : min,
                                       max == SYM_NONE ? SYM_ID_INT_OO : max);
    if (!sym_range_ok(range))
        return env_ok(env), false;
    if (is_number(pool, e)) {
        if (sym_range_contains(pool, range, e))
            return env_ok(env);
        struct buf text = BUF_INIT;
        buf_puts(&text, "Invalid value ");
        sym_print(pool, e, &text);
        buf_puts(&text, " for range [");
        sym_print(pool, range.lower, &text);
        buf_puts(&text, ":");
        sym_print(pool, range.upper, &text);
        buf_puts(&text, "]");
        bool failed = text.failed;
        if (!failed)
            env_raise(env, ENV_RAISED_OTHER, "ValueRangeError", "%.*s", STR_ARG(buf_str(&text)));
        buf_release(&text);
        return failed ? env_no_memory(env) : false;
    }
    if (kind_at(pool, e) != SYM_SYMBOL)
        return true;
    env->range_is_given = true;
    bool ok = env_update_range(env, e, range, NULL, NULL, false);
    env->range_is_given = false;
    return ok && env_ok(env);
}

bool env_constrain_range_for_size(struct shape_env *env, sym_id e, sym_id min, sym_id max)
{
    struct sym_pool *pool = env->pool;
    min = min == SYM_NONE ? SYM_ID_ZERO : min;
    max = max == SYM_NONE ? SYM_ID_INT_OO : max;
    if (e == SYM_NONE || !is_number(pool, min) || !is_number(pool, max))
        return env_ok(env), false;
    if (sym_number_compare(pool, max, min) < 0) {
        int64_t least = 0, most = 0;
        sym_to_i64(pool, min, &least);
        sym_to_i64(pool, max, &most);
        return env_raise(env, ENV_RAISED_OTHER, "ValueError",
                         "Maximum value to constrain_as_size can't be less than the specified min "
                         "value, received min=%lld and max=%lld",
                         (long long)least, (long long)most);
    }
    if (!env_constrain_range(env, e, min, max))
        return false;
    struct env_symbol *s = env_symbol(env, e);
    if (s && !s->size_like) {
        s->size_like = true;
        env_touch(env, s);
    }
    return true;
}
