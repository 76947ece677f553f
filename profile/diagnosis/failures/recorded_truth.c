#include "profile/diagnosis/failures/recorded_truth.h"

#include "replay/shape/expr/sym.h"

enum { MOST_SYMBOLS = 16 };

struct recorded_values {
    const struct symbol_scope *scope;
    struct sym_pool *pool;
    struct str code;
    struct sym_pair pairs[MOST_SYMBOLS];
    uint32_t n;
    bool unknown;
};

static void add_recorded_value(void *user, struct str name)
{
    struct recorded_values *v = user;
    const struct symbol *symbol = symbol_find(v->scope, name);
    int64_t value;
    if (!symbol || v->n == MOST_SYMBOLS ||
        !symbol_recorded_value(v->scope, symbol, v->code, &value)) {
        v->unknown = true;
        return;
    }
    v->pairs[v->n++] =
        (struct sym_pair){ sym_by_name(NULL, v->pool, name), sym_integer(v->pool, value) };
}

enum recorded_truth recorded_truth(const struct symbol_scope *scope, struct str expr,
                                   struct str code)
{
    struct err ignored = { 0 };
    struct recorded_values v = { .scope = scope, .pool = sym_pool_new(&ignored), .code = code };
    enum recorded_truth ret = RECORDED_UNKNOWN;
    if (!v.pool)
        return ret;
    sym_id e = sym_parse(v.pool, expr, NULL, NULL);
    if (sym_ok(v.pool, &ignored)) {
        guard_symbols(expr, add_recorded_value, &v);
        e = v.unknown ? SYM_NONE : sym_replace(v.pool, e, v.pairs, v.n);
        if (!v.unknown && sym_ok(v.pool, &ignored))
            ret = e == SYM_ID_FALSE  ? RECORDED_FALSE
                  : e == SYM_ID_TRUE ? RECORDED_TRUE
                                     : RECORDED_UNKNOWN;
    }
    sym_pool_free(v.pool);
    return ret;
}

/* ---- Conditions as the program has them ---- */

static const struct str NOT = { "not ", 4 };

static const struct comparison {
    struct str sign, opposite;
} COMPARISONS[] = {
    { { "==", 2 }, { "!=", 2 } }, { { "!=", 2 }, { "==", 2 } }, { { "<=", 2 }, { ">", 1 } },
    { { ">=", 2 }, { "<", 1 } },  { { "<", 1 }, { ">=", 2 } },  { { ">", 1 }, { "<=", 2 } },
};

static const struct comparison *comparison_at(struct str text)
{
    for (size_t i = 0; i < sizeof COMPARISONS / sizeof *COMPARISONS; i++)
        if (str_starts(text, COMPARISONS[i].sign))
            return &COMPARISONS[i];
    return NULL;
}

/* Returns the comparison of a text that has one outside of brackets and is joined with nothing,
 * and its place; NULL for other texts. */
static const struct comparison *only_comparison(struct str text, size_t *place)
{
    static const char *const WORDS[] = { "and ", "or ", "not ", "in ", "is ", "if ", "lambda " };
    const struct comparison *found = NULL;
    int depth = 0;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        bool begins = i > 0 && text.p[i - 1] == ' ';
        for (size_t k = 0; begins && k < sizeof WORDS / sizeof *WORDS; k++)
            if (str_starts(str_from(text, i), str_of(WORDS[k])))
                return NULL;
        const struct comparison *here = depth == 0 ? comparison_at(str_from(text, i)) : NULL;
        if (here && found)
            return NULL;
        if (here) {
            found = here;
            *place = i;
            i += here->sign.n - 1;
        }
    }
    return found;
}

/* Removes "not " and the brackets around what follows. */
static bool take_not(struct str *condition)
{
    if (!str_starts(*condition, NOT))
        return false;
    *condition = str_trim(str_from(*condition, NOT.n));
    if (str_starts(*condition, STR("(")) && str_find_char(*condition, ')') + 1 == condition->n)
        *condition = str_trim(str_first(str_from(*condition, 1), condition->n - 2));
    return true;
}

enum recorded_truth condition_truth(struct str condition, enum recorded_truth of_expr)
{
    size_t place;
    bool negated = take_not(&condition);
    if (of_expr == RECORDED_UNKNOWN || !only_comparison(condition, &place))
        return RECORDED_UNKNOWN;
    return (of_expr == RECORDED_TRUE) != negated ? RECORDED_TRUE : RECORDED_FALSE;
}

bool condition_compares(struct str condition, bool *negated)
{
    size_t place;
    *negated = take_not(&condition);
    return only_comparison(condition, &place) != NULL;
}

bool condition_negate(struct str condition, struct buf *out)
{
    size_t place;
    bool negated = take_not(&condition);
    const struct comparison *c = only_comparison(condition, &place);
    if (!c)
        return false;
    if (negated)
        buf_put(out, condition);
    else
        buf_printf(out, "%.*s%.*s%.*s", (int)place, condition.p, STR_ARG(c->opposite),
                   STR_ARG(str_from(condition, place + c->sign.n)));
    return true;
}
