#include "profile/compare/compare_build.h"

#include <stdlib.h>

/* ---- names ---------------------------------------------------------------------------------- */

static const struct {
    const char *name, *title;
    bool decides;
} KINDS[CHANGE_KINDS] = {
#define CHANGE_KIND(id, name, title, decides) { name, title, decides },
#include "profile/compare/changes.def"
#undef CHANGE_KIND
};

const char *change_kind_name(enum change_kind kind)
{
    return KINDS[kind].name;
}

const char *change_kind_title(enum change_kind kind)
{
    return KINDS[kind].title;
}

bool change_kind_find(struct str name, enum change_kind *ret)
{
    for (int i = 0; i < CHANGE_KINDS; i++)
        if (str_is(name, KINDS[i].name)) {
            *ret = (enum change_kind)i;
            return true;
        }
    return false;
}

const char *change_name(enum change change)
{
    static const char *const NAMES[] = { "new", "gone", "changed" };
    return NAMES[change];
}

const char *compare_verdict_name(enum compare_verdict verdict)
{
    static const char *const NAMES[] = { "same", "changed", "noise", "unjudged" };
    return NAMES[verdict];
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct change_place compare_place(const struct outline *outline, uint32_t line)
{
    if (line == OUTLINE_NONE)
        return (struct change_place){ STR(""), STR(""), STR(""), 0 };
    const struct outline_line *l = &outline->lines.v[line];
    return (struct change_place){ outline_text(outline, l->file),
                                  outline_text(outline, l->function),
                                  outline_text(outline, l->code), l->line };
}

struct str compare_keep(struct compare_build *b, const struct buf *text)
{
    return text->failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(text));
}

/* Returns the name of a compile as selectors spell it. */
static struct str compile_name(struct compare_build *b, const struct outline *outline,
                               const struct outline_compile *c, uint32_t number, bool with_attempt)
{
    buf_clear(&b->text);
    if (outline->recordings.n > 1)
        buf_printf(&b->text, "@%.*s:",
                   STR_ARG(outline_text(outline, outline->recordings.v[c->recording].name)));
    buf_put(&b->text, outline_text(outline, c->id));
    if (c->n_attempts > 1 && with_attempt)
        buf_printf(&b->text, "_%u", number);
    return compare_keep(b, &b->text);
}

struct str compare_attempt_name(struct compare_build *b, const struct outline *outline,
                                uint32_t attempt)
{
    const struct outline_attempt *a = &outline->attempts.v[attempt];
    return compile_name(b, outline, &outline->compiles.v[a->compile], a->number, true);
}

struct str compare_compile_name(struct compare_build *b, const struct outline *outline,
                                uint32_t compile)
{
    return compile_name(b, outline, &outline->compiles.v[compile], 0, false);
}

static void put_place_key(struct buf *key, const struct change_place *place)
{
    buf_counted(key, place->file);
    buf_counted(key, place->function);
    buf_counted(key, place->code);
    buf_varint(key, place->line);
}

static struct str change_key(struct compare_build *b, const struct change_row *row)
{
    struct buf *key = &b->key;
    buf_clear(key);
    buf_varint(key, row->kind);
    buf_varint(key, row->change);
    buf_counted(key, row->level);
    buf_counted(key, row->what);
    buf_counted(key, row->was);
    buf_counted(key, row->now);
    buf_counted(key, row->more);
    put_place_key(key, &row->place);
    put_place_key(key, &row->old_place);
    return buf_str(key);
}

