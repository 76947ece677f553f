/* The fixes that PyTorch suggests for a solver's results (DimConstraints.prettify_results,
 * _process_derived_dim_roots). */
#include "replay/shape/guards/dims.h"
#include "trace/base/number.h"

#include <stdlib.h>

/* mul*root + add; for a number, root is "". */
struct linear {
    struct str root;
    int64_t mul, add;
};

/* The result for a Dim, or for a size without a Dim. */
struct fix {
    struct str name;
    bool has_eq, has_min, has_max;
    bool gone;
    struct linear eq;
    int64_t min, max; /* max INT64_MAX: infinite, and printed */
};

struct suggester {
    struct production *p;
    struct dim_solver *dims;
    vec_of(struct fix)
    fixes;
    vec_of(struct env_dim)
    introduced; /* the roots that are no Dims */
    struct arena arena;
    bool failed;
};

/* --- Names --- */

/* source_name_to_debug_name; returns "" when the source has no name. */
static struct str dim_name_of(const struct production *p, struct str source)
{
    for (size_t i = 0; i < p->tracked.n; i++) {
        const struct tracked *t = &p->tracked.v[i];
        if (t->constraint && str_eq(t->source, source))
            return t->constraint->name;
    }
    return STR("");
}

static struct str dim_name_or_source(const struct production *p, struct str source)
{
    struct str name = dim_name_of(p, source);
    return name.n ? name : source;
}

static struct str symbol_source(const struct production *p, sym_id symbol)
{
    const struct tracked_symbol *t = production_symbol(p, symbol);
    return t ? p->tracked.v[t->first].source : env_source(p->env, symbol);
}

static const struct env_dim *find_dim(const struct suggester *s, struct str name)
{
    const struct env_produce *what = s->p->what;
    for (uint32_t i = 0; i < what->n_dims; i++)
        if (str_eq(what->dims[i].name, name))
            return &what->dims[i];
    for (size_t i = 0; i < s->introduced.n; i++)
        if (str_eq(s->introduced.v[i].name, name))
            return &s->introduced.v[i];
    return NULL;
}

/* Parses the name of a derived Dim: "2*dx + 1". */
static struct linear linear_of(const struct suggester *s, struct str name)
{
    const struct env_dim *dim = find_dim(s, name);
    if (dim && dim->root.n)
        return (struct linear){ dim->root, dim->mul, dim->add };
    return (struct linear){ name, 1, 0 };
}

static struct fix *fix_of(struct suggester *s, struct str name)
{
    for (size_t i = 0; i < s->fixes.n; i++)
        if (str_eq(s->fixes.v[i].name, name))
            return &s->fixes.v[i];
    if (!vec_push(&s->fixes, (struct fix){ .name = name })) {
        s->failed = true;
        return NULL;
    }
    return &s->fixes.v[s->fixes.n - 1];
}

/* --- Collecting the solver's results --- */

static void fix_number(struct suggester *s, struct str source, int64_t number)
{
    struct fix *fix = dim_name_of(s->p, source).n ? fix_of(s, dim_name_of(s->p, source)) : NULL;
    if (!fix)
        return;
    fix->has_eq = true;
    fix->eq = (struct linear){ STR(""), 0, number };
}

static void put_linear(struct suggester *s, struct str source, struct linear eq)
{
    struct fix *fix = fix_of(s, dim_name_or_source(s->p, source));
    if (!fix)
        return;
    fix->has_eq = true;
    fix->eq = eq;
}

/* Adds x == 3*_x - 2 for (x + 2) % 3 == 0. */
static void fix_congruence(struct suggester *s, const struct congruence *c)
{
    struct str source = symbol_source(s->p, c->symbol), name = dim_name_or_source(s->p, source);
    struct buf root = BUF_INIT;
    buf_printf(&root, "_%.*s", STR_ARG(name));
    struct str kept = arena_copy(&s->arena, buf_str(&root));
    s->failed |= root.failed || !kept.p;
    buf_release(&root);
    /* sympy prints the remainder as an added number between 0 and the modulus. */
    if (!s->failed && dim_name_of(s->p, source).n)
        put_linear(s, source, (struct linear){ kept, c->divisor, -floor_mod(c->add, c->divisor) });
}

