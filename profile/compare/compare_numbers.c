/* Compares measures, and times of phases and user lines, by their medians. */
#include <math.h>
#include <stdlib.h>

#include "profile/compare/compare_build.h"

/* ---- verdicts ------------------------------------------------------------------------------- */

static double summary_spread(const struct measure_summary *s)
{
    return s->greatest - s->least;
}

static enum compare_verdict judge_time(const struct measure_summary *x,
                                       const struct measure_summary *y)
{
    double change = fabs(y->median - x->median);
    if (change == 0)
        return COMPARE_SAME;
    if (x->n < 2 || y->n < 2)
        return COMPARE_UNJUDGED;
    bool apart = x->greatest < y->least || y->greatest < x->least;
    return apart && change > summary_spread(x) && change > summary_spread(y) ? COMPARE_CHANGED
                                                                             : COMPARE_NOISE;
}

/* Returns whether a measure varies between runs: times, and memory of the process. */
static bool varies(enum measure measure)
{
    const struct measure_row *row = measure_row(measure);
    return row->source == MEASURE_TIMED ||
           (row->source == MEASURE_DEEP && row->unit != MEASURE_COUNT);
}

/* ---- measures ------------------------------------------------------------------------------- */

static bool summarize(const struct compare_side *side, struct measure_summary *ret, struct err *err)
{
    struct measures *all = calloc((size_t)side->n_runs + 1, sizeof *all);
    if (!all)
        return err_nomem(err);
    for (uint32_t i = 0; i < side->n_runs; i++)
        all[i] = side->runs[i]->measures;
    bool ok = measures_summarize(all, side->n_runs, ret, err);
    free(all);
    return ok;
}

/* Returns the kind of change that a measure counts, or CHANGE_MEASURES if it counts no single
 * kind. */
static enum change_kind measure_change_kind(enum measure measure)
{
    static const struct {
        const char *begins;
        enum change_kind kind;
    } KINDS[] = {
        { "compiles", CHANGE_COMPILES },     { "unfinished", CHANGE_COMPILES },
        { "attempts", CHANGE_RESTARTS },     { "restarts", CHANGE_RESTARTS },
        { "recompiles", CHANGE_RECOMPILES }, { "breaks", CHANGE_BREAKS },
        { "failures", CHANGE_FAILURES },     { "guards_suppressed", CHANGE_SUPPRESSED },
        { "guard", CHANGE_GUARDS },          { "runtime_asserts", CHANGE_ASSERTS },
        { "symbols", CHANGE_SYMBOLS },       { "specializations", CHANGE_SPECIALIZATIONS },
        { "cache_", CHANGE_CACHES },         { "graphs", CHANGE_GRAPHS },
        { "nodes", CHANGE_GRAPHS },          { "calls", CHANGE_GRAPHS },
        { "expansion", CHANGE_GRAPHS },      { "dispatches", CHANGE_DISPATCHES },
        { "real_", CHANGE_DISPATCHES },      { "size_uses", CHANGE_SIZE_USES },
    };
    struct str name = str_of(measure_row(measure)->name);
    if (varies(measure))
        return CHANGE_TIMES;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (str_starts(name, str_of(KINDS[i].begins)))
            return KINDS[i].kind;
    return CHANGE_MEASURES;
}

static bool is_skipped(const struct compare *c, enum measure measure)
{
    enum change_kind kind = measure_change_kind(measure);
    return c->options.skip[kind] || (kind != CHANGE_TIMES && c->options.skip[CHANGE_MEASURES]);
}

