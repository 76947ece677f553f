#include "profile/dash/dash_tables.h"

#include <math.h>

#include "profile/model/format.h"

/* ---- Cells ---- */

void dash_put_value(enum dash_measure measure, double value, struct buf *out)
{
    if (isnan(value))
        return;
    if (measure == DASH_COMPILE && value < 9e9)
        format_ns(out, (int64_t)(value * 1e9));
    else if (measure == DASH_COMPILE)
        buf_printf(out, "%.3g s", value);
    else if (measure == DASH_MFU)
        buf_printf(out, "%.1f %%", value * 100);
    else
        buf_printf(out, value < 1000 ? "%.2fx" : "%.3gx", value);
}

void dash_put_config(const struct dash *dash, uint32_t config, struct buf *out)
{
    bool any = false;
    for (int k = 0; k < DASH_KEYS; k++) {
        struct str text = dash_text(dash, dash->configs.v[config].text[k]);
        buf_puts(out, any && text.n ? " " : "");
        format_text(out, text, 0);
        any |= text.n > 0;
    }
}

/* Ends a cell that began at that offset of the table's text. */
static void end_cell(struct table *table, size_t begin)
{
    if (table->text.n == begin)
        buf_putc(&table->text, '-');
    table_cell(table);
}

static void config_cells(const struct dash *dash, uint32_t config, struct table *table)
{
    for (int k = 0; k < DASH_KEYS; k++)
        table_text(table, dash_text(dash, dash->configs.v[config].text[k]));
}

static void config_cell(const struct dash *dash, uint32_t config, struct table *table)
{
    size_t begin = table->text.n;
    dash_put_config(dash, config, &table->text);
    end_cell(table, begin);
}

static void value_cell(enum dash_measure measure, double value, struct table *table)
{
    size_t begin = table->text.n;
    dash_put_value(measure, value, &table->text);
    end_cell(table, begin);
}

static void passed_cell(const struct dash_summary *s, struct table *table)
{
    size_t begin = table->text.n;
    if (s->judged) {
        format_share(&table->text, s->passed, s->judged);
        buf_printf(&table->text, ", %u/%u", s->passed, s->judged);
    }
    end_cell(table, begin);
}

/* A mark behind a change that is noise, or that cannot be told from it. */
static const char *verdict_mark(enum compare_verdict verdict)
{
    return verdict == COMPARE_NOISE ? " noise" : verdict == COMPARE_UNJUDGED ? " ?" : "";
}

static bool is_marked(enum compare_verdict verdict)
{
    return verdict == COMPARE_NOISE || verdict == COMPARE_UNJUDGED;
}

static const char MARKS[] = "noise: no larger than the spread of repeated runs; "
                            "?: not repeated on both sides, so it may be noise";

/* Gives away a table that has rows, or one that could not grow, and releases it. */
static void finish_table(struct table *table, const char *title, const char *remark,
                         dash_put_table *put, void *user)
{
    if (table_rows(table) || table->text.failed)
        put(user, title, table, remark);
    table_release(table);
}

/* ---- Points ---- */

static void facts_cell(const struct dash *dash, const struct dash_point *point, struct table *table)
{
    size_t begin = table->text.n;
    struct buf *out = &table->text;
    for (size_t i = 0; i < point->facts.n; i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, dash_text(dash, point->facts.v[i].key), 0);
        buf_putc(out, ' ');
        format_text(out, dash_text(dash, point->facts.v[i].value), 0);
    }
    end_cell(table, begin);
}

static void put_points(const struct dash *dash, dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "point", COLUMN_LEFT, 0 },
        { "files", COLUMN_RIGHT, 2 },
        { "tapes", COLUMN_RIGHT, 2 },
        { "models", COLUMN_RIGHT, 0 },
        { "what is known of it", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    for (size_t i = 0; i < dash->points.n; i++) {
        const struct dash_point *point = &dash->points.v[i];
        table_text(&table, point->label);
        table_count(&table, point->files);
        table_count(&table, point->tapes);
        table_u64(&table, point->models.n);
        facts_cell(dash, point, &table);
    }
    finish_table(&table, "Points", "", put, user);
}

/* ---- Results ---- */

static void put_results(const struct dash_view *v, dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "suite", COLUMN_LEFT, 0 },         { "compiler", COLUMN_LEFT, 0 },
        { "dtype", COLUMN_LEFT, 2 },         { "mode", COLUMN_LEFT, 0 },
        { "device", COLUMN_LEFT, 3 },        { "point", COLUMN_LEFT, 0 },
        { "models", COLUMN_RIGHT, 4 },       { "passed", COLUMN_RIGHT, 0 },
        { "speed-up", COLUMN_RIGHT, 0 },     { "compile time", COLUMN_RIGHT, 0 },
        { "memory ratio", COLUMN_RIGHT, 0 }, { "MFU", COLUMN_RIGHT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    table.squeezed = true;
    for (size_t i = 0; i < v->results.n; i++) {
        const struct dash_result *r = &v->results.v[i];
        config_cells(v->dash, r->config, &table);
        table_text(&table, v->dash->points.v[r->point].label);
        table_u64(&table, r->models);
        passed_cell(&r->summary, &table);
        for (int m = 0; m < DASH_MEASURES; m++)
            value_cell((enum dash_measure)m, r->summary.mean[m].value, &table);
    }
    finish_table(
        &table, "Results",
        "speed-up and memory ratio: geometric means over the models that passed; compile time "
        "and MFU: arithmetic means",
        put, user);
}

