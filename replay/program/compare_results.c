#include "replay/program/compare_results.h"

#include <math.h>

enum { BIND_DEPTH = 50, BURN_LIMIT = 100000 };

/* Returns whether two expressions have the same text after replacements. Unevaluated relations
 * may be equal although they are different expressions, and a reader would take them for equal. */
static bool has_same_text(struct sym_pool *pool, sym_id a, sym_id b)
{
    struct buf x = BUF_INIT, y = BUF_INIT;
    sym_print(pool, a, &x);
    sym_print(pool, b, &y);
    bool ret = !x.failed && !y.failed && str_eq(buf_str(&x), buf_str(&y));
    buf_release(&x);
    buf_release(&y);
    return ret;
}

struct shared_symbol {
    struct shape_env *env;
    bool found;
};

static void find_replacement(void *user, sym_id symbol)
{
    struct shared_symbol *shared = user;
    struct sym_pool *pool = env_pool(shared->env);
    for (uint32_t i = 0; i < env_n_replacements(shared->env) && !shared->found; i++)
        shared->found = sym_has(pool, env_replacement_at(shared->env, i)->to, symbol);
}

/* Returns whether the record is the result in expanded form, with a symbol by which another one was
 * replaced: ShapeEnv.replace expands what it replaces, which was done when the graph was printed,
 * while the result was computed after the replacement. */
static bool is_expanded(struct shape_env *env, sym_id recorded, sym_id got)
{
    struct sym_pool *pool = env_pool(env);
    struct shared_symbol shared = { .env = env };
    if (!env_n_replacements(env) || sym_is_number(pool, got) || sym_expand(pool, got) != recorded)
        return false;
    sym_free_symbols(pool, got, find_replacement, &shared);
    return shared.found;
}

/* Returns whether two hints are floats that are equal but for what is lost where the constants of
 * an expression are recorded with 15 digits. */
static bool nearly_equal_floats(const struct sym_pool *pool, sym_id x, sym_id y)
{
    if (sym_kind_of(pool, x) != SYM_FLOAT || sym_kind_of(pool, y) != SYM_FLOAT)
        return false;
    double a = sym_to_double(pool, x), b = sym_to_double(pool, y);
    return fabs(a - b) <= 1e-13 * fmax(fabs(a), fabs(b));
}

static enum likeness compare_syms(struct ops *ops, sym_id recorded, sym_id got)
{
    struct shape_env *env = ops_env(ops);
    struct sym_pool *pool = ops_pool(ops);
    if (recorded == got)
        return LIKE_SAME;
    sym_id a = env_replace(env, recorded), b = env_replace(env, got);
    if (a == SYM_NONE || b == SYM_NONE)
        return LIKE_OTHER;
    if (a == b)
        return LIKE_SAME; /* because a float was recorded with 15 digits */
    if ((sym_kind_of(pool, a) != SYM_INTEGER || sym_kind_of(pool, b) != SYM_INTEGER) &&
        (has_same_text(pool, a, b) || is_expanded(env, a, b)))
        return LIKE_SAME;
    sym_id x = env_hint(env, a), y = env_hint(env, b);
    if (x == SYM_NONE || y == SYM_NONE)
        return LIKE_LATER;
    if (x == y || nearly_equal_floats(pool, x, y))
        return LIKE_LATER;
    return LIKE_OTHER;
}

static enum likeness worse(enum likeness a, enum likeness b)
{
    return a > b ? a : b;
}

/* Compares devices; one without an index is the current device. */
static bool is_same_device(struct device recorded, struct device got)
{
    if (recorded.type == DEVICE_NONE || device_equal(recorded, got))
        return true;
    return recorded.type == got.type && recorded.index + got.index == -1;
}

