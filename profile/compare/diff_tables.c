#include "profile/compare/diff_tables.h"

#include <math.h>

#include "profile/compare/measure_fields.h"
#include "profile/model/format.h"

/* ---- places --------------------------------------------------------------------------------- */

static const struct field PLACE[] = {
    { "file", MEMBER(struct change_place, file) },
    { "line", MEMBER(struct change_place, line) },
    { "function", MEMBER(struct change_place, function) },
    { "code", MEMBER(struct change_place, code) },
};
static const struct fields PLACE_FIELDS = FIELDS_OF(PLACE);

REACH(reach_place, struct change_place, row->file.n > 0 || row->code.n > 0 ? row : NULL)

static void cell_place(const void *context, const void *at, struct buf *out)
{
    const struct change_place *place = at;
    (void)context;
    if (place->file.n)
        format_place(out, place->file, place->line);
}

#define PLACE_OF(record, member) \
    .group = &PLACE_FIELDS, .offset = offsetof(record, member), .reach = reach_place

/* ---- changes -------------------------------------------------------------------------------- */

/* The columns that a change may have; a kind of change has some of them. */
enum cell {
    CELL_END,
    CELL_CHANGE,
    CELL_TIMES,  /* occurrences on either side */
    CELL_BEFORE, /* occurrences */
    CELL_AFTER,
    CELL_NS, /* its cost on either side */
    CELL_COMPILE,
    CELL_LEVEL,
    CELL_WHAT,
    CELL_MORE, /* the old and the new form, or details */
    CELL_PLACE,
    CELL_CODE,
};

GETTER(get_kind, enum change_kind, datum_name(change_kind_name(*row)))
GETTER(get_change, enum change, datum_name(change_name(*row)))
GETTER(get_times, struct change_row,
       datum_count(row->change == CHANGE_GONE ? row->before : row->after))
GETTER(get_ns, struct change_row,
       datum_integer(row->change == CHANGE_GONE ? row->before_ns : row->after_ns))

/* Appends the old and the new form or details: "inputs 3, now 4", "moved from zoo.py:12". */
static void cell_more(const void *context, const void *at, struct buf *out)
{
    const struct change_row *row = at;
    (void)context;
    if (row->was.n || row->now.n) {
        format_text(out, row->was, 0);
        buf_puts(out, ", now ");
        format_text(out, row->now, 0);
    } else if (row->more.n) {
        format_text(out, row->more, 0);
    }
    if (row->old_place.file.n || row->old_place.code.n) {
        buf_puts(out, row->was.n || row->now.n || row->more.n ? "; was of " : "was of ");
        format_place(out, row->old_place.file, row->old_place.line);
        buf_putc(out, ' ');
        format_text(out, row->old_place.code, 0);
    }
}

static void cell_compiles(const void *context, const void *at, struct buf *out)
{
    const struct change_row *row = at;
    (void)context;
    format_text(out, row->compile, 0);
    if (row->n_compiles > 1)
        buf_printf(out, " +%u", row->n_compiles - 1);
}

static const struct field CHANGE[] = {
    { "kind", GET(get_kind, struct change_row, kind) },
    { "change", GET(get_change, struct change_row, change), TEXT(CELL_CHANGE, "change", WORD, 0) },
    { "what", MEMBER(struct change_row, what), TEXT(CELL_WHAT, "what", TEXT, 0) },
    { "level", MEMBER(struct change_row, level), TEXT(CELL_LEVEL, "level", WORD, 0) },
    { "was", MEMBER(struct change_row, was) },
    { "now", MEMBER(struct change_row, now) },
    { "more", MEMBER(struct change_row, more) },
    { NULL, .cell = cell_more, TEXT(CELL_MORE, "more", TEXT, 1) },
    { "compile", MEMBER(struct change_row, compile) },
    { NULL, .cell = cell_compiles, TEXT(CELL_COMPILE, "compile", WORD, 3) },
    { "attempts", MEMBER(struct change_row, n_compiles) },
    { NULL, .get = get_times, TEXT(CELL_TIMES, "times", COUNT, 0) },
    { "before", MEMBER(struct change_row, before), TEXT(CELL_BEFORE, "before", COUNT, 0) },
    { "after", MEMBER(struct change_row, after), TEXT(CELL_AFTER, "after", COUNT, 0) },
    { "before_ns", GET(get_known_i64, struct change_row, before_ns) },
    { "after_ns", GET(get_known_i64, struct change_row, after_ns) },
    { NULL, .get = get_ns, TEXT(CELL_NS, "time", NS, 2) },
    { "line", PLACE_OF(struct change_row, place) },
    { "old_line", PLACE_OF(struct change_row, old_place) },
    { NULL, CELL(cell_place, struct change_row, place), TEXT(CELL_PLACE, "user line", PATH, 0) },
    { NULL, MEMBER(struct change_row, place.code), TEXT(CELL_CODE, "code", TEXT, 4) },
};
const struct fields diff_change_fields = FIELDS_OF(CHANGE);