static void fix_bounds(struct suggester *s, const struct dim_symbol *symbol)
{
    struct str name = dim_name_of(s->p, symbol_source(s->p, symbol->symbol));
    struct fix *fix = name.n ? fix_of(s, name) : NULL;
    if (!fix)
        return;
    fix->has_min |= symbol->has_lower;
    fix->has_max |= symbol->has_upper;
    fix->min = symbol->has_lower ? symbol->lower : fix->min;
    fix->max = symbol->has_upper ? symbol->upper : fix->max;
}

static void put_equality(struct suggester *s, const struct dim_equality *e)
{
    int64_t number;
    struct poly f;
    const struct expr_info *k = env_known(s->p->env, e->expr);
    if (sym_to_i64(s->p->env->pool, e->expr, &number)) {
        fix_number(s, e->source, number);
        return;
    }
    if (!k || k->n_symbols != 1)
        return;
    sym_id symbol = env_symbol_of(s->p->env, k, 0)->id;
    struct str root = dim_name_of(s->p, symbol_source(s->p, symbol));
    bool plain = dims_poly(s->dims, e->expr, symbol, &f) && f.d == 1 && f.n[2] == 0;
    struct linear eq = linear_of(s, root);
    if (!plain || !root.n || __builtin_mul_overflow(eq.mul, f.n[1], &eq.mul) ||
        __builtin_mul_overflow(eq.add, f.n[1], &eq.add) ||
        __builtin_add_overflow(eq.add, f.n[0], &eq.add) ||
        str_eq(root, dim_name_or_source(s->p, e->source)))
        return;
    put_linear(s, e->source, eq);
}

static void replace_all_text(struct buf *text, struct str from, struct str to)
{
    struct buf out = BUF_INIT;
    struct str rest = buf_str(text);
    while (from.n && rest.n) {
        size_t at = str_find(rest, from);
        buf_put(&out, str_first(rest, at));
        if (at < rest.n)
            buf_put(&out, to);
        rest = str_from(rest, at < rest.n ? at + from.n : rest.n);
    }
    if (from.n) {
        buf_release(text);
        *text = out;
    }
}

/* transform(): replaces sources by the names of their Dims, or names by sources. */
static struct str transformed(struct suggester *s, struct buf *text, bool inverse)
{
    for (size_t i = 0; i < s->p->tracked.n; i++) {
        const struct tracked *t = &s->p->tracked.v[i];
        if (t->is_size && t->constraint && t->constraint->name.n)
            replace_all_text(text, inverse ? t->constraint->name : t->source,
                             inverse ? t->source : t->constraint->name);
    }
    struct str ret = arena_copy(&s->arena, buf_str(text));
    s->failed |= text->failed || !ret.p;
    buf_release(text);
    return ret;
}

static enum sym_kind flip_relation(enum sym_kind kind)
{
    return kind == SYM_LE ? SYM_GE : kind == SYM_GE ? SYM_LE : kind == SYM_LT ? SYM_GT : SYM_LT;
}

/* relation_with_digit: adds a condition to the fix of its left side, "dx*dx" for "dx*dx < 100". */
static void fix_condition(struct suggester *s, sym_id condition)
{
    struct sym_pool *pool = s->p->env->pool;
    sym_id what = arg_at(pool, condition, 0), number = arg_at(pool, condition, 1);
    enum sym_kind kind = kind_at(pool, condition);
    struct buf text = BUF_INIT;
    int64_t value;
    if (!sym_to_i64(pool, number, &value)) {
        sym_id swap = what;
        what = number;
        number = swap;
        kind = flip_relation(kind);
    }
    if (!sym_to_i64(pool, number, &value) || value < 0)
        return;
    sym_print_shape_guard(pool, what, production_name, s->p, &text);
    struct str name = transformed(s, &text, false);
    struct fix *fix = s->failed ? NULL : fix_of(s, name);
    if (!fix)
        return;
    if (kind == SYM_LE || kind == SYM_LT) {
        fix->has_max = true;
        fix->max = kind == SYM_LT ? value - 1 : value;
    } else {
        fix->has_min = true;
        fix->min = kind == SYM_GT ? value + 1 : value;
    }
}

static void fix_conditions(struct suggester *s, sym_id symbol)
{
    for (size_t i = 0; i < s->dims->conditions.n; i++)
        if (s->dims->conditions.v[i].symbol == symbol)
            fix_condition(s, s->dims->conditions.v[i].condition);
}

