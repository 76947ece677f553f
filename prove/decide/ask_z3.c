/* Z3 as the last method: its "unsat" is believed, its values are checked. */
#include "prove/decide/decider.h"
#include "prove/decide/smtlib.h"
#include "replay/shape/expr/sym_pool.h"
#include "trace/base/clock.h"

enum {
    MOST_ASKED = 64,      /* questions for one counterexample that is the smallest */
    STEPS_OF_ONE = 50000, /* what a question counts as */
    LEAST_MS = 20
};
/* Z3 counts its steps: this many take about three seconds of most questions, so that a verdict
 * hardly depends on the machine. Some take no notice of it, and end with the time. */
static const uint64_t MOST_RESOURCES = 8000000;

struct z3_search {
    struct decider *d;
    uint32_t row;
    bool narrow;
    struct buf question, values;
    struct z3_answer answer;
    vec_of(struct span)
    box; /* by d->symbols */
    vec_of(int64_t)
    point; /* the values that were found last, by d->symbols */
    unsigned asked;
    int64_t largest; /* absolute value of the point that is kept */
    bool raises;     /* the goal divides by 0 there */
    bool now_raises; /* at the point that was found last */
};

static uint64_t milliseconds_left(const struct decider *d)
{
    uint64_t now = clock_ns(), left = now < d->until ? (d->until - now) / 1000000 : 0;
    return left > INT32_MAX / 2 ? INT32_MAX / 2 : left;
}

static bool is_within(struct span span, int64_t value)
{
    return (span.lower == DECIDE_NO_LOWER || value >= span.lower) &&
           (span.upper == DECIDE_NO_UPPER || value <= span.upper);
}

/* Returns whether the values are within the ranges that the question states. */
static bool is_in_ranges(const struct z3_search *s, bool boxed)
{
    const struct decider *d = s->d;
    for (size_t i = 0; i < d->symbols.n; i++) {
        unsigned facts = facts_at(d->pool, d->formula.symbols.v[d->symbols.v[i]].symbol);
        int64_t value = s->point.v[i];
        if ((known_positive(facts) && value < 1) || (known_nonnegative(facts) && value < 0) ||
            (boxed && !is_within(s->box.v[i], value)))
            return false;
    }
    for (size_t i = 0; i < d->ranges.n; i++) {
        uint32_t symbol = d->formula.rows.v[d->ranges.v[i].row].symbol;
        if (d->known.v[symbol] && !is_within(d->ranges.v[i].span, d->values.v[symbol]))
            return false;
    }
    return true;
}

/* Returns whether the values of the answer are a counterexample. */
static bool check_point(struct z3_search *s, bool boxed)
{
    struct decider *d = s->d;
    bool inexact;
    for (size_t i = 0; i < d->symbols.n; i++) {
        uint32_t symbol = d->symbols.v[i];
        d->known.v[symbol] = d->formula.rows.v[d->formula.symbols.v[symbol].row].integer;
        d->values.v[symbol] = s->point.v[i];
    }
    return is_in_ranges(s, boxed) && decider_is_counterexample(d, &inexact, &s->now_raises);
}

/* Asks for values within the box. The point is set if they are found. */
static enum search_result ask_within(struct z3_search *s, bool boxed)
{
    struct decider *d = s->d;
    uint64_t ms = milliseconds_left(d);
    if (s->asked == MOST_ASKED || ms < LEAST_MS)
        return SEARCH_UNDECIDED;
    s->asked++;
    d->steps += STEPS_OF_ONE;
    buf_clear(&s->question);
    buf_clear(&s->values);
    buf_printf(&s->question, "(set-option :timeout %llu)\n(set-option :rlimit %llu)\n",
               (unsigned long long)ms, (unsigned long long)MOST_RESOURCES);
    if (!smtlib_write(d, s->row, s->narrow, boxed ? s->box.v : NULL, &s->question, &s->values)) {
        d->failed = true;
        return SEARCH_UNDECIDED;
    }
    const struct z3_question q = { buf_str(&s->question), buf_str(&s->values),
                                   (uint32_t)ms + LEAST_MS };
    if (!z3_ask(d->limits.z3, &q, &s->answer)) {
        d->failed = true;
        return SEARCH_UNDECIDED;
    }
    if (s->answer.end != Z3_ANSWERED)
        return SEARCH_UNDECIDED;
    switch (smtlib_read(d, buf_str(&s->answer.text), s->point.v)) {
    case SMTLIB_UNSAT: return SEARCH_NONE;
    case SMTLIB_SAT: return check_point(s, boxed) ? SEARCH_FOUND : SEARCH_UNDECIDED;
    default: return SEARCH_UNDECIDED;
    }
}

