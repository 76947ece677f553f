/* Writes a dashboard as a page without scripts: what a link leads to is shown by its style sheet.
 */
#include <math.h>

#include "profile/dash/dash_tables.h"
#include "profile/page/page_frame.h"

enum {
    CHART_WIDTH = 240,
    CHART_HEIGHT = 48,
    PAGE_ROWS = 20000 /* of the tables of all models */
};

struct html {
    const struct dash_view *view;
    struct buf *out;
    size_t rows; /* of models that were written so far */
};

/* ---- Tables ---- */

/* Sets bit c for each column that is shown; empty ones of a squeezed table are not. */
static uint64_t shown_columns(const struct table *table)
{
    uint64_t ret = table->squeezed ? 0 : UINT64_MAX;
    for (size_t r = 0; table->squeezed && r < table_rows(table); r++)
        for (size_t c = 0; c < table->n_columns; c++)
            if (!str_is(table_cell_text(table, r, c), "-"))
                ret |= UINT64_C(1) << c;
    return ret;
}

static const char *class_of(const struct column *column)
{
    return column->kind == COLUMN_RIGHT  ? " class=\"right\""
           : column->kind == COLUMN_WIDE ? " class=\"wide\""
                                         : "";
}

static void put_row(const struct table *table, size_t row, uint64_t shown, struct buf *out)
{
    buf_puts(out, "<tr>");
    for (size_t c = 0; c < table->n_columns; c++) {
        if (!(shown >> c & 1))
            continue;
        struct str text = table_cell_text(table, row, c);
        buf_printf(out, "<td%s>", class_of(&table->columns[c]));
        page_put_text(out, str_is(text, "-") ? STR("") : text);
        buf_puts(out, "</td>");
    }
    buf_puts(out, "</tr>\n");
}

static void put_html_table(void *user, const char *title, const struct table *table,
                           const char *remark)
{
    const struct html *h = user;
    size_t rows = table_rows(table);
    uint64_t shown = table->text.failed ? 0 : shown_columns(table);
    h->out->failed |= table->text.failed;
    buf_printf(h->out, "<h2>%s</h2>\n<div class=\"scroll\"><table>\n<thead><tr>", title);
    for (size_t c = 0; c < table->n_columns; c++)
        if (shown >> c & 1)
            buf_printf(h->out, "<th%s>%s</th>", class_of(&table->columns[c]),
                       table->columns[c].header);
    buf_puts(h->out, "</tr></thead>\n<tbody>\n");
    for (size_t r = 0; r < rows && !h->out->failed; r++)
        put_row(table, r, shown, h->out);
    buf_puts(h->out, "</tbody></table></div>\n");
    if (*remark)
        buf_printf(h->out, "<p class=\"soft\">%s</p>\n", remark);
}

/* ---- History ---- */

/* A value of each point; NAN where there is none. */
struct history {
    const struct dash_result *results; /* of one configuration */
    size_t n;
    const char *title;
    double (*value)(const struct dash_result *result, int measure);
    int measure;
};

static double mean_value(const struct dash_result *result, int measure)
{
    return result->summary.mean[measure].value;
}

static double pass_rate(const struct dash_result *result, int measure)
{
    (void)measure;
    return result->summary.judged ? (double)result->summary.passed / result->summary.judged : NAN;
}

static void put_label(const struct history *history, double value, struct buf *out)
{
    if (history->measure < 0)
        buf_printf(out, "%.1f %%", value * 100);
    else
        dash_put_value((enum dash_measure)history->measure, value, out);
}

struct chart {
    double least, greatest;
    size_t n_points; /* of the dashboard */
};

static double x_of(const struct chart *chart, uint32_t point)
{
    return chart->n_points > 1 ? (double)point * CHART_WIDTH / (double)(chart->n_points - 1) : 0;
}

static double y_of(const struct chart *chart, double value)
{
    double range = chart->greatest - chart->least;
    return range > 0 ? CHART_HEIGHT - (value - chart->least) / range * CHART_HEIGHT
                     : CHART_HEIGHT / 2.0;
}