/* The columns of each kind of change, with other headers where those are clearer. */
static const struct kind_layout {
    unsigned char cells[TEXT_COLUMNS];
    const char *what, *level;
} LAYOUTS[CHANGE_KINDS] = {
    [CHANGE_COMPILES] = { { CELL_CHANGE, CELL_NS, CELL_COMPILE, CELL_WHAT, CELL_MORE, CELL_PLACE },
                          "function",
                          NULL },
    [CHANGE_RESTARTS] = { { CELL_CHANGE, CELL_NS, CELL_COMPILE, CELL_WHAT, CELL_MORE },
                          "reason",
                          NULL },
    [CHANGE_RECOMPILES] = { { CELL_CHANGE, CELL_TIMES, CELL_NS, CELL_COMPILE, CELL_WHAT, CELL_MORE,
                              CELL_PLACE, CELL_CODE },
                            "guard that failed",
                            NULL },
    [CHANGE_BREAKS] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_PLACE, CELL_CODE, CELL_WHAT,
                          CELL_MORE },
                        "reason",
                        NULL },
    [CHANGE_FAILURES] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_WHAT, CELL_MORE, CELL_PLACE,
                            CELL_CODE },
                          "error",
                          NULL },
    [CHANGE_SPECIALIZATIONS] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_WHAT, CELL_MORE,
                                   CELL_PLACE, CELL_CODE },
                                 "symbol",
                                 NULL },
    [CHANGE_GUARDS] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_LEVEL, CELL_WHAT, CELL_MORE,
                          CELL_PLACE, CELL_CODE },
                        "guard",
                        "asked by" },
    [CHANGE_ASSERTS] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_LEVEL, CELL_WHAT, CELL_MORE,
                           CELL_PLACE, CELL_CODE },
                         "assert",
                         "asked by" },
    [CHANGE_SUPPRESSED] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_LEVEL, CELL_WHAT,
                              CELL_MORE, CELL_PLACE, CELL_CODE },
                            "expression",
                            "asked by" },
    [CHANGE_SYMBOLS] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_WHAT, CELL_MORE, CELL_PLACE,
                           CELL_CODE },
                         "symbol",
                         NULL },
    [CHANGE_GRAPHS] = { { CELL_CHANGE, CELL_BEFORE, CELL_AFTER, CELL_COMPILE, CELL_LEVEL,
                          CELL_MORE },
                        NULL,
                        "graph" },
    [CHANGE_NODES] = { { CELL_CHANGE, CELL_TIMES, CELL_LEVEL, CELL_WHAT, CELL_MORE, CELL_PLACE,
                         CELL_CODE },
                       "node",
                       NULL },
    [CHANGE_OPERATORS] = { { CELL_CHANGE, CELL_BEFORE, CELL_AFTER, CELL_LEVEL, CELL_WHAT },
                           "operator",
                           NULL },
    [CHANGE_DISPATCHES] = { { CELL_CHANGE, CELL_BEFORE, CELL_AFTER, CELL_WHAT, CELL_PLACE,
                              CELL_CODE },
                            "dispatch",
                            NULL },
    [CHANGE_SIZE_USES] = { { CELL_CHANGE, CELL_BEFORE, CELL_AFTER, CELL_WHAT, CELL_PLACE,
                             CELL_CODE },
                           "use",
                           NULL },
    [CHANGE_CACHES] = { { CELL_CHANGE, CELL_TIMES, CELL_COMPILE, CELL_WHAT, CELL_MORE },
                        "cache",
                        NULL },
};

/* ---- tables --------------------------------------------------------------------------------- */

struct diff_table_writer {
    const struct compare *c;
    const struct report_options *how;
    struct buf *out;
    diff_put_table *put;
    void *user;
};

/* Passes a table of `n` rows, of which the shown ones are in `t`, to the writer and releases it. */
static void finish_diff_table(const struct diff_table_writer *p, const char *title,
                              struct text_table *t, uint32_t n)
{
    t->table.squeezed = true;
    p->out->failed |= t->table.text.failed;
    if (n > 0 && !p->out->failed)
        p->put(p->user, title, &t->table, n);
    table_release(&t->table);
}

