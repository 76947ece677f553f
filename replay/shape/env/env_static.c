/* Evaluation that needs no guard (ShapeEnv._maybe_evaluate_static, get_implications, axioms). */
#include <stdio.h>
#include <stdlib.h>

#include "replay/shape/env/env_inside.h"
#include "replay/shape/expr/solve.h"

/* --- Axioms: conditions that guards and asserts decided --- */

static void put_axiom(void *user, sym_id condition, bool value)
{
    struct shape_env *env = user;
    struct expr_info *k = env_known(env, condition);
    if (!k)
        return;
    if (!k->axiom && !vec_push(&env->axioms, condition))
        env_no_memory(env);
    else
        k->axiom = value ? AXIOM_TRUE : AXIOM_FALSE;
}

bool env_add_axioms(struct shape_env *env, sym_id condition)
{
    sym_id simple = env_simplify_way(env, condition, ENV_SIMPLIFY_BARE);
    if (simple == SYM_NONE || !sym_implications(env->pool, simple, put_axiom, env))
        return env_ok(env);
    return env_ok(env);
}

/* resimplify_floor_div: new guards may have turned a FloorDiv of an axiom into a CleanDiv. */
bool env_refresh_axioms(struct shape_env *env)
{
    if (!env->axioms_stale)
        return true;
    env->axioms_stale = false;
    size_t n = env->axioms.n;
    for (size_t i = 0; i < n; i++) {
        sym_id condition = env->axioms.v[i];
        const struct expr_info *k = env_known(env, condition);
        if (!k)
            return false;
        if (!(k->holds & HOLDS_FLOORDIV))
            continue;
        bool value = k->axiom == AXIOM_TRUE;
        sym_id now = env_simplify_way(env, condition, ENV_SIMPLIFY_BARE);
        if (now == SYM_NONE)
            return false;
        put_axiom(env, now, value);
    }
    return env_ok(env);
}

/* Substitutes the axioms: xreplace(self.axioms). */
sym_id env_put_axioms(struct shape_env *env, sym_id e, unsigned depth)
{
    if (e < env->n_known && env->known[e].axiom)
        return sym_boolean(env->known[e].axiom == AXIOM_TRUE);
    const struct expr_info *k = env_known(env, e);
    if (!k || !(k->holds & HOLDS_CONDITION) || depth > ENV_MAX_DEPTH)
        return k ? e : SYM_NONE;
    struct sym_pool *pool = env->pool;
    struct list args;
    list_init(&args, pool);
    bool ok = true, changed = false;
    for (uint32_t i = 0; ok && i < sym_n_args(pool, e); i++) {
        sym_id arg = arg_at(pool, e, i), now = env_put_axioms(env, arg, depth + 1);
        changed |= now != arg;
        ok = now != SYM_NONE && list_push(&args, now);
    }
    sym_id result = !ok ? SYM_NONE : changed ? sym_make(pool, kind_at(pool, e), args.v, args.n) : e;
    list_release(&args);
    return result;
}

/* --- _maybe_evaluate_static_worker --- */

static sym_id shape_symbol(struct shape_env *env, uint32_t i)
{
    while (env->shape_symbols.n <= i) {
        char name[48];
        int n = snprintf(name, sizeof name, "evaluate_static_shape_%zu", env->shape_symbols.n);
        sym_id e = sym_symbol(env->pool, (struct str){ name, (size_t)n },
                              SYM_IS_INTEGER | SYM_IS_POSITIVE);
        if (e == SYM_NONE || !vec_push(&env->shape_symbols, e))
            return env_no_memory(env), SYM_NONE;
    }
    return env->shape_symbols.v[i];
}

struct shifted {
    struct shape_env *env;
    struct sym_pair *pairs; /* a symbol and its replacement, which may be itself */
    struct sym_range *ranges;
    sym_id *names; /* the symbols that have the ranges afterwards */
    uint32_t n;
};

static bool shifted_ranger(void *user, sym_id e, struct sym_range *ret)
{
    const struct shifted *to = user;
    for (uint32_t i = 0; i < to->n; i++)
        if (to->names[i] == e) {
            *ret = to->ranges[i];
            return true;
        }
    return false;
}

