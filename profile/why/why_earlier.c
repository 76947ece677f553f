/* The values of a size or number in earlier compiles of the same function: what automatic dynamic
 * shapes compare (torch/_dynamo/pgo.py). */
#include "profile/why/why_build.h"

enum { EARLIER_MAX = 32 }; /* compiles that are examined; the first ones decide */

/* The value of a number that was a symbol or a constant; "" when the attempt does not have it. */
static bool value_of_number(struct why_build *b, uint32_t attempt, const struct why_name *name,
                            struct str *ret, struct err *err)
{
    struct tree_guard guard;
    struct str tree, source;
    *ret = STR("");
    for (uint32_t i = 0; i < b->symbols->n_symbols; i++) {
        const struct symbol *s = &b->symbols->symbols[i];
        struct str plain = s->attempt == attempt ? why_name_plain(s->source, &b->arena) : STR("");
        if (!plain.p)
            return err_nomem(err);
        if (s->attempt == attempt && str_eq(plain, name->plain)) {
            *ret = s->value;
            return true;
        }
    }
    if (!guard_tree_read(b->trace, attempt, &b->arena, &tree, err))
        return false;
    why_tree_number(b, tree, name->plain, &source, &guard, ret);
    return true;
}

static bool value_of(struct why_build *b, uint32_t attempt, const struct why_name *name,
                     struct str *ret, struct err *err)
{
    struct why_description d;
    if (name->part != WHY_SIZE)
        return value_of_number(b, attempt, name, ret, err);
    *ret = STR("");
    if (!why_describe(b, attempt, name->base, &d, err))
        return false;
    int64_t dim = name->dim < 0 ? name->dim + d.ndim : name->dim;
    if (d.record == TRACE_NONE || dim < 0 || dim >= d.ndim || d.size[dim] < 0)
        return true;
    *ret = why_printf(b, "%lld", (long long)d.size[dim]);
    return ret->p || err_nomem(err);
}

static bool next_value(struct why_build *b, uint32_t attempt, const struct why_name *name,
                       struct why_earlier *ret, struct err *err)
{
    struct str value;
    if (!value_of(b, attempt, name, &value, err))
        return false;
    if (value.n && !ret->first.n) {
        ret->first = value;
        ret->before = attempt;
    } else if (value.n && !str_eq(value, ret->first)) {
        ret->next = value;
        ret->after = attempt;
        ret->changed = true;
    }
    return true;
}

bool why_earlier_values(struct why_build *b, uint32_t attempt, const struct why_name *name,
                        struct why_earlier *ret, struct err *err)
{
    const struct attempt *here = &b->trace->attempts[attempt];
    unsigned n = 0;
    *ret = (struct why_earlier){ .before = attempt, .after = attempt };
    for (uint32_t i = 0; i < b->trace->n_attempts && !ret->changed && n < EARLIER_MAX; i++) {
        const struct attempt *a = &b->trace->attempts[i];
        if (i > attempt || a->recording != here->recording ||
            (a->next != TRACE_NONE && i != attempt) ||
            (i != attempt && !compile_same_function(a->compile, here->compile)))
            continue;
        if (!next_value(b, i, name, ret, err))
            return false;
        n++;
        ret->seen |= i < attempt && ret->first.n > 0;
    }
    return true;
}
