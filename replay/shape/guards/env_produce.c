/* Produces the guards of a compiled graph from an environment
 * (ShapeEnv.produce_guards_verbose). */
#include "replay/shape/guards/dims.h"

#include <stdlib.h>

/* --- Tracking the inputs' expressions: track_symint, track_symfloat --- */

struct tracked_symbol *production_symbol(const struct production *p, sym_id symbol)
{
    const struct expr_info *known = p->env->known;
    uint32_t index = symbol < p->env->n_known ? known[symbol].symbol_plus_1 : 0;
    uint32_t place = index && index <= p->n_places ? p->place_of[index - 1] : 0;
    return place ? &p->symbols.v[place - 1] : NULL;
}

struct str production_name(void *user, sym_id symbol)
{
    struct production *p = user;
    const struct tracked_symbol *tracked = production_symbol(p, symbol);
    if (tracked)
        return p->tracked.v[tracked->first].source;
    struct str source = env_source(p->env, symbol);
    if (!source.n) {
        struct str name = sym_name(p->env->pool, symbol);
        env_raise(p->env, ENV_RAISED_OTHER, "RuntimeError", "%.*s is the symbol of no source",
                  STR_ARG(name));
    }
    return source;
}

static bool track_symbol(struct production *p, const struct tracked *t)
{
    struct shape_env *env = p->env;
    uint32_t index = env_symbol_index(env, t->expr);
    if (index >= p->n_places)
        return env_no_memory(env);
    if (!p->place_of[index]) {
        struct tracked_symbol new = { .symbol = t->expr, .first = (uint32_t)p->tracked.n };
        if (!vec_push(&p->symbols, new))
            return env_no_memory(env);
        p->place_of[index] = (uint32_t)p->symbols.n;
    }
    p->symbols.v[p->place_of[index] - 1].any_size |= t->is_size;
    if (!t->constraint || t->constraint->kind != CONSTRAINT_STRICT_MIN_MAX)
        return true;
    struct symbol_constraint new = { t->expr, t->constraint };
    for (size_t i = 0; i < p->constraints.n; i++) {
        const struct symbol_constraint *c = &p->constraints.v[i];
        if (c->symbol == t->expr && c->constraint->warn_only == t->constraint->warn_only &&
            sym_range_equal(c->constraint->range, t->constraint->range))
            return true;
    }
    return vec_push(&p->constraints, new) || env_no_memory(env);
}

static bool track(struct production *p, struct tracked t)
{
    struct shape_env *env = p->env;
    t.expr = env_replace(env, t.expr);
    t.source = arena_copy(&p->arena, t.source);
    if (t.expr == SYM_NONE || !t.source.p)
        return env_ok(env) && env_no_memory(env);
    bool ok = true;
    if (kind_at(env->pool, t.expr) == SYM_SYMBOL)
        ok = track_symbol(p, &t);
    else if (t.constraint && is_number(env->pool, t.expr))
        ok = violation_of_number(p, &t);
    else if (t.constraint)
        ok = violation_of_expression(p, &t);
    return ok && (vec_push(&p->tracked, t) || env_no_memory(env));
}

static bool track_property(struct production *p, const struct env_input *input,
                           const char *property, uint32_t i, sym_id e,
                           const struct dim_constraint *constraint)
{
    buf_clear(&p->text);
    buf_put(&p->text, input->source);
    buf_printf(&p->text, ".%s()", property);
    if (i != UINT32_MAX)
        buf_printf(&p->text, "[%u]", i);
    if (p->text.failed)
        return env_no_memory(p->env);
    if (constraint && constraint->kind == CONSTRAINT_NONE)
        constraint = NULL;
    return track(p, (struct tracked){ .source = buf_str(&p->text),
                                      .expr = e,
                                      .of_tensor = true,
                                      .is_size = property[1] == 'i',
                                      .constraint = constraint });
}

