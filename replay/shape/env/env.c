/* An environment's creation and release, its errors, and queries of its state. */
#include "replay/shape/env/env_inside.h"

#include <stdio.h>
#include <stdlib.h>

struct shape_env *shape_env_new(const struct env_settings *settings, struct err *err)
{
    struct shape_env *env = calloc(1, sizeof *env);
    if (!env) {
        err_nomem(err);
        return NULL;
    }
    env->settings = settings ? *settings : ENV_SETTINGS_DEFAULT;
    env->version = env->static_version = env->time = 1;
    env->level = 1;
    env->learning_guard = env->learning_assert = UINT32_MAX;
    env->axioms_stale = true;
    env->origin = (struct env_origin){ .graph = ENV_NODE_NONE, .node = ENV_NODE_NONE, .rule = "" };
    env->raised_condition = SYM_NONE;
    env->pool = sym_pool_new(err);
    if (!env->pool) {
        free(env);
        return NULL;
    }
    return env;
}

void shape_env_free(struct shape_env *env)
{
    if (!env)
        return;
    free(env->known);
    vec_release(&env->results);
    vec_release(&env->symbols);
    vec_release(&env->symbol_lists);
    vec_release(&env->sources);
    intern_release(&env->source_names);
    vec_release(&env->source_symbols);
    vec_release(&env->source_answers);
    vec_release(&env->unique_ids);
    vec_release(&env->shape_symbols);
    intern_release(&env->shape_ids);
    vec_release(&env->shape_id_symbols);
    vec_release(&env->guards);
    vec_release(&env->replacements);
    vec_release(&env->asserts);
    vec_release(&env->divisible);
    vec_release(&env->chosen);
    vec_release(&env->axioms);
    vec_release(&env->specializations);
    vec_release(&env->events);
    env_lru_release(&env->evaluate_memo);
    env_lru_release(&env->assert_memo);
    env_lru_release(&env->learn_memo);
    intern_release(&env->messages);
    backtraces_release(&env->backtraces);
    buf_release(&env->raised_text);
    arena_release(&env->arena);
    sym_pool_free(env->pool);
    free(env);
}

struct sym_pool *env_pool(const struct shape_env *env)
{
    return env->pool;
}

const struct env_settings *env_settings(const struct shape_env *env)
{
    return &env->settings;
}

/* --- Raising --- */

bool env_no_memory(struct shape_env *env)
{
    env->short_of_memory = true;
    if (!env->raising) {
        env->raising = ENV_RAISED_MEMORY;
        env->raised_type = "MemoryError";
        buf_clear(&env->raised_text);
    }
    return false;
}

bool env_raise(struct shape_env *env, enum env_raised_kind kind, const char *type,
               const char *format, ...)
{
    if (env->raising)
        return false;
    env->raising = kind;
    env->raised_type = type;
    buf_clear(&env->raised_text);
    va_list args;
    va_start(args, format);
    buf_vprintf(&env->raised_text, format, args);
    va_end(args);
    if (env->raised_text.failed) {
        env->raising = ENV_RAISED_NOTHING;
        env->raised_text.failed = false;
        return env_no_memory(env);
    }
    return false;
}

/* Raises the pool's failure, such as "ZeroDivisionError: division by zero". */
static bool take_pool_failure(struct shape_env *env)
{
    struct err err = { 0 };
    if (sym_ok(env->pool, &err))
        return !env->raising;
    if (err.kind == ERR_ENV)
        return env_no_memory(env);
    struct str text = str_of(err.text);
    size_t colon = str_find(text, STR(": "));
    if (env->raising || colon >= text.n || colon >= sizeof env->type_room)
        return env_raise(env, ENV_RAISED_OTHER, "RuntimeError", "%s", err.text);
    snprintf(env->type_room, sizeof env->type_room, "%.*s", (int)colon, err.text);
    return env_raise(env, ENV_RAISED_OTHER, env->type_room, "%s", err.text + colon + 2);
}

bool env_ok(struct shape_env *env)
{
    return !env->raising && (!pool_failed(env->pool) || take_pool_failure(env));
}

