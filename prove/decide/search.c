/* A search for values that make the facts true and the goal false: the ranges of the symbols are
 * divided, and what follows is propagated. Boxes around 0 are searched from small to large ones, so
 * that the first values that are found lead to the smallest ones. */
#include "prove/decide/decider.h"

enum {
    GROWTH = 4,         /* of the boxes */
    STEPS_OF_A_NODE = 4 /* of propagation, for each row */
};
static const int64_t LARGEST_BOX = INT64_C(1) << 44;

struct choice {
    uint32_t row;
    struct span other; /* the part that was not searched yet */
    size_t trail, at;
};

struct search {
    struct decider *d;
    vec_of(struct choice)
    choices;
    size_t at;      /* the symbols before it have one value each */
    uint64_t until; /* steps of the decider at which this search ends */
    bool inexact;   /* a condition had no value at a point */
    bool raises;
};

static struct span span_of(const struct decider *d, uint32_t symbol)
{
    return d->formula.rows.v[d->formula.symbols.v[symbol].row].span;
}

bool decider_is_counterexample(struct decider *d, bool *inexact, bool *raises)
{
    d->point.values = d->values.v;
    d->point.known = d->known.v;
    d->point.steps = 0;
    if (!point_start(&d->point)) {
        *inexact = *raises = false;
        d->failed = true;
        return false;
    }
    d->points++;
    struct decide_result goal = point_value(&d->point, d->goal);
    bool refuted = goal.kind == DECIDE_RAISES || (goal.kind == DECIDE_INTEGER && goal.integer == 0);
    bool open = goal.kind == DECIDE_NO_VALUE;
    for (size_t i = 0; i < d->relevant.n && (refuted || open); i++) {
        struct decide_result fact = point_value(&d->point, d->facts.v[d->relevant.v[i]].row);
        if (fact.kind == DECIDE_NO_VALUE) {
            refuted = false;
            open = true;
        } else if (fact.kind != DECIDE_INTEGER || fact.integer == 0) {
            refuted = open = false;
        }
    }
    d->steps += d->point.steps;
    *inexact = open;
    *raises = goal.kind == DECIDE_RAISES;
    return refuted;
}

/* Tries the first values of the spans. */
static bool try_point(struct search *s)
{
    struct decider *d = s->d;
    for (size_t i = 0; i < d->symbols.n; i++) {
        struct span span = span_of(d, d->symbols.v[i]);
        d->known.v[d->symbols.v[i]] = span_is_one(span);
        d->values.v[d->symbols.v[i]] = span.lower;
    }
    bool open, ret = decider_is_counterexample(d, &open, &s->raises);
    s->inexact |= open;
    return ret;
}

/* Returns the first symbol with several values; ROW_NONE: each has one. */
static uint32_t next_symbol(struct search *s)
{
    const struct decider *d = s->d;
    for (; s->at < d->symbols.n; s->at++) {
        uint32_t row = d->formula.symbols.v[d->symbols.v[s->at]].row;
        if (d->formula.rows.v[row].integer && !span_is_one(d->formula.rows.v[row].span))
            return row;
    }
    return ROW_NONE;
}

/* Divides a span: the part with the smaller values comes first. */
static void divide(struct span span, struct span *first, struct span *second)
{
    *first = *second = span;
    if (span.lower < 0 && span.upper >= 0) {
        first->lower = 0;
        second->upper = -1;
    } else {
        int64_t middle = span.lower + (span.upper - span.lower) / 2;
        bool below = span.upper < 0;
        (below ? second : first)->upper = middle;
        (below ? first : second)->lower = middle + 1;
    }
}

/* Assumes a part, or, where that has no values, the newest other part that has some. */
static bool enter(struct search *s, uint32_t row, struct span span)
{
    struct decider *d = s->d;
    struct propagation *p = &d->propagation;
    for (;;) {
        uint64_t before = p->steps;
        propagation_narrow(p, row, span);
        bool ok = propagation_run(p, (uint64_t)STEPS_OF_A_NODE * d->formula.rows.n + 64);
        d->steps += p->steps - before + 1;
        d->failed |= p->failed;
        if (ok)
            return true;
        if (d->failed || s->choices.n == 0)
            return false;
        struct choice choice = s->choices.v[--s->choices.n];
        propagation_undo(p, choice.trail);
        s->at = choice.at;
        row = choice.row;
        span = choice.other;
    }
}

/* Goes on with the newest part that was not searched. */
static bool back(struct search *s)
{
    if (s->choices.n == 0)
        return false;
    struct choice choice = s->choices.v[--s->choices.n];
    propagation_undo(&s->d->propagation, choice.trail);
    s->at = choice.at;
    return enter(s, choice.row, choice.other);
}

int64_t decider_keep_values(struct decider *d)
{
    int64_t ret = 0;
    d->found.n = 0;
    for (size_t i = 0; i < d->symbols.n; i++) {
        uint32_t symbol = d->symbols.v[i];
        int64_t value = d->values.v[symbol], size = value < 0 ? -value : value;
        if (!d->known.v[symbol])
            continue;
        struct decide_value item = { d->formula.symbols.v[symbol].symbol, value };
        if (!vec_push(&d->found, item)) {
            d->failed = true;
            return 0;
        }
        ret = size > ret ? size : ret;
    }
    return ret;
}

