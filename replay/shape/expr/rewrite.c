/* Rewriting of whole expressions: replacement, expansion, canonical conditions
 * (torch/fx/experimental/symbolic_shapes.py). */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "trace/base/hash.h"

enum { MAX_PRODUCTS = 1 << 16, MAX_CLAUSES = 1 << 12 };

sym_id rewrite_args(struct sym_pool *pool, sym_id e, rewrite_fn *rewrite, bool always)
{
    struct list args;
    list_init(&args, pool);
    bool changed = always, ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id arg = arg_at(pool, e, i), image = rewrite(pool, arg);
        changed |= image != arg;
        ok = list_push(&args, image);
    }
    sym_id result = !ok ? SYM_NONE : changed ? sym_make(pool, kind_at(pool, e), args.v, args.n) : e;
    list_release(&args);
    return result;
}

/* --- xreplace --- */

/* The image of each subexpression; memoised because a subexpression may occur many times. */
struct images {
    struct sym_pair *slots; /* from is SYM_NONE where empty */
    uint32_t n_slots, n;
    struct sym_pair inline_[32];
};

static struct sym_pair *image_slot(struct images *images, sym_id from)
{
    uint32_t at = (uint32_t)hash_mix(from, 1) & (images->n_slots - 1);
    while (images->slots[at].from != SYM_NONE && images->slots[at].from != from)
        at = (at + 1) & (images->n_slots - 1);
    return &images->slots[at];
}

static bool images_grow(struct images *images)
{
    struct images old = *images;
    const struct sym_pair *from = images->slots == images->inline_ ? old.inline_ : old.slots;
    images->n_slots *= 2;
    images->slots = malloc(images->n_slots * sizeof *images->slots);
    if (!images->slots) {
        images->slots = old.slots;
        images->n_slots = old.n_slots;
        return false;
    }
    for (uint32_t i = 0; i < images->n_slots; i++)
        images->slots[i].from = SYM_NONE;
    for (uint32_t i = 0; i < old.n_slots; i++)
        if (from[i].from != SYM_NONE)
            *image_slot(images, from[i].from) = from[i];
    if (old.slots != images->inline_)
        free(old.slots);
    return true;
}

static void images_init(struct images *images)
{
    images->slots = images->inline_;
    images->n_slots = 32;
    images->n = 0;
    for (uint32_t i = 0; i < 32; i++)
        images->inline_[i].from = SYM_NONE;
}

static bool images_put(struct images *images, struct sym_pair pair)
{
    if (images->n * 2 >= images->n_slots && !images_grow(images))
        return false;
    *image_slot(images, pair.from) = pair;
    images->n++;
    return true;
}

static void images_release(struct images *images)
{
    if (images->slots != images->inline_)
        free(images->slots);
}

static sym_id replace(struct sym_pool *pool, sym_id e, struct images *images);

static sym_id replace_args(struct sym_pool *pool, sym_id e, struct images *images)
{
    struct list args;
    list_init(&args, pool);
    bool changed = false, ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++) {
        sym_id arg = arg_at(pool, e, i), image = replace(pool, arg, images);
        changed |= image != arg;
        ok = list_push(&args, image);
    }
    sym_id result = !ok ? SYM_NONE : changed ? sym_make(pool, kind_at(pool, e), args.v, args.n) : e;
    list_release(&args);
    return result;
}

static sym_id replace(struct sym_pool *pool, sym_id e, struct images *images)
{
    struct sym_pair *known = image_slot(images, e);
    if (known->from == e)
        return known->to;
    if (!has_args(kind_at(pool, e)))
        return e;
    sym_id image = replace_args(pool, e, images);
    if (image != SYM_NONE && !images_put(images, (struct sym_pair){ e, image }))
        return pool_nomem(pool);
    return image;
}

sym_id sym_replace(struct sym_pool *pool, sym_id e, const struct sym_pair *pairs, uint32_t n)
{
    if (e == SYM_NONE)
        return SYM_NONE;
    struct images images;
    images_init(&images);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = images_put(&images, pairs[i]);
    sym_id result = ok ? replace(pool, e, &images) : pool_nomem(pool);
    images_release(&images);
    return result;
}

