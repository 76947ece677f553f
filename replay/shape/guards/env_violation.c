/* Constraints of users that guards violate (produce_guards_verbose, ConstraintViolationError). */
#include "replay/shape/guards/env_produce.h"

#include <stdlib.h>

/* --- Texts --- */

/* _debug_name: returns the user's name for the size, or its source. */
static struct str tracked_name(const struct tracked *t)
{
    return t->constraint && t->constraint->name.n ? t->constraint->name : t->source;
}

/* _render_range_for_constraint_violation. */
static void print_constraint(struct production *p, const struct tracked *t,
                             const struct dim_constraint *c)
{
    struct sym_pool *pool = p->env->pool;
    struct str name = tracked_name(t);
    if (c->kind != CONSTRAINT_STRICT_MIN_MAX) {
        buf_printf(&p->text, "RelaxedUnspecConstraint(%.*s)", STR_ARG(t->source));
        return;
    }
    sym_id least = p->env->settings.specialize_zero_one ? SYM_ID_TWO : SYM_ID_ZERO;
    bool below = sym_number_compare(pool, c->range.lower, least) > 0;
    bool above = sym_number_compare(pool, c->range.upper, SYM_ID_INT_OO) < 0;
    buf_printf(&p->text, "%.*s = %.*s in the specified range", STR_ARG(name), STR_ARG(t->source));
    if (!below && !above)
        return;
    buf_putc(&p->text, ' ');
    if (below) {
        sym_print(pool, c->range.lower, &p->text);
        buf_puts(&p->text, " <= ");
    }
    buf_put(&p->text, name);
    if (above) {
        buf_puts(&p->text, " <= ");
        sym_print(pool, c->range.upper, &p->text);
    }
}

/* Records a violation, whose text is the text printed so far. */
static bool record_violation(struct production *p, bool warn_only, struct str name)
{
    struct violation new = { .warn_only = warn_only,
                             .name = arena_copy(&p->arena, name),
                             .text = arena_copy(&p->arena, buf_str(&p->text)) };
    if (p->text.failed || !new.name.p || !new.text.p || !vec_push(&p->violations, new))
        return env_no_memory(p->env);
    return true;
}

/* --- Inputs that are no longer symbols --- */

static void print_user_stack(struct production *p, struct str source)
{
    struct shape_env *env = p->env;
    uint32_t number = intern_find(&env->source_names, source);
    sym_id symbol = number == INTERN_NONE ? SYM_NONE : env->source_symbols.v[number];
    for (size_t i = env->specializations.n; env->locate && symbol != SYM_NONE && i > 0; i--) {
        const struct env_specialization *s = &env->specializations.v[i - 1];
        if (s->symbol != symbol)
            continue;
        size_t before = p->text.n;
        buf_puts(&p->text, "\n\nUser stack:\n");
        size_t heading = p->text.n;
        env->locate(env->locate_user, s->origin, ENV_LOCATE_STACK, &p->text);
        if (p->text.n == heading)
            p->text.n = before;
        return;
    }
}

bool violation_of_number(struct production *p, const struct tracked *t)
{
    struct sym_pool *pool = p->env->pool;
    const struct dim_constraint *c = t->constraint;
    bool fine = c->kind == CONSTRAINT_STRICT_MIN_MAX
                    ? c->range.lower == t->expr && c->range.upper == t->expr
                    : t->expr == SYM_ID_ZERO || t->expr == SYM_ID_ONE;
    if (fine)
        return true;
    struct str name = tracked_name(t);
    buf_clear(&p->text);
    buf_printf(&p->text,
               "You marked %.*s as dynamic but your code specialized it to be a constant (",
               STR_ARG(name));
    sym_print(pool, t->expr, &p->text);
    buf_puts(&p->text, "). If you're using mark_dynamic, either remove it or use "
                       "maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it with either "
                       "Dim.STATIC or Dim.AUTO.");
    print_user_stack(p, t->source);
    return record_violation(p, c->warn_only, name);
}