static bool track_input(struct production *p, const struct env_input *input)
{
    if (!input->size) {
        const struct dim_constraint *c = input->constraints;
        return track(p,
                     (struct tracked){ .source = input->source,
                                       .expr = input->offset,
                                       .constraint = c && c->kind != CONSTRAINT_NONE ? c : NULL });
    }
    for (uint32_t i = 0; i < input->ndim; i++)
        if (!track_property(p, input, "size", i, input->size[i],
                            input->constraints ? &input->constraints[i] : NULL))
            return false;
    for (uint32_t i = 0; input->stride && i < input->ndim; i++)
        if (!track_property(p, input, "stride", i, input->stride[i], NULL))
            return false;
    return track_property(p, input, "storage_offset", UINT32_MAX, input->offset, NULL);
}

/* --- Output --- */

static bool emit_conjunct(struct production *p, uint32_t guard)
{
    if (p->text.failed)
        return env_no_memory(p->env);
    if (!env_ok(p->env))
        return false;
    p->fn(p->user, buf_str(&p->text), guard);
    return true;
}

static void print_condition(struct production *p, sym_id e)
{
    sym_print_shape_guard(p->env->pool, e, production_name, p, &p->text);
}

static bool is_verbose(const struct production *p)
{
    return p->what->language == GUARDS_VERBOSE_PYTHON;
}

static void print_comment(struct production *p, const struct source_location *place)
{
    buf_puts(&p->text, "  # ");
    env_print_place(p->env, place, &p->text);
}

static const struct env_replacement *replacement_of(const struct shape_env *env, sym_id symbol)
{
    for (size_t i = 0; i < env->replacements.n; i++)
        if (env->replacements.v[i].symbol == symbol)
            return &env->replacements.v[i];
    return NULL;
}

/* Prints why an input must have its value. */
static void explain_input(struct production *p, struct str source)
{
    struct shape_env *env = p->env;
    uint32_t number = intern_find(&env->source_names, source);
    sym_id symbol = number == INTERN_NONE ? SYM_NONE : env->source_symbols.v[number];
    if (symbol == SYM_NONE) {
        buf_printf(&p->text, "  # (unknown source %.*s, please file a bug)", STR_ARG(source));
        return;
    }
    const struct env_replacement *replacement = replacement_of(env, symbol);
    if (!str_eq(source, env_source(env, symbol))) {
        buf_puts(&p->text, "  # duck sizing added this equality because these variables had the "
                           "same size ");
        sym_print(env->pool, env_symbol(env, symbol)->hint, &p->text);
        buf_puts(&p->text, " (to avoid this specialization, set "
                           "torch.fx.experimental._config.use_duck_shape = False)");
    } else if (replacement) {
        print_comment(p, &(struct source_location){ .origin = replacement->origin });
    } else {
        struct str name = sym_name(env->pool, symbol);
        buf_printf(&p->text, "  # (unknown var %.*s, please file a bug)", STR_ARG(name));
    }
}

/* 1. Guards that each input equals its expression. */
static bool produce_inputs(struct production *p)
{
    struct sym_pool *pool = p->env->pool;
    for (size_t i = 0; i < p->tracked.n; i++) {
        const struct tracked t = p->tracked.v[i];
        const struct tracked_symbol *symbol = production_symbol(p, t.expr);
        if (symbol && str_eq(p->tracked.v[symbol->first].source, t.source))
            continue;
        if (!p->what->guard_static && t.of_tensor && is_number(pool, t.expr))
            continue;
        if (p->dims && t.is_size)
            dims_add_equality(p->dims, t.source, t.expr);
        buf_clear(&p->text);
        buf_put(&p->text, t.source);
        buf_puts(&p->text, " == ");
        print_condition(p, t.expr);
        if (is_verbose(p))
            explain_input(p, t.source);
        if (!emit_conjunct(p, UINT32_MAX) || !violation_of_equality(p, &t))
            return false;
    }
    return true;
}

static bool has_size_symbol(const struct production *p, sym_id e)
{
    const struct expr_info *k = env_known(p->env, e);
    for (uint32_t i = 0; k && i < k->n_symbols; i++) {
        const struct tracked_symbol *t = production_symbol(p, env_symbol_of(p->env, k, i)->id);
        if (t && t->any_size)
            return true;
    }
    return false;
}

