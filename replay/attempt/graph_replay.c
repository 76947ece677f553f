#include "replay/attempt/graph_replay.h"
#include "replay/ops/layers.h"

#include <stdlib.h>

struct graph_replay *graph_replay_new(const struct custom_rules *rules, struct err *err)
{
    struct graph_replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return err_nomem(err), NULL;
    replay->env = shape_env_new(NULL, err);
    replay->ops = replay->env ? ops_new_with_rules(replay->env, rules, err) : NULL;
    if (replay->ops)
        return replay;
    graph_replay_free(replay);
    return NULL;
}

static void release_walk(struct graph_replay *replay)
{
    program_free(replay->program);
    replay->program = NULL;
    walker_release(&replay->walker);
    traced_release(&replay->traced);
}

void graph_replay_free(struct graph_replay *replay)
{
    if (!replay)
        return;
    release_walk(replay);
    ops_free(replay->ops);
    shape_env_free(replay->env);
    arena_release(&replay->arena);
    free(replay);
}

/* ---- Symbols ---- */

static sym_id bound_or_infinity(struct sym_pool *pool, int64_t bound)
{
    return bound == INT64_MIN   ? SYM_ID_MINUS_INT_OO
           : bound == INT64_MAX ? SYM_ID_INT_OO
                                : sym_integer(pool, bound);
}

static sym_id hint_expr(struct sym_pool *pool, const struct graph_replay_symbol *symbol)
{
    if (!symbol->has_hint)
        return SYM_NONE;
    return symbol->is_float ? sym_float(pool, symbol->float_hint) : sym_integer(pool, symbol->hint);
}

static sym_id make_graph_symbol(struct graph_replay *replay,
                                const struct graph_replay_symbol *symbol)
{
    struct sym_pool *pool = env_pool(replay->env);
    struct sym_range range = SYM_RANGE_UNKNOWN;
    sym_id hint = hint_expr(pool, symbol);
    if (replay->graph->concrete && hint != SYM_NONE)
        return hint;
    if (!symbol->is_float)
        range = (struct sym_range){ bound_or_infinity(pool, symbol->min),
                                    bound_or_infinity(pool, symbol->max) };
    return env_adopt_symbol(replay->env, symbol->name, symbol->backed ? hint : SYM_NONE, range,
                            symbol->source);
}

static bool make_symbols(struct graph_replay *replay)
{
    const struct graph_replay_input *graph = replay->graph;
    arena_reset(&replay->arena);
    replay->symbols = arena_array(&replay->arena, sym_id, (size_t)graph->n_symbols + 1);
    for (uint32_t i = 0; replay->symbols && i < graph->n_symbols; i++) {
        replay->symbols[i] = make_graph_symbol(replay, &graph->symbols[i]);
        if (replay->symbols[i] == SYM_NONE)
            env_raised(replay->env);
    }
    return replay->symbols != NULL;
}

static sym_id resolve_symbol(void *user, struct sym_pool *pool, struct str name)
{
    const struct graph_replay *replay = user;
    for (uint32_t i = 0; i < replay->graph->n_symbols; i++)
        if (replay->symbols[i] != SYM_NONE && str_eq(replay->graph->symbols[i].name, name))
            return replay->symbols[i];
    return sym_by_name(NULL, pool, name);
}

/* ---- Guards ---- */

static void keep_error(struct graph_replay *replay)
{
    struct env_raised raised = env_raised(replay->env);
    struct buf text = BUF_INIT;
    if (raised.kind != ENV_RAISED_DATA_DEPENDENT || replay->guard_error.n)
        return;
    buf_printf(&text, "%s: %.*s", raised.type, STR_ARG(raised.text));
    replay->guard_error = arena_copy(&replay->arena, buf_str(&text));
    if (text.failed || !replay->guard_error.p)
        replay->guard_error = STR("");
    buf_release(&text);
}

static void apply_guard(struct graph_replay *replay, const struct graph_replay_guard *guard)
{
    struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    struct err ignored = { 0 };
    bool holds;
    sym_id expr = sym_parse(env_pool(replay->env), guard->expr, resolve_symbol, replay);
    uint32_t before = env_n_guards(replay->env);
    sym_ok(env_pool(replay->env), &ignored);
    if (expr == SYM_NONE)
        return;
    env_set_origin(replay->env, none);
    if (guard->deferred)
        env_expect_true(replay->env, expr, STR(""), &holds);
    else
        env_guard_bool(replay->env, expr, &holds);
    keep_error(replay);
    replay->given_guards += env_n_guards(replay->env) - before;
}

