/* bound_sympy: computes the range of a whole expression, from its leaves up. */
#include <stdlib.h>

#include "replay/shape/expr/sym_pool.h"
#include "replay/shape/range/range.h"

enum { RECENT = 256, MAX_STEPS = 1 << 20 };

struct bounder {
    struct sym_pool *pool;
    sym_ranger *ranges;
    void *user;
    uint32_t steps;
    struct {
        sym_id e;
        struct sym_range range;
    } recent[RECENT]; /* recent results, a direct-mapped cache by id */
};

static struct sym_range bound_of_expr(struct bounder *b, sym_id e);

static struct sym_range bound_symbol(struct bounder *b, sym_id e)
{
    struct sym_range range;
    uint32_t f = facts_at(b->pool, e);
    if (b->ranges && b->ranges(b->user, e, &range))
        return range;
    if (!(f & FACT_INTEGER))
        return SYM_RANGE_UNKNOWN;
    if (known_positive(f))
        return (struct sym_range){ SYM_ID_ONE, SYM_ID_INT_OO };
    if (known_nonnegative(f))
        return (struct sym_range){ SYM_ID_ZERO, SYM_ID_INT_OO };
    return SYM_RANGE_UNKNOWN_INT;
}

/* Puts the argument's range into `out`; for a branch of Piecewise, those of value and condition. */
static uint32_t bound_arg(struct bounder *b, sym_id arg, struct sym_range *out)
{
    if (kind_at(b->pool, arg) != SYM_EXPR_COND_PAIR) {
        out[0] = bound_of_expr(b, arg);
        return 1;
    }
    out[0] = bound_of_expr(b, arg_at(b->pool, arg, 0));
    out[1] = bound_of_expr(b, arg_at(b->pool, arg, 1));
    return 2;
}

static struct sym_range bound_args(struct bounder *b, sym_id e)
{
    uint32_t n = node_at(b->pool, e)->n, made = 0;
    struct sym_range few[16];
    struct sym_range *args = n <= 8 ? few : malloc(n * 2 * sizeof *args);
    if (!args)
        return pool_nomem(b->pool), SYM_RANGE_FAILED;
    for (uint32_t i = 0; i < n && !pool_failed(b->pool); i++)
        made += bound_arg(b, arg_at(b->pool, e, i), args + made);
    struct sym_range range = pool_failed(b->pool)
                                 ? SYM_RANGE_FAILED
                                 : sym_range_apply(b->pool, kind_at(b->pool, e), args, made);
    if (args != few)
        free(args);
    return range;
}

static struct sym_range bound_of_expr(struct bounder *b, sym_id e)
{
    enum sym_kind kind = kind_at(b->pool, e);
    if (kind == SYM_SYMBOL)
        return bound_symbol(b, e);
    if (e == SYM_ID_NAN)
        return SYM_RANGE_UNKNOWN;
    if (is_number(b->pool, e) || kind == SYM_TRUE || kind == SYM_FALSE)
        return (struct sym_range){ e, e };
    if (kind == SYM_ZOO)
        return pool_fail(b->pool, "no range of zoo"), SYM_RANGE_FAILED;
    if (b->recent[e % RECENT].e == e)
        return b->recent[e % RECENT].range;
    if (b->steps++ > MAX_STEPS)
        return pool_fail(b->pool, "a range takes more than %d steps", MAX_STEPS), SYM_RANGE_FAILED;
    struct sym_range range = bound_args(b, e);
    b->recent[e % RECENT].e = e;
    b->recent[e % RECENT].range = range;
    return range;
}

struct sym_range sym_bound(struct sym_pool *pool, sym_id e, sym_ranger *ranges, void *user)
{
    if (e == SYM_NONE)
        return SYM_RANGE_FAILED;
    if (kind_at(pool, e) == SYM_SYMBOL) {
        struct bounder simple = { .pool = pool, .ranges = ranges, .user = user };
        return bound_symbol(&simple, e);
    }
    struct bounder b = { .pool = pool, .ranges = ranges, .user = user };
    return bound_of_expr(&b, e);
}

enum sym_answer sym_known(struct sym_pool *pool, sym_id condition, sym_ranger *ranges, void *user)
{
    struct sym_range range = sym_bound(pool, condition, ranges, user);
    if (!sym_range_ok(range) || range.lower != range.upper)
        return SYM_UNKNOWN;
    return range.lower == SYM_ID_TRUE    ? SYM_YES
           : range.lower == SYM_ID_FALSE ? SYM_NO
                                         : SYM_UNKNOWN;
}
