/* Divides the time of a pass among user lines.
 *
 * The records of a pass cut its time into gaps. Two facts place a record among the calls of the
 * pass: Dynamo wraps a parameter just before the first call that reads it, and a guard or symbol
 * has a user stack, whose line is that of a call. The calls between the places of two records are
 * those that were traced between them, and they share the gap by their weights (call_weight.c). A
 * part of it belongs to no line: what a pass does for a call besides dispatching it, such as
 * running its bytecode. A guard's record ends the evaluation of an expression on its line. Other
 * records end no work of their own: they only tell how far the pass has come. */
#include "profile/model/lines/line_gaps.h"

#define EVALUATION 4.0 /* the weight of evaluating a guard */
#define WRAPPING   5.0 /* the weight of wrapping an input */
#define ERROR      1.7 /* the factor by which the weights of one line's calls may be wrong */

struct gap_divider {
    struct gap_memory *m;
    const struct line_pass *pass;
    double rate;      /* nanoseconds for a weight of 1 */
    double mean_rate; /* the same of the whole pass, evaluations and all */
    bool (*give)(void *user, const struct line_share *share);
    void *user;
};

static void *fill_rows(struct gap_memory *m, size_t n_rows)
{
    m->weights.n = m->last.n = m->rows.n = 0;
    if (!vec_reserve(&m->weights, n_rows + 1) || !vec_reserve(&m->last, n_rows + 1))
        return NULL;
    for (size_t i = 0; i <= n_rows; i++) {
        m->weights.v[i] = 0;
        m->last.v[i] = 0;
    }
    return m->weights.v;
}

/* ---- Where each record stands ---- */

static double call_weight(const struct line_pass *pass, uint32_t i)
{
    return (double)pass->calls[i].weight.runs[pass->run];
}

static bool has_call(const struct line_pass *pass, const struct pass_mark *mark)
{
    return mark->call < pass->n_calls;
}

/* Sets the place of each mark to the last call that it can stand at: that of the next mark whose
 * call is known. */
static void bound_places(struct gap_divider *d)
{
    uint32_t bound = d->pass->n_calls;
    for (size_t i = d->pass->n_marks; i-- > 0;) {
        if (has_call(d->pass, &d->pass->marks[i]) && d->pass->marks[i].call < bound)
            bound = d->pass->marks[i].call;
        d->m->places.v[i] = bound;
    }
}

/* Returns the place of a mark of the line at which the mark before it stands: that call's, or, in a
 * loop, the line's next call, if half the usual time of the calls until then has passed. */
static uint32_t place_again(const struct gap_divider *d, uint32_t at, uint32_t current,
                            uint32_t bound, int64_t ns)
{
    uint32_t next = d->m->next.v[current];
    if (next >= bound || next >= d->pass->n_calls)
        return at;
    double usual = (d->m->sums.v[next] - d->m->sums.v[current]) * d->mean_rate;
    return (double)ns >= usual / 2 ? next : at;
}

/* Returns the place of a mark, at or after that of the mark before: the call that is being traced
 * or comes next. */
static uint32_t place_mark(const struct gap_divider *d, size_t mark_index, uint32_t at,
                           uint32_t bound)
{
    const struct work_call *calls = d->pass->calls;
    const struct pass_mark *mark = &d->pass->marks[mark_index];
    int64_t ns = mark->at_ns - (mark_index > 0 ? mark[-1].at_ns : 0);
    if (has_call(d->pass, mark))
        return mark->call > at ? mark->call : at;
    if (mark->row == LINE_NOBODY || d->m->last.v[mark->row] <= at)
        return at;
    if (at > 0 && calls[at - 1].row == mark->row)
        return place_again(d, at, at - 1, bound, ns);
    if (mark_index > 0 && mark[-1].row == mark->row && calls[at].row == mark->row)
        return place_again(d, at, at, bound, ns);
    uint32_t found = at;
    while (found < bound && calls[found].row != mark->row)
        found++;
    return found < d->pass->n_calls && calls[found].row == mark->row ? found : at;
}

