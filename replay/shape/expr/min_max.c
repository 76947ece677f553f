/* Max and Min: MinMaxBase of torch/utils/_sympy/functions.py, which is weaker than sympy's own. */
#include "replay/shape/expr/sym_pool.h"

static sym_id identity_of(enum sym_kind kind)
{
    return kind == SYM_MAX ? SYM_ID_MINUS_OO : SYM_ID_OO;
}

static sym_id zero_of(enum sym_kind kind)
{
    return kind == SYM_MAX ? SYM_ID_OO : SYM_ID_MINUS_OO;
}

static enum sym_kind other_of(enum sym_kind kind)
{
    return kind == SYM_MAX ? SYM_MIN : SYM_MAX;
}

static bool is_min_max(enum sym_kind kind)
{
    return kind == SYM_MAX || kind == SYM_MIN;
}

static bool list_contains(const struct list *list, sym_id e)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->v[i] == e)
            return true;
    return false;
}

static bool put_distinct(struct list *list, sym_id e)
{
    return list_contains(list, e) || list_push(list, e);
}

static bool has_direct_arg(const struct sym_pool *pool, sym_id e, sym_id arg)
{
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
        if (arg_at(pool, e, i) == arg)
            return true;
    return false;
}

/* As sympy's evaluate=False, which still sorts arguments and drops repetitions. */
static sym_id unevaluated(struct sym_pool *pool, enum sym_kind kind, const struct list *args)
{
    struct list distinct;
    list_init(&distinct, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < args->n; i++)
        ok = put_distinct(&distinct, args->v[i]);
    ok = ok && order_sort(pool, distinct.v, distinct.n, order_ordered);
    sym_id result = !ok               ? SYM_NONE
                    : distinct.n == 0 ? identity_of(kind)
                    : distinct.n == 1 ? distinct.v[0]
                                      : pool_node(pool, kind, distinct.v, distinct.n);
    list_release(&distinct);
    return result;
}

/* _new_args_filter: replaces arguments of the same kind by their arguments and drops identities. */
static bool filter_arguments(struct sym_pool *pool, enum sym_kind kind, const sym_id *args,
                             uint32_t n, struct list *out, bool *zero)
{
    for (uint32_t i = 0; i < n; i++) {
        sym_id e = args[i];
        if (e == SYM_ID_NAN || e == SYM_ID_ZOO)
            return pool_fail(pool, "ValueError: The argument '%s' is not comparable.",
                             e == SYM_ID_NAN ? "nan" : "zoo"),
                   false;
        *zero |= e == zero_of(kind);
        if (e == identity_of(kind))
            continue;
        if (kind_at(pool, e) != kind && !put_distinct(out, e))
            return false;
        for (uint32_t j = 0; kind_at(pool, e) == kind && j < node_at(pool, e)->n; j++)
            if (!put_distinct(out, arg_at(pool, e, j)))
                return false;
    }
    return true;
}

/* --- _collapse_arguments --- */

static bool more_extreme(struct sym_pool *pool, enum sym_kind kind, sym_id a, sym_id b)
{
    int c = sym_number_compare(pool, a, b);
    return kind == SYM_MAX ? c > 0 : c < 0;
}

/* Finds the most extreme number among the arguments of `kind` in e. */
static void extreme_within(struct sym_pool *pool, enum sym_kind kind, sym_id e, sym_id *best)
{
    if (!is_min_max(kind_at(pool, e)))
        return;
    sym_id first = arg_at(pool, e, 0);
    if (kind_at(pool, e) == kind && is_number(pool, first) &&
        (*best == SYM_NONE || more_extreme(pool, kind, first, *best)))
        *best = first;
    for (uint32_t i = 0; i < node_at(pool, e)->n; i++)
        extreme_within(pool, kind, arg_at(pool, e, i), best);
}

