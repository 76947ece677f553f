#include "replay/shape/guards/dims.h"

#include "trace/base/number.h"

enum { NESTING = 64 };

void dims_release(struct dim_solver *dims)
{
    vec_release(&dims->symbols);
    vec_release(&dims->congruences);
    vec_release(&dims->other_congruences);
    vec_release(&dims->conditions);
    vec_release(&dims->others);
    vec_release(&dims->equalities);
}

static struct dim_symbol *dim_symbol_of(struct dim_solver *dims, sym_id symbol)
{
    for (size_t i = 0; i < dims->symbols.n; i++)
        if (dims->symbols.v[i].symbol == symbol)
            return &dims->symbols.v[i];
    if (!vec_push(&dims->symbols, (struct dim_symbol){ .symbol = symbol })) {
        dims->failed = true;
        return NULL;
    }
    return &dims->symbols.v[dims->symbols.n - 1];
}

/* --- rewrite_with_congruences --- */

static void add_congruence(struct dim_solver *dims, struct congruence c)
{
    /* sympy's Mod normalises the coefficients. */
    c.mul = floor_mod(c.mul, c.divisor);
    c.add = floor_mod(c.add, c.divisor);
    if (c.mul == 0 && c.add == 0)
        return;
    for (size_t i = 0; i < dims->congruences.n; i++) {
        const struct congruence *o = &dims->congruences.v[i];
        if (o->symbol == c.symbol && o->mul == c.mul && o->add == c.add && o->divisor == c.divisor)
            return;
    }
    dims->failed |= !vec_push(&dims->congruences, c);
}

static bool same_poly(const struct poly *a, const struct poly *b)
{
    return a->n[0] == b->n[0] && a->n[1] == b->n[1] && a->n[2] == b->n[2] && a->d == b->d;
}

static bool same_ratio(const struct ratio *a, const struct ratio *b)
{
    return same_poly(&a->n, &b->n) && same_poly(&a->d, &b->d);
}

static void add_other_congruence(struct dim_solver *dims, struct other_congruence c)
{
    struct ratio quotient;
    if (ratio_divide(c.base, c.divisor, &quotient) && ratio_is_poly(quotient) &&
        poly_is_constant(quotient.n) && quotient.n.d == 1)
        return; /* a multiple of the divisor: sympy's Mod is 0 */
    for (size_t i = 0; i < dims->other_congruences.n; i++) {
        const struct other_congruence *o = &dims->other_congruences.v[i];
        if (o->symbol == c.symbol && same_ratio(&o->base, &c.base) &&
            same_ratio(&o->divisor, &c.divisor))
            return;
    }
    dims->failed |= !vec_push(&dims->other_congruences, c);
}

static size_t count_congruences(const struct dim_solver *dims)
{
    return dims->congruences.n + dims->other_congruences.n;
}

static bool is_integral(struct ratio a)
{
    return ratio_is_poly(a) && a.n.d == 1;
}

static bool rewrite(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                    struct ratio *ret);

/* Rewrites b % d as its value k at the hint, and b // d as (b - k)/d, provided that b % d == k. */
static bool rewrite_division(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                             struct ratio *ret)
{
    struct sym_pool *pool = dims->env->pool;
    struct ratio base, by;
    int64_t hint, value, divisor;
    if (!rewrite(dims, arg_at(pool, e, 0), symbol, depth, &base) ||
        !rewrite(dims, arg_at(pool, e, 1), symbol, depth, &by) ||
        !sym_to_i64(dims->env->pool, env_hint(dims->env, symbol), &hint) ||
        !ratio_at(base, hint, &value) || !ratio_at(by, hint, &divisor) || divisor == 0)
        return false;
    int64_t rest = floor_mod(value, divisor);
    if (!ratio_subtract(base, ratio_of(poly_constant(rest)), &base))
        return false;
    if (is_integral(base) && base.n.n[2] == 0 && is_integral(by) && poly_is_constant(by.n))
        add_congruence(dims, (struct congruence){ symbol, base.n.n[1], base.n.n[0], by.n.n[0] });
    else
        add_other_congruence(dims, (struct other_congruence){ symbol, base, by });
    if (kind_at(pool, e) == SYM_FLOORDIV) {
        dims->unreduced |= !poly_is_constant(by.n) && by.n.n[0];
        return ratio_divide(base, by, ret);
    }
    *ret = ratio_of(poly_constant(rest));
    return true;
}

