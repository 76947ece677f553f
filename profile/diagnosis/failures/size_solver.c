#include "profile/diagnosis/failures/size_solver.h"

#include <stdlib.h>

#include "replay/shape/expr/sym.h"
#include "trace/base/text/wildcard.h"

enum {
    MOST_EVALUATIONS = 40000, /* of guards at values */
    MOST_VALUES = 1024,
    LEAST_VALUES = 64
};

/* ---- Ranges ---- */

/* Parses "8", "int_oo" or "-int_oo"; what no size can be counts as no bound. */
static bool parse_bound(struct str text, int64_t none, int64_t *ret)
{
    enum { MOST_BITS = 48 };
    text = str_trim(text);
    bool number = str_to_i64(text, ret);
    if (!number || *ret < 0 || *ret >> MOST_BITS)
        *ret = none;
    return number || str_ends(text, STR("oo"));
}

bool size_range_parse(struct str text, struct size_range *ret)
{
    struct str parts[2];
    bool above = str_contains(text, STR(" <= "));
    *ret = (struct size_range){ 0, SIZE_UNLIMITED };
    if (wildcard_find(text, STR("[*, *]"), parts, 2) ||
        wildcard_find(text, STR("VR[*, *]"), parts, 2))
        return parse_bound(parts[0], 0, &ret->lower) &&
               parse_bound(parts[1], SIZE_UNLIMITED, &ret->upper);
    if (!above)
        return false;
    size_t first = str_find(text, STR(" <= "));
    struct str rest = str_from(text, first + 4);
    size_t second = str_find(rest, STR(" <= "));
    bool has_lower = parse_bound(str_first(text, first), 0, &ret->lower);
    struct str upper = second < rest.n ? str_from(rest, second + 4) : rest;
    bool has_upper = parse_bound(upper, SIZE_UNLIMITED, &ret->upper);
    return has_lower || has_upper;
}

/* ---- Guards ---- */

struct sized_guard {
    const struct guard *guard;
    sym_id expr;
};

struct size_solver {
    struct finder *d;
    struct sym_pool *pool;
    sym_id symbol;
    struct str name;
    vec_of(struct sized_guard)
    guards;
    uint32_t n_symbols; /* of the guard that is looked at */
    bool has_symbol;
};

static void count_symbol(void *user, struct str name)
{
    struct size_solver *s = user;
    s->n_symbols++;
    s->has_symbol |= str_eq(name, s->name);
}

static bool add_guard(struct size_solver *s, const struct guard *guard)
{
    s->n_symbols = 0;
    s->has_symbol = false;
    guard_symbols(guard->expr, count_symbol, s);
    if (!s->has_symbol || s->n_symbols != 1)
        return true;
    struct err ignored = { 0 };
    sym_id e = sym_parse(s->pool, guard->expr, NULL, NULL);
    if (!sym_ok(s->pool, &ignored) || e == SYM_NONE)
        return true;
    for (size_t i = 0; i < s->guards.n; i++)
        if (s->guards.v[i].expr == e)
            return true;
    return vec_push(&s->guards, (struct sized_guard){ guard, e }) || err_nomem(&s->d->err);
}

/* Returns the first guard that is false at a value, or NULL. */
static const struct guard *refusing_guard(struct size_solver *s, int64_t value)
{
    struct sym_pair pair = { s->symbol, sym_integer(s->pool, value) };
    for (size_t i = 0; i < s->guards.n; i++) {
        struct err ignored = { 0 };
        sym_id e = sym_replace(s->pool, s->guards.v[i].expr, &pair, 1);
        if (sym_ok(s->pool, &ignored) && e == SYM_ID_FALSE)
            return s->guards.v[i].guard;
    }
    return NULL;
}

/* ---- Values ---- */

static int64_t greatest_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Finds the greatest value up to `to` that satisfies the guards, by bisection above `from`, which
 * does: guards that bound a size hold up to their bound. */
static int64_t greatest_value(struct size_solver *s, int64_t from, int64_t to, int64_t step)
{
    int64_t low = 0, high = (to - from) / step;
    while (low < high) {
        int64_t middle = low + (high - low + 1) / 2;
        if (refusing_guard(s, from + middle * step))
            high = middle - 1;
        else
            low = middle;
    }
    return from + low * step;
}