/* Drops arguments that a number decides: Max(5, Min(3, x)) is 5. */
static void drop_by_number(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    if (!is_number(pool, args->v[0]))
        return;
    sym_id best = SYM_NONE;
    for (uint32_t i = 0; i < args->n; i++)
        extreme_within(pool, kind, args->v[i], &best);
    for (uint32_t i = 0; i < args->n && is_number(pool, args->v[i]); i++)
        if (best == SYM_NONE || more_extreme(pool, kind, args->v[i], best))
            best = args->v[i];
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->n; i++) {
        sym_id e = args->v[i];
        bool drop = kind_at(pool, e) == other_of(kind) &&
                    sym_binary(pool, kind == SYM_MAX ? SYM_LT : SYM_GT, arg_at(pool, e, 0), best) ==
                        SYM_ID_TRUE;
        if (!drop)
            args->v[n++] = e;
    }
    args->n = n;
}

/* Rewrites e, an argument beside the argument `a`: `a` need not be repeated in e, and it absorbs an
 * argument of the opposite kind that contains it: Max(a, Min(a, b)) is a. */
static sym_id without_repeated_arg(struct sym_pool *pool, enum sym_kind kind, sym_id e, sym_id a)
{
    enum sym_kind inner = kind_at(pool, e);
    if (!is_min_max(inner))
        return e;
    bool holds = has_direct_arg(pool, e, a);
    if (holds && inner != kind)
        return a;
    struct list args;
    list_init(&args, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        if (!holds || arg_at(pool, e, i) != a)
            ok = list_push(&args, without_repeated_arg(pool, kind, arg_at(pool, e, i), a));
    sym_id result = ok ? unevaluated(pool, inner, &args) : SYM_NONE;
    list_release(&args);
    return result;
}

/* Puts the arguments that all of the opposite kind have in common into `common`. */
static bool shared_args(struct sym_pool *pool, const struct list *others, struct list *common)
{
    sym_id first = others->v[0];
    for (uint32_t i = 0; i < node_at(pool, first)->n; i++) {
        sym_id arg = arg_at(pool, first, i);
        bool everywhere = true;
        for (uint32_t j = 1; j < others->n; j++)
            everywhere &= has_direct_arg(pool, others->v[j], arg);
        if (everywhere && !list_push(common, arg))
            return false;
    }
    return true;
}

/* Returns the node of the opposite kind without its shared arguments; sets *empty when none is
 * left. */
static sym_id without_shared(struct sym_pool *pool, sym_id e, const struct list *common,
                             bool *empty)
{
    struct list rest;
    list_init(&rest, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        if (!list_contains(common, arg_at(pool, e, i)))
            ok = list_push(&rest, arg_at(pool, e, i));
    *empty |= rest.n == 0;
    sym_id result = ok ? unevaluated(pool, kind_at(pool, e), &rest) : SYM_NONE;
    list_release(&rest);
    return result;
}

/* Factors out common arguments: Max(Min(x, y), Min(x, z)) is Min(x, Max(y, z)). */
static bool factor_common(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    struct list others, remaining, common, rests;
    list_init(&others, pool);
    list_init(&remaining, pool);
    list_init(&common, pool);
    list_init(&rests, pool);
    bool ok = true, empty = false;
    for (uint32_t i = 0; ok && i < args->n; i++)
        ok = list_push(kind_at(pool, args->v[i]) == other_of(kind) ? &others : &remaining,
                       args->v[i]);
    ok = ok && (others.n == 0 || shared_args(pool, &others, &common));
    if (ok && common.n) {
        for (uint32_t i = 0; ok && i < others.n; i++)
            ok = list_push(&rests, without_shared(pool, others.v[i], &common, &empty));
        if (ok && !empty)
            ok = list_push(&common, unevaluated(pool, kind, &rests));
        ok = ok && list_push(&remaining, unevaluated(pool, other_of(kind), &common));
        args->n = 0;
        for (uint32_t i = 0; ok && i < remaining.n; i++)
            ok = put_distinct(args, remaining.v[i]);
    }
    list_release(&others);
    list_release(&remaining);
    list_release(&common);
    list_release(&rests);
    return ok;
}

static bool collapse_arguments(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    if (args->n == 0)
        return true;
    if (!order_sort(pool, args->v, args->n, order_ordered))
        return false;
    bool nested = false, heavy = false;
    for (uint32_t i = 0; i < args->n; i++) {
        nested |= is_min_max(kind_at(pool, args->v[i]));
        heavy |= is_heavy(pool, args->v[i]);
    }
    if (!nested || heavy)
        return true;
    drop_by_number(pool, kind, args);
    for (uint32_t i = 0; i < args->n; i++)
        for (uint32_t j = i + 1; j < args->n; j++) {
            args->v[j] = without_repeated_arg(pool, kind, args->v[j], args->v[i]);
            if (args->v[j] == SYM_NONE)
                return false;
        }
    return args->n < 2 || factor_common(pool, kind, args);
}

/* --- _find_localzeros --- */

/* Reduces multiples of one expression with a known sign: Max(3*x, 5*x) is 5*x where x >= 0. */
static bool collapse_multiples(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    sym_id rest_a, rest_b;
    if (args->n != 2)
        return true;
    sym_id a = split_coefficient(pool, args->v[0], &rest_a);
    sym_id b = split_coefficient(pool, args->v[1], &rest_b);
    if (a == SYM_NONE || b == SYM_NONE)
        return false;
    if (rest_a != rest_b)
        return true;
    uint32_t f = facts_at(pool, rest_a);
    if (!known_nonnegative(f) && !known_nonpositive(f))
        return true;
    bool a_smaller = (sym_number_compare(pool, a, b) < 0) == known_nonnegative(f);
    args->v[0] = args->v[(kind == SYM_MIN) == a_smaller ? 0 : 1];
    args->n = 1;
    return true;
}

/* Decides between one number and one expression, where the number is 0 or 1. */
static bool decide_small(struct sym_pool *pool, enum sym_kind kind, struct list *args,
                         sym_id number)
{
    uint32_t f = facts_at(pool, args->v[0]);
    bool zero = number_sign(pool, number) == 0;
    bool one = sym_number_compare(pool, number, SYM_ID_ONE) == 0;
    if (!(zero && known_nonnegative(f)) && !(one && known_positive(f)))
        return false;
    if (kind == SYM_MIN)
        args->v[0] = number;
    return true;
}

static bool find_local_zeros(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    sym_id number = SYM_NONE;
    uint32_t n = 0, total = args->n;
    for (uint32_t i = 0; i < total; i++) {
        sym_id e = args->v[i];
        if (!is_number(pool, e)) {
            args->n = n; /* keeps what was kept so far */
            args->v[n] = e;
            n += !list_contains(args, e);
            args->n = total;
        } else if (number == SYM_NONE || more_extreme(pool, kind, e, number)) {
            number = e;
        }
    }
    args->n = n;
    if (number == SYM_NONE)
        return collapse_multiples(pool, kind, args);
    if (n == 1 && decide_small(pool, kind, args, number))
        return true;
    return list_push(args, number);
}

/* --- Sums of two distinct symbols each, all different: nothing can be simplified --- */

static bool is_symbol_pair(const struct sym_pool *pool, sym_id e)
{
    return kind_at(pool, e) == SYM_ADD && node_at(pool, e)->n == 2 &&
           kind_at(pool, arg_at(pool, e, 0)) == SYM_SYMBOL &&
           kind_at(pool, arg_at(pool, e, 1)) == SYM_SYMBOL;
}

sym_id build_min_max(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    struct list list;
    list_init(&list, pool);
    bool zero = false, pairs = n == 2;
    bool ok = filter_arguments(pool, kind, args, n, &list, &zero);
    for (uint32_t i = 0; ok && i < list.n; i++)
        pairs &= is_symbol_pair(pool, list.v[i]);
    if (ok && !zero && !pairs)
        ok = collapse_arguments(pool, kind, &list) && find_local_zeros(pool, kind, &list);
    sym_id result = !ok ? SYM_NONE : zero ? zero_of(kind) : unevaluated(pool, kind, &list);
    list_release(&list);
    return result;
}