/* --- _fast_expand --- */

/* Returns the sum of the products of each term of a with each term of b. */
static sym_id multiply_out(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE)
        return SYM_NONE;
    bool sum_a = kind_at(pool, a) == SYM_ADD, sum_b = kind_at(pool, b) == SYM_ADD;
    if (!sum_a && !sum_b)
        return sym_mul(pool, a, b);
    uint32_t n = sum_a ? node_at(pool, a)->n : 1, m = sum_b ? node_at(pool, b)->n : 1;
    if ((uint64_t)n * m > MAX_PRODUCTS)
        return pool_fail(pool, "a product expands to more than %d terms", MAX_PRODUCTS);
    struct list terms;
    list_init(&terms, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n * m; i++)
        ok = list_push(&terms, sym_mul(pool, sum_a ? arg_at(pool, a, i / m) : a,
                                       sum_b ? arg_at(pool, b, i % m) : b));
    sym_id result = ok ? sym_make(pool, SYM_ADD, terms.v, terms.n) : SYM_NONE;
    list_release(&terms);
    return result;
}

static sym_id expand_power(struct sym_pool *pool, sym_id e)
{
    sym_id base = arg_at(pool, e, 0);
    int64_t exponent;
    if (kind_at(pool, base) != SYM_ADD || !sym_to_i64(pool, arg_at(pool, e, 1), &exponent))
        return e;
    if (exponent == -1)
        return e;
    if (exponent > MAX_PRODUCTS || exponent < -MAX_PRODUCTS)
        return pool_fail(pool, "a power expands to more than %d terms", MAX_PRODUCTS);
    sym_id result = base;
    for (int64_t i = 1; i < (exponent < 0 ? -exponent : exponent); i++)
        result = multiply_out(pool, result, base);
    return exponent < 0 ? sym_pow(pool, result, SYM_ID_MINUS_ONE) : result;
}

static sym_id expand_product(struct sym_pool *pool, sym_id e)
{
    sym_id above = SYM_ID_ONE, below = SYM_ID_ONE;
    uint32_t sums = 0, sums_below = 0;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++) {
        sym_id factor = arg_at(pool, e, i);
        if (kind_at(pool, factor) == SYM_POW && arg_at(pool, factor, 1) == SYM_ID_MINUS_ONE) {
            sums_below++;
            below = multiply_out(pool, below, arg_at(pool, factor, 0));
        } else {
            sums += kind_at(pool, factor) == SYM_ADD;
            above = multiply_out(pool, above, factor);
        }
        if (pool_failed(pool))
            return SYM_NONE;
    }
    if (sums == 0 && sums_below < 2)
        return e;
    return below == SYM_ID_ONE ? above : sym_div(pool, above, below);
}

static sym_id expand_anew(struct sym_pool *pool, sym_id e)
{
    sym_id made = rewrite_args(pool, e, sym_expand, false);
    if (made == SYM_NONE)
        return SYM_NONE;
    if (made != e)
        return sym_expand(pool, made);
    switch (kind_at(pool, e)) {
    case SYM_POW: return expand_power(pool, e);
    case SYM_MUL: return expand_product(pool, e);
    default: return e;
    }
}

sym_id sym_expand(struct sym_pool *pool, sym_id e)
{
    if (e == SYM_NONE || !has_args(kind_at(pool, e)))
        return e;
    sym_id known = memo_find(pool, MEMO_EXPAND, e, SYM_NONE);
    if (known != SYM_NONE)
        return known;
    return memo_put(pool, MEMO_EXPAND, e, SYM_NONE, expand_anew(pool, e));
}

/* --- canonicalize_bool_expr --- */

/* Builds as _from_args does: without rewriting, and a single term stays itself. */
static sym_id from_args(struct sym_pool *pool, enum sym_kind kind, struct list *args, bool sort)
{
    uint32_t fixed = args->n && is_number(pool, args->v[0]) ? 1 : 0;
    if (sort && args->n > 1 && !order_sort(pool, args->v + fixed, args->n - fixed, order_arguments))
        return SYM_NONE;
    if (args->n == 0)
        return kind == SYM_ADD ? SYM_ID_ZERO : SYM_ID_ONE;
    return args->n == 1 ? args->v[0] : pool_node(pool, kind, args->v, args->n);
}

