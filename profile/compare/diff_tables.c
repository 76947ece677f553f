#include "profile/compare/diff_tables.h"

#include <math.h>

#include "profile/model/format.h"

enum cell {
    CELL_END,
    CELL_CHANGE,
    CELL_TIMES,  /* how often, whichever side */
    CELL_BEFORE, /* how often */
    CELL_AFTER,
    CELL_NS, /* what it cost, whichever side */
    CELL_COMPILE,
    CELL_LEVEL,
    CELL_WHAT,
    CELL_MORE, /* was and is, or what went with it */
    CELL_PLACE,
    CELL_CODE,
    CELLS
};

static const struct column COLUMNS[CELLS] = {
    [CELL_CHANGE] = { "change", COLUMN_LEFT },  [CELL_TIMES] = { "times", COLUMN_RIGHT },
    [CELL_BEFORE] = { "before", COLUMN_RIGHT }, [CELL_AFTER] = { "after", COLUMN_RIGHT },
    [CELL_NS] = { "time", COLUMN_RIGHT, 2 },    [CELL_COMPILE] = { "compile", COLUMN_LEFT, 3 },
    [CELL_LEVEL] = { "level", COLUMN_LEFT },    [CELL_WHAT] = { "what", COLUMN_WIDE },
    [CELL_MORE] = { "more", COLUMN_WIDE, 1 },   [CELL_PLACE] = { "user line", COLUMN_PATH },
    [CELL_CODE] = { "code", COLUMN_WIDE, 4 },
};

