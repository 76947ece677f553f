/* `--cost NAME` without a number: what the compile of a graph costs, by operator, and the number
 * that is proposed. */
#include <stdlib.h>

#include "cmd/minify/minify.h"
#include "profile/model/cost_model/cost_model.h"
#include "profile/model/format.h"
#include "profile/report/table.h"
#include "trace/base/text/json_write.h"

static int by_cost(const void *a, const void *b, void *user)
{
    const struct graph_cost_row *x = a, *y = b;
    enum cost cost = *(const enum cost *)user;
    uint64_t m = x->counts.of[cost], n = y->counts.of[cost];
    return m != n ? (m < n) - (m > n) : str_cmp(x->op, y->op);
}

/* ---- Text ---- */

#define NS_PER_MS 1000000

static void put_number(struct buf *out, enum cost cost, uint64_t n)
{
    if (cost == GRAPH_COST_SECONDS)
        format_ns(out, (int64_t)n * NS_PER_MS);
    else
        format_count(out, n);
}

static void put_cell(struct table *table, enum cost cost, uint64_t n)
{
    if (cost == GRAPH_COST_SECONDS)
        table_ns(table, (int64_t)n * NS_PER_MS);
    else
        table_count(table, n);
}

static void put_total(const struct cost_table *table, struct buf *out)
{
    for (enum cost i = 0; i < COSTS; i++) {
        buf_printf(out, "  %-17s", cost_name(i));
        put_number(out, i, table->total.of[i]);
        buf_printf(out, ": %s\n", cost_description(i));
    }
}

static void put_operators(const struct minify_job *job, const struct cost_table *costs,
                          struct buf *out)
{
    struct column columns[COSTS + 1] = { { "operator", COLUMN_LEFT, 0 } };
    const struct table_layout how = { .width = job->cmd->out->width,
                                      .indent = 2,
                                      .styles = out_styles(job->cmd->out) };
    struct table table = { .columns = columns, .n_columns = 1 };
    for (enum cost i = 0; i < COSTS; i++)
        if (cost_is_by_operator(i))
            columns[table.n_columns++] = (struct column){ cost_name(i), COLUMN_RIGHT, 0 };
    for (size_t row = 0; row < costs->rows.n; row++) {
        table_text(&table, costs->rows.v[row].op);
        for (enum cost i = 0; i < COSTS; i++)
            if (cost_is_by_operator(i))
                put_cell(&table, i, costs->rows.v[row].counts.of[i]);
    }
    buf_putc(out, '\n');
    table_print(&table, &how, out);
    table_release(&table);
}

/* Says what the seconds are, and how far off they may be. */
static void put_basis(int release, struct buf *out)
{
    const struct cost_error error = cost_error_shipped(release);
    buf_printf(out,
               "\nEstimated: Dynamo, AOTAutograd without gradients and guards, as counts of the "
               "replay by what a unit of work took with PyTorch %d.%d on another machine.\n",
               release / 100, release % 100);
    if (error.recordings)
        buf_printf(out,
                   "With these units, symtape profile --cost-model, which knows what was "
                   "dispatched, was %.0f %% off in the median of %u recordings; --torch-oracle "
                   "seconds, with a limit, measures what PyTorch takes.\n",
                   error.share * 100, (unsigned)error.recordings);
}

static void put_text(const struct minify_job *job, const struct cost_table *table, enum cost cost,
                     int release, struct buf *out)
{
    uint64_t half = cost_half(table, cost);
    buf_printf(out, "%s: cost of the compile: %s ", job->operand, cost_name(cost));
    put_number(out, cost, table->total.of[cost]);
    if (half) {
        buf_printf(out, "; --cost '%s>=", cost_name(cost));
        cost_put(out, cost, half);
        buf_puts(out, "' keeps what makes half of it");
    }
    buf_puts(out, "\n\n");
    put_total(table, out);
    put_basis(release, out);
    put_operators(job, table, out);
}

/* ---- JSON ---- */

static void put_json_number(struct json_writer *w, const char *key, enum cost cost, uint64_t n)
{
    if (cost == GRAPH_COST_SECONDS)
        json_put_double(w, key, (double)n / 1000);
    else
        json_put_u64(w, key, n);
}

static void put_counts(struct json_writer *w, const struct cost_counts *counts, bool all)
{
    for (enum cost i = 0; i < COSTS; i++)
        if (all || cost_is_by_operator(i))
            put_json_number(w, cost_name(i), i, counts->of[i]);
}

static void put_json_error(struct json_writer *w, int release)
{
    const struct cost_error error = cost_error_shipped(release);
    json_put_i64(w, "release", release);
    if (error.recordings)
        json_put_double(w, "release_error", error.share);
    else
        json_put_null(w, "release_error");
}

static void put_json(const struct cost_table *table, enum cost cost, int release, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_MINIFY_COST);
    json_put_cstr(&w, "cost", cost_name(cost));
    put_json_number(&w, "proposed", cost, cost_half(table, cost));
    put_json_error(&w, release);
    json_open_object(&w, "total");
    put_counts(&w, &table->total, true);
    json_close(&w);
    json_open_array(&w, "operators");
    for (size_t i = 0; i < table->rows.n; i++) {
        json_open_object(&w, NULL);
        json_put_str(&w, "operator", table->rows.v[i].op);
        put_counts(&w, &table->rows.v[i].counts, false);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}

bool minify_only_costs(const struct minify_args *args)
{
    struct cost_limit limit;
    struct err ignored = { 0 };
    return args->cost && cost_read(str_of(args->cost), &limit, &ignored) && !limit.has_least;
}

int minify_print_cost(struct minify_job *job)
{
    struct cost_table table;
    struct cost_limit limit;
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    int release = 0;
    if (!cost_read(str_of(job->args->cost), &limit, &err) ||
        !cost_table_make(&table, job->whole, &err))
        return out_error(job->cmd->out, &err);
    if (!minify_estimate_table(job->whole, &table, &release, &err)) {
        cost_table_release(&table);
        return out_error(job->cmd->out, &err);
    }
    if (table.rows.n)
        qsort_r(table.rows.v, table.rows.n, sizeof *table.rows.v, by_cost, &limit.cost);
    if (job->args->json)
        put_json(&table, limit.cost, release, &text);
    else
        put_text(job, &table, limit.cost, release, &text);
    int code = out_buf(job->cmd->out, &text);
    buf_release(&text);
    cost_table_release(&table);
    return code;
}