/* Sums the weights of calls, and links each to the next one of its row. */
static bool index_calls(struct gap_divider *d)
{
    const struct line_pass *pass = d->pass;
    struct gap_memory *m = d->m;
    m->next.n = m->sums.n = 0;
    if (!vec_reserve(&m->next, pass->n_calls + 1) || !vec_reserve(&m->sums, pass->n_calls + 1))
        return false;
    m->sums.v[0] = 0;
    for (uint32_t i = 0; i < pass->n_calls; i++)
        m->sums.v[i + 1] = m->sums.v[i] + call_weight(pass, i) + pass->beside;
    for (uint32_t i = pass->n_calls; i-- > 0;) {
        uint32_t row = pass->calls[i].row;
        m->next.v[i] = row == LINE_NOBODY || m->last.v[row] == 0 ? LINE_NOBODY : m->last.v[row] - 1;
        if (row != LINE_NOBODY)
            m->last.v[row] = i + 1;
    }
    d->mean_rate = m->sums.v[pass->n_calls] > 0 ? (double)pass->ns / m->sums.v[pass->n_calls] : 0;
    return true;
}

static bool place_marks(struct gap_divider *d)
{
    const struct line_pass *pass = d->pass;
    d->m->places.n = 0;
    if (!vec_reserve(&d->m->places, pass->n_marks + 1) || !index_calls(d))
        return false;
    for (uint32_t i = 0; i < pass->n_calls; i++)
        if (pass->calls[i].row != LINE_NOBODY)
            d->m->last.v[pass->calls[i].row] = i + 1;
    bound_places(d);
    uint32_t at = 0;
    for (size_t i = 0; i < pass->n_marks; i++)
        d->m->places.v[i] = at = place_mark(d, i, at, d->m->places.v[i]);
    return true;
}

/* ---- The usual time of a call ---- */

struct gap {
    int64_t ns;
    uint32_t from, to;            /* calls */
    const struct pass_mark *mark; /* its end; NULL: that of the pass */
};

static struct gap gap_before(const struct gap_divider *d, size_t i)
{
    const struct line_pass *pass = d->pass;
    struct gap gap = { .from = i > 0 ? d->m->places.v[i - 1] : 0, .to = pass->n_calls };
    int64_t begin = i > 0 ? pass->marks[i - 1].at_ns : 0;
    gap.ns = pass->ns - begin;
    if (i < pass->n_marks) {
        gap.mark = &pass->marks[i];
        gap.to = d->m->places.v[i];
        gap.ns = gap.mark->at_ns - begin;
    }
    return gap;
}

