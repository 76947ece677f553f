/* The function through which every constructor is called, and the table of operations done so far.
 */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "trace/base/hash.h"

/* The function that builds a kind, and its number of arguments (0: any number). */
struct kind_maker {
    build_fn *build;
    uint8_t least, most;
};

/* clang-format off */
static const struct kind_maker makers[SYM_KINDS] = {
    [SYM_ADD] = { build_add, 0, 0 },              [SYM_MUL] = { build_mul, 0, 0 },
    [SYM_POW] = { build_pow, 2, 2 },              [SYM_ABS] = { build_abs, 1, 1 },
    [SYM_EQ] = { build_relation, 2, 2 },          [SYM_NE] = { build_relation, 2, 2 },
    [SYM_LT] = { build_relation, 2, 2 },          [SYM_LE] = { build_relation, 2, 2 },
    [SYM_GT] = { build_relation, 2, 2 },          [SYM_GE] = { build_relation, 2, 2 },
    [SYM_AND] = { build_and_or, 0, 0 },           [SYM_OR] = { build_and_or, 0, 0 },
    [SYM_NOT] = { build_not, 1, 1 },
    [SYM_MAX] = { build_min_max, 0, 0 },          [SYM_MIN] = { build_min_max, 0, 0 },
    [SYM_FLOORDIV] = { build_floordiv, 2, 2 },    [SYM_CLEANDIV] = { build_floordiv, 2, 2 },
    [SYM_MOD] = { build_mod, 2, 2 },              [SYM_PYTHON_MOD] = { build_mod, 2, 2 },
    [SYM_MODULAR_INDEXING] = { build_modular_indexing, 3, 3 },
    [SYM_WHERE] = { build_where, 3, 3 },          [SYM_PIECEWISE] = { build_piecewise, 0, 0 },
    [SYM_EXPR_COND_PAIR] = { build_pair, 2, 2 },
    [SYM_INT_TRUE_DIV] = { build_true_div, 2, 2 }, [SYM_FLOAT_TRUE_DIV] = { build_true_div, 2, 2 },
    [SYM_TO_FLOAT] = { build_to_float, 1, 1 },    [SYM_TRUNC_TO_INT] = { build_to_int, 1, 1 },
    [SYM_FLOOR_TO_INT] = { build_to_int, 1, 1 },  [SYM_CEIL_TO_INT] = { build_to_int, 1, 1 },
    [SYM_ROUND_TO_INT] = { build_to_int, 1, 1 },
    [SYM_ROUND_DECIMAL] = { build_round_decimal, 2, 2 },
    [SYM_TRUNC_TO_FLOAT] = { build_trunc_to_float, 1, 1 },
    [SYM_POW_BY_NATURAL] = { build_pow_by_natural, 2, 2 },
    [SYM_FLOAT_POW] = { build_float_pow, 2, 2 },
    [SYM_BITWISE_AND] = { build_bitwise, 2, 2 },  [SYM_BITWISE_OR] = { build_bitwise, 2, 2 },
    [SYM_BITWISE_XOR] = { build_bitwise, 2, 2 },
    [SYM_SQRT] = { build_opaque, 1, 1 },          [SYM_COS] = { build_opaque, 1, 1 },
    [SYM_COSH] = { build_opaque, 1, 1 },          [SYM_SIN] = { build_opaque, 1, 1 },
    [SYM_SINH] = { build_opaque, 1, 1 },          [SYM_TAN] = { build_opaque, 1, 1 },
    [SYM_TANH] = { build_opaque, 1, 1 },          [SYM_ASIN] = { build_opaque, 1, 1 },
    [SYM_ACOS] = { build_opaque, 1, 1 },          [SYM_ATAN] = { build_opaque, 1, 1 },
    [SYM_EXP] = { build_opaque, 1, 1 },           [SYM_LOG] = { build_opaque, 1, 1 },
    [SYM_ASINH] = { build_opaque, 1, 1 },         [SYM_LOG2] = { build_opaque, 1, 1 },
    [SYM_IDENTITY] = { build_identity, 1, 1 },
    [SYM_NON_OVERLAPPING] = { build_non_overlapping, 0, 0 },
};
/* clang-format on */