static enum likeness compare_tensor(struct ops *ops, const struct expected *e,
                                    const struct tensor_meta *got)
{
    enum likeness ret = LIKE_SAME;
    if (e->dtype != got->dtype || e->ndim != got->ndim || !is_same_device(e->device, got->device))
        return LIKE_OTHER;
    for (uint32_t i = 0; i < e->ndim && ret != LIKE_OTHER; i++) {
        ret = worse(ret, compare_syms(ops, e->size[i], got->size[i]));
        if (e->stride && got->stride)
            ret = worse(ret, compare_syms(ops, e->stride[i], got->stride[i]));
    }
    return ret;
}

enum likeness compare_value(struct ops *ops, const struct expected *expected, struct value got)
{
    if (expected->kind == EXPECT_NOTHING)
        return expected->unreadable ? LIKE_OTHER : LIKE_SAME;
    if (expected->kind == EXPECT_TENSOR)
        return got.kind == VALUE_TENSOR ? compare_tensor(ops, expected, got.u.tensor.meta)
                                        : LIKE_OTHER;
    return value_is_number(got) ? compare_syms(ops, expected->number, got.u.sym) : LIKE_OTHER;
}

void unbound_release(struct unbound *unbound)
{
    vec_release(&unbound->symbols);
}

bool unbound_gather(struct unbound *unbound, struct shape_env *env)
{
    uint32_t n = env_n_symbols(env);
    for (; unbound->seen < n; unbound->seen++) {
        sym_id symbol = env_symbol_at(env, unbound->seen);
        if (env_is_unbacked(env, symbol) && !vec_push(&unbound->symbols, symbol))
            return false;
    }
    return true;
}

static size_t unbound_index(const struct unbound *unbound, sym_id symbol)
{
    for (size_t i = 0; i < unbound->symbols.n; i++)
        if (unbound->symbols.v[i] == symbol)
            return i;
    return unbound->symbols.n;
}

/* PyTorch creates more symbols than graphs show (a call may be traced twice, and the first result
 * dropped). So this creates symbols until the recorded one exists. */
static bool create_until(struct unbound *unbound, struct shape_env *env, sym_id symbol)
{
    struct sym_range range;
    struct str name = sym_name(env_pool(env), symbol);
    bool is_float = str_starts(name, STR("zuf"));
    uint64_t number;
    if (env_range(env, symbol, &range))
        return true;
    if (!str_to_u64(str_from(name, is_float ? 3 : 1), &number) || number > BURN_LIMIT)
        return false;
    for (uint64_t i = 0; i <= number; i++) {
        sym_id made =
            is_float ? env_create_unbacked_symfloat(env) : env_create_unbacked_symint(env);
        unbound->seen = env_n_symbols(env);
        if (made == symbol)
            return true;
        if (made == SYM_NONE)
            return false;
    }
    return false;
}

static void bind_symbol(struct unbound *unbound, struct ops *ops, sym_id recorded, size_t at)
{
    struct shape_env *env = ops_env(ops);
    sym_id fresh = unbound->symbols.v[at];
    if (recorded != fresh) {
        bool number = sym_is_number(ops_pool(ops), recorded);
        if (!number && (sym_kind_of(ops_pool(ops), recorded) != SYM_SYMBOL ||
                        !create_until(unbound, env, recorded)))
            return;
        if (!number && env_is_unbacked(env, recorded))
            env_rename_unbacked(env, fresh, recorded);
        else /* the item of a tensor that stores a float of the program */
            env_set_replacement(env, fresh, recorded, "rename_unbacked_to");
    }
    unbound->symbols.v[at] = unbound->symbols.v[--unbound->symbols.n];
}

static void bind_syms(struct unbound *unbound, struct ops *ops, sym_id recorded, sym_id got,
                      unsigned depth)
{
    struct sym_pool *pool = ops_pool(ops);
    if (depth > BIND_DEPTH || recorded == SYM_NONE || got == SYM_NONE || sym_is_number(pool, got))
        return;
    if (sym_kind_of(pool, got) == SYM_SYMBOL) {
        size_t at = unbound_index(unbound, got);
        if (at < unbound->symbols.n)
            bind_symbol(unbound, ops, recorded, at);
        return;
    }
    uint32_t n = sym_n_args(pool, got);
    if (sym_kind_of(pool, recorded) != sym_kind_of(pool, got) || sym_n_args(pool, recorded) != n)
        return;
    for (uint32_t i = 0; i < n; i++)
        bind_syms(unbound, ops, sym_arg(pool, recorded, i), sym_arg(pool, got, i), depth + 1);
}