static void fix_inequalities(struct suggester *s, const struct dim_symbol *symbol)
{
    if (symbol->has_value)
        return;
    if (symbol->raw_lower || symbol->raw_upper)
        fix_conditions(s, symbol->symbol);
    else
        fix_bounds(s, symbol);
}

static void collect_fixes(struct suggester *s)
{
    struct dim_solver *dims = s->dims;
    for (size_t i = 0; i < dims->symbols.n; i++) {
        const struct dim_symbol *symbol = &dims->symbols.v[i];
        if (symbol->has_value)
            fix_number(s, symbol_source(s->p, symbol->symbol), symbol->value);
    }
    for (size_t i = 0; i < dims->congruences.n; i++)
        fix_congruence(s, &dims->congruences.v[i]);
    for (size_t i = 0; i < dims->symbols.n; i++)
        fix_inequalities(s, &dims->symbols.v[i]);
    for (size_t i = 0; i < dims->equalities.n; i++)
        put_equality(s, &dims->equalities.v[i]);
}

/* --- _process_derived_dim_roots --- */

static bool is_expr(const struct fix *fix)
{
    return fix->has_eq && fix->eq.root.n;
}

/* Gives a root that is no Dim the bounds of the Dim that is derived from it. */
static void introduce_roots(struct suggester *s, size_t *n_old, struct str *old)
{
    for (size_t i = 0, n = s->fixes.n; i < n; i++) {
        struct fix fix = s->fixes.v[i];
        if (!is_expr(&fix) || find_dim(s, fix.eq.root))
            continue;
        int64_t min = fix.has_min ? fix.min : 2, mul = fix.eq.mul ? fix.eq.mul : 1;
        struct fix *root = fix_of(s, fix.eq.root);
        if (!root)
            return;
        root->has_min = root->has_max = true;
        root->min = ceil_div(min - fix.eq.add, mul);
        root->max = fix.has_max ? floor_div(fix.max - fix.eq.add, mul) : INT64_MAX;
        struct env_dim dim = { .name = fix.eq.root, .mul = 1, .min = root->min, .max = root->max };
        s->failed |= !vec_push(&s->introduced, dim);
        s->fixes.v[i].has_min = s->fixes.v[i].has_max = false;
        old[(*n_old)++] = fix.name;
    }
}

static void unify_roots(struct suggester *s, size_t n_old, const struct str *old)
{
    for (size_t k = 0; k < n_old; k++) {
        struct linear to = fix_of(s, old[k])->eq;
        for (size_t i = 0; i < s->fixes.n; i++) {
            struct linear *eq = &s->fixes.v[i].eq;
            if (!is_expr(&s->fixes.v[i]) || !str_eq(eq->root, old[k]))
                continue;
            int64_t add;
            if (__builtin_mul_overflow(to.add, eq->mul, &add) ||
                __builtin_add_overflow(eq->add, add, &eq->add) ||
                __builtin_mul_overflow(to.mul, eq->mul, &eq->mul))
                s->fixes.v[i].gone = true;
            eq->root = to.root;
        }
    }
}

/* _check_same_range. */
static bool same_range(const struct fix *fix, const struct env_dim *dim)
{
    if (!dim || dim->root.n || !(fix->has_min || fix->has_max))
        return false;
    int64_t min = fix->has_min ? fix->min : 2, max = fix->has_max ? fix->max : INT64_MAX;
    return ((dim->min < 2 && min == 2) || dim->min == min) && dim->max == max;
}

/* Computes the range of a root that was replaced by a Dim derived from it. */
static bool swapped_range(const struct suggester *s, struct str root, struct fix *ret)
{
    for (size_t i = 0; i < s->fixes.n; i++) {
        const struct fix *fix = &s->fixes.v[i];
        const struct env_dim *dim = find_dim(s, fix->name);
        if (!dim || !str_eq(dim->root, root) || !(fix->has_min && fix->has_max) || dim->mul == 0)
            continue;
        *ret =
            (struct fix){ .name = root,
                          .has_min = true,
                          .has_max = true,
                          .min = ceil_div(fix->min - dim->add, dim->mul),
                          .max = fix->max == INT64_MAX ? INT64_MAX
                                                       : floor_div(fix->max - dim->add, dim->mul) };
        if (!same_range(ret, find_dim(s, root)))
            return true;
    }
    return false;
}