static bool rewrite_power(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                          struct ratio *ret)
{
    struct ratio base;
    int64_t exponent;
    if (!sym_to_i64(dims->env->pool, arg_at(dims->env->pool, e, 1), &exponent) || exponent < 0 ||
        exponent > 2 || !rewrite(dims, arg_at(dims->env->pool, e, 0), symbol, depth, &base))
        return false;
    *ret = ratio_of(poly_constant(1));
    for (int64_t i = 0; i < exponent; i++)
        if (!ratio_mul(*ret, base, ret))
            return false;
    return true;
}

static bool rewrite_number(struct sym_pool *pool, sym_id e, struct ratio *ret)
{
    int64_t n, d = 1;
    if (!sym_to_i64(pool, e, &n) &&
        !(kind_at(pool, e) == SYM_RATIONAL && sym_to_i64(pool, number_numerator(pool, e), &n) &&
          sym_to_i64(pool, number_denominator(pool, e), &d)))
        return false;
    *ret = ratio_of(poly_constant(1));
    return poly_scale(ret->n, n, d, &ret->n);
}

static bool rewrite(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                    struct ratio *ret)
{
    struct sym_pool *pool = dims->env->pool;
    enum sym_kind kind = kind_at(pool, e);
    if (depth > NESTING)
        return false;
    if (e == symbol) {
        *ret = ratio_of((struct poly){ { 0, 1, 0 }, 1 });
        return true;
    }
    if (rewrite_number(pool, e, ret))
        return true;
    if (kind == SYM_FLOORDIV || kind == SYM_MOD || kind == SYM_PYTHON_MOD)
        return rewrite_division(dims, e, symbol, depth + 1, ret);
    if (kind == SYM_POW)
        return rewrite_power(dims, e, symbol, depth + 1, ret);
    if (kind != SYM_ADD && kind != SYM_MUL)
        return false;
    *ret = ratio_of(poly_constant(kind == SYM_MUL));
    for (uint32_t i = 0; i < sym_n_args(pool, e); i++) {
        struct ratio part;
        if (!rewrite(dims, arg_at(pool, e, i), symbol, depth + 1, &part) ||
            !(kind == SYM_ADD ? ratio_add(*ret, part, ret) : ratio_mul(*ret, part, ret)))
            return false;
    }
    return true;
}

static void forget_congruences(struct dim_solver *dims, size_t n, size_t n_others)
{
    dims->congruences.n = n;
    dims->other_congruences.n = n_others;
}

bool dims_poly(struct dim_solver *dims, sym_id e, sym_id symbol, struct poly *ret)
{
    size_t n = dims->congruences.n, n_others = dims->other_congruences.n;
    struct ratio all;
    bool ok = rewrite(dims, e, symbol, 0, &all) && ratio_is_poly(all) &&
              count_congruences(dims) == n + n_others;
    forget_congruences(dims, n, n_others);
    *ret = ok ? all.n : poly_constant(0);
    return ok;
}

/* --- add() --- */

/* Stores a bound. Of two bounds at the same integer, one that is a number itself prevails. */
static void add_bound(struct dim_symbol *s, bool upper, int64_t bound, bool root)
{
    bool *has = upper ? &s->has_upper : &s->has_lower, *raw = upper ? &s->raw_upper : &s->raw_lower;
    int64_t *have = upper ? &s->upper : &s->lower;
    if (*has && (upper ? bound > *have : bound < *have))
        return;
    *raw = !root && (!*has || bound != *have || *raw);
    *have = bound;
    *has = true;
}

