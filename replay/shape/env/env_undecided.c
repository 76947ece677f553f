/* Conditions that evaluation without guards cannot decide.
 *
 * What _maybe_evaluate_static finds holds for all values within the ranges of the symbols. Most
 * conditions that reach it depend on the sizes: they are true at the hints, say, and false at other
 * sizes. Computing two such points takes far less time than rewriting the condition, and makes no
 * expressions. */
#include <math.h>

#include "replay/shape/env/env_inside.h"
#include "replay/shape/expr/solve.h"

enum { MAX_SYMBOLS = 16 };

/* The points that are tried, those that decide most first. */
enum point_kind {
    POINT_HINTS,
    POINT_LEAST,
    POINT_LARGE,
    POINT_MEDIUM,
    POINT_EVEN_LARGE, /* the symbols with even numbers large, the others at their least */
    POINT_ODD_LARGE,
    POINT_KINDS
};

struct sampled_symbol {
    struct sym_number hint;
    bool hinted, whole;
    int64_t lower, upper; /* inclusive, of an integer */
    double low, high;     /* of a float */
};

static bool sample_float(struct sym_pool *pool, const struct env_symbol *s,
                         struct sampled_symbol *ret)
{
    ret->low = sym_to_double(pool, s->range.lower);
    ret->high = sym_to_double(pool, s->range.upper);
    ret->hint.real = s->hint == SYM_NONE ? NAN : sym_to_double(pool, s->hint);
    ret->hinted = ret->hint.real >= ret->low && ret->hint.real <= ret->high &&
                  ret->hint.real - ret->hint.real == 0;
    return ret->low <= ret->high && (facts_at(pool, s->id) & FACT_SIGNS) == FACT_SIGNS;
}

static bool sample_integer(struct sym_pool *pool, const struct env_symbol *s, bool oblivious,
                           struct sampled_symbol *ret)
{
    const int64_t most = INT64_C(1) << 48; /* of a size in size-oblivious evaluation */
    uint32_t facts = facts_at(pool, s->id);
    int64_t least = oblivious ? 2 : known_positive(facts) ? 1 : known_nonnegative(facts) ? 0 : -1;
    if ((s->range.lower != SYM_ID_MINUS_INT_OO && !sym_to_i64(pool, s->range.lower, &ret->lower)) ||
        (s->range.upper != SYM_ID_INT_OO && !sym_to_i64(pool, s->range.upper, &ret->upper)))
        return false;
    ret->lower = ret->lower < least && (least >= 0 || s->range.lower == SYM_ID_MINUS_INT_OO)
                     ? least
                     : ret->lower;
    ret->upper = oblivious && ret->upper >= most ? most - 1 : ret->upper;
    ret->hint.whole = ret->whole = true;
    ret->hinted = s->hint != SYM_NONE && sym_to_i64(pool, s->hint, &ret->hint.integer) &&
                  ret->hint.integer >= ret->lower && ret->hint.integer <= ret->upper;
    return ret->lower <= ret->upper;
}

static bool sample_symbol(struct shape_env *env, const struct env_symbol *s, enum env_static way,
                          struct sampled_symbol *ret)
{
    struct sym_pool *pool = env->pool;
    *ret = (struct sampled_symbol){ .lower = INT64_MIN, .upper = INT64_MAX };
    if (s->nested || !sym_range_ok(s->range))
        return false;
    uint32_t facts = facts_at(pool, s->id);
    enum sym_range_kind kind = sym_range_kind_of(pool, s->range);
    if (kind == SYM_RANGE_INT && (facts & FACT_INTEGER))
        return sample_integer(pool, s, way == ENV_STATIC_OBLIVIOUS && s->size_like, ret);
    return kind == SYM_RANGE_FLOAT && (facts & FACT_REAL) && sample_float(pool, s, ret);
}

static struct sym_number float_value(enum point_kind kind, const struct sampled_symbol *s,
                                     uint32_t i)
{
    static const double values[POINT_KINDS] = {
        [POINT_LEAST] = -2.5,      [POINT_LARGE] = 1e4,    [POINT_MEDIUM] = 0.25,
        [POINT_EVEN_LARGE] = -1e4, [POINT_ODD_LARGE] = -1,
    };
    double value = values[kind] * (i + 1);
    value = value < s->low ? s->low : value > s->high ? s->high : value;
    return (struct sym_number){ .real = value };
}

static struct sym_number point_value(enum point_kind kind, const struct sampled_symbol *s,
                                     uint32_t i)
{
    /* Sizes with many divisors, as exact quotients need. */
    const int64_t medium = 5040, large = 1000 * medium;
    int64_t value = s->lower;
    if (kind == POINT_HINTS)
        return s->hint;
    if (!s->whole)
        return float_value(kind, s, i);
    if (kind == POINT_LARGE || kind == POINT_MEDIUM)
        value = (kind == POINT_LARGE ? large : medium) * (i + 1);
    else if (kind == (i % 2 ? POINT_ODD_LARGE : POINT_EVEN_LARGE))
        value = large;
    value = value < s->lower ? s->lower : value > s->upper ? s->upper : value;
    return (struct sym_number){ .whole = true, .integer = value };
}

/* An integer and a float are not compared: the kind of a number may differ from point to point. */
static bool differ(struct sym_number a, struct sym_number b)
{
    return a.whole == b.whole &&
           (a.whole ? a.integer != b.integer : a.real < b.real || a.real > b.real);
}

bool env_is_undecided(struct shape_env *env, sym_id e, enum env_static way)
{
    struct sampled_symbol symbols[MAX_SYMBOLS];
    struct sym_value values[MAX_SYMBOLS];
    const struct expr_info *k = env_known(env, e);
    if (!k || k->n_symbols == 0 || k->n_symbols > MAX_SYMBOLS)
        return false;
    bool hinted = true, found = false;
    for (uint32_t i = 0; i < k->n_symbols; i++) {
        const struct env_symbol *s = env_symbol_of(env, k, i);
        values[i].symbol = s->id;
        if (!sample_symbol(env, s, way, &symbols[i]))
            return false;
        hinted &= symbols[i].hinted;
    }
    struct sym_number first = { 0 }, value;
    int end = k->n_symbols > 1 ? POINT_KINDS : POINT_EVEN_LARGE;
    for (int kind = hinted ? POINT_HINTS : POINT_LEAST; kind < end; kind++) {
        for (uint32_t i = 0; i < k->n_symbols; i++)
            values[i].value = point_value((enum point_kind)kind, &symbols[i], i);
        if (!sym_value_at(env->pool, e, values, k->n_symbols, &value))
            continue;
        if (found && differ(value, first))
            return true;
        first = value;
        found = true;
    }
    return false;
}