static const struct fix *find_fix(const struct suggester *s, struct str name)
{
    for (size_t i = 0; i < s->fixes.n; i++)
        if (str_eq(s->fixes.v[i].name, name) && !s->fixes.v[i].gone)
            return &s->fixes.v[i];
    return NULL;
}

/* Computes the new value of a root that a fix modifies; false when it keeps its value. */
static bool modified_value(const struct suggester *s, struct str root, struct fix *ret)
{
    const struct fix *fix = find_fix(s, root);
    if (fix && (fix->has_min || fix->has_max || (fix->has_eq && !fix->eq.root.n))) {
        *ret = *fix;
        return !same_range(fix, find_dim(s, root));
    }
    return swapped_range(s, root, ret);
}

static bool is_root_of(const struct suggester *s, const struct fix *fix, struct str root)
{
    const struct env_dim *dim = find_dim(s, fix->name);
    if (fix->gone || !dim)
        return false;
    if (!dim->root.n && (fix->has_min || fix->has_max))
        return str_eq(fix->name, root);
    return is_expr(fix) && str_eq(fix->eq.root, root);
}

static bool is_modified(const struct suggester *s, struct str root)
{
    for (size_t i = 0; i < s->introduced.n; i++)
        if (str_eq(s->introduced.v[i].name, root))
            return false;
    for (size_t i = 0; i < s->fixes.n; i++)
        if (is_root_of(s, &s->fixes.v[i], root))
            return true;
    return false;
}

static void swap_roots(struct suggester *s)
{
    const struct env_produce *what = s->p->what;
    vec_of(struct fix)
    values = { 0 };
    bool *drop = calloc(s->fixes.n + 1, sizeof *drop);
    s->failed |= !drop;
    for (uint32_t i = 0; i < what->n_dims && !s->failed; i++) {
        struct fix value;
        struct str root = what->dims[i].name;
        bool again = false;
        for (uint32_t k = 0; k < i; k++)
            again |= str_eq(what->dims[k].name, root);
        if (!again && is_modified(s, root) && modified_value(s, root, &value))
            s->failed |= !vec_push(&values, value);
    }
    for (size_t i = 0; i < s->fixes.n && !s->failed; i++) {
        const struct env_dim *dim = find_dim(s, s->fixes.v[i].name);
        drop[i] = dim && (dim->root.n || is_modified(s, s->fixes.v[i].name));
    }
    for (size_t i = 0; i < s->fixes.n && !s->failed; i++)
        s->fixes.v[i].gone |= drop[i];
    for (size_t i = 0; i < values.n && !s->failed; i++) {
        struct fix *fix = fix_of(s, values.v[i].name);
        if (fix)
            *fix = values.v[i];
    }
    free(drop);
    vec_release(&values);
}

static void process_roots(struct suggester *s)
{
    size_t n_old = 0;
    struct str *old = calloc(s->fixes.n + 1, sizeof *old);
    s->failed |= !old;
    if (!s->failed)
        introduce_roots(s, &n_old, old);
    if (!s->failed)
        unify_roots(s, n_old, old);
    if (!s->failed)
        swap_roots(s);
    free(old);
}

/* --- Printing --- */

/* Returns the source of a name, by which the fixes are sorted. */
static struct str sort_key(struct suggester *s, struct str name)
{
    struct buf text = BUF_INIT;
    buf_put(&text, name);
    return transformed(s, &text, true);
}

static void print_linear(struct suggester *s, struct linear eq, struct buf *out)
{
    struct sym_pool *pool = s->p->env->pool;
    sym_id e = sym_integer(pool, eq.add);
    if (eq.root.n)
        e = sym_add(
            pool,
            sym_mul(pool, sym_integer(pool, eq.mul), sym_symbol(pool, eq.root, SYM_IS_INTEGER)), e);
    sym_print(pool, e, out);
}

static void print_dim_call(const struct fix *fix, struct buf *out)
{
    buf_printf(out, "\n  %.*s = Dim('%.*s'", STR_ARG(fix->name), STR_ARG(fix->name));
    if (fix->has_min && fix->min != 2)
        buf_printf(out, ", min=%lld", (long long)fix->min);
    if (fix->has_max && fix->max == INT64_MAX)
        buf_puts(out, ", max=oo");
    else if (fix->has_max)
        buf_printf(out, ", max=%lld", (long long)fix->max);
    buf_puts(out, ")");
}