/* The columns of a kind, with other headers where those say it better. */
static const struct kind_layout {
    enum cell cells[DIFF_COLUMNS];
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

/* ---- a table in the making ------------------------------------------------------------------ */

struct str diff_cell(const struct diff_table *table, uint32_t row, size_t column)
{
    size_t i = row * table->n_columns + column;
    size_t from = i ? table->ends.v[i - 1] : 0;
    return (struct str){ table->text.p + from, table->ends.v[i] - from };
}

static void end_cell(struct diff_table *t)
{
    if (!vec_push(&t->ends, t->text.n))
        t->text.failed = true;
}

static void add_column(struct diff_table *t, const char *header, enum column_kind kind,
                       unsigned char spare)
{
    t->columns[t->n_columns++] = (struct column){ header, kind, spare };
}

/* Leaves out columns that hold nothing. */
static void squeeze(struct diff_table *t)
{
    struct diff_table all = *t;
    bool filled[DIFF_COLUMNS] = { false };
    if (t->text.failed)
        return;
    for (uint32_t r = 0; r < all.n_rows; r++)
        for (size_t c = 0; c < all.n_columns; c++)
            filled[c] = filled[c] || diff_cell(&all, r, c).n > 0;
    t->n_columns = 0;
    for (size_t c = 0; c < all.n_columns; c++)
        if (filled[c])
            t->columns[t->n_columns++] = all.columns[c];
    t->text = BUF_INIT;
    t->ends.v = NULL;
    t->ends.n = t->ends.cap = 0;
    for (uint32_t r = 0; r < all.n_rows; r++)
        for (size_t c = 0; c < all.n_columns; c++)
            if (filled[c]) {
                buf_put(&t->text, diff_cell(&all, r, c));
                end_cell(t);
            }
    buf_release(&all.text);
    vec_release(&all.ends);
}

struct putting {
    const struct compare *c;
    const struct report_options *how;
    struct buf *out;
    void (*put)(void *user, const struct diff_table *table);
    void *user;
};

/* Hands over and releases. */
static void finish(const struct putting *p, struct diff_table *t)
{
    squeeze(t);
    p->out->failed |= t->text.failed;
    if (t->n_rows > 0 && !p->out->failed)
        p->put(p->user, t);
    buf_release(&t->text);
    vec_release(&t->ends);
}

static uint32_t shown(const struct putting *p, uint32_t n)
{
    return report_shown(p->how, n);
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* "inputs 3, now 4", "moved from zoo.py:12", what went with it. */
static void put_more(struct buf *out, const struct change_row *row)
{
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

static void put_compile(struct buf *out, const struct change_row *row)
{
    format_text(out, row->compile, 0);
    if (row->n_compiles > 1)
        buf_printf(out, " +%u", row->n_compiles - 1);
}

static void put_count(struct buf *out, uint64_t count)
{
    if (count > 0)
        format_count(out, count);
}

static void put_cell(struct buf *out, enum cell cell, const struct change_row *row)
{
    int64_t ns = row->change == CHANGE_GONE ? row->before_ns : row->after_ns;
    switch (cell) {
    case CELL_CHANGE: buf_puts(out, change_name(row->change)); break;
    case CELL_TIMES: put_count(out, row->change == CHANGE_GONE ? row->before : row->after); break;
    case CELL_BEFORE: put_count(out, row->before); break;
    case CELL_AFTER: put_count(out, row->after); break;
    case CELL_NS:
        if (ns >= 0)
            format_ns(out, ns);
        break;
    case CELL_COMPILE: put_compile(out, row); break;
    case CELL_LEVEL: format_text(out, row->level, 0); break;
    case CELL_WHAT: format_text(out, row->what, 0); break;
    case CELL_MORE: put_more(out, row); break;
    case CELL_PLACE:
        if (row->place.file.n)
            format_place(out, row->place.file, row->place.line);
        break;
    case CELL_CODE: format_text(out, row->place.code, 0); break;
    case CELL_END:
    case CELLS: break;
    }
}

static void put_rows(const struct putting *p, enum change_kind kind)
{
    const struct kind_layout *layout = &LAYOUTS[kind];
    uint32_t first = p->c->first_of[kind];
    struct diff_table t = { .title = change_kind_title(kind),
                            .n_all = p->c->first_of[kind + 1] - first };
    t.n_rows = shown(p, t.n_all);
    for (int i = 0; i < DIFF_COLUMNS && layout->cells[i] != CELL_END; i++) {
        struct column column = COLUMNS[layout->cells[i]];
        if (layout->cells[i] == CELL_WHAT && layout->what)
            column.header = layout->what;
        if (layout->cells[i] == CELL_LEVEL && layout->level)
            column.header = layout->level;
        t.columns[t.n_columns++] = column;
    }
    for (uint32_t r = 0; r < t.n_rows; r++)
        for (size_t i = 0; i < t.n_columns; i++) {
            put_cell(&t.text, layout->cells[i], &p->c->rows[first + r]);
            end_cell(&t);
        }
    finish(p, &t);
}

/* ---- user lines ----------------------------------------------------------------------------- */

/* "+3 -2 ~1" */
static void put_line_count(struct diff_table *t, const struct compare_line_count *count)
{
    const struct {
        char sign;
        uint64_t n;
    } parts[] = { { '+', count->fresh }, { '-', count->gone }, { '~', count->changed } };
    size_t start = t->text.n;
    for (int i = 0; i < 3; i++)
        if (parts[i].n > 0) {
            buf_puts(&t->text, t->text.n > start ? " " : "");
            buf_putc(&t->text, parts[i].sign);
            format_count(&t->text, parts[i].n);
        }
    end_cell(t);
}

static void put_user_lines(const struct putting *p)
{
    struct diff_table t = { .title = "User lines (+ new, - gone, ~ changed)",
                            .n_all = p->c->n_user_lines,
                            .n_rows = shown(p, p->c->n_user_lines) };
    add_column(&t, "incidents", COLUMN_RIGHT, 0);
    add_column(&t, "guards", COLUMN_RIGHT, 0);
    add_column(&t, "symbols", COLUMN_RIGHT, 0);
    add_column(&t, "nodes", COLUMN_RIGHT, 0);
    add_column(&t, "user line", COLUMN_PATH, 0);
    add_column(&t, "code", COLUMN_WIDE, 0);
    for (uint32_t i = 0; i < t.n_rows; i++) {
        const struct compare_line *line = &p->c->user_lines[i];
        put_line_count(&t, &line->incidents);
        put_line_count(&t, &line->guards);
        put_line_count(&t, &line->symbols);
        put_line_count(&t, &line->nodes);
        format_place(&t.text, line->place.file, line->place.line);
        end_cell(&t);
        format_text(&t.text, line->place.code, 0);
        end_cell(&t);
    }
    finish(p, &t);
}

/* ---- numbers -------------------------------------------------------------------------------- */

static void put_measure(struct diff_table *t, enum measure measure, const struct measure_summary *s)
{
    measure_format(measure, s->median, &t->text);
    if (s->n > 1 && s->least != s->greatest) {
        buf_puts(&t->text, " (");
        measure_format(measure, s->least, &t->text);
        buf_puts(&t->text, " to ");
        measure_format(measure, s->greatest, &t->text);
        buf_putc(&t->text, ')');
    }
    end_cell(t);
}

/* "+12 %" of what it was. */
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

static void put_measures(const struct putting *p, bool timed)
{
    struct diff_table t = { .title = timed ? "Times and memory (medians)" : "Measures" };
    add_column(&t, "before", COLUMN_RIGHT, 0);
    add_column(&t, "after", COLUMN_RIGHT, 0);
    add_column(&t, "change", COLUMN_RIGHT, 0);
    add_column(&t, "measure", COLUMN_LEFT, 0);
    add_column(&t, timed ? "verdict" : "meaning", COLUMN_WIDE, 1);
    for (uint32_t i = 0; i < p->c->n_measures; i++) {
        const struct compare_measure *m = &p->c->measures[i];
        const struct measure_row *row = measure_row(m->measure);
        if (m->verdict == COMPARE_SAME || m->varies != timed)
            continue;
        put_measure(&t, m->measure, &m->before);
        put_measure(&t, m->measure, &m->after);
        put_percent(&t.text, m->before.median, m->after.median);
        end_cell(&t);
        buf_puts(&t.text, row->name);
        end_cell(&t);
        buf_puts(&t.text, timed ? verdict_text(m->verdict) : row->meaning);
        end_cell(&t);
        t.n_rows++;
    }
    t.n_all = t.n_rows;
    finish(p, &t);
}

static void put_ns(struct diff_table *t, double ns)
{
    if (ns > 0 && ns < 9e18)
        format_ns(&t->text, (int64_t)ns);
    end_cell(t);
}

static void put_times(const struct putting *p, const struct compare_time *times, uint32_t n,
                      bool lines)
{
    static const double LEAST = 1e6; /* what changed by less is not worth a line */
    struct diff_table t = {
        .title = lines ? "Time of user lines (estimated, medians)" : "Phases (exclusive, medians)",
    };
    add_column(&t, "before", COLUMN_RIGHT, 0);
    add_column(&t, "after", COLUMN_RIGHT, 0);
    add_column(&t, "change", COLUMN_RIGHT, 0);
    add_column(&t, lines ? "user line" : "phase", lines ? COLUMN_PATH : COLUMN_LEFT, 0);
    if (lines)
        add_column(&t, "code", COLUMN_WIDE, 2);
    add_column(&t, "verdict", COLUMN_WIDE, 1);
    for (uint32_t i = 0; i < n; i++) {
        const struct compare_time *time = &times[i];
        if (fabs(time->after.median - time->before.median) < LEAST)
            continue;
        t.n_all++;
        if (p->how->limit > 0 && t.n_rows == p->how->limit)
            continue;
        put_ns(&t, time->before.median);
        put_ns(&t, time->after.median);
        put_percent(&t.text, time->before.median, time->after.median);
        end_cell(&t);
        if (lines) {
            format_place(&t.text, time->place.file, time->place.line);
            end_cell(&t);
            format_text(&t.text, time->place.code, 0);
        } else {
            format_text(&t.text, time->name, 0);
        }
        end_cell(&t);
        buf_puts(&t.text, time->verdict == COMPARE_UNJUDGED ? "" : verdict_text(time->verdict));
        end_cell(&t);
        t.n_rows++;
    }
    finish(p, &t);
}

void diff_tables(const struct compare *compare, const struct report_options *how, struct buf *out,
                 void (*put)(void *user, const struct diff_table *table), void *user)
{
    const struct putting p = { compare, how, out, put, user };
    put_measures(&p, false);
    put_user_lines(&p);
    for (int kind = 0; kind < CHANGE_KINDS; kind++)
        if (LAYOUTS[kind].cells[0] != CELL_END)
            put_rows(&p, (enum change_kind)kind);
    put_measures(&p, true);
    put_times(&p, compare->phases, compare->n_phases, false);
    put_times(&p, compare->lines, compare->n_lines, true);
}

/* ---- the sentence --------------------------------------------------------------------------- */

static uint64_t count_rows(const struct compare *c, int kind, enum change change)
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
            uint64_t n = count_rows(compare, kind, (enum change)change);
            if (n == 0)
                continue;
            buf_puts(out, out->n > start ? ", " : "");
            format_plural(out, n, NOUNS[kind]);
            buf_putc(out, ' ');
            buf_puts(out, change_name((enum change)change));
        }
}