bool violation_of_expression(struct production *p, const struct tracked *t)
{
    struct shape_env *env = p->env;
    const struct expr_info *k = env_known(env, t->expr);
    bool violated = false;
    if (!k)
        return false;
    for (uint32_t i = 0; i < k->n_symbols; i++)
        violated |= !sym_range_ok(env_symbol_of(env, k, i)->range);
    if (!violated || t->constraint->kind != CONSTRAINT_STRICT_MIN_MAX)
        return true;
    struct str name = tracked_name(t);
    buf_clear(&p->text);
    buf_puts(&p->text, "Not all values of ");
    print_constraint(p, t, t->constraint);
    buf_printf(&p->text, " are valid because %.*s was inferred to be equal to ", STR_ARG(name));
    sym_print_shape_guard(env->pool, t->expr, production_name, p, &p->text);
    buf_puts(&p->text, ".");
    return record_violation(p, t->constraint->warn_only, name);
}

/* --- Guards and ranges on constrained symbols --- */

bool violation_of_guard(struct production *p, sym_id guard, bool trivial)
{
    struct shape_env *env = p->env;
    const struct expr_info *k = env_known(env, guard);
    if (!k || k->n_symbols != 1 || guard == SYM_ID_TRUE || trivial)
        return k != NULL;
    sym_id symbol = env_symbol_of(env, k, 0)->id;
    const struct tracked_symbol *place = production_symbol(p, symbol);
    for (size_t i = 0; place && i < p->constraints.n; i++) {
        const struct symbol_constraint c = p->constraints.v[i];
        if (c.symbol != symbol)
            continue;
        const struct tracked *t = &p->tracked.v[place->first];
        buf_clear(&p->text);
        buf_puts(&p->text, "Not all values of ");
        print_constraint(p, t, c.constraint);
        buf_puts(&p->text, " satisfy the generated guard ");
        sym_print_shape_guard(env->pool, guard, production_name, p, &p->text);
        buf_puts(&p->text, ".");
        if (!record_violation(p, c.constraint->warn_only, tracked_name(t)))
            return false;
    }
    return true;
}

bool violation_of_range(struct production *p, sym_id symbol, struct sym_range range)
{
    struct sym_pool *pool = p->env->pool;
    struct sym_range usual = { p->env->settings.specialize_zero_one ? SYM_ID_TWO : SYM_ID_ZERO,
                               SYM_ID_INT_OO };
    for (size_t i = 0; i < p->constraints.n; i++) {
        const struct symbol_constraint c = p->constraints.v[i];
        if (c.symbol != symbol)
            continue;
        struct sym_range wanted = sym_range_intersect(pool, c.constraint->range, usual);
        if (!sym_range_ok(wanted))
            return env_ok(p->env);
        if (sym_range_is_subset(pool, wanted, range))
            continue;
        const struct tracked *t = &p->tracked.v[production_symbol(p, symbol)->first];
        sym_id guard =
            sym_and(pool, sym_le(pool, range.lower, symbol), sym_le(pool, symbol, range.upper));
        buf_clear(&p->text);
        buf_puts(&p->text, "Not all values of ");
        print_constraint(p, t, c.constraint);
        buf_puts(&p->text, " satisfy the generated guard ");
        sym_print_shape_guard(pool, guard, production_name, p, &p->text);
        if (!record_violation(p, c.constraint->warn_only, tracked_name(t)))
            return false;
    }
    return true;
}

/* --- Equalities that were given --- */

/* Union-find over the given pairs: two sources of one class are equal. Returns the
 * representative. */
static struct str equality_class(const struct env_produce *what, struct str source)
{
    for (uint32_t steps = 0; steps <= what->n_equalities; steps++) {
        uint32_t i = 0;
        while (i < what->n_equalities && !str_eq(what->equalities[i].a, source))
            i++;
        if (i == what->n_equalities)
            break;
        source = what->equalities[i].b;
    }
    return source;
}

static bool is_constrained(const struct production *p, sym_id symbol)
{
    for (size_t i = 0; i < p->constraints.n; i++)
        if (p->constraints.v[i].symbol == symbol)
            return true;
    return false;
}

/* EqualityConstraint._rewrite: returns a source as an expression of the root from which it
 * derives. */
static sym_id rewritten(struct production *p, struct str source, unsigned depth)
{
    const struct env_produce *what = p->what;
    struct sym_pool *pool = p->env->pool;
    struct str class = equality_class(what, source);
    for (uint32_t i = what->n_derived; i-- > 0 && depth < 64;) {
        const struct env_derived *d = &what->derived[i];
        if (!str_eq(equality_class(what, d->source), class))
            continue;
        sym_id root = rewritten(p, d->root, depth + 1);
        return sym_add(pool, sym_mul(pool, sym_integer(pool, d->dim->mul), root),
                       sym_integer(pool, d->dim->add));
    }
    return sym_symbol(pool, class, SYM_IS_INTEGER);
}