/* ---- Changes ---- */

static void change_cell(double before, double after, enum compare_verdict verdict,
                        struct table *table)
{
    size_t begin = table->text.n;
    if (before > 0 && before != after)
        buf_printf(&table->text, "%+.1f %%%s", (after / before - 1) * 100, verdict_mark(verdict));
    else if (before != after)
        buf_printf(&table->text, "from 0%s", verdict_mark(verdict));
    end_cell(table, begin);
}

static void put_measure_change(const struct dash_view *v, const struct dash_change *change,
                               enum dash_measure m, struct table *table)
{
    double before = change->before.mean[m].value, after = change->after.mean[m].value;
    if (change->before.mean[m].n == 0)
        return;
    config_cell(v->dash, change->config, table);
    table_text(table, str_of(dash_measure_row(m)->title));
    value_cell(m, before, table);
    value_cell(m, after, table);
    change_cell(before, after, change->verdict[m], table);
    table_u64(table, change->before.mean[m].n);
}

static void put_passed_change(const struct dash_view *v, const struct dash_change *change,
                              struct table *table)
{
    if (change->before.judged == 0 && change->after.judged == 0)
        return;
    config_cell(v->dash, change->config, table);
    table_text(table, STR("passed"));
    passed_cell(&change->before, table);
    passed_cell(&change->after, table);
    table_printf(table, change->before.passed == change->after.passed ? "-" : "%+d",
                 (int)change->after.passed - (int)change->before.passed);
    table_u64(table, change->common);
}

static void put_changes(const struct dash_view *v, dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "configuration", COLUMN_WIDE, 0 }, { "measure", COLUMN_MARKUP, 0 },
        { "before", COLUMN_RIGHT, 0 },       { "after", COLUMN_RIGHT, 0 },
        { "change", COLUMN_RIGHT, 0 },       { "models", COLUMN_RIGHT, 1 },
    };
    struct table table = TABLE(COLUMNS);
    bool marked = false;
    for (size_t i = 0; i < v->changes.n; i++) {
        put_passed_change(v, &v->changes.v[i], &table);
        for (int m = 0; m < DASH_MEASURES; m++) {
            put_measure_change(v, &v->changes.v[i], (enum dash_measure)m, &table);
            marked |= is_marked(v->changes.v[i].verdict[m]);
        }
    }
    finish_table(&table, "Before and after, over the models in common", marked ? MARKS : "", put,
                 user);
}

/* ---- Models ---- */

static void put_model_changes(const struct dash_view *v, dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "model", COLUMN_LEFT, 0 },         { "change", COLUMN_MARKUP, 0 },
        { "before", COLUMN_LEFT, 0 },        { "after", COLUMN_LEFT, 0 },
        { "configuration", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    for (size_t i = 0; i < v->models.n; i++) {
        const struct dash_model_change *change = &v->models.v[i];
        table_text(&table, dash_text(v->dash, change->name));
        table_text(&table, str_of(dash_model_change_name(change->kind)));
        table_text(&table, dash_text(v->dash, change->before));
        table_text(&table, dash_text(v->dash, change->after));
        config_cell(v->dash, change->config, &table);
    }
    finish_table(&table, "Models that came, went or ended otherwise", "", put, user);
}

static void worse_cell(const struct dash_model_row *row, struct table *table)
{
    size_t begin = table->text.n;
    if (row->verdict == COMPARE_NOISE)
        buf_puts(&table->text, "noise");
    else if (isinf(row->worse))
        buf_printf(&table->text, "%s 0%s", row->before.median > 0 ? "to" : "from",
                   verdict_mark(row->verdict));
    else if (row->worse > 1)
        buf_printf(&table->text, "%.2f times%s", row->worse, verdict_mark(row->verdict));
    end_cell(table, begin);
}

static void model_rows(const struct dash_view *v, const struct dash_model_row *rows, size_t n,
                       const char *title, dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "model", COLUMN_LEFT, 0 },
        { "measure", COLUMN_MARKUP, 0 },
        { "before", COLUMN_RIGHT, 0 },
        { "after", COLUMN_RIGHT, 0 },
        { "worse", COLUMN_RIGHT, 0 },
        { "configuration", COLUMN_WIDE, 1 },
        { "first difference", COLUMN_WIDE, 0 },
    };
    struct table table = TABLE(COLUMNS);
    bool marked = false;
    table.squeezed = true;
    for (size_t i = 0; i < n; i++) {
        const struct dash_model_row *row = &rows[i];
        table_text(&table, dash_text(v->dash, row->name));
        table_text(&table, str_of(dash_measure_row(row->measure)->title));
        value_cell(row->measure, row->before.median, &table);
        value_cell(row->measure, row->after.median, &table);
        worse_cell(row, &table);
        marked |= is_marked(row->verdict);
        config_cell(v->dash, row->config, &table);
        table_text(&table, row->difference);
    }
    finish_table(&table, title, marked ? MARKS : "", put, user);
}

