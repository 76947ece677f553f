#include "replay/attempt/tensorify.h"

bool is_tensorified(enum graph_kind kind)
{
    return kind == GRAPH_JOINT || kind == GRAPH_INFERENCE;
}

/* SUPPORTED_OPS */
static bool takes_tensors(const struct step *step)
{
    static const char *const names[] = {
        "aten.mul.Tensor", "aten.add.Tensor", "aten.sub.Tensor", "aten.div.Tensor",
        "aten.gt.Scalar",  "aten.lt.Scalar",  "aten.ge.Scalar",  "aten.le.Scalar",
        "aten.eq.Scalar",  "aten.ne.Scalar",
    };
    return step->kind == STEP_OPERATOR && STR_IS_ANY(op_name(step->op), names);
}

/* Returns whether a node stays although nothing uses its result (Node.is_impure()). */
static bool is_impure(const struct step *step)
{
    struct str target = step->target;
    size_t overload = target.n;
    while (overload && target.p[overload - 1] != '.')
        overload--;
    return !step_is_call(step) || str_ends(str_first(target, overload), STR("_.")) ||
           str_contains(target, STR("assert")) || str_contains(target, STR("sym_constrain"));
}

struct float_search {
    struct sym_pool *pool;
    bool floats, others;
};

static void look_at_symbol(void *user, sym_id symbol)
{
    struct float_search *search = user;
    bool is_float = str_starts(sym_name(search->pool, symbol), STR("zf"));
    search->floats |= is_float;
    search->others |= !is_float;
}

/* Returns a number's expression if its symbols are floats of inputs, else SYM_NONE. */
static sym_id float_expression(const struct program *p, struct shape_env *env, node_id node)
{
    struct float_search search = { .pool = env_pool(env) };
    struct value value = p->first[node];
    if (!value_is_number(value) || sym_is_number(search.pool, value.u.sym))
        return SYM_NONE;
    sym_id expr = env_replace(env, value.u.sym);
    if (expr == SYM_NONE || sym_is_number(search.pool, expr))
        return SYM_NONE;
    sym_free_symbols(search.pool, expr, look_at_symbol, &search);
    return search.floats && !search.others ? expr : SYM_NONE;
}

static bool is_float_node(const struct program *p, struct shape_env *env, node_id node)
{
    return p->first[node].kind == VALUE_FLOAT && float_expression(p, env, node) != SYM_NONE;
}

static void count_uses(const struct program *p, const struct step *step, uint32_t *users, int by)
{
    for (uint32_t k = 0; k < step->n_patches; k++)
        users[p->patches[step->first_patch + k].from] += (uint32_t)by;
}

/* Lets a supported operator compute with tensors instead of its floats. */
static void replace_floats(const struct program *p, const struct step *step, struct shape_env *env,
                           uint32_t *users)
{
    if (!takes_tensors(step) || p->first[step->node].kind != VALUE_TENSOR)
        return;
    for (uint32_t k = 0; k < step->n_patches; k++) {
        node_id from = p->patches[step->first_patch + k].from;
        users[from] -= is_float_node(p, env, from);
    }
}

/* Returns whether the node of a step is removed; a number that is used becomes a constant. */
static bool remove_node(const struct program *p, const struct step *step, struct shape_env *env,
                        const uint32_t *users)
{
    if (!users[step->node])
        return !is_impure(step);
    sym_id expr = float_expression(p, env, step->node);
    if (expr == SYM_NONE)
        return false;
    if (env_evaluate(env, expr, SYM_NONE, false, SYM_NONE) == SYM_NONE)
        env_raised(env);
    return true;
}

bool tensorify_evaluate(const struct program *p, struct shape_env *env)
{
    const struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    uint32_t *users = calloc((size_t)p->graph->n_nodes + 1, sizeof *users);
    if (!users)
        return false;
    env_set_origin(env, none);
    for (uint32_t i = 0; i < p->n_steps; i++)
        count_uses(p, &p->steps[i], users, 1);
    for (uint32_t i = 0; i < p->n_steps; i++)
        replace_floats(p, &p->steps[i], env, users);
    for (uint32_t i = p->n_steps; i-- > 0;) {
        const struct step *step = &p->steps[i];
        if (step->kind != STEP_OUTPUT && step->kind != STEP_INPUT &&
            remove_node(p, step, env, users))
            count_uses(p, step, users, -1);
    }
    free(users);
    return true;
}