/* is_derived, and is_equal where the expression is the root's symbol. */
static bool is_derived_from(struct production *p, const struct tracked *t, sym_id symbol,
                            const struct tracked *root)
{
    sym_id of_root = rewritten(p, root->source, 0);
    return rewritten(p, t->source, 0) ==
           sym_replace(p->env->pool, t->expr, &(struct sym_pair){ symbol, of_root }, 1);
}

static sym_id parsed_name(struct sym_pool *pool, struct str name)
{
    struct err ignored = { 0 };
    sym_id e = sym_parse(pool, name, NULL, NULL);
    bool ok = sym_ok(pool, &ignored);
    return ok && e != SYM_NONE ? e : sym_symbol(pool, name, 0);
}

static void print_related(struct production *p, const struct tracked *t, sym_id symbol,
                          const struct tracked *root)
{
    struct sym_pool *pool = p->env->pool;
    sym_id renamed = parsed_name(pool, tracked_name(root));
    sym_id e = sym_replace(pool, t->expr, &(struct sym_pair){ symbol, renamed }, 1);
    buf_printf(&p->text,
               "The values of %.*s = %.*s must always be related to the values of "
               "%.*s = %.*s by %.*s = ",
               STR_ARG(tracked_name(t)), STR_ARG(t->source), STR_ARG(tracked_name(root)),
               STR_ARG(root->source), STR_ARG(tracked_name(t)));
    sym_print(pool, e, &p->text);
    buf_puts(&p->text, ".");
}

bool violation_of_equality(struct production *p, const struct tracked *t)
{
    struct shape_env *env = p->env;
    const struct expr_info *k = env_known(env, t->expr);
    if (!p->what->has_equalities || !t->is_size || !k || k->n_symbols != 1)
        return k != NULL;
    sym_id symbol = env_symbol_of(env, k, 0)->id;
    const struct tracked_symbol *place = production_symbol(p, symbol);
    if (!place || !is_constrained(p, symbol))
        return true;
    const struct tracked *root = &p->tracked.v[place->first];
    if (is_derived_from(p, t, symbol, root))
        return true;
    buf_clear(&p->text);
    if (symbol != t->expr)
        print_related(p, t, symbol, root);
    else
        buf_printf(&p->text, "The values of %.*s = %.*s and %.*s = %.*s must always be equal.",
                   STR_ARG(tracked_name(t)), STR_ARG(t->source), STR_ARG(tracked_name(root)),
                   STR_ARG(root->source));
    return record_violation(p, false, tracked_name(t));
}

/* Returns the expression of a source such as "L['x'].size()[1]". */
static sym_id source_expression(const struct env_produce *what, struct str source)
{
    for (uint32_t i = 0; i < what->n_inputs; i++) {
        const struct env_input *input = &what->inputs[i];
        struct str rest = str_from(source, input->source.n);
        uint64_t dim;
        if (!input->size || !str_starts(source, input->source) ||
            !str_starts(rest, STR(".size()[")) || !str_ends(rest, STR("]")))
            continue;
        rest = str_from(rest, 8);
        rest.n--;
        if (str_to_u64(rest, &dim) && dim < input->ndim)
            return input->size[dim];
    }
    return SYM_NONE;
}

static bool raise_unequal(struct production *p, const struct env_equality *pair, sym_id a, sym_id b)
{
    struct shape_env *env = p->env;
    buf_clear(&p->text);
    buf_printf(&p->text, "%.*s = ", STR_ARG(pair->a));
    sym_print(env->pool, env_put_hints(env, a), &p->text);
    buf_printf(&p->text, " is not equal to %.*s = ", STR_ARG(pair->b));
    sym_print(env->pool, env_put_hints(env, b), &p->text);
    if (p->text.failed)
        return env_no_memory(env);
    return env_raise(env, ENV_RAISED_CONSTRAINT, "ConstraintViolationError", "%.*s",
                     STR_ARG(buf_str(&p->text)));
}

static sym_id derived_of(struct sym_pool *pool, const struct env_dim *dim, sym_id root)
{
    return sym_add(pool, sym_mul(pool, sym_integer(pool, dim->mul), root),
                   sym_integer(pool, dim->add));
}