/* ---- Verdicts ---- */

void dash_put_verdicts(const struct verdicts *verdicts, struct buf *out)
{
    buf_printf(out, "%u as expected", verdicts->n[VERDICT_PASS] + verdicts->n[VERDICT_XFAIL]);
    if (verdicts->n[VERDICT_XFAIL])
        buf_printf(out, " (%u XFAIL)", verdicts->n[VERDICT_XFAIL]);
    for (int i = VERDICT_FAIL; i < VERDICTS; i++)
        if (verdicts->n[i])
            buf_printf(out, ", %u %s", verdicts->n[i], dash_verdict_name((enum dash_verdict)i));
}

static void breaks_cell(const struct verdict_row *row, struct table *table)
{
    size_t begin = table->text.n;
    if (row->actual_breaks != UINT32_MAX && row->expected_breaks != UINT32_MAX &&
        row->actual_breaks != row->expected_breaks)
        buf_printf(&table->text, "%u -> %u", row->expected_breaks, row->actual_breaks);
    end_cell(table, begin);
}

static void put_verdict_rows(const struct dash_view *v, const struct verdicts *verdicts,
                             dash_put_table *put, void *user)
{
    static const struct column COLUMNS[] = {
        { "verdict", COLUMN_MARKUP, 0 },     { "model", COLUMN_LEFT, 0 },
        { "expected", COLUMN_LEFT, 0 },      { "is", COLUMN_LEFT, 0 },
        { "graph breaks", COLUMN_RIGHT, 0 }, { "why", COLUMN_MARKUP, 2 },
        { "configuration", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    table.squeezed = true;
    for (size_t i = 0; verdicts && i < verdicts->rows.n; i++) {
        const struct verdict_row *row = &verdicts->rows.v[i];
        if (row->verdict == VERDICT_PASS || row->verdict == VERDICT_XFAIL)
            continue;
        table_text(&table, str_of(dash_verdict_name(row->verdict)));
        table_text(&table, dash_text(v->dash, row->name));
        table_text(&table, dash_text(v->dash, row->expected));
        table_text(&table, dash_text(v->dash, row->actual));
        breaks_cell(row, &table);
        table_text(&table, str_of(row->why));
        config_cell(v->dash, row->config, &table);
    }
    finish_table(&table, "Other than expected", "", put, user);
}

/* ---- All of them ---- */

void dash_tables(const struct dash_view *view, const struct verdicts *verdicts, dash_put_table *put,
                 void *user)
{
    put_points(view->dash, put, user);
    put_results(view, put, user);
    put_changes(view, put, user);
    put_verdict_rows(view, verdicts, put, user);
    put_model_changes(view, put, user);
    model_rows(view, view->regressed.v, view->regressed.n, "Most regressed", put, user);
    model_rows(view, view->slowest.v, view->slowest.n, "Slowest", put, user);
}

void dash_point_table(const struct dash *dash, const struct dash_point *point, dash_put_table *put,
                      void *user)
{
    static const struct column COLUMNS[] = {
        { "model", COLUMN_LEFT, 0 },         { "configuration", COLUMN_LEFT, 0 },
        { "status", COLUMN_LEFT, 0 },        { "rows", COLUMN_RIGHT, 0 },
        { "speed-up", COLUMN_RIGHT, 0 },     { "compile time", COLUMN_RIGHT, 0 },
        { "memory ratio", COLUMN_RIGHT, 0 }, { "MFU", COLUMN_RIGHT, 0 },
        { "tape", COLUMN_PATH, 0 },
    };
    static const char *const OUTCOMES[] = { [DASH_UNKNOWN] = "",
                                            [DASH_PASSED] = "ran",
                                            [DASH_FAILED] = "did not run",
                                            [DASH_FLAKY] = "flaky" };
    struct table table = TABLE(COLUMNS);
    table.squeezed = true;
    for (size_t i = 0; i < point->models.n; i++) {
        const struct dash_model *model = &point->models.v[i];
        bool differ;
        uint32_t status = dash_status(model, &differ);
        table_text(&table, dash_text(dash, model->name));
        config_cell(dash, model->config, &table);
        table_text(&table, status != INTERN_NONE && !differ
                               ? dash_text(dash, status)
                               : str_of(OUTCOMES[dash_outcome(dash, model)]));
        table_u64(&table, model->runs.n);
        for (int m = 0; m < DASH_MEASURES; m++)
            value_cell((enum dash_measure)m, dash_value(model, (enum dash_measure)m).median,
                       &table);
        table_text(&table, dash_text(dash, model->tape));
    }
    finish_table(&table, "Models", "", put, user);
}
