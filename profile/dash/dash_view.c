#include "profile/dash/dash_view.h"

#include <math.h>
#include <stdlib.h>

enum { NOISE_RUNS = 16 }; /* repeats whose means are compared */

static const char *const CHANGE_NAMES[] = { [DASH_ADDED] = "added",
                                            [DASH_REMOVED] = "removed",
                                            [DASH_BROKE] = "passed before",
                                            [DASH_MENDED] = "passes now",
                                            [DASH_VARIES] = "flaky" };

const char *dash_model_change_name(enum dash_model_change_kind kind)
{
    return CHANGE_NAMES[kind];
}

const struct dash_model *dash_models_of(const struct dash_point *point, uint32_t config,
                                        size_t *ret_n)
{
    size_t low = 0, high = point->models.n, end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (point->models.v[middle].config < config)
            low = middle + 1;
        else
            high = middle;
    }
    for (end = low; end < point->models.n && point->models.v[end].config == config;)
        end++;
    *ret_n = end - low;
    return vec_from(&point->models, low);
}

/* ---- Means ---- */

struct sum {
    double sum;
    uint32_t n;
};

static void sum_add(struct sum *sum, enum dash_measure measure, double value)
{
    if (isnan(value))
        return;
    sum->sum += dash_measure_row(measure)->mean == DASH_GEOMETRIC ? log(value) : value;
    sum->n++;
}

static struct dash_mean sum_mean(const struct sum *sum, enum dash_measure measure)
{
    if (sum->n == 0)
        return (struct dash_mean){ NAN, 0 };
    double mean = sum->sum / sum->n;
    bool geometric = dash_measure_row(measure)->mean == DASH_GEOMETRIC;
    return (struct dash_mean){ geometric ? exp(mean) : mean, sum->n };
}

static bool is_usable(const struct dash *dash, const struct dash_model *model)
{
    enum dash_outcome outcome = dash_outcome(dash, model);
    return outcome == DASH_PASSED || outcome == DASH_UNKNOWN;
}

static void count_outcome(const struct dash *dash, const struct dash_model *model,
                          struct dash_summary *ret)
{
    enum dash_outcome outcome = dash_outcome(dash, model);
    ret->judged += outcome != DASH_UNKNOWN;
    ret->passed += outcome == DASH_PASSED;
    ret->flaky += outcome == DASH_FLAKY;
}

static struct dash_summary summarize(const struct dash *dash, const struct dash_model *models,
                                     size_t n)
{
    struct dash_summary ret = { .judged = 0 };
    struct sum sums[DASH_MEASURES] = { { 0 } };
    for (size_t i = 0; i < n; i++) {
        count_outcome(dash, &models[i], &ret);
        for (int m = 0; m < DASH_MEASURES && is_usable(dash, &models[i]); m++)
            sum_add(&sums[m], (enum dash_measure)m,
                    dash_value(&models[i], (enum dash_measure)m).median);
    }
    for (int m = 0; m < DASH_MEASURES; m++)
        ret.mean[m] = sum_mean(&sums[m], (enum dash_measure)m);
    return ret;
}

static bool make_results(struct dash_view *v)
{
    for (uint32_t c = 0; c < v->dash->configs.n; c++)
        for (uint32_t p = 0; p < v->dash->points.n; p++) {
            size_t n;
            const struct dash_model *models = dash_models_of(&v->dash->points.v[p], c, &n);
            struct dash_result result = { c, p, (uint32_t)n, summarize(v->dash, models, n) };
            if (n > 0 && !vec_push(&v->results, result))
                return false;
        }
    return true;
}

/* ---- Two points ---- */

/* A model at both points; NULL where it is missing. */
struct pair {
    const struct dash_model *before, *after;
};

struct pairs {
    vec_of(struct pair)
    list;
};

static bool pair_models(const struct dash_view *v, uint32_t config, struct pairs *ret)
{
    const struct dash *dash = v->dash;
    size_t n_before, n_after, i = 0, k = 0;
    const struct dash_model *before = dash_models_of(&dash->points.v[v->base], config, &n_before);
    const struct dash_model *after = dash_models_of(&dash->points.v[v->last], config, &n_after);
    ret->list.n = 0;
    while (i < n_before || k < n_after) {
        int order = i == n_before ? 1
                    : k == n_after
                        ? -1
                        : str_cmp(dash_text(dash, before[i].name), dash_text(dash, after[k].name));
        struct pair pair = { order <= 0 ? &before[i] : NULL, order >= 0 ? &after[k] : NULL };
        if (!vec_push(&ret->list, pair))
            return false;
        i += order <= 0;
        k += order >= 0;
    }
    return true;
}

/* Returns whether a pair counts in the means of a measure. */
static bool has_both(const struct dash *dash, const struct pair *pair, enum dash_measure m)
{
    return pair->before && pair->after && dash_value(pair->before, m).n > 0 &&
           dash_value(pair->after, m).n > 0 && is_usable(dash, pair->before) &&
           is_usable(dash, pair->after);
}

