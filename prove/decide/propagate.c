/* Intervals and congruences, propagated through all rows: from the arguments of a row to its value,
 * and back. Only rows of integers take part. A quotient whose divisor may be 0 says nothing. */
#include "prove/decide/formula.h"

/* --- Arithmetic of bounds: infinite ones stay so, and what is too large becomes infinite --- */

static int64_t clamp(wide value, bool up)
{
    if (value >= DECIDE_MOST)
        return up ? DECIDE_NO_UPPER : DECIDE_MOST;
    if (value <= -DECIDE_MOST)
        return up ? -DECIDE_MOST : DECIDE_NO_LOWER;
    return (int64_t)value;
}

static bool is_infinite(int64_t bound)
{
    return bound == DECIDE_NO_LOWER || bound == DECIDE_NO_UPPER;
}

static struct span plus(struct span a, struct span b)
{
    return (struct span){
        .lower = a.lower == DECIDE_NO_LOWER || b.lower == DECIDE_NO_LOWER
                     ? DECIDE_NO_LOWER
                     : clamp((wide)a.lower + b.lower, false),
        .upper = a.upper == DECIDE_NO_UPPER || b.upper == DECIDE_NO_UPPER
                     ? DECIDE_NO_UPPER
                     : clamp((wide)a.upper + b.upper, true),
    };
}

static struct span minus(struct span a)
{
    return (struct span){ a.upper == DECIDE_NO_UPPER ? DECIDE_NO_LOWER : -a.upper,
                          a.lower == DECIDE_NO_LOWER ? DECIDE_NO_UPPER : -a.lower };
}

static int sign(int64_t value)
{
    return (value > 0) - (value < 0);
}

/* Takes a corner of a product into the span. */
static void take_product(struct span *ret, int64_t a, int64_t b)
{
    if (a == 0 || b == 0) {
        ret->lower = ret->lower > 0 ? 0 : ret->lower;
        ret->upper = ret->upper < 0 ? 0 : ret->upper;
        return;
    }
    bool infinite = is_infinite(a) || is_infinite(b), positive = sign(a) == sign(b);
    int64_t lower =
        infinite ? (positive ? DECIDE_MOST : DECIDE_NO_LOWER) : clamp((wide)a * b, false);
    int64_t upper =
        infinite ? (positive ? DECIDE_NO_UPPER : -DECIDE_MOST) : clamp((wide)a * b, true);
    ret->lower = lower < ret->lower ? lower : ret->lower;
    ret->upper = upper > ret->upper ? upper : ret->upper;
}