struct env_raised env_raised(struct shape_env *env)
{
    env_ok(env);
    struct env_raised raised = { .kind = env->raising,
                                 .type = env->raising ? env->raised_type : "",
                                 .text = buf_str(&env->raised_text) };
    if (!env->raising)
        raised.text.n = 0;
    env->raising = ENV_RAISED_NOTHING;
    env->depth = 0;
    return raised;
}

/* --- Queries --- */

void env_set_origin(struct shape_env *env, struct env_origin origin)
{
    env->origin = origin;
    if (!env->origin.rule)
        env->origin.rule = "";
}

void env_suppress_guards(struct shape_env *env)
{
    env->suppressed++;
}

void env_resume_guards(struct shape_env *env)
{
    if (env->suppressed)
        env->suppressed--;
}

void env_freeze(struct shape_env *env)
{
    env->frozen = true;
}

void env_freeze_runtime_asserts(struct shape_env *env)
{
    env->asserts_frozen = true;
}

void env_set_level(struct shape_env *env, unsigned level)
{
    env->level = level;
}

uint32_t env_n_guards(const struct shape_env *env)
{
    return (uint32_t)env->guards.n;
}

const struct env_guard *env_guard_at(const struct shape_env *env, uint32_t i)
{
    return &env->guards.v[i];
}

uint32_t env_n_suppressed(const struct shape_env *env)
{
    return env->n_suppressed;
}

uint32_t env_n_replacements(const struct shape_env *env)
{
    return (uint32_t)env->replacements.n;
}

const struct env_replacement *env_replacement_at(const struct shape_env *env, uint32_t i)
{
    return &env->replacements.v[i];
}

const struct env_replacement *env_replacement_of(struct shape_env *env, sym_id symbol)
{
    if (sym_kind_of(env->pool, symbol) != SYM_SYMBOL || env_symbol_index(env, symbol) == UINT32_MAX)
        return NULL;
    const struct env_symbol *s = env_symbol(env, symbol);
    return s->to == SYM_NONE ? NULL : &env->replacements.v[s->replacement];
}

uint32_t env_n_asserts(const struct shape_env *env)
{
    return (uint32_t)env->asserts.n;
}

const struct env_assert *env_assert_at(const struct shape_env *env, uint32_t i)
{
    return &env->asserts.v[i];
}

uint32_t env_n_specializations(const struct shape_env *env)
{
    return (uint32_t)env->specializations.n;
}

const struct env_specialization *env_specialization_at(const struct shape_env *env, uint32_t i)
{
    return &env->specializations.v[i];
}

uint32_t env_n_divisible(const struct shape_env *env)
{
    return (uint32_t)env->divisible.n;
}

sym_id env_divisible_at(const struct shape_env *env, uint32_t i)
{
    return env->divisible.v[i];
}

uint32_t env_n_symbols(const struct shape_env *env)
{
    return (uint32_t)env->symbols.n;
}

sym_id env_symbol_at(const struct shape_env *env, uint32_t i)
{
    return env->symbols.v[i].id;
}

struct env_counts env_counts(const struct shape_env *env)
{
    return env->counts;
}

const struct backtraces *env_backtraces(const struct shape_env *env)
{
    return &env->backtraces;
}

/* ---- Events ---- */

uint32_t env_n_events(const struct shape_env *env)
{
    return (uint32_t)env->events.n;
}

const struct env_event *env_event_at(const struct shape_env *env, uint32_t i)
{
    return &env->events.v[i];
}

bool env_add_event(struct shape_env *env, enum env_event_kind kind, sym_id expr, sym_id value)
{
    if (!env->settings.keep_events)
        return true;
    if (kind == ENV_EVENT_GUARDED || kind == ENV_EVENT_STATIC) {
        struct expr_info *k = env_known(env, expr);
        if (!k || k->asked)
            return k != NULL;
        k->asked = true;
    }
    struct env_event event = { .kind = kind,
                               .expr = expr,
                               .value = value,
                               .range = SYM_RANGE_FAILED,
                               .guard = env->learning_guard,
                               .assert = env->learning_assert,
                               .origin = env->origin };
    const struct env_symbol *s = env_symbol(env, expr);
    if (s)
        event.range = s->range;
    if (kind == ENV_EVENT_REPLACEMENT && s)
        event.reason = env->replacements.v[s->replacement].reason;
    return vec_push(&env->events, event) || env_no_memory(env);
}
