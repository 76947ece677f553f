#include "profile/compare/check.h"

#include <inttypes.h>
#include <math.h>

struct check_maker {
    struct check check; /* first, since the caller frees it through this */
    struct arena arena;
    vec_of(struct check_row)
    rows;
    vec_of(enum measure)
    changed;
    vec_of(struct str)
    notes;
};

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const NAMES[] = { "holds", "regressed", "cannot tell" };
    return NAMES[verdict];
}

/* ---- Sides ---- */

static bool has_torch(const struct str *torch, uint32_t n, struct str version)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(torch[i], version))
            return true;
    return false;
}

static bool collect_torch(const struct check_input *inputs, size_t n, struct arena *arena,
                          struct check_side *ret)
{
    size_t most = 1;
    for (size_t i = 0; i < n; i++)
        most += inputs[i].trace->n_recordings;
    struct str *torch = arena_array(arena, struct str, most);
    for (size_t i = 0; torch && i < n; i++)
        for (uint32_t k = 0; k < inputs[i].trace->n_recordings; k++) {
            struct str version = inputs[i].trace->recordings[k].torch_version;
            if (version.n && !has_torch(torch, ret->n_torch, version))
                torch[ret->n_torch++] = version;
        }
    ret->torch = torch;
    return torch;
}

bool check_side_of(const struct check_input *inputs, size_t n, struct arena *arena,
                   struct check_side *ret, struct err *err)
{
    struct measures *all = calloc(n + 1, sizeof *all);
    struct str *names = arena_array(arena, struct str, n + 1);
    *ret = (struct check_side){ .n_tapes = (uint32_t)n, .tapes = names };
    bool ok = (all && names && collect_torch(inputs, n, arena, ret)) || err_nomem(err);
    for (size_t i = 0; ok && i < n; i++) {
        all[i] = inputs[i].measures;
        names[i] = inputs[i].name;
        ret->failed += inputs[i].failed;
    }
    ok = ok && measures_summarize(all, n, ret->measures, err);
    free(all);
    return ok;
}

/* ---- One rule ---- */

static double measure_median(const struct check_side *side, enum measure measure)
{
    return side && side->measures[measure].n ? side->measures[measure].median : 0;
}

/* Limits are decimal and values are sums of doubles, so values that differ only by rounding count
 * as equal. */
static bool above(double value, double limit)
{
    return value > limit + 1e-9 * fmax(1, fabs(limit));
}

static bool regressed(const struct check_row *row, double now, double before)
{
    double room = row->rule.percent ? fabs(before) * row->rule.limit / 100 : row->rule.limit;
    switch (row->rule.kind) {
    case CHECK_RISE: return above(now, before + room);
    case CHECK_FALL: return above(before - room, now);
    case CHECK_CHANGE: return above(fabs(now - before), room);
    default: return above(now, row->rule.limit);
    }
}

static double allowed_value(const struct check_rule *rule, double before)
{
    double room = rule->percent ? fabs(before) * rule->limit / 100 : rule->limit;
    if (rule->kind == CHECK_MAX)
        return rule->limit;
    return rule->kind == CHECK_FALL ? before - room : before + room;
}

/* Returns why a side is incomplete, or NULL. A count of an incomplete side may be low for that
 * reason alone. */
static const char *not_whole(const struct check *c)
{
    if (measure_median(c->now, MEASURE_UNFINISHED) > measure_median(c->before, MEASURE_UNFINISHED))
        return "a compile did not end: more may have followed";
    if (c->now->measures[MEASURE_COMPILES].n && measure_median(c->now, MEASURE_COMPILES) == 0 &&
        (!c->before || measure_median(c->before, MEASURE_COMPILES) > 0))
        return "nothing was compiled";
    return NULL;
}

static const char *not_comparable(const struct check *c, const struct check_rule *rule)
{
    const struct measure_summary *now = &c->now->measures[rule->measure];
    if (rule->kind != CHECK_MAX && !c->before)
        return "there is no baseline";
    if (now->n == 0)
        return "the tapes do not record it";
    if (now->n < c->now->n_tapes)
        return "not every tape records it";
    if (rule->kind != CHECK_MAX && c->before->measures[rule->measure].n == 0)
        return "the baseline does not have it";
    return NULL;
}

static struct check_row judge_rule(const struct check *c, const struct check_rule *rule)
{
    double now = measure_median(c->now, rule->measure),
           before = measure_median(c->before, rule->measure);
    struct check_row row = { .rule = *rule, .why = not_comparable(c, rule) };
    row.compared = !row.why;
    row.allowed = allowed_value(rule, before);
    if (row.compared && regressed(&row, now, before)) {
        row.verdict = CHECK_REGRESSED;
        return row;
    }
    if (!row.why && rule->kind != CHECK_FALL)
        row.why = not_whole(c);
    row.verdict = row.why ? CHECK_CANNOT_TELL : CHECK_HOLDS;
    return row;
}

/* ---- The rest of the report ---- */

static bool is_count(enum measure measure)
{
    enum measure_source source = measure_row(measure)->source;
    return source == MEASURE_RECORDED || source == MEASURE_REPLAYED;
}

static bool has_rule(const struct check_maker *m, enum measure measure)
{
    for (size_t i = 0; i < m->rows.n; i++)
        if (m->rows.v[i].rule.measure == measure)
            return true;
    return false;
}

static bool find_changed(struct check_maker *m)
{
    const struct check_side *now = m->check.now, *before = m->check.before;
    for (int i = 0; before && i < MEASURES; i++) {
        const struct measure_summary *x = &now->measures[i], *y = &before->measures[i];
        if (x->n && y->n && is_count((enum measure)i) && x->median != y->median &&
            !has_rule(m, (enum measure)i) && !vec_push(&m->changed, (enum measure)i))
            return false;
    }
    return true;
}