static void refuse(struct size_solution *ret, const struct guard *guard, int64_t value)
{
    if (!ret->guard) {
        ret->guard = guard;
        ret->refused = value;
    }
}

/* Tries the first values of a range one by one. */
static void try_values(struct size_solver *s, struct size_range range, int64_t last,
                       struct size_solution *ret)
{
    int64_t previous = -1, n = 0;
    for (int64_t value = range.lower; value <= last; value++) {
        const struct guard *guard = refusing_guard(s, value);
        if (guard) {
            refuse(ret, guard, value);
            continue;
        }
        if (n++ == 0)
            ret->range.lower = value;
        else
            ret->multiple = greatest_common_divisor(value - previous, ret->multiple);
        previous = value;
        ret->range.upper = value;
    }
    ret->none = n == 0;
    if (ret->multiple == 0)
        ret->multiple = 1;
    ret->remainder = ret->range.lower % ret->multiple;
    ret->regular = n > 0 && n == (ret->range.upper - ret->range.lower) / ret->multiple + 1;
}

static void solve_values(struct size_solver *s, struct size_range range, struct size_solution *ret)
{
    int64_t most = MOST_EVALUATIONS / (int64_t)(s->guards.n + 1);
    most = most > MOST_VALUES ? MOST_VALUES : most < LEAST_VALUES ? LEAST_VALUES : most;
    int64_t last = range.upper < range.lower + most ? range.upper : range.lower + most;
    try_values(s, range, last, ret);
    if (ret->none || last == range.upper || ret->range.upper + ret->multiple <= last)
        goto end;
    int64_t limit = range.upper == SIZE_UNLIMITED ? last + INT32_MAX : range.upper;
    const struct guard *guard = refusing_guard(s, limit - (limit - ret->remainder) % ret->multiple);
    if (guard) {
        refuse(ret, guard, limit - (limit - ret->remainder) % ret->multiple);
        ret->range.upper = greatest_value(s, ret->range.upper, limit, ret->multiple);
    } else {
        ret->range.upper = range.upper;
    }
end:
    ret->complete = !ret->guard;
}

bool size_solve(struct finder *d, const struct symbol_scope *scope, const struct symbol *symbol,
                uint32_t end, struct size_range range, struct size_solution *ret)
{
    const struct build_input *input = find_input(d, scope->recording);
    uint32_t in = input->trace->records[symbol->record].recording;
    struct size_solver s = { .d = d, .pool = sym_pool_new(&d->err), .name = symbol->name };
    *ret = (struct size_solution){ .range = range };
    if (!s.pool)
        return false;
    s.symbol = sym_by_name(NULL, s.pool, symbol->name);
    bool ok = true;
    for (uint32_t i = 0; i < input->guards->n && ok; i++) {
        const struct guard *g = &input->guards->guards[i];
        if (g->attempt == symbol->attempt && g->kind == GUARD_EVAL && g->record > symbol->record &&
            g->record < end && input->trace->records[g->record].recording == in)
            ok = add_guard(&s, g);
    }
    if (ok && range.lower <= range.upper)
        solve_values(&s, range, ret);
    ok = ok && !sym_short_of_memory(s.pool);
    if (!ok && !err_is_set(&d->err))
        err_nomem(&d->err);
    vec_release(&s.guards);
    sym_pool_free(s.pool);
    return ok;
}

void size_solution_print(const struct size_solution *s, struct size_range given, struct buf *out)
{
    size_t before = out->n;
    if (s->range.lower == s->range.upper) {
        buf_printf(out, "%lld", (long long)s->range.lower);
        return;
    }
    if (s->regular && s->multiple > 1 && s->remainder == 0)
        buf_printf(out, "a multiple of %lld", (long long)s->multiple);
    else if (s->regular && s->multiple > 1)
        buf_printf(out, "a multiple of %lld plus %lld", (long long)s->multiple,
                   (long long)s->remainder);
    if (s->range.lower >= given.lower + s->multiple)
        buf_printf(out, "%sat least %lld", out->n > before ? ", " : "", (long long)s->range.lower);
    if (s->range.upper < SIZE_UNLIMITED && s->range.upper <= given.upper - s->multiple)
        buf_printf(out, "%sat most %lld", out->n > before ? " and " : "",
                   (long long)s->range.upper);
}