static void apply_guards(struct graph_replay *replay, uint32_t node)
{
    const struct graph_replay_input *graph = replay->graph;
    for (; replay->next_guard < graph->n_guards && graph->guards[replay->next_guard].node <= node;
         replay->next_guard++)
        if (!graph->concrete)
            apply_guard(replay, &graph->guards[replay->next_guard]);
}

/* ---- Walking ---- */

static bool graph_input(void *user, const struct program *program, const struct step *step,
                        struct value *ret, struct err *err)
{
    struct graph_replay *replay = user;
    (void)program;
    if (step->expected->unbacked)
        know_unbacked(&replay->walker.unbound, replay->ops, step->expected);
    *ret = expected_value(replay->ops, step->expected);
    return !replay->traces || traced_evaluate(&replay->traced, replay->ops, *ret) || err_nomem(err);
}

static bool graph_before_call(void *user, const struct program *program, const struct step *step,
                              struct err *err)
{
    struct graph_replay *replay = user;
    (void)err;
    if (program != program->root)
        return true;
    apply_guards(replay, step->node);
    if (replay->before)
        replay->before(replay->more_user, replay, step);
    return true;
}

static bool graph_after_call(void *user, const struct program *program, const struct step *step,
                             struct value result, struct err *err)
{
    struct graph_replay *replay = user;
    if (replay->traces)
        traced_evaluate_view(&replay->traced, replay->ops, program, step, result);
    if (replay->traces &&
        (!traced_evaluate_unused(&replay->traced, replay->ops, program, step, result) ||
         !traced_evaluate(&replay->traced, replay->ops, result)))
        return err_nomem(err);
    return program != program->root || !replay->more ||
           replay->more(replay->more_user, replay, step);
}

static bool restart_environment(struct graph_replay *replay, int torch, struct err *err)
{
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (torch)
        settings.torch = torch;
    struct shape_env *env = shape_env_new(&settings, err);
    if (!env)
        return false;
    release_walk(replay);
    ops_set_env(replay->ops, env);
    shape_env_free(replay->env);
    replay->env = env;
    replay->next_guard = 0;
    replay->given_guards = 0;
    replay->guard_error = STR("");
    replay->walker = (struct walker){ .ops = replay->ops,
                                      .env = env,
                                      .input = graph_input,
                                      .before = graph_before_call,
                                      .after = graph_after_call,
                                      .user = replay };
    replay->traced = (struct traced){ 0 };
    return true;
}

bool graph_replay_walk(struct graph_replay *replay, const struct graph_replay_input *graph,
                       struct err *err)
{
    if (!restart_environment(replay, graph->torch, err))
        return false;
    replay->graph = graph;
    replay->traces = traces_results(graph->kind) && !graph->concrete;
    replay->walker.by_hint = graph->by_hint;
    replay->walker.inject = graph->inject;
    if (graph->inject && graph->inject->kind == INJECT_FLIP_EQUALITY)
        env_inject_flip_equality(replay->env, graph->inject->from);
    if (!make_symbols(replay))
        return err_nomem(err);
    replay->walker.unbound.seen = env_n_symbols(replay->env);
    replay->program = program_new(replay->ops, graph->graph, 0, resolve_symbol, replay, err);
    if (!replay->program)
        return false;
    bool ok = walk_program(&replay->walker, replay->program);
    if (!ok && !replay->walker.stopped)
        return *err = replay->walker.err, false;
    if (ok)
        apply_guards(replay, UINT32_MAX);
    return true;
}

void graph_replay_finish(struct graph_replay *replay)
{
    walk_finish(&replay->walker, replay->program);
}

uint32_t graph_replay_storage(const struct graph_replay *replay, node_id id)
{
    const struct program *p = replay->program;
    struct value value = p->steps[id].kind == STEP_INPUT ? program_got(p, id) : p->first[id];
    return value.kind == VALUE_TENSOR ? value.u.tensor.storage : STORAGE_FRESH;
}
