#include "profile/calls/cache/cache_report.h"
#include "profile/calls/cudagraphs/cudagraph_report.h"
#include "profile/model/format.h"
#include "profile/model/human.h"

const char *run_mode_name(enum run_mode mode)
{
    static const char *const NAMES[] = { "inference", "forward", "backward" };
    return NAMES[mode];
}

static const struct wrapped_graph *graph_of(const struct cudagraph_run *run, uint32_t graph)
{
    return &run->wrapped.graphs.v[graph];
}

/* "0/1 backward" */
static void put_graph(const struct wrapped_graph *graph, struct buf *out)
{
    buf_printf(out, "%.*s %s", STR_ARG(graph->compile), run_mode_name(graph->mode));
}

/* "train.py:17: y.copy_(x)"; nothing if the line is not known. */
static void put_line(const struct wrapped_graph *graph, struct buf *out)
{
    if (!graph->file.n)
        return;
    format_place(out, graph->file, graph->line);
    if (!graph->code.n)
        return;
    buf_puts(out, ": ");
    format_text(out, graph->code, 0);
}

/* ---- Totals ---- */

/* ", 3 warm up"; nothing for 0. */
static void put_action(uint32_t n, const char *one, const char *many, bool *first, struct buf *out)
{
    if (!n)
        return;
    buf_puts(out, *first ? " " : ", ");
    *first = false;
    format_count(out, n);
    buf_puts(out, n == 1 ? one : many);
}

/* Says why runs have no CUDA graph. */
static void put_eager(const struct cudagraph_run *run, struct buf *out)
{
    uint32_t mutate = run->totals[RUN_EAGER] - run->n_in_warm_up;
    bool first = true;
    if (!run->totals[RUN_EAGER])
        return;
    buf_puts(out, "eagerly, without a CUDA graph:");
    put_action(run->n_in_warm_up, " since a graph that ran before it in the same call warmed up",
               " since a graph that ran before them in the same call warmed up", &first, out);
    put_action(mutate, " since it writes to an input", " since they write to an input", &first,
               out);
    buf_puts(out, "\n");
}

static void put_headline(const struct cudagraph_run *run, struct buf *out)
{
    bool first = true;
    uint32_t n = 0;
    for (int i = 0; i < RUN_ACTIONS; i++)
        n += run->totals[i];
    buf_puts(out, "reduce-overhead would record ");
    format_plural(out, run->totals[RUN_RECORD], "CUDA graph");
    buf_puts(out, " for ");
    format_plural(out, run->n_calls, "call");
    buf_puts(out, " (");
    format_plural(out, run->n_graphs, "compiled graph");
    buf_puts(out, ", ");
    format_plural(out, run->n_sizes, "size");
    buf_puts(out, ")\n");
    if (run->pool_known && run->pool_bytes) {
        char text[HUMAN_SIZE];
        buf_printf(out, "their pool takes about %s of the GPU's memory\n",
                   human_bytes(text, run->pool_bytes));
    }
    if (!n)
        return;
    format_plural(out, n, "run");
    buf_puts(out, ":");
    put_action(run->totals[RUN_WARM_UP], " warms up", " warm up", &first, out);
    put_action(run->totals[RUN_RECORD], " records", " record", &first, out);
    put_action(run->totals[RUN_REPLAY], " replays", " replay", &first, out);
    put_action(run->totals[RUN_EAGER], " runs eagerly", " run eagerly", &first, out);
    buf_puts(out, "\n");
    put_eager(run, out);
}

static void put_notes(const struct cudagraph_run *run, const struct cache_run *cache,
                      struct buf *out)
{
    if (run->n_on_tape) {
        buf_puts(out, "while this was recorded, PyTorch recorded ");
        format_plural(out, run->n_on_tape, "CUDA graph");
        buf_puts(out, "\n");
    }
    if (run->n_unknown_calls) {
        format_plural(out, run->n_unknown_calls, "look-up");
        buf_puts(out, " and backwards left out: which entry they run is not known\n");
    }
    if (run->n_unknown_sizes) {
        format_plural(out, run->n_unknown_sizes, "size");
        buf_puts(out, " of data that calls do not list; each value is a recording more\n");
    }
    if (cache->n_contradictions) {
        cache_put_contradictions(cache->n_contradictions, out);
        buf_puts(out, "\n");
    }
    for (size_t i = 0; i < cache->unlisted.texts.n; i++) {
        cache_put_unlisted(cache->unlisted.texts.v[i], out);
        buf_puts(out, "\n");
    }
}

/* ---- Graphs ---- */

/* What the sizes of a graph add up to. */
struct graph_totals {
    uint32_t runs, sizes, actions[RUN_ACTIONS];
};

