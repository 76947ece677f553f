#include "replay/attempt/graph_replay.h"
#include "replay/ops/layers.h"

#include <stdlib.h>

struct graph_replay *graph_replay_new(const struct custom_rules *rules, struct err *err)
{
    struct graph_replay *single = calloc(1, sizeof *single);
    if (!single)
        return err_nomem(err), NULL;
    single->env = shape_env_new(NULL, err);
    single->ops = single->env ? ops_new_with_rules(single->env, rules, err) : NULL;
    if (single->ops)
        return single;
    graph_replay_free(single);
    return NULL;
}

static void release_walk(struct graph_replay *single)
{
    program_free(single->program);
    single->program = NULL;
    walker_release(&single->walker);
    traced_release(&single->traced);
}

void graph_replay_free(struct graph_replay *single)
{
    if (!single)
        return;
    release_walk(single);
    ops_free(single->ops);
    shape_env_free(single->env);
    arena_release(&single->arena);
    free(single);
}

/* ---- Symbols ---- */

static sym_id bound_of(struct sym_pool *pool, int64_t bound)
{
    return bound == INT64_MIN   ? SYM_ID_MINUS_INT_OO
           : bound == INT64_MAX ? SYM_ID_INT_OO
                                : sym_integer(pool, bound);
}

static sym_id hint_of(struct sym_pool *pool, const struct graph_replay_symbol *symbol)
{
    if (!symbol->has_hint)
        return SYM_NONE;
    return symbol->is_float ? sym_float(pool, symbol->float_hint) : sym_integer(pool, symbol->hint);
}

static sym_id symbol_of(struct graph_replay *single, const struct graph_replay_symbol *symbol)
{
    struct sym_pool *pool = env_pool(single->env);
    struct sym_range range = SYM_RANGE_UNKNOWN;
    sym_id hint = hint_of(pool, symbol);
    if (single->graph->concrete && hint != SYM_NONE)
        return hint;
    if (!symbol->is_float)
        range = (struct sym_range){ bound_of(pool, symbol->min), bound_of(pool, symbol->max) };
    return env_adopt_symbol(single->env, symbol->name, symbol->backed ? hint : SYM_NONE, range,
                            symbol->source);
}

static bool make_symbols(struct graph_replay *single)
{
    const struct graph_replay_input *graph = single->graph;
    arena_reset(&single->arena);
    single->symbols = arena_array(&single->arena, sym_id, (size_t)graph->n_symbols + 1);
    for (uint32_t i = 0; single->symbols && i < graph->n_symbols; i++) {
        single->symbols[i] = symbol_of(single, &graph->symbols[i]);
        if (single->symbols[i] == SYM_NONE)
            env_raised(single->env);
    }
    return single->symbols != NULL;
}

static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    const struct graph_replay *single = user;
    for (uint32_t i = 0; i < single->graph->n_symbols; i++)
        if (single->symbols[i] != SYM_NONE && str_eq(single->graph->symbols[i].name, name))
            return single->symbols[i];
    return sym_by_name(NULL, pool, name);
}

/* ---- Facts ---- */

static void keep_error(struct graph_replay *single)
{
    struct env_raised raised = env_raised(single->env);
    struct buf text = BUF_INIT;
    if (raised.kind != ENV_RAISED_DATA_DEPENDENT || single->fact_error.n)
        return;
    buf_printf(&text, "%s: %.*s", raised.type, STR_ARG(raised.text));
    single->fact_error = arena_copy(&single->arena, buf_str(&text));
    if (text.failed || !single->fact_error.p)
        single->fact_error = STR("");
    buf_release(&text);
}

static void apply_fact(struct graph_replay *single, const struct graph_replay_guard *fact)
{
    struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    struct err ignored = { 0 };
    bool holds;
    sym_id expr = sym_parse(env_pool(single->env), fact->expr, resolve, single);
    uint32_t before = env_n_guards(single->env);
    sym_ok(env_pool(single->env), &ignored);
    if (expr == SYM_NONE)
        return;
    env_set_origin(single->env, none);
    if (fact->deferred)
        env_expect_true(single->env, expr, STR(""), &holds);
    else
        env_guard_bool(single->env, expr, &holds);
    keep_error(single);
    single->fact_guards += env_n_guards(single->env) - before;
}

static void apply_facts(struct graph_replay *single, uint32_t node)
{
    const struct graph_replay_input *graph = single->graph;
    for (; single->next_fact < graph->n_facts && graph->facts[single->next_fact].node <= node;
         single->next_fact++)
        if (!graph->concrete)
            apply_fact(single, &graph->facts[single->next_fact]);
}

/* ---- Walking ---- */

static bool give_input(void *user, const struct program *program, const struct step *step,
                       struct value *ret, struct err *err)
{
    struct graph_replay *single = user;
    (void)program;
    if (step->expected->unbacked)
        know_unbacked(&single->walker.unbound, single->ops, step->expected);
    *ret = expected_value(single->ops, step->expected);
    return !single->traces || traced_ask(&single->traced, single->ops, *ret) || err_nomem(err);
}

static bool before_call(void *user, const struct program *program, const struct step *step,
                        struct err *err)
{
    struct graph_replay *single = user;
    (void)err;
    if (program == program->root)
        apply_facts(single, step->node);
    return true;
}

static bool after_call(void *user, const struct program *program, const struct step *step,
                       struct value result, struct err *err)
{
    struct graph_replay *single = user;
    if (single->traces)
        traced_ask_view(&single->traced, single->ops, step, result);
    if (single->traces && !traced_ask(&single->traced, single->ops, result))
        return err_nomem(err);
    return program != program->root || !single->more ||
           single->more(single->more_user, single, step);
}

static bool restart(struct graph_replay *single, struct err *err)
{
    struct shape_env *env = shape_env_new(NULL, err);
    if (!env)
        return false;
    release_walk(single);
    ops_set_env(single->ops, env);
    shape_env_free(single->env);
    single->env = env;
    single->next_fact = 0;
    single->fact_guards = 0;
    single->fact_error = STR("");
    single->walker = (struct walker){ .ops = single->ops,
                                      .env = env,
                                      .input = give_input,
                                      .before = before_call,
                                      .after = after_call,
                                      .user = single };
    single->traced = (struct traced){ 0 };
    return true;
}

bool graph_replay_walk(struct graph_replay *single, const struct graph_replay_input *graph,
                       struct err *err)
{
    if (!restart(single, err))
        return false;
    single->graph = graph;
    single->traces = traces_results(graph->kind) && !graph->concrete;
    single->walker.by_hint = graph->by_hint;
    single->walker.inject = graph->inject;
    if (graph->inject && graph->inject->kind == INJECT_FLIP_EQUALITY)
        env_inject_flip_equality(single->env, graph->inject->from);
    if (!make_symbols(single))
        return err_nomem(err);
    single->walker.unbound.seen = env_n_symbols(single->env);
    single->program = program_new(single->ops, graph->graph, 0, resolve, single, err);
    if (!single->program)
        return false;
    bool ok = walk_program(&single->walker, single->program);
    if (!ok && !single->walker.stopped)
        return *err = single->walker.err, false;
    if (ok)
        apply_facts(single, UINT32_MAX);
    return true;
}

void graph_replay_finish(struct graph_replay *single)
{
    walk_finish(&single->walker, single->program);
}

uint32_t graph_replay_storage(const struct graph_replay *single, node_id id)
{
    const struct program *p = single->program;
    struct value value = p->steps[id].kind == STEP_INPUT ? program_got(p, id) : p->first[id];
    return value.kind == VALUE_TENSOR ? value.u.tensor.storage : STORAGE_FRESH;
}