static bool note_check(struct check_maker *m, const char *fmt, ...) ERR_PRINTF(2, 3);

static bool note_check(struct check_maker *m, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    struct str kept = text.failed ? (struct str){ 0 } : arena_copy(&m->arena, buf_str(&text));
    buf_release(&text);
    return kept.p && vec_push(&m->notes, kept);
}

static bool same_versions(const struct check_side *a, const struct check_side *b)
{
    bool same = a->n_torch == b->n_torch;
    for (uint32_t i = 0; same && i < a->n_torch; i++)
        same = has_torch(b->torch, b->n_torch, a->torch[i]);
    return same;
}

static void put_check_versions(const struct check_side *side, struct buf *out)
{
    for (uint32_t i = 0; i < side->n_torch; i++)
        buf_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(side->torch[i]));
}

static bool note_check_versions(struct check_maker *m, const struct check_side *now,
                                const struct check_side *before)
{
    struct buf x = BUF_INIT, y = BUF_INIT;
    put_check_versions(now, &x);
    put_check_versions(before, &y);
    bool ok = !x.failed && !y.failed &&
              note_check(m,
                         "recorded with torch %.*s, the baseline with %.*s: what differs may be "
                         "PyTorch's own",
                         STR_ARG(buf_str(&x)), STR_ARG(buf_str(&y)));
    buf_release(&x);
    buf_release(&y);
    return ok;
}

static bool is_exported(const struct check_side *side)
{
    return side->measures[MEASURE_CALLS_EXPORTED].n && !side->measures[MEASURE_COMPILES].n;
}

/* Notes the measures that only one side has. */
static bool note_one_sided(struct check_maker *m, const struct check_side *has,
                           const struct check_side *lacks, const char *where)
{
    struct buf names = BUF_INIT;
    uint32_t n = 0;
    for (int i = 0; i < MEASURES; i++)
        if (has->measures[i].n && !lacks->measures[i].n && !has_rule(m, (enum measure)i))
            buf_printf(&names, "%s%s", n++ ? ", " : "", measure_row((enum measure)i)->name);
    bool ok = !names.failed &&
              (n == 0 || note_check(m, "only %s: %.*s", where, STR_ARG(buf_str(&names))));
    buf_release(&names);
    return ok;
}

static bool note_sides(struct check_maker *m)
{
    const struct check_side *now = m->check.now, *before = m->check.before;
    if (!before)
        return true;
    if (is_exported(now) != is_exported(before))
        return note_check(m,
                          "%s is a program of torch.export, and the other was compiled: their "
                          "measures cannot be compared",
                          is_exported(now) ? "this" : "the baseline");
    if (now->n_torch && before->n_torch && !same_versions(now, before) &&
        !note_check_versions(m, now, before))
        return false;
    if (before->unknown &&
        !note_check(m, "this symtape does not know %" PRIu32 " measures of the baseline",
                    before->unknown))
        return false;
    return note_one_sided(m, before, now, "in the baseline");
}

/* Notes the counts that vary between runs of one side: for these a limit of +0 says little. */
static bool note_check_spread(struct check_maker *m)
{
    const struct check_side *now = m->check.now;
    for (size_t i = 0; i < m->rows.n; i++) {
        enum measure measure = m->rows.v[i].rule.measure;
        const struct measure_summary *s = &now->measures[measure];
        if (s->n > 1 && is_count(measure) && s->least != s->greatest &&
            !note_check(m, "%s differs between the tapes (%g to %g); the median is used",
                        measure_row(measure)->name, s->least, s->greatest))
            return false;
    }
    return true;
}

static bool judge_rules(struct check_maker *m, const struct check_rules *rules)
{
    struct check *c = &m->check;
    for (size_t i = 0; i < rules->rules.n; i++) {
        const struct check_rule *rule = &rules->rules.v[i];
        if (rule->usual && !c->now->measures[rule->measure].n &&
            !(c->before && c->before->measures[rule->measure].n))
            continue;
        struct check_row row = judge_rule(c, rule);
        if (!vec_push(&m->rows, row))
            return false;
        c->regressed += row.verdict == CHECK_REGRESSED;
        c->cannot_tell += row.verdict == CHECK_CANNOT_TELL;
    }
    if (!find_changed(m) || !note_sides(m) || !note_check_spread(m))
        return false;
    c->verdict = c->regressed ? CHECK_REGRESSED : c->cannot_tell ? CHECK_CANNOT_TELL : CHECK_HOLDS;
    c->rows = m->rows.v;
    c->n_rows = (uint32_t)m->rows.n;
    c->changed = m->changed.v;
    c->n_changed = (uint32_t)m->changed.n;
    c->notes = m->notes.v;
    c->n_notes = (uint32_t)m->notes.n;
    return true;
}

struct check *check_make(const struct check_rules *rules, const struct check_side *now,
                         const struct check_side *before, struct err *err)
{
    struct check_maker *m = calloc(1, sizeof *m);
    if (m) {
        m->check.now = now;
        m->check.before = before;
        if (judge_rules(m, rules))
            return &m->check;
    }
    check_free((struct check *)m);
    err_nomem(err);
    return NULL;
}

void check_free(struct check *check)
{
    struct check_maker *m = (struct check_maker *)check;
    if (!m)
        return;
    vec_release(&m->rows);
    vec_release(&m->changed);
    vec_release(&m->notes);
    arena_release(&m->arena);
    free(m);
}