/* Sets the range that a size-like symbol has in size-oblivious evaluation: at least 2, and not the
 * largest number. */
static bool oblivious_range(struct sym_pool *pool, struct sym_range *range, sym_id *lower)
{
    *lower = sym_number_compare(pool, range->lower, SYM_ID_TWO) < 0 ? SYM_ID_TWO : range->lower;
    sym_id most = sym_integer(pool, INT64_C(1) << 48);
    sym_id upper = sym_number_compare(pool, range->upper, most) > 0 ? most : range->upper;
    if (sym_number_compare(pool, upper, *lower) > 0)
        upper = sym_sub(pool, upper, SYM_ID_ONE);
    if (upper == SYM_NONE)
        return false;
    if (sym_number_compare(pool, *lower, upper) <= 0)
        *range = (struct sym_range){ *lower, upper };
    return true;
}

/* Replaces a symbol of at least L by a positive one plus L - 1, from which sympy deduces most. */
static bool shift_symbol(struct shifted *to, uint32_t i, const struct env_symbol *s,
                         enum env_static way, struct sym_range range)
{
    struct sym_pool *pool = to->env->pool;
    to->pairs[i] = (struct sym_pair){ s->id, s->id };
    to->names[i] = SYM_NONE;
    to->ranges[i] = range;
    if (s->nested)
        return true;
    if (!sym_range_ok(range)) {
        struct str name = sym_name(pool, s->id);
        return env_raise(to->env, ENV_RAISED_OTHER, "AssertionError",
                         "vr must not be None for symbol %.*s", STR_ARG(name));
    }
    sym_id lower = range.lower;
    if (way == ENV_STATIC_OBLIVIOUS && s->size_like && !oblivious_range(pool, &range, &lower))
        return false;
    to->names[i] = s->id;
    to->ranges[i] = range;
    if (lower == SYM_ID_MINUS_INT_OO || (way == ENV_STATIC_UNBACKED_ONLY && s->hint != SYM_NONE) ||
        sym_range_kind_of(pool, range) != SYM_RANGE_INT || !is_integer(pool, lower))
        return true;
    sym_id shape = shape_symbol(to->env, i);
    sym_id offset = sym_sub(pool, lower, SYM_ID_ONE), minus = sym_neg(pool, offset);
    const struct sym_range args[] = { range, { minus, minus } };
    to->names[i] = shape;
    to->pairs[i].to = sym_add(pool, shape, offset);
    to->ranges[i] = sym_range_apply(pool, SYM_ADD, args, 2);
    return to->pairs[i].to != SYM_NONE && sym_range_ok(to->ranges[i]);
}

/* Sorts symbols by their names, which decides the numbers of the positive ones. */
static bool order_symbols(struct shape_env *env, const struct expr_info *k, uint32_t *order)
{
    uint32_t n = k->n_symbols;
    for (uint32_t i = 0; i < n; i++) {
        order[i] = env->symbol_lists.v[k->first_symbol + i];
        struct str name = sym_name(env->pool, env->symbols.v[order[i]].id);
        for (uint32_t j = i; j > 0; j--) {
            if (str_cmp(sym_name(env->pool, env->symbols.v[order[j - 1]].id), name) <= 0)
                break;
            uint32_t swap = order[j];
            order[j] = order[j - 1];
            order[j - 1] = swap;
        }
    }
    return true;
}

static sym_id decide_by_range(struct shape_env *env, sym_id e, struct shifted *to,
                              enum env_static way)
{
    struct sym_pool *pool = env->pool;
    struct sym_pair moved[64], *pairs = moved;
    uint32_t n = 0;
    if (to->n > 64)
        return SYM_NONE;
    for (uint32_t i = 0; i < to->n; i++)
        if (to->pairs[i].from != to->pairs[i].to)
            pairs[n++] = to->pairs[i];
    sym_id now = n ? sym_replace(pool, e, pairs, n) : e;
    now = sym_canonical(pool, env_expand(pool, now));
    if (now == SYM_NONE)
        return SYM_NONE;
    if (facts_at(pool, now) & FACT_CONSTANT && !is_relational(kind_at(pool, now)))
        return now;
    struct sym_range range = sym_bound(pool, now, shifted_ranger, to);
    if (sym_range_ok(range) && sym_range_is_singleton(pool, range))
        return range.lower;
    return way == ENV_STATIC_UNBACKED_ONLY ? now : SYM_NONE;
}