/* Asks, and keeps the values that are found. */
static enum search_result find_within(struct z3_search *s, bool boxed)
{
    enum search_result ret = ask_within(s, boxed);
    if (ret == SEARCH_FOUND) {
        s->largest = decider_keep_values(s->d);
        s->raises = s->now_raises;
    }
    return s->d->failed ? SEARCH_UNDECIDED : ret;
}

static void set_box(struct z3_search *s, int64_t most)
{
    for (size_t i = 0; i < s->box.n; i++)
        s->box.v[i] = (struct span){ -most, most };
}

/* Makes the largest absolute value smaller, as long as there are values. */
static bool shrink_box(struct z3_search *s)
{
    int64_t none = -1;
    while (s->largest - none > 1) {
        int64_t middle = none + (s->largest - none) / 2;
        set_box(s, middle);
        enum search_result found = find_within(s, true);
        if (found == SEARCH_UNDECIDED)
            return false;
        if (found == SEARCH_NONE)
            none = middle;
    }
    set_box(s, s->largest);
    return true;
}

/* Gives symbol i the first of the values that it can have, in the order of decide.h: 0, 1, ... -1,
 * -2 ...; `at` is a value that it can have. */
static bool shrink_symbol(struct z3_search *s, size_t i, int64_t at)
{
    if (at < 0) {
        s->box.v[i].lower = 0;
        enum search_result found = find_within(s, true);
        if (found == SEARCH_UNDECIDED)
            return false;
        at = found == SEARCH_FOUND ? s->point.v[i] : at;
    }
    bool negative = at < 0;
    int64_t size = negative ? -at : at, none = negative ? 0 : -1;
    while (size - none > 1) {
        int64_t middle = none + (size - none) / 2;
        s->box.v[i] = negative ? (struct span){ -middle, -1 } : (struct span){ 0, middle };
        enum search_result found = find_within(s, true);
        if (found == SEARCH_UNDECIDED)
            return false;
        if (found == SEARCH_FOUND)
            size = negative ? -s->point.v[i] : s->point.v[i];
        else
            none = middle;
    }
    s->box.v[i] = (struct span){ negative ? -size : size, negative ? -size : size };
    return true;
}

/* Returns whether the values that are kept are the smallest ones. */
static bool make_smallest(struct z3_search *s)
{
    struct decider *d = s->d;
    if (!shrink_box(s))
        return false;
    for (size_t i = 0; i < d->symbols.n; i++) {
        uint32_t symbol = d->symbols.v[i];
        int64_t at = 0;
        bool integer = d->formula.rows.v[d->formula.symbols.v[symbol].row].integer;
        for (size_t j = 0; j < d->found.n; j++)
            if (d->found.v[j].symbol == d->formula.symbols.v[symbol].symbol)
                at = d->found.v[j].value;
        if (integer && !shrink_symbol(s, i, at))
            return false;
    }
    return true;
}

static enum search_result run(struct z3_search *s, bool *smallest)
{
    struct decider *d = s->d;
    size_t n = d->symbols.n;
    if (!vec_reserve(&s->box, n + 1) || !vec_reserve(&s->point, n + 1)) {
        d->failed = true;
        return SEARCH_UNDECIDED;
    }
    s->box.n = s->point.n = n;
    enum search_result ret = find_within(s, false);
    if (ret == SEARCH_FOUND && smallest)
        *smallest = make_smallest(s);
    return d->failed ? SEARCH_UNDECIDED : ret;
}

enum search_result decider_ask_z3(struct decider *d, uint32_t row, bool *smallest, bool *raises,
                                  enum z3_end *end)
{
    struct z3_search s = { .d = d, .row = row, .narrow = !d->limits.only_z3 };
    if (!smtlib_knows(d, row) || milliseconds_left(d) < LEAST_MS)
        return SEARCH_UNDECIDED;
    enum search_result ret = run(&s, smallest);
    *raises = s.raises;
    *end = s.answer.end;
    buf_release(&s.question);
    buf_release(&s.values);
    buf_release(&s.answer.text);
    vec_release(&s.box);
    vec_release(&s.point);
    return ret;
}