static struct graph_totals *sum_sizes(const struct cudagraph_run *run)
{
    struct graph_totals *all = calloc(run->wrapped.graphs.n + 1, sizeof *all);
    for (size_t i = 0; all && i < run->sizes.n; i++) {
        const struct graph_size *size = &run->sizes.v[i];
        struct graph_totals *sum = &all[size->graph];
        sum->runs += size->runs;
        sum->sizes++;
        for (int k = 0; k < RUN_ACTIONS; k++)
            sum->actions[k] += size->actions[k];
    }
    return all;
}

/* "0/1 forward is skipped: an input is written to in place: train.py:17: y.copy_(x)" */
static void put_skip(const struct wrapped_graph *graph, struct buf *out)
{
    if (graph->skip == SKIP_EMPTY) {
        format_text(out, graph->compile, 0);
        buf_puts(out, " has no operators");
        buf_puts(out, graph->file.n ? " before its graph break" : "");
    } else {
        put_graph(graph, out);
        buf_printf(out, " is skipped: %s", skip_reason_text(graph->skip));
    }
    if (graph->file.n)
        buf_puts(out, ": ");
    put_line(graph, out);
    buf_puts(out, "\n");
}

static void put_skips(const struct cudagraph_run *run, const struct graph_totals *all,
                      const struct report_options *options, struct buf *out)
{
    uint32_t n = 0, shown = report_shown(options, UINT32_MAX);
    bool no_gpu = false;
    for (uint32_t i = 0; i < run->wrapped.graphs.n; i++) {
        const struct wrapped_graph *graph = graph_of(run, i);
        if (!all[i].runs || graph->skip == SKIP_NONE)
            continue;
        no_gpu |= graph->skip == SKIP_NO_GPU;
        if (n++ < shown)
            put_skip(graph, out);
    }
    if (n > shown) {
        format_count(out, n - shown);
        buf_puts(out, " more skipped\n");
    }
    if (no_gpu)
        buf_puts(out, "--on-gpu takes tensors on the CPU to be on a GPU\n");
}

static void put_warnings(const struct cudagraph_run *run, const struct graph_totals *all,
                         const struct report_options *options, struct buf *out)
{
    uint32_t n = 0, shown = report_shown(options, UINT32_MAX);
    for (uint32_t i = 0; i < run->wrapped.graphs.n; i++) {
        if (!run->warn_limit || all[i].sizes <= run->warn_limit ||
            !wrapped_graph_records(graph_of(run, i)) || n++ >= shown)
            continue;
        put_graph(graph_of(run, i), out);
        buf_printf(out, " has %u sizes: PyTorch warns of more than %llu\n", (unsigned)all[i].sizes,
                   (unsigned long long)run->warn_limit);
    }
    if (n > shown) {
        format_count(out, n - shown);
        buf_printf(out, " more with more than %llu sizes\n", (unsigned long long)run->warn_limit);
    }
}

static void put_graphs(const struct cudagraph_run *run, const struct graph_totals *all,
                       const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "graph", COLUMN_MARKUP, 0 },  { "parts", COLUMN_RIGHT, 1 },
        { "sizes", COLUMN_RIGHT, 0 },   { "runs", COLUMN_RIGHT, 2 },
        { "warm-up", COLUMN_RIGHT, 0 }, { "record", COLUMN_RIGHT, 0 },
        { "replay", COLUMN_RIGHT, 0 },  { "eager", COLUMN_RIGHT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    bool divided = false;
    for (uint32_t i = 0; i < run->wrapped.graphs.n; i++) {
        const struct graph_totals *sum = &all[i];
        if (!sum->runs || graph_of(run, i)->skip == SKIP_EMPTY ||
            n++ >= report_shown(options, UINT32_MAX))
            continue;
        put_graph(graph_of(run, i), &table.text);
        table_cell(&table);
        uint32_t parts =
            wrapped_graph_records(graph_of(run, i)) ? graph_of(run, i)->n_partitions : 0;
        divided |= parts > 1;
        table_count(&table, parts);
        table_u64(&table, sum->sizes);
        table_u64(&table, sum->runs);
        for (int k = 0; k < RUN_ACTIONS; k++)
            table_count(&table, sum->actions[k]);
    }
    if (n)
        buf_puts(out, "\nGraphs; parts are what a run at one size records\n");
    if (divided)
        buf_puts(out, "A graph has several parts where operators stay outside of\n"
                      "CUDA graphs, such as those on the CPU\n");
    report_table(&table, options, 0, n, out);
}

/* ---- Sizes, paddings ---- */