static struct sym_range range_among(const struct env_symbol *s, const struct env_assumptions *given)
{
    if (!given || !given->ranges)
        return s->range;
    for (uint32_t i = 0; i < given->n_ranges; i++)
        if (given->ranges[i].symbol == s->id)
            return given->ranges[i].range;
    return SYM_RANGE_FAILED;
}

sym_id env_work(struct shape_env *env, sym_id e, enum env_static way,
                const struct env_assumptions *given)
{
    enum { FEW = 64 };
    struct sym_pair pairs[FEW];
    struct sym_range ranges[FEW];
    sym_id names[FEW];
    uint32_t order[FEW];
    const struct expr_info *k = env_known(env, e);
    if (!k || k->n_symbols > FEW) /* more are not evaluated; PyTorch would take hours for them */
        return way == ENV_STATIC_UNBACKED_ONLY && k ? e : SYM_NONE;
    if (way != ENV_STATIC_UNBACKED_ONLY && !given && env_is_undecided(env, e, way))
        return SYM_NONE;
    struct shifted to = { env, pairs, ranges, names, k->n_symbols };
    order_symbols(env, k, order);
    for (uint32_t i = 0; i < to.n; i++) {
        const struct env_symbol *s = &env->symbols.v[order[i]];
        if (!shift_symbol(&to, i, s, way, range_among(s, given)))
            return SYM_NONE;
    }
    return decide_by_range(env, e, &to, way);
}

/* The worker's result depends only on e and its symbols: it is cached while these do not change. */
static sym_id work_once(struct shape_env *env, sym_id e, enum env_static way)
{
    unsigned slot = way == ENV_STATIC_HINT || way == ENV_STATIC_BARE ? ENV_STATIC_PLAIN : way;
    const struct expr_info *k = env_known(env, e);
    if (!k)
        return SYM_NONE;
    const struct expr_results *known = env_results(env, e);
    bool valid = known && known->worked[slot].at != 0;
    for (uint32_t i = 0; valid && i < k->n_symbols; i++)
        valid = env_symbol_of(env, k, i)->changed_at <= known->worked[slot].at;
    if (valid)
        return known->worked[slot].result;
    uint32_t time = env->time;
    env->counts.evaluated_nodes += sym_n_nodes(env->pool, e);
    sym_id result = env_work(env, e, way, NULL);
    struct expr_results *results = env_ok(env) ? env_results_of(env, e) : NULL;
    if (!results)
        return SYM_NONE;
    results->worked[slot] = (struct remembered){ time, result };
    return result;
}

/* --- _maybe_evaluate_static --- */

static sym_id evaluate_static(struct shape_env *env, sym_id e, enum env_static way, bool axioms)
{
    struct sym_pool *pool = env->pool;
    e = env_simplify_way(
        env, e, way == ENV_STATIC_OBLIVIOUS ? ENV_SIMPLIFY_OBLIVIOUS : ENV_SIMPLIFY_STATIC);
    if (way == ENV_STATIC_HINT && e != SYM_NONE)
        e = env_put_hints(env, e);
    e = sym_canonical(pool, e);
    if (e == SYM_NONE)
        return SYM_NONE;
    if (!axioms) {
        env->axioms_stale = false; /* PyTorch clears the flag here, where it has no axioms */
    } else {
        if (!env_refresh_axioms(env))
            return SYM_NONE;
        e = env_put_axioms(env, e, 0);
    }
    const struct expr_info *k = e == SYM_NONE ? NULL : env_known(env, e);
    if (!k)
        return SYM_NONE;
    if (!k->n_symbols && (e <= SYM_ID_TRUE || !is_relational(kind_at(pool, e))))
        return e;
    return work_once(env, e, way);
}

