/* Fits of the time that a unit of work takes, from samples: amounts of what the time grows with,
 * and the time.
 *
 *     struct cost_unit unit = cost_fit_ratio(samples, n);
 *     if (!cost_fit_terms(samples, n, COST_BIT(UNIT) | COST_BIT(SIZE), &unit))
 *         cost_fit_scale(samples, n, &shipped, &unit);
 *     ns = cost_unit_time(&unit, amounts);
 *
 * They reorder the samples, and lose none. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_FIT_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cost_term {
#define COST_TERM(id, json) COST_TERM_##id,
#include "profile/model/cost_model/cost_terms.def"
#undef COST_TERM
    COST_TERMS
};

#define COST_BIT(id) (1u << COST_TERM_##id)

struct cost_sample {
    double amount[COST_TERMS];
    double ns;
    double key; /* for the fit */
};

struct cost_unit {
    double ns, low_ns, high_ns; /* of a unit, all that it takes: median and quartiles */
    uint32_t n;                 /* the number of samples with units */
    double term_ns[COST_TERMS]; /* the time is the sum of the amounts times these */
};

/* Quantiles of ns / units, weighted by units; the time grows with units alone. Zeros where no
 * sample has a unit. */
struct cost_unit cost_fit_ratio(struct cost_sample *samples, size_t n);

/* Sets the times of terms (a set of COST_BIT()): none is below 0, and the sum of the squares of the
 * errors, as shares of the samples' times, is the least (least squares, by all subsets of terms).
 * Samples without time do not count, nor those in which a unit (unit->ns is the median) took less
 * than a quarter of it. Each term needs two samples; it returns false, with the
 * unit as it was, where not all terms have that. */
bool cost_fit_terms(const struct cost_sample *samples, size_t n, unsigned terms,
                    struct cost_unit *unit);

/* Sets the terms of a unit to those of another one times a factor: the median of how much longer
 * the samples took than that one says. Returns false, with the unit as it was, if that is not
 * known. */
bool cost_fit_scale(struct cost_sample *samples, size_t n, const struct cost_unit *of,
                    struct cost_unit *unit);

double cost_unit_time(const struct cost_unit *unit, const double amount[COST_TERMS]);

#endif