static void put_diff_table(const struct diff_table_writer *p, const char *title,
                           const struct fields *fields, unsigned table, const struct rows *rows,
                           uint32_t limit)
{
    struct text_table t;
    text_table_init(&t, fields, table);
    finish_diff_table(p, title, &t, text_table_rows(&t, p->c, rows, limit));
}

static void put_change_table(const struct diff_table_writer *p, enum change_kind kind)
{
    const struct kind_layout *layout = &LAYOUTS[kind];
    uint32_t first = p->c->first_of[kind];
    struct rows rows = ROWS(p->c->rows + first, p->c->first_of[kind + 1] - first);
    struct text_table t;
    text_table_init(&t, &diff_change_fields, 0);
    text_table_arrange(&t, layout->cells);
    for (size_t i = 0; i < t.table.n_columns; i++) {
        if (layout->cells[i] == CELL_WHAT && layout->what)
            t.columns[i].header = layout->what;
        if (layout->cells[i] == CELL_LEVEL && layout->level)
            t.columns[i].header = layout->level;
    }
    finish_diff_table(p, change_kind_title(kind), &t,
                      text_table_rows(&t, p->c, &rows, p->how->limit));
}

/* ---- user lines ----------------------------------------------------------------------------- */

/* Appends the counts of new, gone and changed: "+3 -2 ~1". */
static void cell_line_count(const void *context, const void *at, struct buf *out)
{
    const struct compare_line_count *count = at;
    const struct {
        char sign;
        uint64_t n;
    } parts[] = { { '+', count->fresh }, { '-', count->gone }, { '~', count->changed } };
    size_t start = out->n;
    (void)context;
    for (int i = 0; i < 3; i++)
        if (parts[i].n > 0) {
            buf_puts(out, out->n > start ? " " : "");
            buf_putc(out, parts[i].sign);
            format_count(out, parts[i].n);
        }
}

static const struct field LINE_COUNT[] = {
    { "new", MEMBER(struct compare_line_count, fresh) },
    { "gone", MEMBER(struct compare_line_count, gone) },
    { "changed", MEMBER(struct compare_line_count, changed) },
};
static const struct fields LINE_COUNT_FIELDS = FIELDS_OF(LINE_COUNT);

#define LINE_COUNT_OF(key, member, place)                                                      \
    {                                                                                          \
        key, PART(LINE_COUNT_FIELDS, struct compare_line, member), .cell = cell_line_count,    \
                                                                   TEXT(place, key, NUMBER, 0) \
    }

static const struct field USER_LINE[] = {
    { "line", PLACE_OF(struct compare_line, place) },
    LINE_COUNT_OF("incidents", incidents, 1),
    LINE_COUNT_OF("guards", guards, 2),
    LINE_COUNT_OF("symbols", symbols, 3),
    LINE_COUNT_OF("nodes", nodes, 4),
    { NULL, CELL(cell_place, struct compare_line, place), TEXT(5, "user line", PATH, 0) },
    { NULL, MEMBER(struct compare_line, place.code), TEXT(6, "code", TEXT, 0) },
};
const struct fields diff_user_line_fields = FIELDS_OF(USER_LINE);

/* ---- numbers -------------------------------------------------------------------------------- */

static const struct field SUMMARY[] = {
    { "median", MEMBER(struct measure_summary, median) },
    { "least", MEMBER(struct measure_summary, least) },
    { "greatest", MEMBER(struct measure_summary, greatest) },
    { "n", MEMBER(struct measure_summary, n) },
};
static const struct fields SUMMARY_FIELDS = FIELDS_OF(SUMMARY);

/* Appends the change relative to the old value: "+12 %". */
static void put_percent(struct buf *out, double was, double now)
{
    if (was > 0)
        buf_printf(out, "%+.*f %%", fabs(now / was - 1) < 0.1 ? 1 : 0, (now / was - 1) * 100);
}

static const char *verdict_text(enum compare_verdict verdict)
{
    switch (verdict) {
    case COMPARE_NOISE: return "noise: within the spread";
    case COMPARE_UNJUDGED: return "one run of a side: no spread to judge by";
    case COMPARE_CHANGED: return "beyond the spread";
    case COMPARE_SAME: break;
    }
    return "";
}

GETTER(get_verdict, enum compare_verdict, datum_name(compare_verdict_name(*row)))

/* ---- measures ------------------------------------------------------------------------------- */

