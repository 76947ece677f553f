/* Sums: Add.flatten of sympy/core/add.py. */
#include <stdlib.h>
#include <string.h>

#include "replay/shape/expr/sym_pool.h"

struct sum_term {
    sym_id rest, coefficient;
};

enum { FEW_TERMS = 32 };

struct sum {
    struct sym_pool *pool;
    sym_id constant;
    struct sum_term *v; /* few, or allocated */
    size_t n, capacity;
    struct sum_term few[FEW_TERMS];
};

static bool push_term(struct sum *sum, struct sum_term term)
{
    if (sum->n == sum->capacity) {
        size_t capacity = 2 * sum->capacity;
        struct sum_term *v = malloc(capacity * sizeof *v);
        if (!v)
            return pool_nomem(sum->pool), false;
        memcpy(v, sum->v, sum->n * sizeof *v);
        if (sum->v != sum->few)
            free(sum->v);
        sum->v = v;
        sum->capacity = capacity;
    }
    sum->v[sum->n++] = term;
    return true;
}

sym_id split_coefficient(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    if (is_number(pool, e)) {
        *rest = SYM_ID_ONE;
        return e;
    }
    *rest = e;
    if (kind_at(pool, e) != SYM_MUL || !is_number(pool, arg_at(pool, e, 0)))
        return SYM_ID_ONE;
    sym_id coefficient = arg_at(pool, e, 0);
    uint32_t n = node_at(pool, e)->n;
    if (n == 2) {
        *rest = arg_at(pool, e, 1);
        return coefficient;
    }
    struct list factors;
    list_init(&factors, pool);
    *rest = list_push_args(&factors, e) ? pool_node(pool, SYM_MUL, factors.v + 1, n - 1) : SYM_NONE;
    list_release(&factors);
    return *rest == SYM_NONE ? SYM_NONE : coefficient;
}

sym_id split_constant(struct sym_pool *pool, sym_id e, sym_id *rest)
{
    if (is_number(pool, e)) {
        *rest = SYM_ID_ZERO;
        return e;
    }
    *rest = e;
    if (kind_at(pool, e) != SYM_ADD || !is_number(pool, arg_at(pool, e, 0)))
        return SYM_ID_ZERO;
    sym_id constant = arg_at(pool, e, 0);
    uint32_t n = node_at(pool, e)->n;
    struct list terms;
    list_init(&terms, pool);
    *rest = n == 2                      ? arg_at(pool, e, 1)
            : list_push_args(&terms, e) ? pool_node(pool, SYM_ADD, terms.v + 1, n - 1)
                                        : SYM_NONE;
    list_release(&terms);
    return *rest == SYM_NONE ? SYM_NONE : constant;
}

/* Adds e, or -e. */
static bool sum_put(struct sum *sum, sym_id e, bool negative)
{
    struct sym_pool *pool = sum->pool;
    if (is_number(pool, e)) {
        sum->constant = number_add(pool, sum->constant, negative ? number_neg(pool, e) : e);
        return sum->constant != SYM_NONE;
    }
    struct sum_term term;
    term.coefficient = split_coefficient(pool, e, &term.rest);
    if (term.coefficient != SYM_NONE && negative)
        term.coefficient = number_neg(pool, term.coefficient);
    if (term.coefficient == SYM_NONE)
        return false;
    /* -(-(x + y)) is a sum, too. */
    bool sum_itself = term.rest == e && kind_at(pool, e) == SYM_ADD;
    if (sum_itself ||
        (negative && term.coefficient == SYM_ID_ONE && kind_at(pool, term.rest) == SYM_ADD)) {
        for (uint32_t i = 0; i < node_at(pool, term.rest)->n; i++)
            if (!sum_put(sum, arg_at(pool, term.rest, i), negative && sum_itself))
                return false;
        return true;
    }
    if (sum->n >= SYM_MAX_TERMS)
        return pool_fail(pool, "an expression has more than %d terms", SYM_MAX_TERMS), false;
    return push_term(sum, term);
}

static void sum_init(struct sum *sum, struct sym_pool *pool)
{
    sum->pool = pool;
    sum->constant = SYM_ID_ZERO;
    sum->v = sum->few;
    sum->n = 0;
    sum->capacity = FEW_TERMS;
}

static int compare_rest(const void *a, const void *b)
{
    sym_id x = ((const struct sum_term *)a)->rest, y = ((const struct sum_term *)b)->rest;
    return (x > y) - (x < y);
}

/* Adds up like terms. They are adjacent once sorted by id, because equal expressions have equal
 * ids. */
static bool sum_collect(struct sum *sum)
{
    size_t n = 0;
    struct sum_term *v = sum->v;
    if (sum->n > 1)
        qsort(v, sum->n, sizeof *v, compare_rest);
    for (size_t i = 0; i < sum->n; i++) {
        if (n == 0 || v[n - 1].rest != v[i].rest) {
            v[n++] = v[i];
            continue;
        }
        v[n - 1].coefficient = number_add(sum->pool, v[n - 1].coefficient, v[i].coefficient);
        if (v[n - 1].coefficient == SYM_NONE)
            return false;
    }
    sum->n = n;
    return true;
}