static sym_id integer_coefficient(struct sym_pool *pool, sym_id e)
{
    sym_id first = kind_at(pool, e) == SYM_MUL ? arg_at(pool, e, 0) : e;
    return is_integer(pool, first) ? number_abs(pool, first) : SYM_ID_ONE;
}

static sym_id divide_term(struct sym_pool *pool, sym_id e, sym_id factor)
{
    if (is_number(pool, e))
        return number_div(pool, e, factor);
    if (factor == SYM_ID_ONE)
        return e;
    sym_id first = arg_at(pool, e, 0);
    struct list args;
    list_init(&args, pool);
    bool ok = list_push_args(&args, e);
    if (ok && first == factor) {
        memmove(args.v, args.v + 1, (args.n - 1) * sizeof *args.v);
        args.n--;
    } else if (ok) {
        args.v[0] = number_div(pool, first, factor);
        ok = args.v[0] != SYM_NONE;
    }
    sym_id result = ok ? from_args(pool, SYM_MUL, &args, true) : SYM_NONE;
    list_release(&args);
    return result;
}

static sym_id lowest_terms_of_sum(struct sym_pool *pool, sym_id e)
{
    sym_id factor = SYM_ID_ZERO;
    for (uint32_t i = 0; i < node_at(pool, e)->n && factor != SYM_NONE; i++)
        factor = number_gcd(pool, factor, integer_coefficient(pool, arg_at(pool, e, i)));
    if (factor == SYM_NONE || factor == SYM_ID_ONE)
        return factor == SYM_NONE ? SYM_NONE : e;
    struct list terms;
    list_init(&terms, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = list_push(&terms, divide_term(pool, arg_at(pool, e, i), factor));
    sym_id result = ok ? from_args(pool, SYM_ADD, &terms, true) : SYM_NONE;
    list_release(&terms);
    return result;
}

/* _reduce_to_lowest_terms. */
static sym_id lowest_terms(struct sym_pool *pool, sym_id e)
{
    if (e == SYM_NONE)
        return SYM_NONE;
    if (is_integer(pool, e))
        return SYM_ID_ONE;
    if (kind_at(pool, e) == SYM_ADD)
        return lowest_terms_of_sum(pool, e);
    return kind_at(pool, e) == SYM_MUL ? divide_term(pool, e, integer_coefficient(pool, e)) : e;
}

/* Moves a sum's negative terms, negated, to the left and its positive terms to the right. */
static bool split_terms_by_sign(struct sym_pool *pool, sym_id sum, sym_id *left, sym_id *right)
{
    struct list negative, positive;
    list_init(&negative, pool);
    list_init(&positive, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, sum)->n; i++) {
        sym_id term = arg_at(pool, sum, i);
        ok = has_minus(pool, term) ? list_push(&negative, sym_neg(pool, term))
                                   : list_push(&positive, term);
    }
    *right = ok ? from_args(pool, SYM_ADD, &positive, false) : SYM_NONE;
    *left = ok ? from_args(pool, SYM_ADD, &negative, true) : SYM_NONE;
    list_release(&negative);
    list_release(&positive);
    return *left != SYM_NONE && *right != SYM_NONE;
}

static sym_id canonical_relation(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    sym_id a = arg_at(pool, e, 0), b = arg_at(pool, e, 1);
    if ((facts_at(pool, a) | facts_at(pool, b)) & FACT_BOOLEAN)
        return e;
    bool turn = kind == SYM_GT || kind == SYM_GE;
    sym_id right = lowest_terms(pool, turn ? sym_sub(pool, a, b) : sym_sub(pool, b, a));
    sym_id left = SYM_ID_ZERO;
    if (right == SYM_NONE)
        return SYM_NONE;
    if (kind_at(pool, right) == SYM_ADD) {
        if (!split_terms_by_sign(pool, right, &left, &right))
            return SYM_NONE;
    } else if (has_minus(pool, right)) {
        left = sym_neg(pool, right);
        right = SYM_ID_ZERO;
    }
    return pool_node2(pool, turn ? relation_mirrored(kind) : kind, left, right);
}

