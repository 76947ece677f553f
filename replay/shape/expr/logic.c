/* And, Or and Not: sympy/logic/boolalg.py. */
#include "replay/shape/expr/sym_pool.h"

static bool put_flat(struct sym_pool *pool, enum sym_kind kind, sym_id e, struct list *out)
{
    if (kind_at(pool, e) != kind)
        return list_push(out, e);
    return list_push_args(out, e);
}

/* Drops repeated arguments, comparing relations by their canonical form. Sets *clash when an
 * argument and its negation are both present. */
static bool drop_repeated(struct sym_pool *pool, struct list *args, bool *clash)
{
    struct list forms;
    list_init(&forms, pool);
    uint32_t n = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < args->n && !*clash; i++) {
        sym_id form = args->v[i], negated = SYM_NONE;
        if (is_relational(kind_at(pool, form))) {
            negated = relation_canonical(pool, relation_negated(pool, form));
            form = relation_canonical(pool, form);
        }
        bool repeated = false;
        for (uint32_t j = 0; j < n; j++) {
            repeated |= forms.v[j] == form;
            *clash |= forms.v[j] == negated;
        }
        ok = repeated || list_push(&forms, form);
        if (!repeated)
            args->v[n++] = args->v[i];
    }
    args->n = n;
    list_release(&forms);
    return ok;
}

/* Returns whether both x and ~x are arguments, for an x that is no relation. */
static bool has_complements(const struct sym_pool *pool, const struct list *args)
{
    for (uint32_t i = 0; i < args->n; i++)
        for (uint32_t j = 0; kind_at(pool, args->v[i]) == SYM_NOT && j < args->n; j++)
            if (args->v[j] == arg_at(pool, args->v[i], 0))
                return true;
    return false;
}

enum { MAX_CLAUSE = 4096 }; /* because repetitions are searched for pair by pair */

static sym_id make_clause(struct sym_pool *pool, enum sym_kind kind, struct list *args)
{
    sym_id zero = kind == SYM_AND ? SYM_ID_FALSE : SYM_ID_TRUE;
    uint32_t n = 0;
    for (uint32_t i = 0; i < args->n; i++) {
        if (args->v[i] == zero)
            return zero;
        if (args->v[i] != SYM_ID_TRUE && args->v[i] != SYM_ID_FALSE)
            args->v[n++] = args->v[i];
    }
    args->n = n;
    if (n > MAX_CLAUSE)
        return pool_fail(pool, "a condition has more than %d parts", MAX_CLAUSE);
    bool clash = false;
    if (!order_sort(pool, args->v, args->n, order_ordered) || !drop_repeated(pool, args, &clash))
        return SYM_NONE;
    if (clash || has_complements(pool, args))
        return zero;
    if (args->n == 0)
        return sym_boolean(kind == SYM_AND);
    return args->n == 1 ? args->v[0] : pool_node(pool, kind, args->v, args->n);
}

sym_id build_and_or(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    struct list flat;
    list_init(&flat, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < n; i++)
        ok = put_flat(pool, kind, args[i], &flat);
    sym_id result = ok ? make_clause(pool, kind, &flat) : SYM_NONE;
    list_release(&flat);
    return result;
}

sym_id build_not(struct sym_pool *pool, enum sym_kind kind, const sym_id *args, uint32_t n)
{
    (void)n;
    enum sym_kind inner = kind_at(pool, args[0]);
    if (args[0] == SYM_ID_TRUE || args[0] == SYM_ID_FALSE)
        return sym_boolean(args[0] == SYM_ID_FALSE);
    if (inner == SYM_NOT)
        return arg_at(pool, args[0], 0);
    if (is_relational(inner))
        return relation_negated(pool, args[0]);
    return pool_node1(pool, kind, args[0]);
}