static bool issue(struct production *p, uint32_t number, sym_id e)
{
    struct env_guard guard = p->env->guards.v[number];
    bool trivial = false;
    if (p->dims && has_size_symbol(p, e))
        dims_add(p->dims, e, &trivial);
    buf_clear(&p->text);
    print_condition(p, e);
    if (is_verbose(p))
        print_comment(p, &(struct source_location){ .origin = guard.origin });
    return emit_conjunct(p, number) && violation_of_guard(p, e, trivial);
}

/* 2. The guards that do not follow from ranges. */
static bool produce_guards(struct production *p)
{
    struct shape_env *env = p->env;
    bool ok = true;
    uint8_t *seen = NULL;
    size_t n_seen = 0;
    for (uint32_t i = 0; ok && i < env->guards.n; i++) {
        struct env_guard guard = env->guards.v[i];
        sym_id known = env_static_without_axioms(env, guard.expr, guard.size_oblivious);
        ok = env_ok(env);
        if (!ok || known != SYM_NONE)
            continue;
        sym_id e = env_simplify_way(env, guard.expr, ENV_SIMPLIFY_BARE);
        ok = e != SYM_NONE;
        if (ok && e >= n_seen) {
            size_t n = (size_t)e * 2 + 64;
            uint8_t *more = realloc(seen, n);
            ok = more || env_no_memory(env);
            if (more) {
                memset(more + n_seen, 0, n - n_seen);
                seen = more;
                n_seen = n;
            }
        }
        if (!ok || seen[e])
            continue;
        seen[e] = 1;
        ok = issue(p, i, e);
    }
    free(seen);
    return ok && env_ok(env);
}

static void print_verbose_range(struct production *p, const struct env_symbol *s, struct str source,
                                bool below, bool above)
{
    struct sym_pool *pool = p->env->pool;
    if (below) {
        sym_print(pool, s->range.lower, &p->text);
        buf_puts(&p->text, " <= ");
    }
    buf_put(&p->text, source);
    if (above) {
        buf_puts(&p->text, " <= ");
        sym_print(pool, s->range.upper, &p->text);
    }
    if (below)
        print_comment(p, &s->lower);
    if (above && below) {
        buf_puts(&p->text, " and ");
        env_print_place(p->env, &s->upper, &p->text);
    } else if (above) {
        print_comment(p, &s->upper);
    }
}

static void print_range_guard(struct production *p, const struct env_symbol *s, bool below,
                              bool above)
{
    struct sym_pool *pool = p->env->pool;
    const sym_id lower[] = { s->range.lower, s->id }, upper[] = { s->id, s->range.upper };
    sym_id bounds[2];
    uint32_t n = 0;
    if (below)
        bounds[n++] = sym_unevaluated(pool, SYM_LE, lower, 2);
    if (above)
        bounds[n++] = sym_unevaluated(pool, SYM_LE, upper, 2);
    print_condition(p, n == 2 ? sym_unevaluated(pool, SYM_AND, bounds, n) : bounds[0]);
}

static bool produce_not_nan(struct production *p, struct str source)
{
    buf_clear(&p->text);
    buf_printf(&p->text, "not math.isnan(%.*s)", STR_ARG(source));
    if (is_verbose(p))
        buf_puts(&p->text, "  # implicit guard for float input due to NaN specialization in the "
                           "framework");
    return emit_conjunct(p, UINT32_MAX);
}

/* Asserts without unbacked symbols stay in the graph, but the solver uses them, too. */
static bool add_asserts(struct production *p)
{
    struct shape_env *env = p->env;
    for (uint32_t i = 0; p->dims && i < env->asserts.n; i++) {
        if (env->asserts.v[i].newest != SYM_NONE ||
            env_static_without_axioms(env, env->asserts.v[i].expr, false) != SYM_NONE)
            continue;
        sym_id e = env_simplify_way(env, env->asserts.v[i].expr, ENV_SIMPLIFY_BARE);
        if (e == SYM_NONE)
            return false;
        dims_add(p->dims, e, NULL);
    }
    return env_ok(env);
}