static const struct dash_model *side_of(const struct pair *pair, bool after)
{
    return after ? pair->after : pair->before;
}

/* The mean over the pairs; that of the medians, or of one run of each model. */
static struct dash_mean mean_of_pairs(const struct dash *dash, const struct pairs *pairs,
                                      bool after, enum dash_measure m, const uint32_t *run)
{
    struct sum sum = { 0 };
    for (size_t i = 0; i < pairs->list.n; i++) {
        const struct pair *pair = &pairs->list.v[i];
        if (!has_both(dash, pair, m))
            continue;
        const struct dash_model *model = side_of(pair, after);
        sum_add(&sum, m, run ? dash_run_value(model, m, *run) : dash_value(model, m).median);
    }
    return sum_mean(&sum, m);
}

/* The greatest distance between the means of the repeats that all models of a side have; *ret_runs
 * is their number. */
static double spread_of_means(const struct dash *dash, const struct pairs *pairs, bool after,
                              enum dash_measure m, uint32_t *ret_runs)
{
    uint32_t runs = NOISE_RUNS;
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < pairs->list.n; i++)
        if (has_both(dash, &pairs->list.v[i], m)) {
            uint32_t n = dash_value(side_of(&pairs->list.v[i], after), m).n;
            runs = n < runs ? n : runs;
        }
    for (uint32_t run = 0; run < runs; run++) {
        double mean = mean_of_pairs(dash, pairs, after, m, &run).value;
        least = fmin(least, mean);
        greatest = fmax(greatest, mean);
    }
    *ret_runs = runs;
    return greatest - least;
}

static enum compare_verdict judge(double before, double after, double spread, bool repeated)
{
    if (before == after)
        return COMPARE_SAME;
    if (!repeated)
        return COMPARE_UNJUDGED;
    return fabs(after - before) <= spread ? COMPARE_NOISE : COMPARE_CHANGED;
}

static enum compare_verdict judge_means(const struct dash *dash, const struct pairs *pairs,
                                        const struct dash_change *change, enum dash_measure m)
{
    uint32_t runs[2];
    double a = spread_of_means(dash, pairs, false, m, &runs[0]);
    double b = spread_of_means(dash, pairs, true, m, &runs[1]);
    return judge(change->before.mean[m].value, change->after.mean[m].value, fmax(a, b),
                 runs[0] > 1 && runs[1] > 1);
}

static void count_pairs(const struct dash *dash, const struct pairs *pairs,
                        struct dash_change *change)
{
    for (size_t i = 0; i < pairs->list.n; i++) {
        const struct pair *pair = &pairs->list.v[i];
        change->added += !pair->before;
        change->removed += !pair->after;
        if (!pair->before || !pair->after)
            continue;
        change->common++;
        count_outcome(dash, pair->before, &change->before);
        count_outcome(dash, pair->after, &change->after);
    }
}

static bool make_change(struct dash_view *v, uint32_t config, const struct pairs *pairs)
{
    struct dash_change change = { .config = config };
    count_pairs(v->dash, pairs, &change);
    for (int i = 0; i < DASH_MEASURES; i++) {
        enum dash_measure m = (enum dash_measure)i;
        change.before.mean[m] = mean_of_pairs(v->dash, pairs, false, m, NULL);
        change.after.mean[m] = mean_of_pairs(v->dash, pairs, true, m, NULL);
        if (change.before.mean[m].n > 0)
            change.verdict[m] = judge_means(v->dash, pairs, &change, m);
    }
    return vec_push(&v->changes, change);
}

/* ---- Models ---- */

static bool add_model_change(struct dash_view *v, enum dash_model_change_kind kind,
                             const struct pair *pair)
{
    bool differ;
    const struct dash_model *model = pair->after ? pair->after : pair->before;
    struct dash_model_change change = { kind, model->config, model->name, INTERN_NONE,
                                        INTERN_NONE };
    if (pair->before)
        change.before = dash_status(pair->before, &differ);
    if (pair->after)
        change.after = dash_status(pair->after, &differ);
    return vec_push(&v->models, change);
}

static bool compare_outcomes(struct dash_view *v, const struct pair *pair)
{
    enum dash_outcome before = pair->before ? dash_outcome(v->dash, pair->before) : DASH_UNKNOWN;
    enum dash_outcome after = pair->after ? dash_outcome(v->dash, pair->after) : DASH_UNKNOWN;
    if (!pair->before && !add_model_change(v, DASH_ADDED, pair))
        return false;
    if (!pair->after)
        return add_model_change(v, DASH_REMOVED, pair);
    if (after == DASH_FLAKY)
        return add_model_change(v, DASH_VARIES, pair);
    if (before == DASH_PASSED && after == DASH_FAILED)
        return add_model_change(v, DASH_BROKE, pair);
    if (before == DASH_FAILED && after == DASH_PASSED)
        return add_model_change(v, DASH_MENDED, pair);
    return true;
}

