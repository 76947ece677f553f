/* Robust fits of the time that a unit of work takes, from samples: (number of units, time).
 *
 *     struct cost_unit unit = cost_fit_ratio(samples, n);
 *
 * Both sort the samples, and return zeros where none has a unit. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_FIT_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_FIT_H

#include <stddef.h>
#include <stdint.h>

struct cost_sample {
    double count, ns;
    double key; /* for the fit */
};

struct cost_unit {
    double ns, low_ns, high_ns; /* median and quartiles */
    double base_ns;             /* for each sample, besides */
    uint32_t n;                 /* the number of samples with units */
};

/* The most samples of which cost_fit_line() considers all pairs; it takes the first ones. */
enum { COST_FIT_SAMPLES = 256 };

/* Time is proportional to units: quantiles of ns / count, weighted by count. */
struct cost_unit cost_fit_ratio(struct cost_sample *samples, size_t n);
/* Time is a base and a slope (Theil and Sen): the slope is the median of those of all pairs, the
 * base the median of what is left. The quartiles are those of the samples' own slopes above the
 * base. Fewer than 3 samples, or a slope or a base below 0: as cost_fit_ratio(). `pairs` is scratch
 * memory of COST_FIT_SAMPLES * COST_FIT_SAMPLES / 2 numbers. */
struct cost_unit cost_fit_line(struct cost_sample *samples, size_t n, double *pairs);

#endif
