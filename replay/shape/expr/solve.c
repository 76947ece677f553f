#include "replay/shape/expr/solve.h"

#include "replay/shape/expr/sym_pool.h"

enum { TRIALS = 5 };

static bool is_inequality(enum sym_kind kind)
{
    return kind >= SYM_GT && kind <= SYM_LE;
}

/* Returns the product or sum of those arguments of e that do not contain `thing`. */
static sym_id without_thing(struct sym_pool *pool, sym_id e, sym_id thing)
{
    struct list args;
    list_init(&args, pool);
    bool ok = true;
    for (uint32_t i = 0; ok && i < node_at(pool, e)->n; i++)
        ok = sym_has(pool, arg_at(pool, e, i), thing) || list_push(&args, arg_at(pool, e, i));
    sym_id result = ok ? sym_make(pool, kind_at(pool, e), args.v, args.n) : SYM_NONE;
    list_release(&args);
    return result;
}

static sym_id move_constants(struct sym_pool *pool, sym_id e, sym_id thing)
{
    sym_id left = arg_at(pool, e, 0), right = arg_at(pool, e, 1), other = SYM_ID_ZERO;
    if (kind_at(pool, left) == SYM_ADD)
        other = without_thing(pool, left, thing);
    return sym_binary(pool, kind_at(pool, e), sym_sub(pool, left, other),
                      sym_sub(pool, right, other));
}

static sym_id divide_factors(struct sym_pool *pool, sym_id e, sym_id thing)
{
    enum sym_kind kind = kind_at(pool, e);
    sym_id left = arg_at(pool, e, 0), right = arg_at(pool, e, 1);
    sym_id other = without_thing(pool, left, thing);
    if (other == SYM_NONE)
        return SYM_NONE;
    enum sym_answer negative = sym_ask(pool, other, SYM_ASK_NEGATIVE);
    if (is_inequality(kind) ? negative == SYM_UNKNOWN : known_zero(facts_at(pool, right)))
        return e;
    if (is_inequality(kind) && negative == SYM_YES)
        kind = relation_mirrored(kind);
    return sym_binary(pool, kind, sym_div(pool, left, other), sym_div(pool, right, other));
}

/* Applies the rules for a//b with a positive b and an integer on the right. */
static sym_id open_floordiv(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = kind_at(pool, e);
    sym_id a = arg_at(pool, arg_at(pool, e, 0), 0), b = arg_at(pool, arg_at(pool, e, 0), 1);
    sym_id c = arg_at(pool, e, 1);
    sym_id from = sym_mul(pool, c, b), next = sym_mul(pool, sym_add(pool, c, SYM_ID_ONE), b);
    switch (kind) {
    case SYM_EQ: return sym_and(pool, sym_ge(pool, a, from), sym_lt(pool, a, next));
    case SYM_NE: return sym_or(pool, sym_lt(pool, a, from), sym_ge(pool, a, next));
    case SYM_GE: return sym_ge(pool, a, from);
    case SYM_GT: return sym_ge(pool, a, next);
    case SYM_LT: return sym_lt(pool, a, from);
    default: return sym_lt(pool, a, next);
    }
}

static bool is_open_floordiv(const struct sym_pool *pool, sym_id e)
{
    sym_id left = arg_at(pool, e, 0);
    return (kind_at(pool, left) == SYM_FLOORDIV || kind_at(pool, left) == SYM_CLEANDIV) &&
           known_positive(facts_at(pool, arg_at(pool, left, 1))) &&
           (facts_at(pool, arg_at(pool, e, 1)) & FACT_INTEGER);
}

static sym_id isolate(struct sym_pool *pool, sym_id e, sym_id thing, bool floordiv_inequality)
{
    e = move_constants(pool, e, thing);
    if (e == SYM_NONE || !is_relational(kind_at(pool, e)))
        return e;
    if (kind_at(pool, arg_at(pool, e, 0)) == SYM_MUL)
        e = divide_factors(pool, e, thing);
    if (e == SYM_NONE || !is_relational(kind_at(pool, e)))
        return e;
    return floordiv_inequality && is_open_floordiv(pool, e) ? open_floordiv(pool, e) : e;
}

static sym_id solve_left(struct sym_pool *pool, sym_id e, sym_id thing, bool floordiv_inequality)
{
    for (int i = 0; i < TRIALS && e != SYM_NONE && is_relational(kind_at(pool, e)); i++) {
        sym_id trial = isolate(pool, e, thing, floordiv_inequality);
        if (trial == e)
            break;
        e = trial;
    }
    bool solved = e != SYM_NONE && is_relational(kind_at(pool, e)) && arg_at(pool, e, 0) == thing;
    return solved ? e : SYM_NONE;
}

sym_id sym_solve(struct sym_pool *pool, sym_id relation, sym_id thing, bool floordiv_inequality)
{
    if (relation == SYM_NONE || thing == SYM_NONE || !is_relational(kind_at(pool, relation)))
        return SYM_NONE;
    sym_id left = arg_at(pool, relation, 0), right = arg_at(pool, relation, 1);
    bool in_left = sym_has(pool, left, thing), in_right = sym_has(pool, right, thing);
    if (in_left == in_right)
        return SYM_NONE;
    if (in_right) {
        enum sym_kind mirrored = relation_mirrored(kind_at(pool, relation));
        relation = sym_binary(pool, mirrored, right, left);
    }
    return solve_left(pool, relation, thing, floordiv_inequality);
}