/* Searches the values up to `most` in absolute value. */
static enum search_result search_box(struct search *s, int64_t most, int64_t *largest)
{
    struct decider *d = s->d;
    struct propagation *p = &d->propagation;
    size_t trail = p->trail.n;
    enum search_result ret = SEARCH_NONE;
    s->choices.n = s->at = 0;
    s->inexact = false;
    bool going = true;
    for (size_t i = 0; i < d->symbols.n && going; i++) {
        uint32_t row = d->formula.symbols.v[d->symbols.v[i]].row;
        if (d->formula.rows.v[row].integer)
            propagation_narrow(p, row, (struct span){ -most, most });
    }
    going = propagation_run(p, (uint64_t)STEPS_OF_A_NODE * d->formula.rows.n + 64);
    while (going && !d->failed) {
        if (decider_is_over(d) || d->steps > s->until) {
            ret = SEARCH_UNDECIDED;
            break;
        }
        uint32_t row = next_symbol(s);
        if (row == ROW_NONE) {
            if (try_point(s)) {
                *largest = decider_keep_values(d);
                ret = SEARCH_FOUND;
                break;
            }
            going = back(s);
            continue;
        }
        struct choice choice = { row, .trail = p->trail.n, .at = s->at };
        struct span first;
        divide(d->formula.rows.v[row].span, &first, &choice.other);
        if (!vec_push(&s->choices, choice)) {
            d->failed = true;
            break;
        }
        going = enter(s, row, first);
    }
    propagation_undo(p, trail);
    if (d->failed || p->failed)
        return SEARCH_UNDECIDED;
    d->no_values |= s->inexact && ret != SEARCH_FOUND;
    return ret == SEARCH_NONE && s->inexact ? SEARCH_UNDECIDED : ret;
}

static int64_t nearest_to_zero(struct span span)
{
    return span.lower > 0 ? span.lower : span.upper < 0 ? -span.upper : 0;
}

static int64_t farthest_from_zero(struct span span)
{
    if (span.lower == DECIDE_NO_LOWER || span.upper == DECIDE_NO_UPPER)
        return INT64_MAX;
    return -span.lower > span.upper ? -span.lower : span.upper;
}

/* Sets the steps at which a search ends, so that others can follow. */
static void allow(struct search *s, unsigned share)
{
    uint64_t limit = s->d->limits.steps;
    uint64_t left = limit > s->d->steps ? limit - s->d->steps : 0;
    s->until = s->d->steps + left / share;
}

/* Values up to `hi` were found, and there are none up to `lo`: finds the smallest. */
static bool make_smallest(struct search *s, int64_t lo, int64_t hi, int64_t box)
{
    bool raises = s->raises;
    while (hi - lo > 1) {
        int64_t middle = lo + (hi - lo) / 2, largest = 0;
        allow(s, 3);
        switch (search_box(s, middle, &largest)) {
        case SEARCH_FOUND:
            hi = largest;
            box = middle;
            raises = s->raises;
            break;
        case SEARCH_NONE: lo = middle; break;
        default: s->raises = raises; return false;
        }
    }
    s->raises = raises;
    if (box == hi)
        return true;
    int64_t largest;
    allow(s, 1);
    bool ok = search_box(s, hi, &largest) == SEARCH_FOUND;
    s->raises = ok ? s->raises : raises;
    return ok;
}

enum search_result decider_search(struct decider *d, bool *smallest, bool *raises)
{
    struct search s = { .d = d };
    int64_t least = 0, most = 0, none = -1, largest = 0;
    for (size_t i = 0; i < d->symbols.n; i++) {
        struct span span = span_of(d, d->symbols.v[i]);
        int64_t near = nearest_to_zero(span), far = farthest_from_zero(span);
        least = near > least ? near : least;
        most = far > most ? far : most;
    }
    *smallest = *raises = false;
    enum search_result ret = SEARCH_NONE;
    bool exact = true;
    none = least - 1;
    for (int64_t box = least + 8;; box *= GROWTH) {
        box = box > most ? most : box;
        box = box > LARGEST_BOX ? LARGEST_BOX : box;
        allow(&s, 4);
        ret = search_box(&s, box, &largest);
        if (ret == SEARCH_FOUND) {
            *raises = s.raises;
            *smallest = make_smallest(&s, none, largest, box) && exact;
            *raises = s.raises;
            break;
        }
        if (ret == SEARCH_NONE)
            none = box;
        exact &= ret == SEARCH_NONE;
        if (d->failed || decider_is_over(d) || box == most || box == LARGEST_BOX)
            break;
    }
    vec_release(&s.choices);
    if (ret == SEARCH_NONE && none < most)
        ret = SEARCH_UNDECIDED;
    return ret;
}
