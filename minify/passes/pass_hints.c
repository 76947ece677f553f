/* Makes the hints of symbols small. First all symbols get different small primes, so that none is
 * equal to or divides another by chance; then each is reduced as far as possible. The compiler
 * treats 0 and 1 specially, so they count as large. */
#include "minify/passes/pass_edits.h"

static const int64_t primes[] = { 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53 };
enum { PRIMES = sizeof primes / sizeof *primes };

static bool has_size(const struct cand_symbol *symbol)
{
    return symbol->backed && symbol->has_hint && !symbol->is_float;
}

static int64_t least_of(const struct cand_symbol *symbol)
{
    return symbol->min > 2 ? symbol->min : 2;
}

static bool try_primes(struct search *search)
{
    const struct candidate *best = search_best(search);
    struct edits edits = { .failed = false };
    uint32_t next = 0;
    for (uint32_t i = 0; i < best->n_symbols; i++) {
        if (!has_size(&best->symbols[i]))
            continue;
        while (next < PRIMES && primes[next] < least_of(&best->symbols[i]))
            next++;
        if (next >= PRIMES)
            break;
        edits_add(&edits, EDIT_HINT, i, 0, primes[next++]);
    }
    return edits_try(search, &edits, NULL);
}

bool pass_hints(struct search *search)
{
    if (!try_primes(search))
        return false;
    for (uint32_t i = 0; i < search_best(search)->n_symbols; i++) {
        const struct cand_symbol *symbol = &search_best(search)->symbols[i];
        struct edit edit = { EDIT_HINT, i, 0, 0 };
        if (has_size(symbol) && symbol->hint > least_of(symbol) &&
            !search_descend(search, edit, symbol->hint, least_of(symbol), NULL))
            return false;
    }
    return true;
}

void propose_hints(const struct candidate *best, struct edits *edits)
{
    for (uint32_t i = 0; i < best->n_symbols; i++) {
        const struct cand_symbol *symbol = &best->symbols[i];
        if (!has_size(symbol) || symbol->hint <= least_of(symbol))
            continue;
        edits_propose(edits);
        edits_add(edits, EDIT_HINT, i, 0,
                  symbol->hint / 2 > least_of(symbol) ? symbol->hint / 2 : least_of(symbol));
    }
}