enum { COUNTED, TIMED }; /* their tables in text */

GETTER(get_verdict_text, enum compare_verdict, datum_name(verdict_text(*row)))
WANTED(is_counted, struct compare_measure, row->verdict != COMPARE_SAME && !row->varies)
WANTED(is_timed, struct compare_measure, row->verdict != COMPARE_SAME && row->varies)

static void cell_measure_before(const void *context, const void *at, struct buf *out)
{
    const struct compare_measure *m = at;
    (void)context;
    measure_format_summary(m->measure, &m->before, out);
}

static void cell_measure_after(const void *context, const void *at, struct buf *out)
{
    const struct compare_measure *m = at;
    (void)context;
    measure_format_summary(m->measure, &m->after, out);
}

static void cell_measure_change(const void *context, const void *at, struct buf *out)
{
    const struct compare_measure *m = at;
    (void)context;
    put_percent(out, m->before.median, m->after.median);
}

#define IN_BOTH(at, title, unit) \
    IN_TABLE(COUNTED, at, title, unit, 0), IN_TABLE(TIMED, at, title, unit, 0)

static const struct field MEASURE[] = {
    { "name", GET(get_measure, struct compare_measure, measure), IN_BOTH(4, "measure", WORD) },
    { "unit", GET(get_measure_unit, struct compare_measure, measure) },
    { "source", GET(get_measure_source, struct compare_measure, measure) },
    { "before", PART(SUMMARY_FIELDS, struct compare_measure, before) },
    { "after", PART(SUMMARY_FIELDS, struct compare_measure, after) },
    { NULL, .cell = cell_measure_before, IN_BOTH(1, "before", NUMBER) },
    { NULL, .cell = cell_measure_after, IN_BOTH(2, "after", NUMBER) },
    { NULL, .cell = cell_measure_change, IN_BOTH(3, "change", NUMBER) },
    { "verdict", GET(get_verdict, struct compare_measure, verdict) },
    { NULL, GET(get_verdict_text, struct compare_measure, verdict),
      IN_TABLE(TIMED, 5, "verdict", TEXT, 1) },
    { NULL, GET(get_measure_meaning, struct compare_measure, measure),
      IN_TABLE(COUNTED, 5, "meaning", TEXT, 1) },
};
const struct fields diff_measure_fields = FIELDS_OF(MEASURE);

/* ---- times of phases and lines -------------------------------------------------------------- */

enum { PHASES, LINES }; /* their tables in text */

/* Smaller changes are not listed. */
static const double LEAST_NS = 1e6;

GETTER(get_median, struct measure_summary,
       row->median > 0 && row->median < 9e18 ? datum_integer((int64_t)row->median) : datum_null())
GETTER(get_spread_verdict, enum compare_verdict,
       datum_name(*row == COMPARE_UNJUDGED ? "" : verdict_text(*row)))
WANTED(differs, struct compare_time, fabs(row->after.median - row->before.median) >= LEAST_NS)

static void cell_time_change(const void *context, const void *at, struct buf *out)
{
    const struct compare_time *time = at;
    (void)context;
    put_percent(out, time->before.median, time->after.median);
}

#define BOTH(at, title, unit) \
    IN_TABLE(PHASES, at, title, unit, 0), IN_TABLE(LINES, at, title, unit, 0)

static const struct field TIME[] = {
    { "before_ns", PART(SUMMARY_FIELDS, struct compare_time, before) },
    { "after_ns", PART(SUMMARY_FIELDS, struct compare_time, after) },
    { NULL, GET(get_median, struct compare_time, before), BOTH(1, "before", NS) },
    { NULL, GET(get_median, struct compare_time, after), BOTH(2, "after", NS) },
    { NULL, .cell = cell_time_change, BOTH(3, "change", NUMBER) },
    { "verdict", GET(get_verdict, struct compare_time, verdict) },
    { NULL, GET(get_spread_verdict, struct compare_time, verdict),
      IN_TABLE(PHASES, 5, "verdict", TEXT, 1), IN_TABLE(LINES, 6, "verdict", TEXT, 1) },
};
static const struct fields TIME_FIELDS = FIELDS_OF(TIME);

static const struct field PHASE[] = {
    { "name", MEMBER(struct compare_time, name), IN_TABLE(PHASES, 4, "phase", WORD, 0) },
    { "before_calls", MEMBER(struct compare_time, before_calls) },
    { "after_calls", MEMBER(struct compare_time, after_calls) },
    { NULL, .group = &TIME_FIELDS },
};
const struct fields diff_phase_fields = FIELDS_OF(PHASE);

