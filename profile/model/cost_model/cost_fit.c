#include "profile/model/cost_model/cost_fit.h"

#include <stdlib.h>

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int compare_samples(const void *a, const void *b)
{
    const struct cost_sample *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

/* Returns the median of n > 0 numbers, which it sorts. */
static double median(double *numbers, size_t n)
{
    qsort(numbers, n, sizeof *numbers, compare_numbers);
    return n % 2 ? numbers[n / 2] : (numbers[n / 2 - 1] + numbers[n / 2]) / 2;
}

/* Returns the least key at or below which `share` of the samples' units are. */
static double weighted_quantile(const struct cost_sample *sorted, size_t n, double total,
                                double share)
{
    double sum = 0;
    size_t i = 0;
    while (i + 1 < n && (sum += sorted[i].count) < share * total)
        i++;
    return sorted[i].key;
}

/* Moves the samples that have units to the front; returns their number. */
static size_t keep_samples(struct cost_sample *samples, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (samples[i].count > 0)
            samples[kept++] = samples[i];
    return kept;
}

/* Fits the time above a base. */
static struct cost_unit fit_above(struct cost_sample *samples, size_t n, double base)
{
    double total = 0;
    if (n == 0)
        return (struct cost_unit){ 0 };
    for (size_t i = 0; i < n; i++) {
        double above = samples[i].ns - base;
        samples[i].key = above > 0 ? above / samples[i].count : 0;
        total += samples[i].count;
    }
    qsort(samples, n, sizeof *samples, compare_samples);
    return (struct cost_unit){ .ns = weighted_quantile(samples, n, total, 0.5),
                               .low_ns = weighted_quantile(samples, n, total, 0.25),
                               .high_ns = weighted_quantile(samples, n, total, 0.75),
                               .base_ns = base,
                               .n = (uint32_t)n };
}

struct cost_unit cost_fit_ratio(struct cost_sample *samples, size_t n)
{
    return fit_above(samples, keep_samples(samples, n), 0);
}

static double median_slope(const struct cost_sample *samples, size_t n, double *pairs)
{
    size_t n_pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (samples[i].count != samples[k].count)
                pairs[n_pairs++] =
                    (samples[k].ns - samples[i].ns) / (samples[k].count - samples[i].count);
    return n_pairs ? median(pairs, n_pairs) : 0;
}

struct cost_unit cost_fit_line(struct cost_sample *samples, size_t n, double *pairs)
{
    n = keep_samples(samples, n);
    if (n < 3)
        return fit_above(samples, n, 0);
    size_t used = n < COST_FIT_SAMPLES ? n : COST_FIT_SAMPLES;
    double slope = median_slope(samples, used, pairs);
    if (slope <= 0)
        return fit_above(samples, n, 0);
    for (size_t i = 0; i < used; i++)
        pairs[i] = samples[i].ns - slope * samples[i].count;
    double base = median(pairs, used);
    if (base < 0)
        return fit_above(samples, n, 0);
    struct cost_unit ret = fit_above(samples, n, base);
    ret.ns = slope;
    ret.low_ns = ret.low_ns < slope ? ret.low_ns : slope;
    ret.high_ns = ret.high_ns > slope ? ret.high_ns : slope;
    return ret;
}
