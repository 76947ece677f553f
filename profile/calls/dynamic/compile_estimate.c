#include "profile/calls/dynamic/compile_estimate.h"

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

/* Returns the least time of the entries from one on, with or without symbols; 0: there are none. */
static double least_from(const struct code_calls *code, size_t first, bool symbols)
{
    double ret = 0;
    for (size_t i = first; i < code->entries.n; i++) {
        const struct known_entry *entry = &code->entries.v[i];
        if (entry->any_symbol == symbols && entry->seconds > 0)
            ret = ret > 0 ? lesser(ret, entry->seconds) : entry->seconds;
    }
    return ret;
}

static size_t place_of(const struct code_calls *code, const struct known_entry *entry)
{
    return (size_t)(entry - code->entries.v);
}

/* The first compile of a code object can include what a process does once: where the next one took
 * less, that is the estimate. */
static double estimate_like(const struct code_calls *code, const struct known_entry *like)
{
    size_t next = place_of(code, like) + 1;
    bool first = next == 1 && str_ends(like->compile, STR("/0"));
    double seconds = first && next < code->entries.n ? code->entries.v[next].seconds : 0;
    return seconds > 0 ? lesser(seconds, like->seconds) : like->seconds;
}

/* What a first compile without symbols would take later, from the first one with symbols:
 *     first = once + later,  symbolic = SYMBOLS_ONCE_SHARE once + SYMBOLS_MULTIPLE later
 * of which SYMBOLS_MULTIPLE later is not less than 1 - SYMBOLS_MOST_ONCE. */
static double solve_later(double first, double symbolic)
{
    double later =
        (symbolic - SYMBOLS_ONCE_SHARE * first) / (SYMBOLS_MULTIPLE - SYMBOLS_ONCE_SHARE);
    double least = (1 - SYMBOLS_MOST_ONCE) * symbolic / SYMBOLS_MULTIPLE;
    return lesser(greater(later, least), lesser(first, symbolic));
}

/* The same of a tape that has no compile with symbols. */
static double estimate_first_symbols(double first, double later)
{
    double once = later > 0 ? greater(0, first - later) : 0;
    return first + SYMBOLS_ONCE_SHARE * once + (SYMBOLS_MULTIPLE - 1) * (first - once);
}

/* A compile that was recorded without symbols, and has some: what it took once remains. */
static double estimate_merged(const struct code_calls *code, const struct compile_question *c)
{
    double later = least_from(code, place_of(code, c->was) + 1, false);
    if (!c->like->any_symbol)
        return estimate_first_symbols(c->recorded, later);
    double symbolic = least_from(code, place_of(code, c->like), true);
    if (later <= 0)
        later = str_is(c->was->compile, "0/0") ? solve_later(c->recorded, symbolic)
                                               : lesser(c->recorded, symbolic);
    return c->recorded + greater(0, symbolic - later);
}

double compile_estimate(const struct code_calls *code, const struct compile_question *compile)
{
    if (compile->recorded <= 0)
        return compile->like ? estimate_like(code, compile->like) : 0;
    if (!compile->was || !compile->like || !compile->symbols || compile->was->any_symbol)
        return compile->recorded;
    return estimate_merged(code, compile);
}