static void put_chart_points(const struct html *h, const struct history *history,
                             const struct chart *chart)
{
    struct buf *out = h->out;
    buf_puts(out, "<polyline points=\"");
    for (size_t i = 0; i < history->n; i++) {
        double value = history->value(&history->results[i], history->measure);
        if (!isnan(value))
            buf_printf(out, "%.1f,%.1f ", x_of(chart, history->results[i].point),
                       y_of(chart, value));
    }
    buf_puts(out, "\"/>");
    for (size_t i = 0; i < history->n; i++) {
        const struct dash_result *result = &history->results[i];
        double value = history->value(result, history->measure);
        if (isnan(value))
            continue;
        buf_printf(out, "<a href=\"#point-%u\"><circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
                   result->point, x_of(chart, result->point), y_of(chart, value));
        page_put_text(out, h->view->dash->points.v[result->point].label);
        buf_puts(out, ": ");
        put_label(history, value, out);
        buf_puts(out, "</title></circle></a>");
    }
}

static void put_chart(const struct html *h, const struct history *history)
{
    struct chart chart = { INFINITY, -INFINITY, h->view->dash->points.n };
    size_t n = 0;
    double first = NAN, last = NAN;
    for (size_t i = 0; i < history->n; i++) {
        double value = history->value(&history->results[i], history->measure);
        if (isnan(value))
            continue;
        first = n++ == 0 ? value : first;
        last = value;
        chart.least = fmin(chart.least, value);
        chart.greatest = fmax(chart.greatest, value);
    }
    if (n < 2)
        return;
    buf_printf(h->out, "<figure><figcaption>%s ", history->title);
    put_label(history, first, h->out);
    buf_puts(h->out, " &rarr; ");
    put_label(history, last, h->out);
    buf_printf(h->out, "</figcaption><svg width=\"%d\" height=\"%d\" role=\"img\">", CHART_WIDTH,
               CHART_HEIGHT);
    put_chart_points(h, history, &chart);
    buf_puts(h->out, "</svg></figure>\n");
}

static void put_config_charts(const struct html *h, const struct dash_result *results, size_t n)
{
    struct buf name = BUF_INIT;
    struct history history = { results, n, "passed", pass_rate, -1 };
    dash_put_config(h->view->dash, results->config, &name);
    buf_puts(h->out, "<h3>");
    page_put_text(h->out, name.n ? buf_str(&name) : STR("all models"));
    buf_puts(h->out, "</h3>\n");
    put_chart(h, &history);
    history.value = mean_value;
    for (int m = 0; m < DASH_MEASURES; m++) {
        history.measure = m;
        history.title = dash_measure_row((enum dash_measure)m)->title;
        put_chart(h, &history);
    }
    h->out->failed |= name.failed;
    buf_release(&name);
}

static void put_history(const struct html *h)
{
    size_t end;
    if (h->view->dash->points.n < 2)
        return;
    buf_puts(h->out, "<h2>History</h2>\n");
    for (size_t at = 0; at < h->view->results.n; at = end) {
        for (end = at + 1; end < h->view->results.n &&
                           h->view->results.v[end].config == h->view->results.v[at].config;)
            end++;
        put_config_charts(h, &h->view->results.v[at], end - at);
    }
}

/* ---- Points ---- */

static void put_links(const struct html *h)
{
    const struct dash *dash = h->view->dash;
    buf_puts(h->out, "<nav aria-label=\"Points\"><span>All models of a point:</span>");
    for (size_t i = 0; i < dash->points.n; i++) {
        buf_printf(h->out, " <a href=\"#point-%zu\">", i);
        page_put_text(h->out, dash->points.v[i].label);
        buf_puts(h->out, "</a>");
    }
    buf_puts(h->out, "</nav>\n");
}

