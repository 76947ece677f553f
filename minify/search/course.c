#include "minify/search/course.h"

#include <math.h>

#include "minify/search/search_inside.h"

#define TIMEOUT_LEAST 5.0
#define TIMEOUT_MOST  300.0
#define TIMEOUT_TIMES 10.0
#define ALPHA         0.01 /* the accepted probability that a "no" is wrong */
enum { CLEAN_MAX = 100, DOUBT_ASKED = 10 };

/* Returns how many runs without a failure show that a graph does not fail. One failure proves that
 * it fails. */
static uint32_t clean_runs(double rate)
{
    double n = rate < 1 ? ceil(log(ALPHA) / log1p(-rate)) : 1;
    return n > CLEAN_MAX ? CLEAN_MAX : n < 1 ? 1 : (uint32_t)n;
}

static double timeout_of(const struct minify_options *options, double first)
{
    double least = options->oracle->least_timeout, seconds = TIMEOUT_TIMES * first;
    least = least > 0 ? least : TIMEOUT_LEAST;
    double most = least > TIMEOUT_MOST ? least : TIMEOUT_MOST;
    if (options->timeout > 0)
        return options->timeout;
    return seconds < least ? least : seconds > most ? most : seconds;
}

/* How often a candidate was asked about. */
static uint32_t times_asked(const struct cached_answer *known)
{
    return known->attempts + known->confirmed + known->doubted;
}

/* Asks about the original until `repeat` answers are known. */
static bool measure_rate(struct search *search)
{
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    uint32_t asked = times_asked(known), repeat = search->options->repeat;
    if (asked < repeat && !search_confirm(search, repeat - asked))
        return false;
    known = cache_find(search->cache, search->best_hash);
    search->rate_asked = times_asked(known);
    search->rate_hits = 1 + known->confirmed;
    return true;
}

/* Asks about the original. Returns false if the search has ended. */
static bool calibrate(struct search *search)
{
    bool interesting = false;
    search->pass = "calibration";
    search->how = (struct ask_how){ .clean = search->options->repeat ? search->options->repeat : 1,
                                    .timeout = timeout_of(search->options, TIMEOUT_MOST) };
    if (!search_calibrate(search, &interesting))
        return false;
    if (!interesting) {
        search->end = MINIFY_NOT_REPRODUCED;
        return false;
    }
    search->calibrated = true;
    if (search->forecast)
        return search->options->repeat <= 1; /* else the limits are not known yet */
    if (!measure_rate(search))
        return false;
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    search->how.timeout = timeout_of(search->options, known->seconds);
    search->how.clean = clean_runs((double)search->rate_hits / search->rate_asked);
    return search_save(search);
}

/* Asks about the result again, as often as about the original, and more often once the answers
 * vary. A result that was confirmed in an earlier run is not asked about again. */
static bool confirm(struct search *search)
{
    const struct cached_answer *known = cache_find(search->cache, search->best_hash);
    uint32_t most = search->how.clean > 1 ? search->options->repeat : 1;
    search->pass = "confirmation";
    if (search->oracle->deterministic ||
        cand_size_compare(&search->best_size, &search->first_size) == 0)
        return true;
    if (search->forecast)
        return search_confirm(search, 1);
    uint32_t ahead = known->resumed ? 0 : known->confirmed + known->doubted;
    search->confirming += ahead < most ? ahead : most; /* asked in advance, by the forecast */
    while (!known->resumed && known->confirmed + known->doubted < most) {
        if (!search_confirm(search, most - known->confirmed - known->doubted))
            return false;
        known = cache_find(search->cache, search->best_hash);
        if (known->doubted && most < DOUBT_ASKED)
            most = DOUBT_ASKED;
    }
    if (known->confirmed + known->doubted == 0)
        return true;
    search->rate_asked = known->confirmed + known->doubted;
    search->rate_hits = known->confirmed;
    return true;
}

bool course_run(struct search *search)
{
    return (search->calibrated || calibrate(search)) && schedule_run(search) && confirm(search);
}