static bool usable(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    if (pool_failed(pool))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (args[i] == SYM_NONE)
            return pool_fail(pool, "%s of nothing", sym_classes[kind].name), false;
    if ((unsigned)kind >= SYM_KINDS || !makers[kind].build)
        return pool_fail(pool, "TypeError: not an operation"), false;
    const struct kind_maker *maker = &makers[kind];
    if (maker->most && (n < maker->least || n > maker->most))
        return pool_fail(pool, "TypeError: %s takes %d argument%s (%u given)",
                         sym_classes[kind].name, maker->most, maker->most == 1 ? "" : "s", n),
               false;
    for (uint32_t i = 0; kind == SYM_PIECEWISE && i < n; i++)
        if (kind_at(pool, args[i]) != SYM_EXPR_COND_PAIR)
            return pool_fail(pool, "TypeError: Piecewise of what is no (expression, condition)"),
                   false;
    return true;
}

/* --- The table of operations --- */

static size_t memo_place(const struct sym_pool *pool, uint32_t code, sym_id a, sym_id b)
{
    uint64_t h = hash_mix(((uint64_t)a << 32) | b, code);
    size_t at = (size_t)(h ^ (h >> 29)) & (pool->n_memo - 1);
    for (; pool->memo[at].code_plus_1; at = (at + 1) & (pool->n_memo - 1)) {
        const struct sym_memo *memo = &pool->memo[at];
        if (memo->a == a && memo->b == b && memo->code_plus_1 == code + 1)
            break;
    }
    return at;
}

static bool memo_grow(struct sym_pool *pool)
{
    struct sym_memo *old = pool->memo;
    size_t n = pool->n_memo;
    struct sym_memo *memo = calloc(n * 2, sizeof *memo);
    if (!memo)
        return pool_nomem(pool), false;
    pool->memo = memo;
    pool->n_memo = n * 2;
    for (size_t i = 0; i < n; i++)
        if (old[i].code_plus_1)
            memo[memo_place(pool, old[i].code_plus_1 - 1, old[i].a, old[i].b)] = old[i];
    free(old);
    return true;
}

sym_id memo_find(const struct sym_pool *pool, uint32_t code, sym_id a, sym_id b)
{
    const struct sym_memo *memo = &pool->memo[memo_place(pool, code, a, b)];
    return memo->code_plus_1 ? memo->result : SYM_NONE;
}

sym_id memo_put(struct sym_pool *pool, uint32_t code, sym_id a, sym_id b, sym_id result)
{
    if (result == SYM_NONE || pool_failed(pool) ||
        ((pool->memo_used + 1) * 4 > pool->n_memo * 3 && !memo_grow(pool)))
        return SYM_NONE;
    struct sym_memo *memo = &pool->memo[memo_place(pool, code, a, b)];
    pool->memo_used += !memo->code_plus_1;
    *memo = (struct sym_memo){ code + 1, a, b, result };
    return result;
}

sym_id sym_binary(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b)
{
    sym_id known = memo_find(pool, kind, a, b);
    if (known != SYM_NONE)
        return known;
    sym_id args[] = { a, b };
    if (!usable(pool, kind, args, 2))
        return SYM_NONE;
    return memo_put(pool, kind, a, b, makers[kind].build(pool, kind, args, 2));
}

sym_id sym_unary(struct sym_pool *pool, enum sym_kind kind, sym_id a)
{
    sym_id known = memo_find(pool, kind, a, SYM_NONE);
    if (known != SYM_NONE)
        return known;
    if (!usable(pool, kind, &a, 1))
        return SYM_NONE;
    return memo_put(pool, kind, a, SYM_NONE, makers[kind].build(pool, kind, &a, 1));
}

sym_id sym_make(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    if (n == 2)
        return sym_binary(pool, kind, args[0], args[1]);
    if (n == 1)
        return sym_unary(pool, kind, args[0]);
    return usable(pool, kind, args, n) ? makers[kind].build(pool, kind, args, n) : SYM_NONE;
}

sym_id sym_unevaluated(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    if (n == 0)
        return pool_fail(pool, "TypeError: an operation on nothing");
    return usable(pool, kind, args, n) ? pool_node(pool, kind, args, n) : SYM_NONE;
}

sym_id sym_neg(struct sym_pool *pool, sym_id a)
{
    return sym_mul(pool, SYM_ID_MINUS_ONE, a);
}

sym_id sym_div(struct sym_pool *pool, sym_id a, sym_id b)
{
    return sym_mul(pool, a, sym_pow(pool, b, SYM_ID_MINUS_ONE));
}