/* Compares the measures that both sides have. */
static bool compare_measures(struct compare_build *b, const struct measure_summary *x,
                             const struct measure_summary *y)
{
    struct compare *c = &b->compare;
    for (int i = 0; i < MEASURES; i++) {
        struct compare_measure row = { (enum measure)i, varies((enum measure)i), x[i], y[i],
                                       COMPARE_SAME };
        if (x[i].n == 0 || y[i].n == 0 || is_skipped(c, row.measure))
            continue;
        row.verdict = x[i].median == y[i].median ? COMPARE_SAME : COMPARE_CHANGED;
        if (varies(row.measure))
            row.verdict = judge_time(&x[i], &y[i]);
        if (!vec_push(&b->measures, row))
            return false;
        /* The causes of a time decide by themselves; compile time also decides. */
        c->differs |= row.measure == MEASURE_COMPILE_S && row.verdict == COMPARE_CHANGED;
    }
    return true;
}

/* ---- phases and lines ----------------------------------------------------------------------- */

struct sample {
    uint32_t key; /* of a phase or line, the same for both sides */
    bool after;
    double ns;
};

struct sample_set {
    struct compare_build *b;
    struct intern keys;
    size_t run_starts; /* the first sample of the current run */
    vec_of(struct sample)
    samples;
    vec_of(struct compare_time)
    rows; /* by key */
    vec_of(size_t)
    latest; /* by key: its latest sample */
};