/* "s27=8 s53=64" */
static void put_size(const struct cudagraph_run *run, const struct graph_size *size,
                     struct buf *out)
{
    const struct wrapped_graph *graph = graph_of(run, size->graph);
    for (uint32_t i = 0; i < graph->n_symbols; i++) {
        buf_puts(out, i ? " " : "");
        format_text(out, run->wrapped.symbols.v[graph->first_symbol + i], 0);
        buf_printf(out, "=%lld", (long long)run->values.v[size->first_value + i]);
    }
}

static void put_sizes(const struct cudagraph_run *run, const struct report_options *options,
                      struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "graph", COLUMN_MARKUP, 0 }, { "size", COLUMN_WIDE, 0 },
        { "runs", COLUMN_RIGHT, 1 },   { "warm-up", COLUMN_RIGHT, 0 },
        { "record", COLUMN_RIGHT, 0 }, { "replay", COLUMN_RIGHT, 0 },
        { "eager", COLUMN_RIGHT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (size_t i = 0; i < run->sizes.n; i++) {
        const struct graph_size *size = &run->sizes.v[i];
        if (size->first_function == CALL_NONE || !graph_of(run, size->graph)->n_symbols ||
            n++ >= report_shown(options, UINT32_MAX))
            continue;
        put_graph(graph_of(run, size->graph), &table.text);
        table_cell(&table);
        put_size(run, size, &table.text);
        table_cell(&table);
        table_u64(&table, size->runs);
        for (int k = 0; k < RUN_ACTIONS; k++)
            table_count(&table, size->actions[k]);
    }
    if (n)
        buf_puts(out, "\nSizes; each is recorded by itself\n");
    report_table(&table, options, 0, n, out);
}

static void put_paddings(const struct cudagraph_run *run, const struct report_options *options,
                         struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "graph", COLUMN_MARKUP, 0 },  { "padded to", COLUMN_LEFT, 0 },
        { "sizes", COLUMN_RIGHT, 0 },   { "in place of", COLUMN_RIGHT, 1 },
        { "padding", COLUMN_RIGHT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->paddings.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct padding_row *row = &run->paddings.v[i];
        uint64_t waste = row->padded > row->bytes ? row->padded - row->bytes : 0;
        put_graph(graph_of(run, row->graph), &table.text);
        table_cell(&table);
        table_text(&table, str_of(row->policy));
        table_u64(&table, row->sizes);
        table_u64(&table, row->before);
        table_printf(&table, "%.1f %%",
                     row->padded ? 100.0 * (double)waste / (double)row->padded : 0.0);
    }
    if (n)
        buf_puts(out, "\nSizes padded; padding is a share of the bytes of the padded inputs\n"
                      "if the program allows it, which symtape run --pad tells\n");
    report_table(&table, options, 0, n, out);
}

/* ---- Calls ---- */

static void put_run(const struct cudagraph_run *run, const struct call_log *log,
                    const struct graph_run *row, struct table *table)
{
    const struct program_call *call = &log->calls.v[row->call];
    const struct graph_size *size = &run->sizes.v[row->size];
    const struct wrapped_graph *graph = graph_of(run, size->graph);
    table_u64(table, call->number);
    put_graph(graph, &table->text);
    if (wrapped_graph_records(graph) && graph->n_partitions > 1)
        buf_printf(&table->text, ", part %u", (unsigned)row->partition);
    table_cell(table);
    put_size(run, size, &table->text);
    table_cell(table);
    buf_puts(&table->text, run_action_name(row->action));
    if (row->action == RUN_EAGER)
        buf_puts(&table->text,
                 graph_run_mutates(run, row) ? ", writes to an input" : ", after a warm-up");
    table_cell(table);
}

static void put_runs(const struct cudagraph_run *run, const struct call_log *log,
                     const struct report_options *options, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "call", COLUMN_RIGHT, 0 },
        { "graph", COLUMN_MARKUP, 0 },
        { "size", COLUMN_WIDE, 0 },
        { "what runs", COLUMN_LEFT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)run->runs.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++)
        put_run(run, log, &run->runs.v[i], &table);
    if (n)
        buf_puts(out, "\nRuns\n");
    report_table(&table, options, 0, n, out);
}

void cudagraph_text(const struct cudagraph_run *run, const struct cache_run *cache,
                    const struct call_log *log, const struct report_options *options,
                    struct buf *out)
{
    struct graph_totals *all = sum_sizes(run);
    style_mark(options->styles, out, STYLE_BOLD);
    put_headline(run, out);
    style_mark(options->styles, out, STYLE_NONE);
    if (all) {
        put_skips(run, all, options, out);
        put_warnings(run, all, options, out);
        put_notes(run, cache, out);
        put_graphs(run, all, options, out);
    }
    out->failed |= !all;
    free(all);
    put_sizes(run, options, out);
    put_paddings(run, options, out);
    put_runs(run, log, options, out);
}