static void add_ns(int64_t *sum, int64_t ns)
{
    if (ns < 0)
        return;
    *sum = *sum < 0 ? 0 : *sum;
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

bool compare_add(struct compare_build *b, const struct change_row *row, uint32_t attempt)
{
    if (b->compare.options.skip[row->kind])
        return true;
    struct str key = change_key(b, row);
    uint32_t id = b->key.failed ? INTERN_NONE : intern(&b->keys, key);
    if (id == INTERN_NONE)
        return false;
    if (id == b->rows.n) {
        struct change_row fresh = *row;
        fresh.n_compiles = 0;
        fresh.before = fresh.after = 0;
        fresh.before_ns = fresh.after_ns = -1;
        if (!vec_reserve(&b->last_attempt, 1) || !vec_push(&b->rows, fresh))
            return false;
        b->last_attempt.v[b->last_attempt.n++] = ALIGN_NONE - 1;
    }
    struct change_row *known = &b->rows.v[id];
    known->before += row->before;
    known->after += row->after;
    add_ns(&known->before_ns, row->before_ns);
    add_ns(&known->after_ns, row->after_ns);
    known->n_compiles += b->last_attempt.v[id] != attempt;
    b->last_attempt.v[id] = attempt;
    return true;
}

bool compare_note(struct compare_build *b, bool undecided, const char *fmt, ...)
{
    va_list args;
    buf_clear(&b->text);
    va_start(args, fmt);
    buf_vprintf(&b->text, fmt, args);
    va_end(args);
    struct str text = compare_keep(b, &b->text);
    b->compare.undecided |= undecided;
    return text.p && vec_push(&b->notes, text);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static uint64_t change_weight(const struct change_row *row)
{
    return row->before > row->after ? row->before : row->after;
}

static int compare_changes(const void *a, const void *b)
{
    static const int RANK[] = { [CHANGE_NEW] = 0, [CHANGE_CHANGED] = 1, [CHANGE_GONE] = 2 };
    const struct change_row *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->change != y->change)
        return RANK[x->change] < RANK[y->change] ? -1 : 1;
    if (change_weight(x) != change_weight(y))
        return change_weight(x) > change_weight(y) ? -1 : 1;
    int order = str_cmp(x->place.file, y->place.file);
    if (order == 0)
        order = (x->place.line > y->place.line) - (x->place.line < y->place.line);
    if (order == 0)
        order = str_cmp(x->level, y->level);
    if (order == 0)
        order = str_cmp(x->what, y->what);
    if (order == 0)
        order = str_cmp(x->was, y->was);
    return order ? order : str_cmp(x->now, y->now);
}

static void finish_compare(struct compare_build *b)
{
    struct compare *c = &b->compare;
    if (b->rows.n > 0)
        qsort(b->rows.v, b->rows.n, sizeof *b->rows.v, compare_changes);
    c->rows = b->rows.v;
    c->n_rows = (uint32_t)b->rows.n;
    uint32_t at = 0;
    for (int kind = 0; kind < CHANGE_KINDS; kind++) {
        c->first_of[kind] = at;
        while (at < c->n_rows && (int)c->rows[at].kind == kind)
            at++;
        c->differs |= at > c->first_of[kind] && KINDS[kind].decides;
    }
    c->first_of[CHANGE_KINDS] = at;
    c->user_lines = b->user_lines.v;
    c->n_user_lines = (uint32_t)b->user_lines.n;
    c->measures = b->measures.v;
    c->n_measures = (uint32_t)b->measures.n;
    c->phases = b->phases.v;
    c->n_phases = (uint32_t)b->phases.n;
    c->lines = b->lines.v;
    c->n_lines = (uint32_t)b->lines.n;
    c->notes = b->notes.v;
    c->n_notes = (uint32_t)b->notes.n;
}

/* Finds the run whose counts equal the medians most often; the first one of several. */
static bool representative(const struct compare_side *side, uint32_t *ret, struct err *err)
{
    struct measures *all = calloc((size_t)side->n_runs + 1, sizeof *all);
    struct measure_summary *medians = calloc(MEASURES, sizeof *medians);
    bool ok = (all && medians) || err_nomem(err);
    for (uint32_t i = 0; ok && i < side->n_runs; i++)
        all[i] = side->runs[i]->measures;
    ok = ok && measures_summarize(all, side->n_runs, medians, err);
    int best = -1;
    for (uint32_t i = 0; ok && i < side->n_runs; i++) {
        int like = 0;
        for (int m = 0; m < MEASURES; m++)
            like += all[i].has[m] && measure_row((enum measure)m)->source == MEASURE_RECORDED &&
                    all[i].value[m] == medians[m].median;
        if (like > best) {
            best = like;
            *ret = i;
        }
    }
    free(all);
    free(medians);
    return ok;
}

struct compare *compare_build(const struct compare_side *before, const struct compare_side *after,
                              const struct compare_options *options, struct err *err)
{
    struct compare_build *b = calloc(1, sizeof *b);
    if (!b) {
        err_nomem(err);
        return NULL;
    }
    struct compare *c = &b->compare;
    c->before = *before;
    c->after = *after;
    if (options)
        c->options = *options;
    bool ok =
        representative(before, &c->before_run, err) && representative(after, &c->after_run, err);
    if (ok) {
        b->a = before->runs[c->before_run]->outline;
        b->b = after->runs[c->after_run]->outline;
        b->align = align_outlines(b->a, b->b, err);
        c->align = b->align;
        if (before->runs[c->before_run]->deep != after->runs[c->after_run]->deep)
            c->options.skip[CHANGE_DISPATCHES] = c->options.skip[CHANGE_SIZE_USES] = true;
        ok =
            b->align &&
            ((compare_files(b) && compare_parts(b) && compare_graphs(b) && compare_user_lines(b)) ||
             err_nomem(err)) &&
            compare_numbers(b, err) && (compare_notes(b) || err_nomem(err));
    }
    if (ok) {
        finish_compare(b);
        return c;
    }
    compare_free(c);
    return NULL;
}

void compare_free(struct compare *compare)
{
    struct compare_build *b = (struct compare_build *)compare;
    if (!b)
        return;
    align_free(b->align);
    intern_release(&b->keys);
    vec_release(&b->rows);
    vec_release(&b->last_attempt);
    vec_release(&b->user_lines);
    vec_release(&b->measures);
    vec_release(&b->phases);
    vec_release(&b->lines);
    vec_release(&b->notes);
    intern_release(&b->renamed);
    vec_release(&b->renamed_before);
    buf_release(&b->text);
    buf_release(&b->key);
    arena_release(&b->arena);
    free(b);
}