/* --- Implications --- */

struct implications {
    struct sym_pool *pool;
    struct list conditions;
    bool values[16];
};

/* Sets a condition's value as a Python dict does: a present condition keeps its position. */
static bool put_implication(struct implications *to, sym_id condition, bool value)
{
    for (uint32_t i = 0; i < to->conditions.n; i++)
        if (to->conditions.v[i] == condition) {
            to->values[i] = value;
            return true;
        }
    if (to->conditions.n >= sizeof to->values || !list_push(&to->conditions, condition))
        return false;
    to->values[to->conditions.n - 1] = value;
    return true;
}

static bool imply_condition(struct implications *to, sym_id e)
{
    e = sym_canonical(to->pool, e);
    if (e == SYM_NONE)
        return false;
    if (kind_at(to->pool, e) == SYM_EQ || kind_at(to->pool, e) == SYM_NE) {
        struct sym_pool *pool = to->pool;
        enum sym_kind kind = kind_at(pool, e), other = kind == SYM_EQ ? SYM_NE : SYM_EQ;
        sym_id a = arg_at(pool, e, 0), b = arg_at(pool, e, 1);
        return put_implication(to, pool_node2(pool, kind, a, b), true) &&
               put_implication(to, pool_node2(pool, kind, b, a), true) &&
               put_implication(to, pool_node2(pool, other, a, b), false) &&
               put_implication(to, pool_node2(pool, other, b, a), false);
    }
    return put_implication(to, e, true) &&
           put_implication(to, sym_canonical(to->pool, sym_not(to->pool, e)), false);
}

static bool put_relation(struct implications *to, enum sym_kind kind, sym_id a, sym_id b)
{
    sym_id e = a == SYM_NONE || b == SYM_NONE ? SYM_NONE : pool_node2(to->pool, kind, a, b);
    return e != SYM_NONE && imply_condition(to, e);
}

static bool put_consequences(struct implications *to, sym_id e)
{
    struct sym_pool *pool = to->pool;
    enum sym_kind kind = kind_at(pool, e);
    if (kind != SYM_EQ && kind != SYM_LT && kind != SYM_LE)
        return true;
    sym_id a = arg_at(pool, e, 0), b = arg_at(pool, e, 1);
    if (kind == SYM_EQ)
        return put_relation(to, SYM_LE, a, b) && put_relation(to, SYM_GE, a, b);
    if (kind == SYM_LE)
        return put_relation(to, SYM_LT, a, sym_add(pool, b, SYM_ID_ONE));
    bool whole = facts_at(pool, a) & facts_at(pool, b) & FACT_INTEGER;
    return put_relation(to, SYM_LE, a, b) && put_relation(to, SYM_NE, a, b) &&
           (!whole || put_relation(to, SYM_LE, a, sym_sub(pool, b, SYM_ID_ONE)));
}

bool sym_implications(struct sym_pool *pool, sym_id condition,
                      void (*fn)(void *user, sym_id implied, bool value), void *user)
{
    struct implications found = { .pool = pool };
    list_init(&found.conditions, pool);
    bool ok = condition != SYM_NONE && imply_condition(&found, condition) &&
              put_consequences(&found, condition);
    for (uint32_t i = 0; ok && i < found.conditions.n; i++)
        fn(user, found.conditions.v[i], found.values[i]);
    list_release(&found.conditions);
    return ok;
}

/* --- Values --- */

bool sym_divides(struct sym_pool *pool, sym_id a, sym_id b)
{
    if (a == SYM_NONE || b == SYM_NONE || !known_nonzero(facts_at(pool, b)))
        return false;
    sym_id ratio = sym_div(pool, a, b);
    return ratio != SYM_NONE && (facts_at(pool, ratio) & FACT_INTEGER);
}

struct hints {
    struct sym_pool *pool;
    sym_hinter *hint;
    void *user;
    struct sym_pair pairs[64];
    uint32_t n;
    bool missing;
};

static void put_hint(void *user, sym_id symbol)
{
    struct hints *hints = user;
    sym_id value = hints->n < 64 ? hints->hint(hints->user, symbol) : SYM_NONE;
    hints->missing |= value == SYM_NONE;
    if (!hints->missing)
        hints->pairs[hints->n++] = (struct sym_pair){ symbol, value };
}

sym_id sym_evaluate(struct sym_pool *pool, sym_id e, sym_hinter *hint, void *user)
{
    struct hints hints = { .pool = pool, .hint = hint, .user = user };
    if (e == SYM_NONE || !sym_free_symbols(pool, e, put_hint, &hints) || hints.missing)
        return SYM_NONE;
    sym_id value = sym_replace(pool, e, hints.pairs, hints.n);
    bool decided = value != SYM_NONE &&
                   (is_number(pool, value) || value == SYM_ID_TRUE || value == SYM_ID_FALSE);
    return decided ? value : SYM_NONE;
}
