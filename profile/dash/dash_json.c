/* Writes a dashboard as JSON, "symtape.dash/1", as symtape-dash(1) documents it. */
#include "profile/dash/dash_tables.h"
#include "trace/base/text/json_write.h"

static void put_config(const struct dash *dash, uint32_t config, struct json_writer *w)
{
    for (int k = 0; k < DASH_KEYS; k++)
        json_put_str_or_null(w, dash_key_name((enum dash_key)k),
                             dash_text(dash, dash->configs.v[config].text[k]));
}

static void put_point(const struct dash *dash, const struct dash_point *point,
                      struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "point", point->label);
    json_put_u64(w, "files", point->files);
    json_put_u64(w, "tapes", point->tapes);
    json_put_u64(w, "models", point->models.n);
    json_open_array(w, "facts");
    for (size_t i = 0; i < point->facts.n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "name", dash_text(dash, point->facts.v[i].key));
        json_put_str(w, "value", dash_text(dash, point->facts.v[i].value));
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

static void put_summary(const struct dash_summary *s, struct json_writer *w)
{
    json_put_u64(w, "judged", s->judged);
    json_put_u64(w, "passed", s->passed);
    json_put_u64(w, "flaky", s->flaky);
    for (int m = 0; m < DASH_MEASURES; m++) {
        json_open_object(w, dash_measure_row((enum dash_measure)m)->name);
        json_put_double(w, "mean", s->mean[m].value);
        json_put_u64(w, "models", s->mean[m].n);
        json_close(w);
    }
}

static void put_result(const struct dash *dash, const struct dash_result *r, struct json_writer *w)
{
    json_open_object(w, NULL);
    put_config(dash, r->config, w);
    json_put_str(w, "point", dash->points.v[r->point].label);
    json_put_u64(w, "models", r->models);
    put_summary(&r->summary, w);
    json_close(w);
}

static void put_change(const struct dash *dash, const struct dash_change *c, struct json_writer *w)
{
    json_open_object(w, NULL);
    put_config(dash, c->config, w);
    json_put_u64(w, "common", c->common);
    json_put_u64(w, "added", c->added);
    json_put_u64(w, "removed", c->removed);
    json_open_object(w, "before");
    put_summary(&c->before, w);
    json_close(w);
    json_open_object(w, "after");
    put_summary(&c->after, w);
    json_close(w);
    json_open_object(w, "verdicts");
    for (int m = 0; m < DASH_MEASURES; m++)
        json_put_cstr(w, dash_measure_row((enum dash_measure)m)->name,
                      c->before.mean[m].n ? compare_verdict_name(c->verdict[m]) : NULL);
    json_close(w);
    json_close(w);
}

static void put_model_change(const struct dash *dash, const struct dash_model_change *c,
                             struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "change", dash_model_change_name(c->kind));
    json_put_str(w, "model", dash_text(dash, c->name));
    put_config(dash, c->config, w);
    json_put_str_or_null(w, "before", dash_text(dash, c->before));
    json_put_str_or_null(w, "after", dash_text(dash, c->after));
    json_close(w);
}

static void put_value(const char *key, const struct dash_value *value, struct json_writer *w)
{
    json_open_object(w, key);
    json_put_u64(w, "runs", value->n);
    json_put_double(w, "median", value->median);
    json_put_double(w, "least", value->least);
    json_put_double(w, "greatest", value->greatest);
    json_close(w);
}

static void put_model_rows(const struct dash *dash, const char *key,
                           const struct dash_model_row *rows, size_t n, struct json_writer *w)
{
    json_open_array(w, key);
    for (size_t i = 0; i < n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "model", dash_text(dash, rows[i].name));
        put_config(dash, rows[i].config, w);
        json_put_cstr(w, "measure", dash_measure_row(rows[i].measure)->name);
        put_value("before", &rows[i].before, w);
        put_value("after", &rows[i].after, w);
        json_put_double(w, "worse", rows[i].worse);
        json_put_cstr(w, "verdict",
                      rows[i].before.n ? compare_verdict_name(rows[i].verdict) : NULL);
        json_put_str_or_null(w, "before_tape", dash_text(dash, rows[i].before_tape));
        json_put_str_or_null(w, "after_tape", dash_text(dash, rows[i].after_tape));
        json_put_str_or_null(w, "first_difference", rows[i].difference);
        json_close(w);
    }
    json_close(w);
}

static void put_count(const char *key, uint32_t count, struct json_writer *w)
{
    if (count == UINT32_MAX)
        json_put_null(w, key);
    else
        json_put_u64(w, key, count);
}

static void put_verdict_row(const struct dash *dash, const struct verdict_row *row,
                            struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "verdict", dash_verdict_name(row->verdict));
    json_put_str(w, "model", dash_text(dash, row->name));
    put_config(dash, row->config, w);
    json_put_str_or_null(w, "expected", dash_text(dash, row->expected));
    json_put_str_or_null(w, "actual", dash_text(dash, row->actual));
    put_count("expected_graph_breaks", row->expected_breaks, w);
    put_count("actual_graph_breaks", row->actual_breaks, w);
    json_put_str_or_null(w, "why", str_of(row->why));
    json_close(w);
}

static void put_verdicts(const struct dash *dash, const struct verdicts *verdicts,
                         struct json_writer *w)
{
    if (!verdicts) {
        json_put_null(w, "expectations");
        return;
    }
    json_open_object(w, "expectations");
    json_put_bool(w, "hold", !verdicts->fails);
    static const char *const COUNTS[VERDICTS] = { "pass",     "xfail", "fail",
                                                  "improved", "flaky", "missing" };
    json_open_object(w, "counts");
    for (int i = 0; i < VERDICTS; i++)
        json_put_u64(w, COUNTS[i], verdicts->n[i]);
    json_close(w);
    json_open_array(w, "models");
    for (size_t i = 0; i < verdicts->rows.n; i++)
        put_verdict_row(dash, &verdicts->rows.v[i], w);
    json_close(w);
    json_close(w);
}

void dash_json(const struct dash_view *view, const struct verdicts *verdicts,
               const struct report_options *how, struct buf *out)
{
    const struct dash *dash = view->dash;
    struct json_writer w = json_writer_of(out);
    (void)how;
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_DASH);
    json_open_array(&w, "points");
    for (size_t i = 0; i < dash->points.n; i++)
        put_point(dash, &dash->points.v[i], &w);
    json_close(&w);
    json_put_str(&w, "base", dash->points.v[view->base].label);
    json_put_str(&w, "last", dash->points.v[view->last].label);
    json_open_array(&w, "results");
    for (size_t i = 0; i < view->results.n; i++)
        put_result(dash, &view->results.v[i], &w);
    json_close(&w);
    json_open_array(&w, "changes");
    for (size_t i = 0; i < view->changes.n; i++)
        put_change(dash, &view->changes.v[i], &w);
    json_close(&w);
    json_open_array(&w, "models");
    for (size_t i = 0; i < view->models.n; i++)
        put_model_change(dash, &view->models.v[i], &w);
    json_close(&w);
    put_model_rows(dash, "regressed", view->regressed.v, view->regressed.n, &w);
    put_model_rows(dash, "slowest", view->slowest.v, view->slowest.n, &w);
    put_verdicts(dash, verdicts, &w);
    json_close(&w);
    buf_putc(out, '\n');
}