static sym_id static_(struct shape_env *env, sym_id e, enum env_static way, bool axioms)
{
    if (env->depth >= ENV_MAX_DEPTH)
        return env_raise(env, ENV_RAISED_OTHER, "RecursionError",
                         "maximum recursion depth exceeded"),
               SYM_NONE;
    env->counts.static_evaluations++;
    env->depth++;
    sym_id result = evaluate_static(env, e, way, axioms);
    env->depth--;
    return env_ok(env) ? result : SYM_NONE;
}

/* Returns whether a contradiction has made an axiom of `true` itself, which PyTorch then applies.
 */
static bool is_poisoned(const struct shape_env *env, sym_id e)
{
    return e < env->n_known && env->known[e].axiom;
}

sym_id env_static(struct shape_env *env, sym_id e, enum env_static way)
{
    if (e == SYM_NONE || (e <= SYM_ID_TRUE && !is_poisoned(env, e)))
        return e;
    unsigned slot = env->peeking ? ENV_STATIC_WAYS : way;
    const struct expr_results *known = env_results(env, e);
    if (known && known->evaluated[slot].at == env->static_version)
        return known->evaluated[slot].result;
    uint32_t version = env->static_version;
    sym_id result = static_(env, e, way, true);
    struct expr_results *results = env_ok(env) ? env_results_of(env, e) : NULL;
    if (!results)
        return SYM_NONE;
    results->evaluated[slot] = (struct remembered){ version, result };
    return result;
}

sym_id env_static_without_axioms(struct shape_env *env, sym_id e, bool size_oblivious)
{
    return static_(env, e, size_oblivious ? ENV_STATIC_OBLIVIOUS : ENV_STATIC_PLAIN, false);
}

sym_id env_evaluate_static(struct shape_env *env, sym_id e)
{
    sym_id result = env_static(env, e, ENV_STATIC_BARE);
    env_ok(env);
    return result;
}

sym_id env_peek_static(struct shape_env *env, sym_id e)
{
    env->peeking = true;
    sym_id result = env_evaluate_static(env, e);
    env->peeking = false;
    return result;
}

sym_id env_evaluate_static_as(struct shape_env *env, sym_id e, enum env_static way, bool axioms)
{
    if ((unsigned)way >= ENV_STATIC_WAYS)
        return SYM_NONE;
    sym_id result = axioms || e == SYM_NONE || e <= SYM_ID_TRUE ? env_static(env, e, way)
                                                                : static_(env, e, way, false);
    env_ok(env);
    return result;
}

/* --- _maybe_fast_eval_comparison --- */

static bool is_nonnegative_term(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    if (kind_at(pool, e) == SYM_SYMBOL) {
        const struct env_symbol *s = env_symbol(env, e);
        return s && sym_range_ok(s->range) && sym_range_kind_of(pool, s->range) != SYM_RANGE_BOOL &&
               sym_number_compare(pool, s->range.lower, SYM_ID_ZERO) >= 0;
    }
    return is_number(pool, e) && e != SYM_ID_NAN && sym_number_compare(pool, e, SYM_ID_ZERO) >= 0;
}

bool env_known_nonnegative_sum(struct shape_env *env, sym_id e)
{
    struct sym_pool *pool = env->pool;
    enum sym_kind kind = kind_at(pool, e);
    sym_id sum = SYM_NONE;
    if (kind == SYM_GE && arg_at(pool, e, 1) == SYM_ID_ZERO)
        sum = arg_at(pool, e, 0);
    else if (kind == SYM_LE && arg_at(pool, e, 0) == SYM_ID_ZERO)
        sum = arg_at(pool, e, 1);
    if (sum == SYM_NONE)
        return false;
    if (kind_at(pool, sum) != SYM_ADD)
        return is_nonnegative_term(env, sum);
    for (uint32_t i = 0; i < sym_n_args(pool, sum); i++)
        if (!is_nonnegative_term(env, arg_at(pool, sum, i)))
            return false;
    return true;
}
