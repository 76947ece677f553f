#include "cmd/info/info.h"

#include "cmd/cli/place.h"
#include "cmd/cmd.h"
#include "trace/base/text/json_write.h"

static void recordings_json(const struct info_tape *tape, struct json_writer *w)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        const struct recording *recording = &trace->recordings[i];
        if (!info_in_view(tape, i))
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "name", recording->name);
        if (recording->rank < 0)
            json_put_null(w, "rank");
        else
            json_put_i64(w, "rank", recording->rank);
        json_put_u64(w, "pid", recording->pid);
        json_put_str(w, "tape", trace->path);
        json_put_cstr(w, "kind", recording->kind == RECORDING_PT2 ? "pt2" : "log");
        json_put_str(w, "source", recording->source);
        json_put_str(w, "torch_version", recording->torch_version);
        json_put_u64(w, "records", recording->n_records);
        json_put_u64(w, "payloads", recording->payloads);
        json_put_u64(w, "damaged", recording->damaged);
        json_put_u64(w, "bytes", recording->bytes);
        json_put_bool(w, "complete", recording->complete);
        json_close(w);
    }
}

static void graph_json(const struct graph_row *row, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "kind", row->ref->name);
    json_put_u64(w, "index", row->ref->index);
    if (row->unreadable) {
        json_put_bool(w, "unreadable", true);
    } else {
        json_put_u64(w, "inputs", row->counts.inputs);
        json_put_u64(w, "nodes", row->counts.nodes);
        json_put_u64(w, "calls", row->counts.calls);
        json_put_u64(w, "outputs", row->counts.outputs);
        json_put_u64(w, "opaque", row->counts.opaque);
        json_put_u64(w, "subgraphs", row->counts.graphs ? row->counts.graphs - 1 : 0);
    }
    json_close(w);
}

/* The graphs of one attempt, or of none: those of events, or the others. */
static void graphs_json(const struct info_tape *tape, uint32_t attempt, bool of_events,
                        struct json_writer *w, const char *key)
{
    json_open_array(w, key);
    for (size_t i = 0; i < tape->graphs.n; i++)
        if (tape->graphs.v[i].ref->attempt == attempt &&
            tape->graphs.v[i].ref->is_event == of_events)
            graph_json(&tape->graphs.v[i], w);
    json_close(w);
}

static void compiles_json(const struct info_tape *tape, struct json_writer *w)
{
    const struct trace *trace = tape->arg.trace;
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        const struct attempt *attempt = &trace->attempts[i];
        if (!info_in_view(tape, attempt->recording))
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "recording", trace->recordings[attempt->recording].name);
        json_put_str(w, "id", attempt->compile);
        json_put_u64(w, "attempt", attempt->number);
        json_put_cstr(w, "status", attempt_status_name(attempt->status));
        json_put_u64(w, "records", attempt->n_records);
        json_put_u64(w, "symbols", tape->sums[i].symbols);
        json_put_u64(w, "guards", tape->sums[i].guards);
        graphs_json(tape, i, true, w, "graphs");
        graphs_json(tape, i, false, w, "other_graphs");
        json_close(w);
    }
}

static void counts_json(const struct info *info, struct json_writer *w)
{
    json_put_u64(w, "records", info->records);
    json_put_u64(w, "payloads", info->payloads);
    json_put_u64(w, "damaged", info->damaged);
    json_put_u64(w, "bytes", info->bytes);
    json_put_u64(w, "tape_bytes", info->tape_bytes);
    json_put_u64(w, "symbols", info->symbols);
    json_open_object(w, "guards");
    for (int kind = 0; kind < GUARD_KINDS; kind++)
        json_put_u64(w, guard_kind_name((enum guard_kind)kind), info->guards[kind]);
    json_close(w);
    json_open_object(w, "events");
    for (size_t i = 0; i < info->event_counts.n; i++) {
        json_put_key(w, intern_text(&info->event_names, info->events[i]));
        json_put_u64(w, NULL, info->event_counts.v[info->events[i]]);
    }
    json_close(w);
}

int info_print_json(const struct info *info)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_INFO);
    counts_json(info, &w);
    json_open_array(&w, "recordings");
    for (size_t i = 0; i < info->n_tapes; i++)
        recordings_json(&info->tapes[i], &w);
    json_close(&w);
    json_open_array(&w, "compiles");
    for (size_t i = 0; i < info->n_tapes; i++)
        compiles_json(&info->tapes[i], &w);
    json_close(&w);
    json_open_array(&w, "graphs_outside_compiles");
    for (size_t i = 0; i < info->n_tapes; i++)
        for (size_t g = 0; g < info->tapes[i].graphs.n; g++)
            if (info->tapes[i].graphs.v[g].ref->attempt == TRACE_NONE)
                graph_json(&info->tapes[i].graphs.v[g], &w);
    json_close(&w);
    json_close(&w);
    buf_putc(&text, '\n');
    int code = out_buf(info->out, &text);
    buf_release(&text);
    return code;
}