/* Stores the value at which f is 0. Of two values of a square, sizes have the one at the hint. */
static void set_value_from(struct dim_solver *dims, struct dim_symbol *s, struct poly f)
{
    int64_t hint, zero;
    if (s->has_value || poly_is_constant(f))
        return;
    if (f.n[2] == 0) {
        if (f.n[0] % f.n[1])
            return;
        s->value = -f.n[0] / f.n[1];
    } else {
        if (!sym_to_i64(dims->env->pool, env_hint(dims->env, s->symbol), &hint) ||
            !poly_at(f, hint, &zero) || zero != 0 || -f.n[1] / f.n[2] - hint >= 2)
            return;
        s->value = hint;
    }
    s->has_value = s->pending = true;
}

/* Returns whether f is positive at all sizes, or not negative: no coefficient of x is negative, and
 * f is not at x = 1, where sympy's _monotonic_sign looks. */
static bool is_positive(struct poly f, bool or_zero)
{
    int64_t sum = f.n[0] + f.n[1] + f.n[2];
    return f.n[1] >= 0 && f.n[2] >= 0 && (or_zero ? sum >= 0 : sum > 0);
}

/* Returns whether sympy evaluates the condition f > 0, f >= 0, f < 0 or f <= 0 to true. */
static bool is_evaluated(struct poly f, enum poly_side side, bool strict)
{
    return (side == POLY_AT_LEAST || poly_scale(f, -1, 1, &f)) && is_positive(f, !strict);
}

static void add_condition_in(struct dim_solver *dims, sym_id condition, sym_id symbol,
                             bool *trivial)
{
    struct sym_pool *pool = dims->env->pool;
    enum sym_kind kind = kind_at(pool, condition);
    size_t n = dims->congruences.n, n_others = dims->other_congruences.n;
    struct ratio left, right, both;
    dims->unreduced = false;
    if (!rewrite(dims, arg_at(pool, condition, 0), symbol, 0, &left) ||
        !rewrite(dims, arg_at(pool, condition, 1), symbol, 0, &right) ||
        !ratio_subtract(left, right, &both)) {
        forget_congruences(dims, n, n_others);
        return;
    }
    bool strict = kind == SYM_LT || kind == SYM_GT;
    enum poly_side side = kind == SYM_LT || kind == SYM_LE ? POLY_AT_MOST : POLY_AT_LEAST;
    if ((ratio_is_poly(both) && poly_is_constant(both.n)) ||
        (kind != SYM_EQ && ratio_is_poly(both) && is_evaluated(both.n, side, strict))) {
        *trivial = !dims->unreduced && count_congruences(dims) == n + n_others;
        return;
    }
    struct dim_symbol *s = dim_symbol_of(dims, symbol);
    if (!s)
        return;
    if (kind == SYM_EQ) {
        set_value_from(dims, s, both.n);
        return;
    }
    bool upper;
    int64_t bound;
    dims->failed |= !vec_push(&dims->conditions, (struct dim_condition){ symbol, condition });
    if (is_positive(both.d, false) && poly_bound(both.n, side, strict, &upper, &bound))
        add_bound(s, upper, bound, poly_has_root(both.n, bound));
}

void dims_add(struct dim_solver *dims, sym_id condition, bool *trivial)
{
    bool ignored;
    trivial = trivial ? trivial : &ignored;
    *trivial = condition == SYM_ID_TRUE;
    if (condition == SYM_NONE) {
        dims->failed = true;
        return;
    }
    enum sym_kind kind = kind_at(dims->env->pool, condition);
    if (condition <= SYM_ID_TRUE || !is_relational(kind) || kind == SYM_NE)
        return;
    const struct expr_info *k = env_known(dims->env, condition);
    if (!k || k->n_symbols == 0)
        return;
    if (k->n_symbols > 1)
        dims->failed |= !vec_push(&dims->others, condition);
    else
        add_condition_in(dims, condition, env_symbol_of(dims->env, k, 0)->id, trivial);
}

void dims_add_equality(struct dim_solver *dims, struct str source, sym_id expr)
{
    dims->failed |= !vec_push(&dims->equalities, (struct dim_equality){ source, expr });
}

/* --- solve() --- */