void bind_unbacked_symbols(struct unbound *unbound, struct ops *ops,
                           const struct expected *expected, struct value got)
{
    if (unbound->symbols.n == 0)
        return;
    if (expected->kind == EXPECT_NUMBER && value_is_number(got))
        bind_syms(unbound, ops, expected->number, got.u.sym, 0);
    if (expected->kind != EXPECT_TENSOR || got.kind != VALUE_TENSOR ||
        got.u.tensor.meta->ndim != expected->ndim)
        return;
    const struct tensor_meta *meta = got.u.tensor.meta;
    for (uint32_t i = 0; i < expected->ndim; i++)
        bind_syms(unbound, ops, expected->size[i], meta->size[i], 0);
    for (uint32_t i = 0; i < expected->ndim && expected->stride && meta->stride; i++)
        bind_syms(unbound, ops, expected->stride[i], meta->stride[i], 0);
}

struct unbound_adopter {
    struct unbound *unbound;
    struct shape_env *env;
};

static void know_symbol(void *user, sym_id symbol)
{
    struct unbound_adopter *k = user;
    struct str name = sym_name(env_pool(k->env), symbol);
    if (str_starts(name, STR("u")) || str_starts(name, STR("zuf")))
        create_until(k->unbound, k->env, symbol);
}

void know_unbacked(struct unbound *unbound, struct ops *ops, const struct expected *e)
{
    struct unbound_adopter k = { unbound, ops_env(ops) };
    if (e->kind == EXPECT_NUMBER)
        sym_free_symbols(ops_pool(ops), e->number, know_symbol, &k);
    for (uint32_t i = 0; e->kind == EXPECT_TENSOR && i < e->ndim; i++) {
        sym_free_symbols(ops_pool(ops), e->size[i], know_symbol, &k);
        if (e->stride)
            sym_free_symbols(ops_pool(ops), e->stride[i], know_symbol, &k);
    }
}

struct unbacked_search {
    struct shape_env *env;
    bool unbacked;
};

static void check_unbacked(void *user, sym_id symbol)
{
    struct unbacked_search *naming = user;
    naming->unbacked |= env_is_unbacked(naming->env, symbol);
}

/* Returns whether e, before replacements, contains an unbacked symbol. */
static bool contains_unbacked(struct shape_env *env, sym_id e)
{
    struct unbacked_search naming = { env, false };
    if (!sym_is_number(env_pool(env), e))
        sym_free_symbols(env_pool(env), e, check_unbacked, &naming);
    return naming.unbacked;
}

static void replace_all(struct shape_env *env, const sym_id *from, uint32_t n, bool all, sym_id *to)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = all || contains_unbacked(env, from[i]) ? env_replace(env, from[i]) : from[i];
}

static void print_replaced(struct ops *ops, struct value value, bool all, struct buf *out)
{
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    struct tensor_meta meta;
    if (value_is_number(value)) {
        replace_all(ops_env(ops), &value.u.sym, 1, all, &value.u.sym);
    } else if (value.kind == VALUE_TENSOR && value.u.tensor.meta->ndim <= TENSOR_MAX_DIM) {
        meta = *value.u.tensor.meta;
        replace_all(ops_env(ops), meta.size, meta.ndim, all, sizes);
        meta.size = sizes;
        if (meta.stride) {
            replace_all(ops_env(ops), meta.stride, meta.ndim, all, strides);
            meta.stride = strides;
        }
        value.u.tensor.meta = &meta;
    }
    value_print(ops_pool(ops), value, out);
}

void print_value_now(struct ops *ops, struct value value, struct buf *out)
{
    print_replaced(ops, value, true, out);
}

void print_value_then(struct ops *ops, struct value value, struct buf *out)
{
    print_replaced(ops, value, false, out);
}