struct span span_product(struct span a, struct span b)
{
    struct span ret = { INT64_MAX, INT64_MIN };
    take_product(&ret, a.lower, b.lower);
    take_product(&ret, a.lower, b.upper);
    take_product(&ret, a.upper, b.lower);
    take_product(&ret, a.upper, b.upper);
    return ret;
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* a // b for b > 0, where both may be infinite. */
static int64_t floor_bound(int64_t a, int64_t b)
{
    if (is_infinite(a))
        return is_infinite(b) ? sign(a) < 0 ? -1 : 0 : a;
    return is_infinite(b) ? (a < 0 ? -1 : 0) : floor_div(a, b);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct span quotient(struct span a, struct span b)
{
    if (b.upper < 0) {
        a = minus(a);
        b = minus(b);
    }
    if (b.lower <= 0)
        return SPAN_ANY;
    return (struct span){ a.lower == DECIDE_NO_LOWER
                              ? DECIDE_NO_LOWER
                              : least(floor_bound(a.lower, b.lower), floor_bound(a.lower, b.upper)),
                          a.upper == DECIDE_NO_UPPER ? DECIDE_NO_UPPER
                                                     : most(floor_bound(a.upper, b.lower),
                                                            floor_bound(a.upper, b.upper)) };
}

static struct span remainder_of(struct span a, struct span b)
{
    if (b.upper < 0)
        return minus(remainder_of(minus(a), minus(b)));
    if (b.lower <= 0)
        return SPAN_ANY;
    struct span ret = { 0, b.upper == DECIDE_NO_UPPER ? DECIDE_NO_UPPER : b.upper - 1 };
    if (a.lower >= 0) {
        ret.upper = least(ret.upper, a.upper);
        if (a.upper < b.lower)
            return a;
    }
    if (span_is_one(b) && !is_infinite(b.lower) && !is_infinite(a.lower) && !is_infinite(a.upper)) {
        int64_t block = floor_div(a.lower, b.lower);
        if (block == floor_div(a.upper, b.lower))
            ret = (struct span){ a.lower - block * b.lower, a.upper - block * b.lower };
    }
    return ret;
}

static struct span power_span(struct span a, int64_t exponent)
{
    if (exponent > 62)
        return a.lower >= 0 ? (struct span){ a.lower > 0, DECIDE_NO_UPPER } : SPAN_ANY;
    struct span ret = a;
    for (int64_t i = 1; i < exponent; i++)
        ret = span_product(ret, a);
    if (exponent % 2 == 0)
        ret.lower = most(ret.lower, 0);
    return ret;
}

/* --- Rows --- */

static struct row *row_at(const struct propagation *p, uint32_t row)
{
    return &p->f->rows.v[row];
}

static struct span arg_span(const struct propagation *p, const struct row *row, uint32_t i)
{
    return row_at(p, row_arg(p->f, row, i))->span;
}

static void queue(struct propagation *p, uint32_t row)
{
    while (p->queued.n <= row)
        if (!vec_push(&p->queued, false)) {
            p->failed = true;
            return;
        }
    if (p->queued.v[row])
        return;
    if (!vec_push(&p->queue, row)) {
        p->failed = true;
        return;
    }
    p->queued.v[row] = true;
}

void propagation_queue(struct propagation *p, uint32_t row)
{
    queue(p, row);
}

void propagation_narrow(struct propagation *p, uint32_t number, struct span span)
{
    struct row *row = row_at(p, number);
    struct span new = { most(row->span.lower, span.lower), least(row->span.upper, span.upper) };
    if (p->empty || p->failed || span_equal(new, row->span))
        return;
    if (!vec_push(&p->trail, (struct span_change){ number, row->span })) {
        p->failed = true;
        return;
    }
    row->span = new;
    if (new.lower > new.upper) {
        p->empty = true;
        return;
    }
    queue(p, number);
    for (uint32_t use = row->first_use; use != ROW_NONE && !p->failed; use = p->f->uses.v[use].next)
        queue(p, p->f->uses.v[use].row);
}

static void narrow_arg(struct propagation *p, const struct row *row, uint32_t i, struct span span)
{
    propagation_narrow(p, row_arg(p->f, row, i), span);
}

/* --- One function a kind: the value from the arguments, then each argument from the value --- */

static void revise_sum(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    struct span sum = { 0, 0 };
    uint32_t open_below = 0, open_above = 0; /* arguments without a bound */
    wide lower = 0, upper = 0;
    for (uint32_t i = 0; i < row.n; i++) {
        struct span a = arg_span(p, &row, i);
        sum = plus(sum, a);
        open_below += a.lower == DECIDE_NO_LOWER;
        open_above += a.upper == DECIDE_NO_UPPER;
        lower += a.lower == DECIDE_NO_LOWER ? 0 : a.lower;
        upper += a.upper == DECIDE_NO_UPPER ? 0 : a.upper;
    }
    propagation_narrow(p, number, sum);
    struct span value = row_at(p, number)->span;
    for (uint32_t i = 0; i < row.n && !p->empty; i++) {
        struct span a = arg_span(p, &row, i), span = SPAN_ANY;
        bool others_below = open_below > (a.lower == DECIDE_NO_LOWER);
        bool others_above = open_above > (a.upper == DECIDE_NO_UPPER);
        wide rest_lower = lower - (a.lower == DECIDE_NO_LOWER ? 0 : a.lower);
        wide rest_upper = upper - (a.upper == DECIDE_NO_UPPER ? 0 : a.upper);
        if (value.upper != DECIDE_NO_UPPER && !others_below)
            span.upper = clamp(value.upper - rest_lower, true);
        if (value.lower != DECIDE_NO_LOWER && !others_above)
            span.lower = clamp(value.lower - rest_upper, false);
        struct span before = a;
        narrow_arg(p, &row, i, span);
        a = arg_span(p, &row, i);
        /* The sums stay those of the spans as they are now. */
        open_below -= before.lower == DECIDE_NO_LOWER && a.lower != DECIDE_NO_LOWER;
        open_above -= before.upper == DECIDE_NO_UPPER && a.upper != DECIDE_NO_UPPER;
        lower = rest_lower + (a.lower == DECIDE_NO_LOWER ? 0 : a.lower);
        upper = rest_upper + (a.upper == DECIDE_NO_UPPER ? 0 : a.upper);
    }
}

/* The integers x with x * other in value. */
static struct span divided_span(struct span value, struct span other)
{
    if (other.upper < 0) {
        value = minus(value);
        other = minus(other);
    }
    if (other.lower <= 0)
        return SPAN_ANY;
    struct span up = minus(quotient(minus(value), other)), down = quotient(value, other);
    /* x >= value.lower / other for the other that makes it least; the same above. */
    return (struct span){ up.lower, down.upper };
}

static void revise_product(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    struct span all = { 1, 1 };
    for (uint32_t i = 0; i < row.n; i++)
        all = span_product(all, arg_span(p, &row, i));
    propagation_narrow(p, number, all);
    if (row.n > 16)
        return;
    for (uint32_t i = 0; i < row.n && !p->empty; i++) {
        struct span others = { 1, 1 };
        for (uint32_t j = 0; j < row.n; j++)
            if (j != i)
                others = span_product(others, arg_span(p, &row, j));
        narrow_arg(p, &row, i, divided_span(row_at(p, number)->span, others));
    }
}

static void revise_power(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    int64_t exponent = row_at(p, row_arg(p->f, &row, 1))->integer_value;
    propagation_narrow(p, number, power_span(arg_span(p, &row, 0), exponent));
}

static void revise_quotient(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    struct span b = arg_span(p, &row, 1);
    if (b.lower <= 0 && b.upper >= 0)
        return;
    propagation_narrow(p, number, quotient(arg_span(p, &row, 0), b));
    struct span value = row_at(p, number)->span;
    if (b.lower <= 0)
        return;
    /* value * b <= a < (value + 1) * b */
    struct span low = span_product(value, b);
    struct span high = span_product(plus(value, (struct span){ 1, 1 }), b);
    narrow_arg(p, &row, 0,
               (struct span){ value.lower == DECIDE_NO_LOWER ? DECIDE_NO_LOWER : low.lower,
                              value.upper == DECIDE_NO_UPPER || high.upper == DECIDE_NO_UPPER
                                  ? DECIDE_NO_UPPER
                                  : high.upper - 1 });
}

static void revise_remainder(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    struct span a = arg_span(p, &row, 0), b = arg_span(p, &row, 1);
    if (b.lower <= 0 && b.upper >= 0)
        return;
    propagation_narrow(p, number, remainder_of(a, b));
    struct span value = row_at(p, number)->span;
    if (p->empty || !span_is_one(value) || !span_is_one(b) || is_infinite(b.lower))
        return;
    /* The first and the last number with that remainder. */
    int64_t modulus = b.lower < 0 ? -b.lower : b.lower;
    struct span span = SPAN_ANY;
    if (a.lower != DECIDE_NO_LOWER)
        span.lower = clamp(
            a.lower + (wide)((((value.lower - a.lower) % modulus) + modulus) % modulus), false);
    if (a.upper != DECIDE_NO_UPPER)
        span.upper = clamp(
            a.upper - (wide)((((a.upper - value.lower) % modulus) + modulus) % modulus), true);
    narrow_arg(p, &row, 0, span);
}

static void revise_extreme(struct propagation *p, uint32_t number, bool is_max)
{
    struct row row = *row_at(p, number);
    struct span all = arg_span(p, &row, 0);
    for (uint32_t i = 1; i < row.n; i++) {
        struct span a = arg_span(p, &row, i);
        all.lower = is_max ? most(all.lower, a.lower) : least(all.lower, a.lower);
        all.upper = is_max ? most(all.upper, a.upper) : least(all.upper, a.upper);
    }
    propagation_narrow(p, number, all);
    struct span value = row_at(p, number)->span;
    uint32_t reaching = 0, last = 0;
    for (uint32_t i = 0; i < row.n && !p->empty; i++) {
        narrow_arg(p, &row, i,
                   is_max ? (struct span){ DECIDE_NO_LOWER, value.upper }
                          : (struct span){ value.lower, DECIDE_NO_UPPER });
        struct span a = arg_span(p, &row, i);
        if (is_max ? a.upper >= value.lower : a.lower <= value.upper) {
            reaching++;
            last = i;
        }
    }
    if (reaching == 1 && !p->empty)
        narrow_arg(p, &row, last, value);
}

static void revise_equality(struct propagation *p, uint32_t number, bool negated)
{
    struct row row = *row_at(p, number);
    struct span a = arg_span(p, &row, 0), b = arg_span(p, &row, 1);
    if (a.lower > b.upper || b.lower > a.upper)
        propagation_narrow(p, number, (struct span){ negated, negated });
    else if (span_is_one(a) && span_equal(a, b))
        propagation_narrow(p, number, (struct span){ !negated, !negated });
    struct span value = row_at(p, number)->span;
    if (p->empty || !span_is_one(value))
        return;
    if ((value.lower != 0) != negated) {
        narrow_arg(p, &row, 0, b);
        narrow_arg(p, &row, 1, arg_span(p, &row, 0));
        return;
    }
    for (uint32_t i = 0; i < 2 && !p->empty; i++) {
        struct span one = arg_span(p, &row, i), other = arg_span(p, &row, 1 - i);
        if (!span_is_one(one) || is_infinite(one.lower))
            continue;
        struct span span = SPAN_ANY;
        if (other.lower == one.lower)
            span.lower = one.lower + 1;
        if (other.upper == one.lower)
            span.upper = one.lower - 1;
        narrow_arg(p, &row, 1 - i, span);
    }
}

/* a <= b - gap holds, or b <= a - (1 - gap) where it does not. */
static void revise_order(struct propagation *p, uint32_t number, int64_t gap)
{
    struct row row = *row_at(p, number);
    struct span step = { gap, gap }, a = plus(arg_span(p, &row, 0), step);
    struct span b = arg_span(p, &row, 1);
    if (a.upper != DECIDE_NO_UPPER && a.upper <= b.lower)
        propagation_narrow(p, number, (struct span){ 1, 1 });
    else if (a.lower != DECIDE_NO_LOWER && b.upper != DECIDE_NO_UPPER && a.lower > b.upper)
        propagation_narrow(p, number, (struct span){ 0, 0 });
    struct span value = row_at(p, number)->span;
    if (p->empty || !span_is_one(value))
        return;
    uint32_t small = value.lower ? 0 : 1;
    step.lower = step.upper = value.lower ? gap : 1 - gap;
    struct span high = plus(arg_span(p, &row, 1 - small), minus(step));
    narrow_arg(p, &row, small, (struct span){ DECIDE_NO_LOWER, high.upper });
    if (p->empty)
        return;
    struct span low = plus(arg_span(p, &row, small), step);
    narrow_arg(p, &row, 1 - small, (struct span){ low.lower, DECIDE_NO_UPPER });
}

/* And: it is false where one argument is false. Or: it is true where one is true. */
static void revise_connective(struct propagation *p, uint32_t number, bool stops_at)
{
    struct row row = *row_at(p, number);
    const struct span stop = { stops_at, stops_at }, go = { !stops_at, !stops_at };
    uint32_t open = 0, last = 0;
    bool stopped = false;
    for (uint32_t i = 0; i < row.n; i++) {
        struct span a = arg_span(p, &row, i);
        stopped |= span_equal(a, stop);
        if (!span_equal(a, go)) {
            open++;
            last = i;
        }
    }
    if (stopped || open == 0)
        propagation_narrow(p, number, stopped ? stop : go);
    struct span value = row_at(p, number)->span;
    if (p->empty || !span_is_one(value))
        return;
    if (span_equal(value, go))
        for (uint32_t i = 0; i < row.n; i++)
            narrow_arg(p, &row, i, go);
    else if (open == 1)
        narrow_arg(p, &row, last, stop);
}

static void revise_not(struct propagation *p, uint32_t number)
{
    struct row row = *row_at(p, number);
    const struct span one = { 1, 1 };
    propagation_narrow(p, number, plus(one, minus(arg_span(p, &row, 0))));
    if (!p->empty)
        narrow_arg(p, &row, 0, plus(one, minus(row_at(p, number)->span)));
}

static void revise(struct propagation *p, uint32_t number)
{
    const struct row *row = row_at(p, number);
    if (row->opaque)
        return;
    switch (row->kind) {
    case SYM_ADD: revise_sum(p, number); break;
    case SYM_MUL: revise_product(p, number); break;
    case SYM_POW: revise_power(p, number); break;
    case SYM_FLOORDIV: revise_quotient(p, number); break;
    case SYM_MOD: revise_remainder(p, number); break;
    case SYM_MAX: revise_extreme(p, number, true); break;
    case SYM_MIN: revise_extreme(p, number, false); break;
    case SYM_EQ: revise_equality(p, number, false); break;
    case SYM_NE: revise_equality(p, number, true); break;
    case SYM_LT: revise_order(p, number, 1); break;
    case SYM_LE: revise_order(p, number, 0); break;
    case SYM_AND: revise_connective(p, number, false); break;
    case SYM_OR: revise_connective(p, number, true); break;
    case SYM_NOT: revise_not(p, number); break;
    default: break;
    }
}

bool propagation_run(struct propagation *p, uint64_t may_take)
{
    for (uint64_t n = 0; p->head < p->queue.n && !p->empty && !p->failed && n < may_take; n++) {
        uint32_t row = p->queue.v[p->head++];
        p->queued.v[row] = false;
        p->steps++;
        revise(p, row);
    }
    /* What is left in the queue could only make spans narrower. */
    for (; p->head < p->queue.n; p->head++)
        p->queued.v[p->queue.v[p->head]] = false;
    p->queue.n = p->head = 0;
    return !p->empty && !p->failed;
}

void propagation_undo(struct propagation *p, size_t trail)
{
    while (p->trail.n > trail) {
        struct span_change change = p->trail.v[--p->trail.n];
        p->f->rows.v[change.row].span = change.old;
    }
    p->empty = false;
}

void propagation_release(struct propagation *p)
{
    vec_release(&p->queue);
    vec_release(&p->queued);
    vec_release(&p->trail);
}