static struct dash_model_row model_row(const struct dash *dash, const struct pair *pair,
                                       enum dash_measure m)
{
    const struct dash_model *after = pair->after;
    struct dash_model_row row = { .config = after->config,
                                  .name = after->name,
                                  .measure = m,
                                  .before = { 0, NAN, NAN, NAN },
                                  .after = dash_value(after, m),
                                  .worse = NAN,
                                  .verdict = COMPARE_SAME,
                                  .before_tape = INTERN_NONE,
                                  .after_tape = after->tape };
    if (!pair->before)
        return row;
    row.before_tape = pair->before->tape;
    if (!has_both(dash, pair, m))
        return row;
    row.before = dash_value(pair->before, m);
    double was = row.before.median, now = row.after.median;
    double spread =
        fmax(row.before.greatest - row.before.least, row.after.greatest - row.after.least);
    row.worse = dash_measure_row(m)->better > 0 ? was / now : now / was;
    row.verdict = judge(was, now, spread, row.before.n > 1 && row.after.n > 1);
    return row;
}

static bool add_regressions(struct dash_view *v, const struct pair *pair)
{
    for (int m = 0; m < DASH_MEASURES; m++) {
        if (!pair->after || !has_both(v->dash, pair, (enum dash_measure)m))
            continue;
        struct dash_model_row row = model_row(v->dash, pair, (enum dash_measure)m);
        if (row.worse > 1 && row.verdict != COMPARE_NOISE && !vec_push(&v->regressed, row))
            return false;
    }
    return true;
}

static bool add_slowest(struct dash_view *v, const struct pair *pair, enum dash_measure m)
{
    if (!pair->after || dash_value(pair->after, m).n == 0 || !is_usable(v->dash, pair->after))
        return true;
    const struct pair one = { v->base == v->last ? NULL : pair->before, pair->after };
    return vec_push(&v->slowest, model_row(v->dash, &one, m));
}

/* The names of equal rows decide, by their number in the sorted dashboard. */
static int by_place(const struct dash_model_row *x, const struct dash_model_row *y)
{
    if (x->config != y->config)
        return x->config < y->config ? -1 : 1;
    return x->name != y->name ? (x->name < y->name ? -1 : 1)
                              : (x->measure > y->measure) - (x->measure < y->measure);
}

static int by_worse(const void *a, const void *b)
{
    const struct dash_model_row *x = a, *y = b;
    return x->worse != y->worse ? (x->worse < y->worse ? 1 : -1) : by_place(x, y);
}

static int by_slow(const void *a, const void *b)
{
    const struct dash_model_row *x = a, *y = b;
    double first = x->after.median, second = y->after.median;
    if (first == second)
        return by_place(x, y);
    return (first < second) == (dash_measure_row(x->measure)->better > 0) ? -1 : 1;
}

static bool has_speedups(const struct dash_view *v)
{
    for (size_t i = 0; i < v->results.n; i++)
        if (v->results.v[i].point == v->last && v->results.v[i].summary.mean[DASH_SPEEDUP].n)
            return true;
    return false;
}

static void sort_and_cut(struct dash_view *v, uint32_t limit)
{
    if (v->slowest.n)
        qsort(v->slowest.v, v->slowest.n, sizeof *v->slowest.v, by_slow);
    if (v->regressed.n)
        qsort(v->regressed.v, v->regressed.n, sizeof *v->regressed.v, by_worse);
    v->slowest.n = v->slowest.n < limit ? v->slowest.n : limit;
    v->regressed.n = v->regressed.n < limit ? v->regressed.n : limit;
}

static bool view_config(struct dash_view *v, uint32_t config, struct pairs *pairs,
                        enum dash_measure slow)
{
    if (!pair_models(v, config, pairs))
        return false;
    bool ok = pairs->list.n == 0 || v->base == v->last || make_change(v, config, pairs);
    for (size_t i = 0; i < pairs->list.n && ok; i++) {
        const struct pair *pair = &pairs->list.v[i];
        ok = compare_outcomes(v, pair) && add_slowest(v, pair, slow);
        if (ok && v->base != v->last)
            ok = add_regressions(v, pair);
    }
    return ok;
}

bool dash_view_make(const struct dash *dash, const struct dash_view_options *options,
                    struct dash_view *ret, struct err *err)
{
    struct pairs pairs = { .list = { 0 } };
    *ret = (struct dash_view){ .dash = dash,
                               .base = options->base,
                               .last = (uint32_t)dash->points.n - 1 };
    bool ok = make_results(ret);
    enum dash_measure slow = ok && has_speedups(ret) ? DASH_SPEEDUP : DASH_COMPILE;
    for (uint32_t c = 0; c < dash->configs.n && ok; c++)
        ok = view_config(ret, c, &pairs, slow);
    sort_and_cut(ret, options->limit ? options->limit : UINT32_MAX);
    vec_release(&pairs.list);
    return ok || err_nomem(err);
}

void dash_view_release(struct dash_view *view)
{
    vec_release(&view->results);
    vec_release(&view->changes);
    vec_release(&view->models);
    vec_release(&view->slowest);
    vec_release(&view->regressed);
    arena_release(&view->arena);
}
