/* Sweeps find out which of many independent edits can be made.
 *
 * This is adaptive group testing. The part that an edit removes is either needed or not; the share
 * of needed ones is learnt from the answers. A trial makes as many more edits as leave an even
 * chance that none removes a needed part (at first all of them). After a no, the group is halved
 * until one needed edit is found, with one question for each halving; the first halves that succeed
 * are made, and the rest returns to the unknown edits. When a first half is made, the second half
 * is known to contain a needed edit, since both together were refused. So each remaining edit was
 * refused alone. */
#include <math.h>

#include "minify/search/search_inside.h"

enum edit_status { EDIT_UNKNOWN, EDIT_MADE, EDIT_NEEDED };

struct edit_sweep {
    const struct edit *edits;
    const float *likely;
    uint32_t n;
};

struct sweep_state {
    uint32_t hot; /* an unknown edit before this position is needed; 0: not known */
    uint32_t end; /* the trial makes the unknown edits before this position */
    uint32_t unknown, found_made, found_needed, streak; /* streak: needed ones in a row */
    double expected; /* the expected number of needed ones among those found */
    uint8_t status[];
};

static uint32_t first_unknown(const struct edit_sweep *sweep, const struct sweep_state *s)
{
    uint32_t i = 0;
    while (i < sweep->n && s->status[i] != EDIT_UNKNOWN)
        i++;
    return i;
}

/* Returns the probability that an edit is needed. */
static double chance_needed(const struct edit_sweep *sweep, const struct sweep_state *s, uint32_t i)
{
    double found = (double)s->found_made + s->found_needed + 1, p;
    if (sweep->likely)
        p = (double)sweep->likely[i] * (s->found_needed + 1) / (s->expected + 1);
    else
        p = s->found_needed / found;
    if (s->streak >= 2 && p < 1 - ldexp(1, -(int)s->streak))
        p = 1 - ldexp(1, -(int)(s->streak < 50 ? s->streak : 50));
    return p < 1e-9 ? 1e-9 : p > 0.999 ? 0.999 : p;
}

/* Returns the negative logarithm of the probability that an edit is not needed, which adds up over
 * a group. */
static double failure_weight(const struct edit_sweep *sweep, const struct sweep_state *s,
                             uint32_t i)
{
    return -log1p(-chance_needed(sweep, s, i));
}

static double weight_before(const struct edit_sweep *sweep, const struct sweep_state *s,
                            uint32_t end)
{
    double sum = 0;
    for (uint32_t i = 0; i < end; i++)
        if (s->status[i] == EDIT_UNKNOWN)
            sum += failure_weight(sweep, s, i);
    return sum;
}

/* Returns the end of the smallest group of at least one edit whose weight is `enough`, before
 * `end`. */
static uint32_t group_end(const struct edit_sweep *sweep, const struct sweep_state *s, uint32_t end,
                          double enough)
{
    double sum = 0;
    for (uint32_t i = first_unknown(sweep, s); i < end; i++) {
        if (s->status[i] == EDIT_UNKNOWN)
            sum += failure_weight(sweep, s, i);
        if (sum >= enough && s->status[i] == EDIT_UNKNOWN)
            return i + 1;
    }
    return end;
}

static uint32_t last_unknown(const struct sweep_state *s, uint32_t end)
{
    while (end > 0 && s->status[end - 1] != EDIT_UNKNOWN)
        end--;
    return end ? end - 1 : 0;
}

static uint32_t choose_end(const struct edit_sweep *sweep, const struct sweep_state *s)
{
    const double even = 0.6931471805599453;
    if (s->hot) {
        uint32_t end = group_end(sweep, s, s->hot, weight_before(sweep, s, s->hot) / 2 - 1e-12);
        uint32_t last = last_unknown(s, s->hot);
        return end > last ? last : end; /* leaves at least one edit for the other half */
    }
    if (!sweep->likely && s->found_needed == 0)
        return sweep->n;
    return group_end(sweep, s, sweep->n, even);
}

