#include "replay/shape/guards/dims.h"

#include "trace/base/number.h"

enum { NESTING = 64 };

void dims_release(struct dim_solver *dims)
{
    vec_release(&dims->symbols);
    vec_release(&dims->congruences);
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

static bool rewrite_to_poly(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                            struct poly *ret);

/* Rewrites b % d as its value k at the hint, and b // d as (b - k)/d, provided that b % d == k. */
static bool rewrite_division(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                             struct poly *ret)
{
    struct sym_pool *pool = dims->env->pool;
    struct poly base, by;
    int64_t hint, value;
    if (!rewrite_to_poly(dims, arg_at(pool, e, 0), symbol, depth, &base) ||
        !rewrite_to_poly(dims, arg_at(pool, e, 1), symbol, depth, &by) || !poly_is_constant(by) ||
        by.d != 1 || by.n[0] == 0 || base.n[2] || base.d != 1 ||
        !sym_to_i64(dims->env->pool, env_hint(dims->env, symbol), &hint) ||
        !poly_at(base, hint, &value))
        return false;
    int64_t divisor = by.n[0], rest = floor_mod(value, divisor);
    if (!poly_add(base, poly_constant(-rest), &base))
        return false;
    add_congruence(dims, (struct congruence){ symbol, base.n[1], base.n[0], divisor });
    if (kind_at(pool, e) == SYM_FLOORDIV)
        return poly_scale(base, 1, divisor, ret);
    *ret = poly_constant(rest);
    return true;
}

static bool rewrite_power(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                          struct poly *ret)
{
    struct poly base;
    int64_t exponent;
    if (!sym_to_i64(dims->env->pool, arg_at(dims->env->pool, e, 1), &exponent) || exponent < 0 ||
        exponent > 2 || !rewrite_to_poly(dims, arg_at(dims->env->pool, e, 0), symbol, depth, &base))
        return false;
    *ret = poly_constant(1);
    for (int64_t i = 0; i < exponent; i++)
        if (!poly_mul(*ret, base, ret))
            return false;
    return true;
}

static bool rewrite_to_poly(struct dim_solver *dims, sym_id e, sym_id symbol, unsigned depth,
                            struct poly *ret)
{
    struct sym_pool *pool = dims->env->pool;
    enum sym_kind kind = kind_at(pool, e);
    int64_t number;
    if (depth > NESTING)
        return false;
    if (e == symbol) {
        *ret = (struct poly){ { 0, 1, 0 }, 1 };
        return true;
    }
    if (sym_to_i64(pool, e, &number))
        return poly_scale(poly_constant(1), number, 1, ret);
    if (kind == SYM_RATIONAL) {
        int64_t d;
        return sym_to_i64(pool, number_numerator(pool, e), &number) &&
               sym_to_i64(pool, number_denominator(pool, e), &d) &&
               poly_scale(poly_constant(1), number, d, ret);
    }
    if (kind == SYM_FLOORDIV || kind == SYM_MOD || kind == SYM_PYTHON_MOD)
        return rewrite_division(dims, e, symbol, depth + 1, ret);
    if (kind == SYM_POW)
        return rewrite_power(dims, e, symbol, depth + 1, ret);
    if (kind != SYM_ADD && kind != SYM_MUL)
        return false;
    *ret = poly_constant(kind == SYM_MUL);
    for (uint32_t i = 0; i < sym_n_args(pool, e); i++) {
        struct poly part;
        if (!rewrite_to_poly(dims, arg_at(pool, e, i), symbol, depth + 1, &part) ||
            !(kind == SYM_ADD ? poly_add(*ret, part, ret) : poly_mul(*ret, part, ret)))
            return false;
    }
    return true;
}

bool dims_poly(struct dim_solver *dims, sym_id e, sym_id symbol, struct poly *ret)
{
    return rewrite_to_poly(dims, e, symbol, 0, ret);
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

static void set_value_from(struct dim_symbol *s, struct poly f)
{
    if (f.n[2] || f.n[1] == 0 || f.n[0] % f.n[1] || s->has_value)
        return;
    s->value = -f.n[0] / f.n[1];
    s->has_value = s->pending = true;
}

static void add_condition_in(struct dim_solver *dims, sym_id condition, sym_id symbol,
                             bool *trivial)
{
    struct sym_pool *pool = dims->env->pool;
    enum sym_kind kind = kind_at(pool, condition);
    size_t n_congruences = dims->congruences.n;
    struct poly left, right, f;
    if (!dims_poly(dims, arg_at(pool, condition, 0), symbol, &left) ||
        !dims_poly(dims, arg_at(pool, condition, 1), symbol, &right) ||
        !poly_scale(right, -1, 1, &right) || !poly_add(left, right, &f)) {
        dims->congruences.n = n_congruences;
        return;
    }
    if (poly_is_constant(f)) {
        *trivial = dims->congruences.n == n_congruences;
        return;
    }
    struct dim_symbol *s = dim_symbol_of(dims, symbol);
    if (!s)
        return;
    if (kind == SYM_EQ) {
        set_value_from(s, f);
        return;
    }
    bool upper, strict = kind == SYM_LT || kind == SYM_GT;
    enum poly_side side = kind == SYM_LT || kind == SYM_LE ? POLY_AT_MOST : POLY_AT_LEAST;
    int64_t bound;
    dims->failed |= !vec_push(&dims->conditions, (struct dim_condition){ symbol, condition });
    if (poly_bound(f, side, strict, &upper, &bound))
        add_bound(s, upper, bound, poly_has_root(f, bound));
}

void dims_add(struct dim_solver *dims, sym_id condition, bool *trivial)
{
    bool ignored;
    trivial = trivial ? trivial : &ignored;
    *trivial = condition == SYM_ID_TRUE;
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