static int compare_sample_keys(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    if (x->after != y->after)
        return x->after - y->after;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* Summarizes sorted samples. In a run without a sample the time was 0. */
static struct measure_summary summarize_samples(const struct sample *samples, uint32_t n,
                                                uint32_t n_runs)
{
    struct measure_summary s = { .n = n_runs };
    uint32_t absent = n < n_runs ? n_runs - n : 0;
#define AT(i) ((i) < absent || n == 0 ? 0.0 : samples[(i)-absent].ns)
    uint32_t all = n + absent;
    if (all == 0)
        return s;
    s.median = (AT((all - 1) / 2) + AT(all / 2)) / 2;
    s.least = AT(0);
    s.greatest = AT(all - 1);
#undef AT
    return s;
}

static int by_change(const void *a, const void *b)
{
    const struct compare_time *x = a, *y = b;
    double p = fabs(x->after.median - x->before.median);
    double q = fabs(y->after.median - y->before.median);
    if (p != q)
        return p > q ? -1 : 1;
    int order = str_cmp(x->name, y->name);
    return order ? order : str_cmp(x->place.code, y->place.code);
}

static void finish_sampler(struct sample_set *s)
{
    const struct compare *c = &s->b->compare;
    if (s->samples.n > 0)
        qsort(s->samples.v, s->samples.n, sizeof *s->samples.v, compare_sample_keys);
    size_t at = 0;
    for (uint32_t key = 0; key < s->rows.n; key++) {
        struct compare_time *row = &s->rows.v[key];
        size_t first = at;
        while (at < s->samples.n && s->samples.v[at].key == key && !s->samples.v[at].after)
            at++;
        row->before = summarize_samples(vec_from(&s->samples, first), (uint32_t)(at - first),
                                        c->before.n_runs);
        first = at;
        while (at < s->samples.n && s->samples.v[at].key == key)
            at++;
        row->after = summarize_samples(vec_from(&s->samples, first), (uint32_t)(at - first),
                                       c->after.n_runs);
        row->verdict = judge_time(&row->before, &row->after);
    }
    if (s->rows.n > 0)
        qsort(s->rows.v, s->rows.n, sizeof *s->rows.v, by_change);
}

static bool sample(struct sample_set *s, struct str key, const struct compare_time *fresh,
                   bool after, double ns, uint32_t *ret)
{
    uint32_t id = intern(&s->keys, key);
    *ret = id;
    if (id == INTERN_NONE ||
        (id == s->rows.n && (!vec_reserve(&s->latest, 1) || !vec_push(&s->rows, *fresh))))
        return false;
    if (id == s->latest.n)
        s->latest.v[s->latest.n++] = SIZE_MAX;
    /* Lines of equal code in one run are added up. */
    if (s->latest.v[id] != SIZE_MAX && s->latest.v[id] >= s->run_starts) {
        s->samples.v[s->latest.v[id]].ns += ns;
        return true;
    }
    s->latest.v[id] = s->samples.n;
    return vec_push(&s->samples, (struct sample){ id, after, ns });
}

static bool sample_phases(struct sample_set *s, const struct compare_side *side, uint32_t stands,
                          bool after)
{
    for (uint32_t run = 0; run < side->n_runs; run++) {
        s->run_starts = s->samples.n;
        for (uint32_t i = 0; i < side->runs[run]->n_phases; i++) {
            const struct snapshot_phase *p = &side->runs[run]->phases[i];
            uint32_t id;
            struct compare_time fresh = { .name = p->name };
            if (!sample(s, p->name, &fresh, after, (double)p->exclusive_ns, &id))
                return false;
            if (run == stands)
                *(after ? &s->rows.v[id].after_calls : &s->rows.v[id].before_calls) = p->calls;
        }
    }
    return true;
}

/* Returns the key of a line: its code and the base name of its file, since the folder may differ
 * between runs. */
static struct str line_key(struct compare_build *b, const struct snapshot_line *l)
{
    buf_clear(&b->key);
    buf_put(&b->key, compare_file(b, l->file));
    buf_putc(&b->key, '\0');
    buf_put(&b->key, l->code);
    if (l->code.n == 0)
        buf_printf(&b->key, "%u", l->line);
    return buf_str(&b->key);
}

static bool sample_lines(struct sample_set *s, const struct compare_side *side, bool after)
{
    for (uint32_t run = 0; run < side->n_runs; run++) {
        s->run_starts = s->samples.n;
        for (uint32_t i = 0; i < side->runs[run]->n_lines; i++) {
            const struct snapshot_line *l = &side->runs[run]->lines[i];
            struct compare_time fresh = { .name = STR(""),
                                          .place = { l->file, l->function, l->code, l->line } };
            uint32_t id;
            struct str key = line_key(s->b, l);
            if (s->b->key.failed || !sample(s, key, &fresh, after, (double)l->estimated_ns, &id))
                return false;
            if (after)
                s->rows.v[id].place = fresh.place;
        }
    }
    return true;
}

static void release_sampler(struct sample_set *s)
{
    intern_release(&s->keys);
    vec_release(&s->samples);
    vec_release(&s->rows);
    vec_release(&s->latest);
}

static bool compare_phases(struct compare_build *b)
{
    struct sample_set s = { .b = b };
    const struct compare *c = &b->compare;
    bool ok = sample_phases(&s, &c->before, c->before_run, false) &&
              sample_phases(&s, &c->after, c->after_run, true);
    if (ok)
        finish_sampler(&s);
    for (uint32_t i = 0; i < s.rows.n && ok; i++)
        ok = vec_push(&b->phases, s.rows.v[i]);
    release_sampler(&s);
    return ok;
}

static bool compare_lines(struct compare_build *b)
{
    struct sample_set s = { .b = b };
    bool ok =
        sample_lines(&s, &b->compare.before, false) && sample_lines(&s, &b->compare.after, true);
    if (ok)
        finish_sampler(&s);
    for (uint32_t i = 0; i < s.rows.n && ok; i++)
        ok = vec_push(&b->lines, s.rows.v[i]);
    release_sampler(&s);
    return ok;
}

bool compare_numbers(struct compare_build *b, struct err *err)
{
    const struct compare *c = &b->compare;
    struct measure_summary *before = calloc(2 * MEASURES, sizeof *before);
    if (!before)
        return err_nomem(err);
    bool ok = summarize(&c->before, before, err) && summarize(&c->after, before + MEASURES, err);
    ok = ok && (compare_measures(b, before, before + MEASURES) || err_nomem(err));
    ok = ok && (c->options.skip[CHANGE_PHASES] || compare_phases(b) || err_nomem(err));
    ok = ok && (c->options.skip[CHANGE_LINE_TIMES] || compare_lines(b) || err_nomem(err));
    free(before);
    return ok;
}