static bool sweep_next(const struct search_plan *plan, void *state, struct search_trial *trial)
{
    const struct edit_sweep *sweep = plan->user;
    struct sweep_state *s = state;
    if (s->unknown == 0)
        return false;
    s->end = choose_end(sweep, s);
    for (uint32_t i = 0; i < sweep->n; i++) {
        if (s->status[i] != EDIT_MADE && (s->status[i] != EDIT_UNKNOWN || i >= s->end))
            continue;
        if (!vec_push(&trial->edits, sweep->edits[i]))
            trial->failed = true;
    }
    return true;
}

static void set_status(const struct edit_sweep *sweep, struct sweep_state *s, uint32_t i,
                       enum edit_status status)
{
    s->status[i] = (uint8_t)status;
    s->unknown--;
    s->found_made += status == EDIT_MADE;
    s->found_needed += status == EDIT_NEEDED;
    s->streak = status == EDIT_NEEDED ? s->streak + 1 : 0;
    if (sweep->likely)
        s->expected += (double)sweep->likely[i];
}

static uint32_t unknown_before(const struct sweep_state *s, uint32_t end)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < end; i++)
        n += s->status[i] == EDIT_UNKNOWN;
    return n;
}

static void sweep_tell(const struct search_plan *plan, void *state, bool yes)
{
    const struct edit_sweep *sweep = plan->user;
    struct sweep_state *s = state;
    if (yes) {
        for (uint32_t i = 0; i < s->end; i++)
            if (s->status[i] == EDIT_UNKNOWN)
                set_status(sweep, s, i, EDIT_MADE);
        if (s->end >= s->hot)
            s->hot = 0;
    } else {
        s->hot = s->end;
    }
    if (s->hot && unknown_before(s, s->hot) <= 1) {
        uint32_t i = first_unknown(sweep, s);
        if (i < s->hot)
            set_status(sweep, s, i, EDIT_NEEDED);
        s->hot = 0;
    }
}

/* Returns the probability that the needed edits of a group, of which there is at least one, are all
 * in its second half. */
static double chance_of_half(const struct edit_sweep *sweep, const struct sweep_state *s)
{
    const double least = -log1p(-1 / (double)(unknown_before(s, s->hot) + 1));
    double all = 0, first = 0;
    for (uint32_t i = 0; i < s->hot; i++) {
        if (s->status[i] != EDIT_UNKNOWN)
            continue;
        double weight = fmax(least, failure_weight(sweep, s, i));
        all += weight;
        first += i < s->end ? weight : 0;
    }
    return (exp(-first) - exp(-all)) / (1 - exp(-all));
}

static double sweep_chance(const struct search_plan *plan, const void *state)
{
    const struct edit_sweep *sweep = plan->user;
    const struct sweep_state *s = state;
    if (s->hot)
        return chance_of_half(sweep, s);
    if (!sweep->likely && s->found_needed == 0)
        return plan->usual;
    return exp(-weight_before(sweep, s, s->end));
}

static uint64_t sweep_left(const struct search_plan *plan, const void *state)
{
    (void)plan;
    return ((const struct sweep_state *)state)->unknown;
}

bool search_sweep(struct search *search, const struct edit *edits, uint32_t n, const float *likely,
                  bool *made)
{
    const struct edit_sweep sweep = { .edits = edits, .likely = likely, .n = n };
    struct search_plan plan = { .next = sweep_next,
                                .tell = sweep_tell,
                                .chance = sweep_chance,
                                .left = sweep_left,
                                .user = &sweep };
    struct sweep_state *state = calloc(1, sizeof(struct sweep_state) + n);
    if (!state) {
        err_nomem(&search->err);
        return search_fail(search);
    }
    state->unknown = n;
    bool good = search_run_plan(search, &plan, state);
    for (uint32_t i = 0; made && i < n; i++)
        made[i] = state->status[i] == EDIT_MADE;
    free(state);
    return good;
}
