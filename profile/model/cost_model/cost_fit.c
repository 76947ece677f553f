#include "profile/model/cost_model/cost_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_PER_TERM = 2 };
#define CHEAP       0.25 /* of the median */
#define LEAST_PIVOT 1e-9 /* of a term's own equation: it tells the term from those before */

static int compare_samples(const void *a, const void *b)
{
    const struct cost_sample *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static void swap_samples(struct cost_sample *a, struct cost_sample *b)
{
    struct cost_sample old = *a;
    *a = *b;
    *b = old;
}

double cost_unit_time(const struct cost_unit *unit, const double amount[COST_TERMS])
{
    double ret = 0;
    for (unsigned i = 0; i < COST_TERMS; i++)
        ret += unit->term_ns[i] * amount[i];
    return ret;
}

/* --- A ratio --- */

/* Returns the least key at or below which `share` of the samples' units are. */
static double weighted_quantile(const struct cost_sample *sorted, size_t n, double total,
                                double share)
{
    double sum = 0;
    size_t i = 0;
    while (i + 1 < n && (sum += sorted[i].amount[COST_TERM_UNIT]) < share * total)
        i++;
    return sorted[i].key;
}

/* Moves the samples that have units to the front; returns their number. */
static size_t keep_samples(struct cost_sample *samples, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (samples[i].amount[COST_TERM_UNIT] > 0)
            swap_samples(&samples[kept++], &samples[i]);
    return kept;
}

struct cost_unit cost_fit_ratio(struct cost_sample *samples, size_t n)
{
    double total = 0;
    n = keep_samples(samples, n);
    if (n == 0)
        return (struct cost_unit){ 0 };
    for (size_t i = 0; i < n; i++) {
        samples[i].key = samples[i].ns / samples[i].amount[COST_TERM_UNIT];
        total += samples[i].amount[COST_TERM_UNIT];
    }
    qsort(samples, n, sizeof *samples, compare_samples);
    struct cost_unit ret = { .ns = weighted_quantile(samples, n, total, 0.5),
                             .low_ns = weighted_quantile(samples, n, total, 0.25),
                             .high_ns = weighted_quantile(samples, n, total, 0.75),
                             .n = (uint32_t)n };
    ret.term_ns[COST_TERM_UNIT] = ret.ns;
    return ret;
}

/* --- Terms --- */

/* The normal equations of a least-squares problem: `rows` times the solution is `right`. */
struct equations {
    double rows[COST_TERMS][COST_TERMS], right[COST_TERMS], squares;
    size_t n; /* the number of samples */
};

/* Adds up the equations of all terms, with each sample's time as 1. Samples of units that are much
 * cheaper than the median are left out, because these shares would let them decide. */
static struct equations add_up(const struct cost_sample *samples, size_t n, double median)
{
    struct equations ret = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct cost_sample *s = &samples[i];
        if (!(s->ns > 0) || s->ns < CHEAP * median * s->amount[COST_TERM_UNIT])
            continue;
        for (unsigned k = 0; k < COST_TERMS; k++) {
            ret.right[k] += s->amount[k] / s->ns;
            for (unsigned l = 0; l < COST_TERMS; l++)
                ret.rows[k][l] += s->amount[k] / s->ns * (s->amount[l] / s->ns);
        }
        ret.squares++;
        ret.n++;
    }
    return ret;
}

/* Eliminates a column below its row (Gauss); returns false if nothing is left to divide by. */
static bool eliminate(struct equations *e, const unsigned *at, unsigned n, unsigned column,
                      double least)
{
    double pivot = e->rows[at[column]][at[column]];
    if (!(pivot > least))
        return false;
    for (unsigned i = column + 1; i < n; i++) {
        double factor = e->rows[at[i]][at[column]] / pivot;
        for (unsigned k = column; k < n; k++)
            e->rows[at[i]][at[k]] -= factor * e->rows[at[column]][at[k]];
        e->right[at[i]] -= factor * e->right[at[column]];
    }
    return true;
}

/* Solves the equations of a subset of terms. Returns false if they have no solution, or one that is
 * not above 0. */
static bool solve(const struct equations *all, unsigned subset, double solution[COST_TERMS])
{
    struct equations e = *all;
    unsigned at[COST_TERMS], n = 0;
    memset(solution, 0, COST_TERMS * sizeof *solution);
    for (unsigned i = 0; i < COST_TERMS; i++)
        if (subset & (1u << i))
            at[n++] = i;
    for (unsigned i = 0; i < n; i++)
        if (!eliminate(&e, at, n, i, LEAST_PIVOT * all->rows[at[i]][at[i]]))
            return false;
    for (unsigned i = n; i-- > 0;) {
        double left = e.right[at[i]];
        for (unsigned k = i + 1; k < n; k++)
            left -= e.rows[at[i]][at[k]] * solution[at[k]];
        solution[at[i]] = left / e.rows[at[i]][at[i]];
        if (!(solution[at[i]] > 0) || !isfinite(solution[at[i]]))
            return false;
    }
    return true;
}

/* Returns the sum of the squares of the errors. */
static double error_of(const struct equations *e, const double solution[COST_TERMS])
{
    double ret = e->squares;
    for (unsigned i = 0; i < COST_TERMS; i++) {
        ret -= 2 * solution[i] * e->right[i];
        for (unsigned k = 0; k < COST_TERMS; k++)
            ret += solution[i] * solution[k] * e->rows[i][k];
    }
    return ret;
}

static unsigned bits_of(unsigned set)
{
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

bool cost_fit_terms(const struct cost_sample *samples, size_t n, unsigned terms,
                    struct cost_unit *unit)
{
    struct equations e = add_up(samples, n, unit->ns);
    double solution[COST_TERMS], least = INFINITY;
    if (e.n < (size_t)SAMPLES_PER_TERM * bits_of(terms))
        return false;
    for (unsigned subset = 1; subset < 1u << COST_TERMS; subset++)
        if (!(subset & ~terms) && solve(&e, subset, solution) && error_of(&e, solution) < least) {
            least = error_of(&e, solution);
            memcpy(unit->term_ns, solution, sizeof solution);
        }
    return isfinite(least);
}

bool cost_fit_scale(struct cost_sample *samples, size_t n, const struct cost_unit *of,
                    struct cost_unit *unit)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        double expected = cost_unit_time(of, samples[i].amount);
        if (!(expected > 0) || !(samples[i].ns > 0))
            continue;
        samples[i].key = samples[i].ns / expected;
        swap_samples(&samples[kept++], &samples[i]);
    }
    if (kept == 0)
        return false;
    qsort(samples, kept, sizeof *samples, compare_samples);
    double factor = (samples[(kept - 1) / 2].key + samples[kept / 2].key) / 2;
    for (unsigned i = 0; i < COST_TERMS; i++)
        unit->term_ns[i] = factor * of->term_ns[i];
    return true;
}