static void add_bounds(struct dim_solver *dims, const struct env_symbol *s)
{
    struct sym_pool *pool = dims->env->pool;
    if (s->range.lower != SYM_ID_MINUS_INT_OO)
        dims_add(dims, sym_ge(pool, s->id, s->range.lower), NULL);
    if (s->range.upper != SYM_ID_INT_OO)
        dims_add(dims, sym_le(pool, s->id, s->range.upper), NULL);
}

/* 3. Guards that each symbol is in its range, and that a float is not NaN. */
static bool produce_ranges(struct production *p)
{
    struct shape_env *env = p->env;
    for (size_t i = 0; i < p->symbols.n; i++) {
        const struct tracked_symbol t = p->symbols.v[i];
        const struct env_symbol s = *env_symbol(env, t.symbol);
        struct str source = p->tracked.v[t.first].source;
        if (!sym_range_ok(s.range))
            continue;
        if (p->dims && t.any_size)
            add_bounds(p->dims, &s);
        bool below = s.range.lower != SYM_ID_MINUS_OO && s.range.lower != SYM_ID_MINUS_INT_OO;
        bool above = s.range.upper != SYM_ID_OO && s.range.upper != SYM_ID_INT_OO;
        buf_clear(&p->text);
        if ((below || above) && is_verbose(p))
            print_verbose_range(p, &s, source, below, above);
        else if (below || above)
            print_range_guard(p, &s, below, above);
        if ((below || above) &&
            (!emit_conjunct(p, UINT32_MAX) || !violation_of_range(p, t.symbol, s.range)))
            return false;
        if (s.kind == SYMBOL_FLOAT && !produce_not_nan(p, source))
            return false;
    }
    return true;
}

static bool produce(struct production *p)
{
    struct shape_env *env = p->env;
    const struct env_produce *what = p->what;
    bool ok = production_check_equalities(p);
    /* Every symbol is added before pointers to them are taken. */
    for (uint32_t i = 0; ok && i < what->n_inputs; i++) {
        const struct env_input *input = &what->inputs[i];
        for (uint32_t j = 0; ok && input->size && j < input->ndim; j++)
            ok = env_known(env, input->size[j]) &&
                 (!input->stride || env_known(env, input->stride[j]));
        ok = ok && env_known(env, input->offset);
    }
    p->n_places = (uint32_t)env->symbols.n;
    p->place_of = calloc(p->n_places + 1, sizeof *p->place_of);
    ok = ok && (p->place_of || env_no_memory(env));
    p->began = ok;
    for (uint32_t i = 0; ok && i < what->n_inputs; i++)
        ok = track_input(p, &what->inputs[i]);
    ok = ok && produce_inputs(p) && produce_guards(p) && add_asserts(p) && produce_ranges(p);
    return ok && production_raise_violations(p);
}

static void production_release(struct production *p)
{
    free(p->place_of);
    vec_release(&p->tracked);
    vec_release(&p->symbols);
    vec_release(&p->constraints);
    vec_release(&p->violations);
    buf_release(&p->text);
    arena_release(&p->arena);
}

bool env_produce_guards(struct shape_env *env, const struct env_produce *what,
                        void (*fn)(void *user, struct str text, uint32_t guard), void *user)
{
    struct production p = { .env = env, .what = what, .fn = fn, .user = user };
    bool ok = produce(&p);
    production_release(&p);
    return ok && env_ok(env);
}

static void ignore_conjunct(void *user, struct str text, uint32_t guard)
{
    (void)user;
    (void)text;
    (void)guard;
}

bool env_check_dims(struct shape_env *env, const struct env_produce *what, struct buf *ret)
{
    struct dim_solver dims = { .env = env };
    struct production p = { .env = env, .what = what, .fn = ignore_conjunct, .dims = &dims };
    bool satisfied = produce(&p) && env_ok(env), ok = true;
    if (!satisfied && env->raising == ENV_RAISED_CONSTRAINT)
        buf_put(ret, env_raised(env).text);
    else
        ok = satisfied;
    if (ok && p.began) {
        dims_solve(&dims);
        if (!satisfied || dims_forces(&p, &dims))
            dims_suggest(&p, &dims, ret);
    }
    ok = ok && ((!dims.failed && !ret->failed) || env_no_memory(env)) && env_ok(env);
    dims_release(&dims);
    production_release(&p);
    return ok;
}