/* Returns the symbol whose source is the root's name, if no input has it. */
static sym_id phantom_of(struct shape_env *env, struct str name)
{
    uint32_t number = intern_find(&env->source_names, name);
    return number == INTERN_NONE ? SYM_NONE : env->source_symbols.v[number];
}

static bool check_derived(struct production *p, const struct env_derived *d)
{
    struct shape_env *env = p->env;
    struct sym_pool *pool = env->pool;
    sym_id have = source_expression(p->what, d->source), root = source_expression(p->what, d->root);
    bool phantom = root == SYM_NONE, equal;
    root = phantom ? phantom_of(env, d->root) : root;
    if (have == SYM_NONE || root == SYM_NONE)
        return env_raise(env, ENV_RAISED_OTHER, "KeyError", "%.*s",
                         STR_ARG(have == SYM_NONE ? d->source : d->root));
    have = env_replace(env, have);
    root = env_replace(env, root);
    if (!env_guard_bool(env, sym_eq(pool, have, derived_of(pool, d->dim, root)), &equal) || equal)
        return env_ok(env);
    struct str name = phantom ? d->root : d->dim->root;
    buf_clear(&p->text);
    buf_printf(&p->text, "Expected input %.*s to be equal to ", STR_ARG(d->source));
    sym_print(pool, derived_of(pool, d->dim, sym_symbol(pool, name, SYM_IS_INTEGER)), &p->text);
    buf_printf(&p->text, ", where %.*s = ", STR_ARG(name));
    sym_print(pool, env_put_hints(env, root), &p->text);
    buf_puts(&p->text, ", but got ");
    sym_print(pool, env_put_hints(env, have), &p->text);
    if (p->text.failed)
        return env_no_memory(env);
    return env_raise(env, ENV_RAISED_CONSTRAINT, "ConstraintViolationError", "%.*s",
                     STR_ARG(buf_str(&p->text)));
}

bool production_check_equalities(struct production *p)
{
    struct shape_env *env = p->env;
    const struct env_produce *what = p->what;
    for (uint32_t i = 0; i < what->n_equalities; i++) {
        const struct env_equality *pair = &what->equalities[i];
        sym_id a = source_expression(what, pair->a), b = source_expression(what, pair->b);
        if (a == SYM_NONE || b == SYM_NONE)
            return env_raise(env, ENV_RAISED_OTHER, "KeyError", "%.*s",
                             STR_ARG(a == SYM_NONE ? pair->a : pair->b));
        a = env_replace(env, a);
        b = env_replace(env, b);
        bool equal;
        if (a == SYM_NONE || b == SYM_NONE || !env_guard_bool(env, sym_eq(env->pool, a, b), &equal))
            return false;
        if (!equal)
            return raise_unequal(p, pair, a, b);
    }
    for (uint32_t i = 0; i < what->n_derived; i++)
        if (!check_derived(p, &what->derived[i]))
            return false;
    return true;
}

/* --- Raising them together --- */

bool production_raise_violations(struct production *p)
{
    size_t n = 0;
    struct str *names = malloc((p->violations.n + 1) * sizeof *names);
    if (!names)
        return env_no_memory(p->env);
    for (size_t i = 0; i < p->violations.n; i++)
        if (!p->violations.v[i].warn_only)
            names[n++] = p->violations.v[i].name;
    qsort(names, n, sizeof *names, str_compare);
    buf_clear(&p->text);
    buf_puts(&p->text, "Constraints violated (");
    for (size_t i = 0; i < n; i++)
        if (!i || !str_eq(names[i], names[i - 1]))
            buf_printf(&p->text, "%s%.*s", i ? ", " : "", STR_ARG(names[i]));
    buf_puts(&p->text, ")! For more information, run with TORCH_LOGS=\"+dynamic\".");
    for (size_t i = 0; i < p->violations.n; i++)
        if (!p->violations.v[i].warn_only)
            buf_printf(&p->text, "\n  - %.*s", STR_ARG(p->violations.v[i].text));
    free(names);
    if (p->text.failed)
        return env_no_memory(p->env);
    return !n || env_raise(p->env, ENV_RAISED_CONSTRAINT, "ConstraintViolationError", "%.*s",
                           STR_ARG(buf_str(&p->text)));
}