static sym_id substitute_value(struct dim_solver *dims, sym_id e, const struct dim_symbol *s)
{
    struct sym_pool *pool = dims->env->pool;
    sym_id ret =
        sym_replace(pool, e, &(struct sym_pair){ s->symbol, sym_integer(pool, s->value) }, 1);
    return ret == SYM_NONE ? e : ret;
}

/* Substitutes the known values, which may turn conditions in two symbols into conditions in one. */
static bool use_value(struct dim_solver *dims)
{
    size_t i = 0;
    while (i < dims->symbols.n && !dims->symbols.v[i].pending)
        i++;
    if (i == dims->symbols.n)
        return false;
    dims->symbols.v[i].pending = false;
    const struct dim_symbol s = dims->symbols.v[i];
    size_t n = dims->others.n;
    sym_id *others = dims->others.v;
    dims->others.v = NULL;
    dims->others.n = dims->others.cap = 0;
    for (size_t k = 0; k < n; k++)
        dims_add(dims, substitute_value(dims, others[k], &s), NULL);
    free(others);
    for (size_t k = 0; k < dims->equalities.n; k++)
        dims->equalities.v[k].expr = substitute_value(dims, dims->equalities.v[k].expr, &s);
    return true;
}

/* Solves a*x + b == 0 modulo m for x == remainder modulo `divisor`, when a divides both. sympy's
 * Mod takes out a common factor of all three, so that PyTorch does not recognise that congruence.
 */
static bool solve_one(const struct congruence *c, int64_t *remainder, int64_t *divisor)
{
    int64_t a = c->mul, b = c->add, m = c->divisor;
    if (a == 0 || common_divisor(common_divisor(a, m), b) != 1 || m % a || b % a)
        return false;
    *divisor = m / a < 0 ? -(m / a) : m / a;
    *remainder = floor_mod(-(b / a), *divisor);
    return true;
}

/* solve_congruence: solves x == r modulo m and x == s modulo n, for small numbers, by trying. */
static bool combine_congruences(int64_t *r, int64_t *m, int64_t s, int64_t n)
{
    enum { MOST = 1 << 20 };
    int64_t g = common_divisor(*m, n), steps = n / g, both;
    if (steps > MOST || __builtin_mul_overflow(*m, steps, &both) || both > INT64_MAX / 4)
        return false;
    for (int64_t i = 0; i < steps; i++)
        if (floor_mod(*r + i * *m - s, n) == 0) {
            *r += i * *m;
            *m = both;
            return true;
        }
    return false;
}

static const struct dim_symbol *find_symbol(const struct dim_solver *dims, sym_id symbol)
{
    for (size_t i = 0; i < dims->symbols.n; i++)
        if (dims->symbols.v[i].symbol == symbol)
            return &dims->symbols.v[i];
    return NULL;
}

static bool is_checked(const struct dim_solver *dims, sym_id symbol, int64_t r, int64_t m)
{
    const struct dim_symbol *s = find_symbol(dims, symbol);
    return s && s->has_value && floor_mod(s->value - r, m) == 0;
}

/* _reduce_congruences */
static void reduce_congruences(struct dim_solver *dims)
{
    size_t n = dims->congruences.n, kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct congruence first = dims->congruences.v[i];
        bool seen = false, any = false;
        for (size_t k = 0; k < kept; k++)
            seen |= dims->congruences.v[k].symbol == first.symbol;
        int64_t r = 0, m = 1;
        for (size_t k = i; k < n && !seen; k++) {
            const struct congruence *c = &dims->congruences.v[k];
            int64_t s, by;
            if (c->symbol == first.symbol && solve_one(c, &s, &by))
                any |= combine_congruences(&r, &m, s, by);
        }
        if (any && m > 1 && !is_checked(dims, first.symbol, r, m))
            dims->congruences.v[kept++] = (struct congruence){ first.symbol, 1, -r, m };
    }
    dims->congruences.n = kept;
}

void dims_solve(struct dim_solver *dims)
{
    while (use_value(dims)) {
    }
    reduce_congruences(dims);
}