static const struct field LINE_TIME[] = {
    { "line", PLACE_OF(struct compare_time, place) },
    { NULL, CELL(cell_place, struct compare_time, place),
      IN_TABLE(LINES, 4, "user line", PATH, 0) },
    { NULL, MEMBER(struct compare_time, place.code), IN_TABLE(LINES, 5, "code", TEXT, 2) },
    { NULL, .group = &TIME_FIELDS },
};
const struct fields diff_line_time_fields = FIELDS_OF(LINE_TIME);

/* ---- all tables ----------------------------------------------------------------------------- */

static struct rows filtered(struct rows rows, bool (*wanted)(const void *context, const void *item))
{
    rows.wanted = wanted;
    return rows;
}

void diff_tables(const struct compare *compare, const struct report_options *how, struct buf *out,
                 diff_put_table *put, void *user)
{
    const struct diff_table_writer p = { compare, how, out, put, user };
    const struct rows measures = ROWS(compare->measures, compare->n_measures);
    const struct rows user_lines = ROWS(compare->user_lines, compare->n_user_lines);
    const struct rows phases = filtered(ROWS(compare->phases, compare->n_phases), differs);
    const struct rows lines = filtered(ROWS(compare->lines, compare->n_lines), differs);
    const struct rows counted = filtered(measures, is_counted);
    const struct rows timed = filtered(measures, is_timed);
    put_diff_table(&p, "Measures", &diff_measure_fields, COUNTED, &counted, 0);
    put_diff_table(&p, "User lines (+ new, - gone, ~ changed)", &diff_user_line_fields, 0,
                   &user_lines, how->limit);
    for (int kind = 0; kind < CHANGE_KINDS; kind++)
        if (LAYOUTS[kind].cells[0] != CELL_END)
            put_change_table(&p, (enum change_kind)kind);
    put_diff_table(&p, "Times and memory (medians)", &diff_measure_fields, TIMED, &timed, 0);
    put_diff_table(&p, "Phases (exclusive, medians)", &diff_phase_fields, PHASES, &phases,
                   how->limit);
    put_diff_table(&p, "Time of user lines (estimated, medians)", &diff_line_time_fields, LINES,
                   &lines, how->limit);
}

/* ---- the sentence --------------------------------------------------------------------------- */

static uint64_t count_change_rows(const struct compare *c, int kind, enum change change)
{
    uint64_t n = 0;
    for (uint32_t i = c->first_of[kind]; i < c->first_of[kind + 1]; i++)
        if (c->rows[i].change == change) {
            bool counted = kind == CHANGE_GRAPHS || kind == CHANGE_OPERATORS ||
                           (change == CHANGE_CHANGED &&
                            (kind == CHANGE_DISPATCHES || kind == CHANGE_SIZE_USES));
            n += counted ? 1 : change == CHANGE_GONE ? c->rows[i].before : c->rows[i].after;
        }
    return n;
}

void diff_put_summary(const struct compare *compare, struct buf *out)
{
    static const char *const NOUNS[CHANGE_KINDS] = {
        [CHANGE_COMPILES] = "compile",
        [CHANGE_RESTARTS] = "restart",
        [CHANGE_RECOMPILES] = "recompile",
        [CHANGE_BREAKS] = "graph break",
        [CHANGE_FAILURES] = "failure",
        [CHANGE_SPECIALIZATIONS] = "specialization",
        [CHANGE_GUARDS] = "guard",
        [CHANGE_ASSERTS] = "runtime assert",
        [CHANGE_SUPPRESSED] = "suppressed guard",
        [CHANGE_SYMBOLS] = "symbol",
        [CHANGE_GRAPHS] = "graph",
        [CHANGE_NODES] = "node",
        [CHANGE_OPERATORS] = "operator",
        [CHANGE_DISPATCHES] = "dispatched call",
        [CHANGE_SIZE_USES] = "size use",
        [CHANGE_CACHES] = "cache look-up",
    };
    size_t start = out->n;
    for (int kind = 0; kind < CHANGE_KINDS; kind++)
        for (int change = CHANGE_NEW; change <= CHANGE_CHANGED && NOUNS[kind]; change++) {
            uint64_t n = count_change_rows(compare, kind, (enum change)change);
            if (n == 0)
                continue;
            buf_puts(out, out->n > start ? ", " : "");
            format_plural(out, n, NOUNS[kind]);
            buf_putc(out, ' ');
            buf_puts(out, change_name((enum change)change));
        }
}