static sym_id term_product(struct sym_pool *pool, struct sum_term term)
{
    if (term.coefficient == SYM_ID_ONE)
        return term.rest;
    if (kind_at(pool, term.rest) == SYM_ADD)
        return pool_node2(pool, SYM_MUL, term.coefficient, term.rest);
    if (kind_at(pool, term.rest) != SYM_MUL)
        return sym_mul(pool, term.coefficient, term.rest);
    struct list factors;
    list_init(&factors, pool);
    sym_id product = list_push(&factors, term.coefficient) && list_push_args(&factors, term.rest)
                         ? pool_node(pool, SYM_MUL, factors.v, factors.n)
                         : SYM_NONE;
    list_release(&factors);
    return product;
}

/* True when an infinite constant absorbs the term: oo + x is oo for every finite real x. */
static bool is_absorbed(const struct sym_pool *pool, sym_id constant, sym_id term)
{
    uint32_t f = facts_at(pool, term);
    if (constant != SYM_ID_OO && constant != SYM_ID_MINUS_OO)
        return false;
    return ((f & FACT_REAL) && (f & FACT_FINITE)) ||
           (constant == SYM_ID_OO ? known_nonnegative(f) : known_nonpositive(f));
}

static sym_id sum_build(struct sum *sum)
{
    struct sym_pool *pool = sum->pool;
    struct list out;
    list_init(&out, pool);
    bool ok = true;
    for (size_t i = 0; ok && i < sum->n; i++) {
        struct sum_term term = sum->v[i];
        if (number_sign(pool, term.coefficient) == 0 && term.coefficient != SYM_ID_NAN)
            continue;
        sym_id product = term_product(pool, term);
        if (product != SYM_NONE && is_absorbed(pool, sum->constant, product))
            continue;
        ok = list_push(&out, product);
    }
    ok = ok && order_sort(pool, out.v, out.n, order_arguments);
    bool constant = number_sign(pool, sum->constant) != 0;
    sym_id result = SYM_NONE;
    if (ok && constant && list_push(&out, sum->constant)) {
        memmove(out.v + 1, out.v, (out.n - 1) * sizeof *out.v);
        out.v[0] = sum->constant;
    }
    if (ok && !pool_failed(pool))
        result = out.n == 0   ? SYM_ID_ZERO
                 : out.n == 1 ? out.v[0]
                              : pool_node(pool, SYM_ADD, out.v, out.n);
    list_release(&out);
    return result;
}

/* Returns the sum, if all terms could be added to it. */
static sym_id sum_finish(struct sum *sum, bool ok)
{
    sym_id result = SYM_NONE;
    if (ok && sum->constant == SYM_ID_NAN)
        result = SYM_ID_NAN;
    else if (ok && sum_collect(sum))
        result = sum_build(sum);
    if (sum->v != sum->few)
        free(sum->v);
    return result;
}

sym_id build_add(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)kind;
    struct sum sum;
    sum_init(&sum, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = args[i] == SYM_ID_ZOO || sum_put(&sum, args[i], false);
    for (uint32_t i = 0; i < n; i++)
        if (args[i] == SYM_ID_ZOO)
            sum.constant = SYM_ID_NAN;
    return sum_finish(&sum, ok);
}

/* Returns whether -1 times the product is the product with another number: no factor is a number or
 * a product, as in those that are made unevaluated. */
static bool is_flat(const struct sym_pool *pool, sym_id e)
{
    if (kind_at(pool, e) == SYM_ADD) {
        for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
            if (kind_at(pool, arg_at(pool, e, i)) == SYM_ADD || !is_flat(pool, arg_at(pool, e, i)))
                return false;
        return true;
    }
    if (kind_at(pool, e) != SYM_MUL)
        return e != SYM_ID_ZOO;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++) {
        sym_id factor = arg_at(pool, e, i);
        if (kind_at(pool, factor) == SYM_MUL || (i && is_number(pool, factor)))
            return false;
    }
    return true;
}

sym_id sym_sub(struct sym_pool *pool, sym_id a, sym_id b)
{
    sym_id known = memo_find(pool, MEMO_SUB, a, b);
    if (known != SYM_NONE)
        return known;
    if (a == SYM_NONE || b == SYM_NONE || pool_failed(pool) || a == SYM_ID_ZOO || !is_flat(pool, b))
        return sym_add(pool, a, sym_neg(pool, b));
    struct sum sum;
    sum_init(&sum, pool);
    bool ok = sum_put(&sum, a, false) && sum_put(&sum, b, true);
    return memo_put(pool, MEMO_SUB, a, b, sum_finish(&sum, ok));
}
