#include "profile/calls/cudagraphs/cudagraph_report.h"
#include "profile/calls/cudagraphs/size_values.h"
#include "trace/base/text/json_write.h"

static void put_actions(const uint32_t *actions, struct json_writer *w)
{
    json_put_u64(w, "warm_ups", actions[RUN_WARM_UP]);
    json_put_u64(w, "recordings", actions[RUN_RECORD]);
    json_put_u64(w, "replays", actions[RUN_REPLAY]);
    json_put_u64(w, "eager", actions[RUN_EAGER]);
}

static void put_size(const struct cudagraph_run *run, const struct graph_size *size,
                     struct json_writer *w)
{
    const struct wrapped_graph *graph = &run->wrapped.graphs.v[size->graph];
    const int64_t *values = vec_from(&run->values, size->first_value);
    struct size_values at = { &run->wrapped, graph, values };
    json_open_object(w, NULL);
    json_put_u64(w, "graph", size->graph);
    json_open_array(w, "symbols");
    for (uint32_t i = 0; i < graph->n_symbols; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "symbol", run->wrapped.symbols.v[graph->first_symbol + i]);
        json_put_i64(w, "value", values[i]);
        json_close(w);
    }
    json_close(w);
    json_open_array(w, "ints");
    for (uint32_t i = 0; i < graph->n_ints; i++)
        json_put_i64(w, NULL, size_values_int(&at, i));
    json_close(w);
    json_put_u64(w, "input_bytes", size_values_bytes(&at));
    json_put_u64(w, "runs", size->runs);
    put_actions(size->actions, w);
    json_close(w);
}

static void put_graph(const struct wrapped_graph *graph, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "compile", graph->compile);
    json_put_cstr(w, "mode", run_mode_name(graph->mode));
    json_put_u64(w, "partitions", wrapped_graph_records(graph) ? graph->n_partitions : 0);
    json_put_str_or_null(w, "skipped", str_of(skip_reason_name(graph->skip)));
    json_put_str_or_null(w, "node", graph->node);
    json_put_str_or_null(w, "file", graph->file);
    if (graph->file.n)
        json_put_u64(w, "line", graph->line);
    else
        json_put_null(w, "line");
    json_put_str_or_null(w, "source", graph->code);
    json_close(w);
}

static void put_padding(const struct padding_row *row, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_u64(w, "graph", row->graph);
    json_put_cstr(w, "padded_to", row->policy);
    json_put_u64(w, "sizes", row->sizes);
    json_put_u64(w, "sizes_before", row->before);
    json_put_u64(w, "bytes", row->padded);
    json_put_u64(w, "bytes_before", row->bytes);
    json_close(w);
}

/* Writes the runs of one call; returns their number. */
static size_t put_call(const struct cudagraph_run *run, const struct call_log *log, size_t first,
                       struct json_writer *w)
{
    uint64_t number = log->calls.v[run->runs.v[first].call].number;
    size_t n = 0;
    json_open_object(w, NULL);
    json_put_u64(w, "call", number);
    json_open_array(w, "runs");
    for (; first + n < run->runs.n && log->calls.v[run->runs.v[first + n].call].number == number;
         n++) {
        const struct graph_run *row = &run->runs.v[first + n];
        json_open_object(w, NULL);
        json_put_u64(w, "size", row->size);
        json_put_u64(w, "partition", row->partition);
        json_put_cstr(w, "action", run_action_name(row->action));
        json_close(w);
    }
    json_close(w);
    json_close(w);
    return n;
}

static void put_rows(const struct cudagraph_run *run, const struct call_log *log,
                     struct json_writer *w)
{
    json_open_array(w, "graphs");
    for (size_t i = 0; i < run->wrapped.graphs.n; i++)
        put_graph(&run->wrapped.graphs.v[i], w);
    json_close(w);
    json_open_array(w, "sizes");
    for (size_t i = 0; i < run->sizes.n; i++)
        put_size(run, &run->sizes.v[i], w);
    json_close(w);
    json_open_array(w, "paddings");
    for (size_t i = 0; i < run->paddings.n; i++)
        put_padding(&run->paddings.v[i], w);
    json_close(w);
    json_open_array(w, "calls");
    for (size_t i = 0; i < run->runs.n;)
        i += put_call(run, log, i, w);
    json_close(w);
}

void cudagraph_json(const struct cudagraph_run *run, const struct call_log *log, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_CUDAGRAPHS);
    json_put_u64(&w, "n_calls", run->n_calls);
    json_put_u64(&w, "n_graphs", run->n_graphs);
    json_put_u64(&w, "n_sizes", run->n_sizes);
    json_put_u64(&w, "n_skipped", run->n_skipped);
    put_actions(run->totals, &w);
    json_put_u64(&w, "eager_in_warm_up", run->n_in_warm_up);
    if (run->pool_known)
        json_put_u64(&w, "pool_bytes", run->pool_bytes);
    else
        json_put_null(&w, "pool_bytes");
    json_put_u64(&w, "recordings_on_tape", run->n_on_tape);
    json_put_u64(&w, "unknown_lookups", run->n_unknown_calls);
    json_put_u64(&w, "unknown_sizes", run->n_unknown_sizes);
    json_put_bool(&w, "graph_partition", run->settings.partitions);
    json_put_bool(&w, "skip_dynamic", run->settings.skip_dynamic);
    json_put_bool(&w, "on_gpu", run->settings.on_gpu);
    put_rows(run, log, &w);
    json_close(&w);
    buf_putc(out, '\n');
}