static void print_fixes(struct suggester *s, struct buf *out)
{
    size_t n = s->fixes.n, before = out->n, heading;
    struct str *keys = calloc(n + 1, sizeof *keys);
    size_t *order = calloc(n + 1, sizeof *order);
    s->failed |= !keys || !order;
    for (size_t i = 0; i < n && !s->failed; i++) {
        keys[i] = sort_key(s, s->fixes.v[i].name);
        size_t k = i;
        for (; k > 0 && str_cmp(keys[order[k - 1]], keys[i]) > 0; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    buf_puts(out, "\nSuggested fixes:");
    heading = out->n;
    for (int others = 0; others < 2 && !s->failed; others++)
        for (size_t i = 0; i < n; i++) {
            const struct fix *fix = &s->fixes.v[order[i]];
            if (fix->gone || fix->has_eq != (others == 1))
                continue;
            if (others) {
                buf_printf(out, "\n  %.*s = ", STR_ARG(fix->name));
                print_linear(s, fix->eq, out);
            } else {
                print_dim_call(fix, out);
            }
        }
    if (out->n == heading)
        out->n = before;
    free(keys);
    free(order);
}

static bool is_constrained_symbol(const struct production *p, sym_id symbol)
{
    for (size_t i = 0; i < p->constraints.n; i++)
        if (p->constraints.v[i].symbol == symbol)
            return true;
    return false;
}

bool dims_forces(const struct production *p, const struct dim_solver *dims)
{
    for (size_t i = 0; i < dims->symbols.n; i++)
        if (dims->symbols.v[i].has_value && is_constrained_symbol(p, dims->symbols.v[i].symbol))
            return true;
    return false;
}

static void print_forced(struct suggester *s, struct buf *out)
{
    struct dim_solver *dims = s->dims;
    struct str *roots = calloc(dims->symbols.n + 1, sizeof *roots);
    size_t n = 0;
    s->failed |= !roots;
    for (size_t i = 0; i < dims->symbols.n && !s->failed; i++)
        if (dims->symbols.v[i].has_value &&
            is_constrained_symbol(s->p, dims->symbols.v[i].symbol)) {
            struct str source = symbol_source(s->p, dims->symbols.v[i].symbol);
            roots[n++] = linear_of(s, dim_name_or_source(s->p, source)).root;
        }
    if (n)
        qsort(roots, n, sizeof *roots, str_compare);
    buf_puts(out, "Specializations unexpectedly required (");
    for (size_t i = 0; i < n; i++)
        if (i == 0 || !str_eq(roots[i], roots[i - 1]))
            buf_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(roots[i]));
    buf_puts(out, ")! For more information, run with TORCH_LOGS=\"+dynamic\".\n");
    for (size_t i = 0; i < s->p->tracked.n; i++) { /* in the order of the inputs */
        const struct tracked *t = &s->p->tracked.v[i];
        for (size_t k = 0; k < dims->symbols.n && t->is_size; k++) {
            const struct dim_symbol *symbol = &dims->symbols.v[k];
            if (!symbol->has_value || !is_constrained_symbol(s->p, symbol->symbol) ||
                !str_eq(symbol_source(s->p, symbol->symbol), t->source))
                continue;
            struct str name = dim_name_or_source(s->p, t->source);
            buf_printf(out,
                       "  - solving the guards generated for %.*s = %.*s resulted in a "
                       "specialized value of %lld.\n",
                       STR_ARG(name), STR_ARG(t->source), (long long)symbol->value);
        }
    }
    free(roots);
}

static bool has_names(const struct production *p)
{
    for (size_t i = 0; i < p->tracked.n; i++)
        if (p->tracked.v[i].constraint && p->tracked.v[i].constraint->name.n)
            return true;
    return false;
}

void dims_suggest(struct production *p, struct dim_solver *dims, struct buf *out)
{
    struct suggester s = { .p = p, .dims = dims };
    if (!has_names(p))
        return;
    collect_fixes(&s);
    if (!s.failed && dims_forces(p, dims))
        print_forced(&s, out);
    if (!s.failed)
        process_roots(&s);
    if (!s.failed)
        print_fixes(&s, out);
    dims->failed |= s.failed || out->failed;
    vec_release(&s.fixes);
    vec_release(&s.introduced);
    arena_release(&s.arena);
}