/* Pushes negations inwards to the leaves. */
static sym_id negation_inwards(struct sym_pool *pool, sym_id e, bool negate)
{
    enum sym_kind kind = kind_at(pool, e);
    if (kind == SYM_NOT)
        return negation_inwards(pool, arg_at(pool, e, 0), !negate);
    if (kind != SYM_AND && kind != SYM_OR)
        return negate ? sym_not(pool, e) : e;
    struct list args;
    list_init(&args, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = list_push(&args, negation_inwards(pool, arg_at(pool, e, i), negate));
    enum sym_kind other = kind == SYM_AND ? SYM_OR : SYM_AND;
    sym_id result = ok ? sym_make(pool, negate ? other : kind, args.v, args.n) : SYM_NONE;
    list_release(&args);
    return result;
}

static sym_id distribute_clauses(struct sym_pool *pool, sym_id e, uint32_t *budget);

/* Distributes each argument separately. */
static sym_id distribute_each(struct sym_pool *pool, sym_id e, uint32_t *budget)
{
    struct list args;
    list_init(&args, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = list_push(&args, distribute_clauses(pool, arg_at(pool, e, i), budget));
    sym_id result = ok ? sym_make(pool, SYM_AND, args.v, args.n) : SYM_NONE;
    list_release(&args);
    return result;
}

/* Distributes the argument with index `at`: (p & q) | r is (p | r) & (q | r). */
static sym_id distribute_one(struct sym_pool *pool, sym_id e, uint32_t at, uint32_t *budget)
{
    sym_id conjunction = arg_at(pool, e, at);
    struct list rest, clauses;
    list_init(&rest, pool);
    list_init(&clauses, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = i == at || list_push(&rest, arg_at(pool, e, i));
    sym_id other = ok ? sym_make(pool, SYM_OR, rest.v, rest.n) : SYM_NONE;
    for (uint32_t i = 0; ok && i < node_at(pool, conjunction)->n; i++)
        ok = list_push(
            &clauses,
            distribute_clauses(pool, sym_or(pool, arg_at(pool, conjunction, i), other), budget));
    sym_id result = ok ? sym_make(pool, SYM_AND, clauses.v, clauses.n) : SYM_NONE;
    list_release(&rest);
    list_release(&clauses);
    return result;
}

static sym_id distribute_clauses(struct sym_pool *pool, sym_id e, uint32_t *budget)
{
    if (e == SYM_NONE)
        return SYM_NONE;
    if (*budget == 0)
        return pool_fail(pool, "a condition has more than %d clauses", MAX_CLAUSES);
    --*budget;
    if (kind_at(pool, e) == SYM_AND)
        return distribute_each(pool, e, budget);
    if (kind_at(pool, e) != SYM_OR)
        return e;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
        if (kind_at(pool, arg_at(pool, e, i)) == SYM_AND)
            return distribute_one(pool, e, i, budget);
    return e;
}

static sym_id canonical_clause(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    if (is_relational(kind))
        return canonical_relation(pool, e);
    if (kind != SYM_AND && kind != SYM_OR)
        return e;
    struct list args;
    list_init(&args, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = list_push(&args, sym_canonical(pool, arg_at(pool, e, i)));
    sym_id result = ok ? sym_make(pool, kind, args.v, args.n) : SYM_NONE;
    list_release(&args);
    return result;
}

sym_id sym_canonical(struct sym_pool *pool, sym_id e)
{
    if (e == SYM_NONE)
        return SYM_NONE;
    sym_id known = memo_find(pool, MEMO_CANONICAL, e, SYM_NONE);
    if (known != SYM_NONE)
        return known;
    enum sym_kind kind = kind_at(pool, e);
    sym_id clauses = e;
    uint32_t budget = MAX_CLAUSES;
    if (kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT)
        clauses = distribute_clauses(pool, negation_inwards(pool, e, false), &budget);
    if (clauses == SYM_NONE)
        return SYM_NONE;
    return memo_put(pool, MEMO_CANONICAL, e, SYM_NONE, canonical_clause(pool, clauses));
}