static double weight_between(const struct gap_divider *d, uint32_t from, uint32_t to)
{
    return from < to ? d->m->sums.v[to] - d->m->sums.v[from] : 0;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the median time of a weight of 1 in gaps that contain calls and end no evaluation; of few
 * such gaps, the mean of the whole pass. */
static bool find_rate(struct gap_divider *d)
{
    enum { FEW = 8 };
    double weight = weight_between(d, 0, d->pass->n_calls);
    d->m->rates.n = 0;
    for (size_t i = 0; i < d->pass->n_marks; i++) {
        struct gap gap = gap_before(d, i);
        weight += gap.mark->evaluated ? EVALUATION : 0;
        if (gap.mark->evaluated || gap.from >= gap.to)
            continue;
        double w = weight_between(d, gap.from, gap.to);
        if (w > 0 && !vec_push(&d->m->rates, (double)gap.ns / w))
            return false;
    }
    size_t n = d->m->rates.n;
    if (n >= FEW)
        qsort(d->m->rates.v, n, sizeof *d->m->rates.v, ascending);
    d->rate = n >= FEW ? d->m->rates.v[n / 2] : weight > 0 ? (double)d->pass->ns / weight : 0;
    return true;
}

/* ---- Gaps ---- */

/* The last element of `weights` is that of calls without a row. */
static bool add_weight(struct gap_memory *m, uint32_t row, size_t n_rows, double weight)
{
    size_t at = row == LINE_NOBODY ? n_rows : row;
    if (weight <= 0)
        return true;
    if (m->weights.v[at] == 0 && !vec_push(&m->rows, (uint32_t)at))
        return false;
    m->weights.v[at] += (float)weight;
    return true;
}

static bool weigh_gap(struct gap_divider *d, const struct gap *gap, size_t n_rows)
{
    const struct line_pass *pass = d->pass;
    double sum = 0, most = d->rate > 0 ? (double)gap->ns / d->rate : 0;
    bool bounded = !gap->mark && pass->unfinished && d->rate > 0;
    for (uint32_t i = gap->from; i < gap->to && (!bounded || sum < most); i++) {
        sum += call_weight(pass, i) + pass->beside;
        if (!add_weight(d->m, LINE_NOBODY, n_rows, pass->beside) ||
            !add_weight(d->m, pass->calls[i].row, n_rows, call_weight(pass, i)))
            return false;
    }
    if (!gap->mark)
        return true;
    if (has_call(pass, gap->mark)) /* the wrapping of an input is the work of no line */
        return add_weight(d->m, LINE_NOBODY, n_rows, WRAPPING);
    uint32_t row = gap->mark->row;
    if (gap->mark == pass->marks && gap->to == 0 && !gap->mark->evaluated)
        return true; /* the start of the pass */
    if (row == LINE_NOBODY && gap->from < gap->to)
        return true;
    if (!gap->mark->evaluated)
        row = LINE_NOBODY; /* Dynamo's own work, such as the wrapping of a float */
    return add_weight(d->m, row, n_rows, gap->mark->evaluated ? EVALUATION : WRAPPING);
}

/* Returns the part of a gap that a weight has beside others if it is off by a factor. */
static int64_t part_of(int64_t ns, double weight, double all, double factor)
{
    double w = weight * factor;
    return all - weight <= all * 1e-6 ? ns : (int64_t)((double)ns * (w / (w + (all - weight))));
}

static void set_bounds(struct line_share *share, int64_t gap_ns, double weight, double all)
{
    share->low_ns = (int64_t)((double)part_of(gap_ns, weight, all, 1 / ERROR) / LINE_TIMES_ROUGHLY);
    share->high_ns = (int64_t)((double)part_of(gap_ns, weight, all, ERROR) * LINE_TIMES_ROUGHLY);
}

static bool divide_gap(struct gap_divider *d, const struct gap *gap, size_t n_rows)
{
    double all = 0;
    int64_t left = gap->ns;
    if (gap->ns <= 0)
        return true;
    if (!weigh_gap(d, gap, n_rows))
        return false;
    for (size_t i = 0; i < d->m->rows.n; i++)
        all += (double)d->m->weights.v[d->m->rows.v[i]];
    for (size_t i = 0; i < d->m->rows.n; i++) {
        uint32_t at = d->m->rows.v[i];
        double w = (double)d->m->weights.v[at];
        struct line_share share = { .row = at == n_rows ? LINE_NOBODY : at,
                                    .ns = part_of(gap->ns, w, all, 1) };
        set_bounds(&share, gap->ns, w, all);
        d->m->weights.v[at] = 0;
        left -= share.ns;
        if (!d->give(d->user, &share))
            return false;
    }
    d->m->rows.n = 0;
    struct line_share rest = { .row = LINE_NOBODY, .ns = left };
    return left == 0 || d->give(d->user, &rest);
}

bool line_gaps_divide(struct gap_memory *memory, const struct line_pass *pass, size_t n_rows,
                      bool (*give)(void *user, const struct line_share *share), void *user)
{
    struct gap_divider d = { .m = memory, .pass = pass, .give = give, .user = user };
    if (pass->n_calls == 0)
        return unlogged_gaps_divide(pass, give, user);
    if (!fill_rows(memory, n_rows) || !place_marks(&d) || !find_rate(&d))
        return false;
    for (size_t i = 0; i <= pass->n_marks; i++) {
        struct gap gap = gap_before(&d, i);
        if (!divide_gap(&d, &gap, n_rows))
            return false;
    }
    return true;
}

void gap_memory_release(struct gap_memory *memory)
{
    vec_release(&memory->weights);
    vec_release(&memory->rows);
    vec_release(&memory->places);
    vec_release(&memory->last);
    vec_release(&memory->next);
    vec_release(&memory->sums);
    vec_release(&memory->rates);
}