static void put_facts(const struct html *h, const struct dash_point *point)
{
    const struct dash *dash = h->view->dash;
    buf_puts(h->out, "<ul>\n");
    for (size_t i = 0; i < point->facts.n; i++) {
        buf_puts(h->out, "<li>");
        page_put_text(h->out, dash_text(dash, point->facts.v[i].key));
        buf_puts(h->out, ": ");
        page_put_text(h->out, dash_text(dash, point->facts.v[i].value));
        buf_puts(h->out, "</li>\n");
    }
    buf_puts(h->out, "</ul>\n");
}

static void put_point(struct html *h, uint32_t at)
{
    const struct dash_point *point = &h->view->dash->points.v[at];
    buf_printf(h->out, "<section class=\"run\" id=\"point-%u\">\n<h2>", at);
    page_put_text(h->out, point->label);
    buf_puts(h->out, "</h2>\n<p><a href=\"#\">Close</a></p>\n");
    put_facts(h, point);
    h->rows += point->models.n;
    if (h->rows <= PAGE_ROWS)
        dash_point_table(h->view->dash, point, put_html_table, h);
    else
        buf_printf(h->out, "<p>%zu models, which are not listed: the page has %d at most</p>\n",
                   point->models.n, PAGE_ROWS);
    buf_puts(h->out, "</section>\n");
}

/* ---- Pages of models ---- */

static void put_page_links(const struct html *h, const struct dash_model_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct buf config = BUF_INIT;
        if (rows[i].page.n == 0)
            continue;
        dash_put_config(h->view->dash, rows[i].config, &config);
        buf_puts(h->out, "<li><a href=\"");
        page_put_text(h->out, rows[i].page);
        buf_puts(h->out, "\">");
        page_put_text(h->out, dash_text(h->view->dash, rows[i].name));
        buf_puts(h->out, "</a> ");
        page_put_text(h->out, buf_str(&config));
        buf_printf(h->out, ", %s</li>\n", dash_measure_row(rows[i].measure)->title);
        h->out->failed |= config.failed;
        buf_release(&config);
    }
}

static bool has_page(const struct dash_model_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (rows[i].page.n > 0)
            return true;
    return false;
}

static void put_pages(const struct html *h)
{
    const struct dash_view *v = h->view;
    if (!has_page(v->regressed.v, v->regressed.n) && !has_page(v->slowest.v, v->slowest.n))
        return;
    buf_puts(h->out, "<h2>Pages of these models</h2>\n<ul>\n");
    put_page_links(h, v->regressed.v, v->regressed.n);
    put_page_links(h, v->slowest.v, v->slowest.n);
    buf_puts(h->out, "</ul>\n");
}

/* ---- The page ---- */

static void put_head(struct buf *out)
{
    struct str page = page_asset_text("page/page.css"), own = page_asset_text("page/dash.css");
    buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src ");
    page_put_hash(out, page);
    buf_putc(out, ' ');
    page_put_hash(out, own);
    buf_puts(out, "; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<title>symtape dash</title>\n<style>");
    buf_put(out, page);
    buf_puts(out, "</style>\n<style>");
    buf_put(out, own);
    buf_puts(out, "</style>\n</head>\n<body>\n");
}

void dash_html(const struct dash_view *view, const struct verdicts *verdicts,
               const struct report_options *how, struct buf *out)
{
    struct html h = { view, out, 0 };
    (void)how;
    put_head(out);
    buf_puts(out, "<header class=\"bar\"><strong class=\"brand\">symtape dash</strong>");
    if (verdicts) {
        buf_puts(out, " <span>");
        dash_put_verdicts(verdicts, out);
        buf_puts(out, "</span>");
    }
    buf_puts(out, "</header>\n");
    put_links(&h);
    buf_puts(out, "<main class=\"dash\">\n");
    for (uint32_t i = 0; i < view->dash->points.n; i++)
        put_point(&h, i);
    dash_tables(view, verdicts, put_html_table, &h);
    put_pages(&h);
    put_history(&h);
    buf_puts(out, "</main>\n</body>\n</html>\n");
}
