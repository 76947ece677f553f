#include <math.h>

#include "minify/search/search_inside.h"
#include "trace/base/number.h"

static void put_edits(struct search_trial *trial, const struct edit *edits, size_t n)
{
    if (!vec_reserve(&trial->edits, n)) {
        trial->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i++)
        trial->edits.v[trial->edits.n++] = edits[i];
}

/* ---- Tries proposals one after the other until one is accepted ---- */

struct each {
    const struct proposal *proposals;
    uint32_t n;
};
struct each_state {
    uint32_t at;
    bool found;
};

static bool each_next(const struct search_plan *plan, void *state, struct search_trial *trial)
{
    const struct each *each = plan->user;
    const struct each_state *s = state;
    if (s->found || s->at >= each->n)
        return false;
    put_edits(trial, each->proposals[s->at].edits, each->proposals[s->at].n);
    return true;
}

static void each_tell(const struct search_plan *plan, void *state, bool yes)
{
    struct each_state *s = state;
    (void)plan;
    s->found = yes;
    s->at += !yes;
}

static double usual_chance(const struct search_plan *plan, const void *state)
{
    (void)state;
    return plan->usual;
}

static uint64_t each_left(const struct search_plan *plan, const void *state)
{
    const struct each *each = plan->user;
    return each->n - ((const struct each_state *)state)->at;
}

bool search_try_each(struct search *search, const struct proposal *proposals, uint32_t n,
                     uint32_t *which)
{
    const struct each each = { .proposals = proposals, .n = n };
    struct search_plan plan = { .next = each_next,
                                .tell = each_tell,
                                .chance = usual_chance,
                                .left = each_left,
                                .user = &each };
    struct each_state state = { 0 };
    bool good = search_run_plan(search, &plan, &state);
    if (which)
        *which = state.found ? state.at : UINT32_MAX;
    return good;
}

bool search_try(struct search *search, const struct edit *edits, uint32_t n, bool *accepted)
{
    const struct proposal proposal = { .edits = edits, .n = n };
    uint32_t which;
    bool good = search_try_each(search, &proposal, 1, &which);
    if (accepted)
        *accepted = which == 0;
    return good;
}

/* ---- The least of a range, by halving the probability ---- */

struct least {
    const float *weight; /* by x; NULL */
    search_maker *make;
    void *user;
};
struct least_state {
    uint32_t low, high; /* the answer is in [low, high]; high is known to be interesting */
};

/* Returns the x at which the sum of weights up to it is nearest to half; never the last, which
 * needs no question. */
static uint32_t middle(const struct least *least, const struct least_state *s)
{
    double all = 0, sum;
    uint32_t x = s->low;
    if (!least->weight)
        return s->low + (s->high - s->low) / 2;
    for (uint32_t i = s->low; i <= s->high; i++)
        all += (double)least->weight[i];
    sum = (double)least->weight[x];
    while (x + 1 < s->high && sum < all / 2)
        sum += (double)least->weight[++x];
    if (x > s->low && all / 2 - (sum - (double)least->weight[x]) < sum - all / 2)
        x--;
    return x;
}

static bool least_next(const struct search_plan *plan, void *state, struct search_trial *trial)
{
    const struct least *least = plan->user;
    struct least_state *s = state;
    struct edit edit;
    trial->any_size = true;
    while (s->low < s->high) {
        uint32_t x = middle(least, s);
        if (least->make(least->user, x, &edit)) {
            put_edits(trial, &edit, 1);
            return true;
        }
        s->low = x + 1; /* the proposal does not exist */
    }
    return false;
}

static void least_tell(const struct search_plan *plan, void *state, bool yes)
{
    struct least_state *s = state;
    uint32_t x = middle(plan->user, s);
    if (yes)
        s->high = x;
    else
        s->low = x + 1;
}

static double least_chance(const struct search_plan *plan, const void *state)
{
    const struct least *least = plan->user;
    const struct least_state *s = state;
    double yes = 0, all = 0;
    uint32_t x = middle(least, s);
    for (uint32_t i = s->low; i <= s->high && least->weight; i++) {
        all += (double)least->weight[i];
        yes += i <= x ? (double)least->weight[i] : 0;
    }
    return all > 0 ? yes / all : 0.5;
}

static uint64_t least_left(const struct search_plan *plan, const void *state)
{
    const struct least_state *s = state;
    (void)plan;
    return bit_width(s->high - s->low);
}

bool search_least(struct search *search, uint32_t from, uint32_t to, const float *weight,
                  search_maker *make, void *user, uint32_t *least)
{
    const struct least what = { .weight = weight, .make = make, .user = user };
    struct search_plan plan = { .next = least_next,
                                .tell = least_tell,
                                .chance = least_chance,
                                .left = least_left,
                                .user = &what };
    struct least_state state = { .low = from, .high = to > from ? to : from };
    bool good = search_run_plan(search, &plan, &state);
    if (least)
        *least = state.high;
    return good;
}

/* ---- Down to the least value: 0, 1, 3, 7 ... above it, then halving ---- */

struct descend_state {
    int64_t low, high; /* values below low are known not to be interesting, high is */
    uint64_t step;     /* 0: halving */
};

/* Returns the next value without overflow: the distance of two int64_t fits a uint64_t. */
static int64_t descend_value(const struct descend_state *s)
{
    uint64_t room = (uint64_t)s->high - (uint64_t)s->low;
    uint64_t up = s->step == 0 ? room / 2 : s->step - 1;
    return (int64_t)((uint64_t)s->low + (up < room ? up : room / 2));
}

static bool descend_next(const struct search_plan *plan, void *state, struct search_trial *trial)
{
    const struct descend_state *s = state;
    struct edit edit = *(const struct edit *)plan->user;
    if (s->low >= s->high)
        return false;
    edit.value = descend_value(s);
    put_edits(trial, &edit, 1);
    return true;
}

static void descend_tell(const struct search_plan *plan, void *state, bool yes)
{
    struct descend_state *s = state;
    int64_t value = descend_value(s);
    (void)plan;
    if (yes) {
        s->high = value;
        s->step = 0;
    } else {
        s->low = value + 1;
        s->step = s->step > UINT64_MAX / 2 ? 0 : s->step * 2;
    }
}

/* A first value is the least of all, which often will do. */
static double descend_chance(const struct search_plan *plan, const void *state)
{
    const struct descend_state *s = state;
    return s->step == 1 ? plan->usual : 0.5;
}

static uint64_t descend_left(const struct search_plan *plan, const void *state)
{
    const struct descend_state *s = state;
    (void)plan;
    return s->high > s->low ? bit_width((uint64_t)s->high - (uint64_t)s->low) : 0;
}

bool search_descend(struct search *search, struct edit edit, int64_t from, int64_t least,
                    bool *accepted)
{
    struct search_plan plan = { .next = descend_next,
                                .tell = descend_tell,
                                .chance = descend_chance,
                                .left = descend_left,
                                .user = &edit };
    struct descend_state state = { .low = least, .high = from, .step = 1 };
    bool good = search_run_plan(search, &plan, &state);
    if (accepted)
        *accepted = state.high < from;
    return good;
}
